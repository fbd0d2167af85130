"""Tests of `history/store/history_store.py`, by topic."""
