"""Tests of `speech/text/speech_filter.py`, by topic."""
