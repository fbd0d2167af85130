"""Tests of `speech/text/spoken_text.py`, by topic."""
