"""Tests of `approvals/notifications.py`, by topic."""
