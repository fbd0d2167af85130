"""Tests of `tools/dispatch.py`, by topic."""
