"""Tests of `agent/wire/ollama_chat.py`, by topic."""
