"""Tests of `config_flow.py`, by topic."""
