"""Tests of `responses/protocol/run.py`, by topic."""
