"""Tests of `agent/wire/openai_chat.py`, by topic."""
