"""Tests of `tools/own/memories.py`, by topic."""
