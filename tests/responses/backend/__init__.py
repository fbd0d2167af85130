"""Tests of `responses/backend.py`, by topic."""
