"""Tests of `calendars/`."""
