"""Tests of `flows/model_flow.py`, by topic."""
