"""The page was measured with the sentences of the latest Home Assistant."""

from tests.support.versions import IS_LATEST

collect_ignore = [] if IS_LATEST else ["test_measurement.py"]
