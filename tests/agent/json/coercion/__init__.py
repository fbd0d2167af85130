"""Tests of `agent/json/coercion.py`, by topic."""
