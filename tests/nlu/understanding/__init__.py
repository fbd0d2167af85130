"""Tests of `nlu/understanding.py`, by topic."""
