"""Tests of `offline/recognition.py`, by topic."""
