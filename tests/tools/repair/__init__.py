"""Tests of `tools/repair/`."""
