"""Tests of `tools/turn_tools.py`, by topic."""
