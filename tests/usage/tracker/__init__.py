"""Tests of `usage/tracker.py`, by topic."""
