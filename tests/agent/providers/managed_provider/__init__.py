"""Tests of `agent/providers/managed_provider.py`, by topic."""
