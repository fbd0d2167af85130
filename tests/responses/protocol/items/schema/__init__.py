"""Tests of `responses/protocol/items/schema.py`, by topic."""
