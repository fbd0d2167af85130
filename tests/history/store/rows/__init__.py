"""Tests of `history/store/rows.py`, by topic."""
