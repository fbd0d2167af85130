"""Tests of `calendars/tools.py`."""
