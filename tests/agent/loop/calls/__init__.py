"""Tests of `agent/loop/calls.py`, by topic."""
