"""Tests of `agent/loop/runner.py`, by topic."""
