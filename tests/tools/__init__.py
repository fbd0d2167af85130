"""Tests of `tools/`."""
