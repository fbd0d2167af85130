"""Tests of `approvals/questions.py`, by topic."""
