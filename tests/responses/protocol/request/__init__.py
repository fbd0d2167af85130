"""Tests of `responses/protocol/request.py`, by topic."""
