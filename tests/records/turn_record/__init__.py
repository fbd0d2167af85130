"""Tests of `records/turn_record.py`, by topic."""
