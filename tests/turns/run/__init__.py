"""Tests of `turns/run.py`, by topic."""
