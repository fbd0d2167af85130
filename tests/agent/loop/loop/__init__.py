"""Tests of `agent/loop/loop.py`, by topic."""
