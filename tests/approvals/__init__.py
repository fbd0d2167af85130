"""Tests of `approvals/`."""
