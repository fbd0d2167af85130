"""Tests of `history/stores.py`, by topic."""
