"""Tests of `turns/review.py`, by topic."""
