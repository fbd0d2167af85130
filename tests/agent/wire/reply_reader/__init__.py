"""Tests of `agent/wire/reply_reader.py`, by topic."""
