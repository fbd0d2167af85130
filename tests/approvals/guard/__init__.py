"""Tests of `approvals/guard.py`, by topic."""
