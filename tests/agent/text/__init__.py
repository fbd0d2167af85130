"""Tests of `agent/text.py`, by topic."""
