"""Tests of `responses/protocol/service.py`, by topic."""
