"""Tests of `agent/wire/anthropic_messages.py`, by topic."""
