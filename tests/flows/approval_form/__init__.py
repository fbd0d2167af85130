"""Tests of `flows/approval_form.py`, by topic."""
