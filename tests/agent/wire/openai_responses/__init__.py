"""Tests of `agent/wire/openai_responses.py`, by topic."""
