"""Tests of `approvals/audit.py`, by topic."""
