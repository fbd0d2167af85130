"""Tests of `approvals/policy.py`, by topic."""
