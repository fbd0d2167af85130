"""Tests of `responses/turns.py`, by topic."""
