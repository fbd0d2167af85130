"""Tests of `effects/recognition.py`, by topic."""
