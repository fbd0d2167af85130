"""Tests of `tools/own/past.py`, by topic."""
