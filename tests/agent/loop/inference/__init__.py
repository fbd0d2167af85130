"""Tests of `agent/loop/inference.py`, by topic."""
