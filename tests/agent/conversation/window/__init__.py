"""Tests of `agent/conversation/window.py`, by topic."""
