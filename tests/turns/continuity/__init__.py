"""Tests of `turns/continuity.py`, by topic."""
