"""Tests of `turns/record.py`, by topic."""
