"""Tests of `turns/chat_log.py`, by topic."""
