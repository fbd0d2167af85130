"""Tests of `records/`."""
