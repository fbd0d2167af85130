"""Tests of `agent/repair/`."""
