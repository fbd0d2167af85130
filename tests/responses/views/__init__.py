"""Tests of `responses/views.py`, by topic."""
