"""Tests of `memory/fact_tools.py`, by topic."""
