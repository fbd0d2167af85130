"""Tests of `turns/input.py`, by topic."""
