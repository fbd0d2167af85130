"""Tests of `people/speakers.py`, by topic."""
