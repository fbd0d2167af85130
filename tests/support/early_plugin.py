"""Loads Home Assistant before the plugins of pytest, and lets the latest published fixtures run with a newer one.

Home Assistant replaces httpx, and cannot once another plugin has imported it. It reads
the words by which it understands sentences once; so does each process of the tests, for
all of its homes. A collection of garbage every 2,000 objects takes a fourth of the time
of a test; it is done after each module.
"""

# isort: skip  # before others
import gc
from functools import cache
from importlib import import_module

gc.set_threshold(1_000_000)

from homeassistant.components import logger  # noqa: E402
from homeassistant.components.logger import helpers  # noqa: E402
from pytest_homeassistant_custom_component import (  # noqa: E402
    patch_json,
    patch_recorder,
    patch_time,
)

__all__ = ["patch_json", "patch_recorder", "patch_time"]

# Moved in 2026.11; the fixtures of 2026.10 look for it where it was.
vars(logger).setdefault(
    "_clear_logger_overwrites", vars(helpers)["_clear_logger_overwrites"]
)

words = vars(import_module("gazetteer_matcher.config"))
words["_load_yaml"] = cache(words["_load_yaml"])
