"""Tests of `approvals/asking.py`, by topic."""
