"""Tests of `offline/dispatcher.py`, by topic."""
