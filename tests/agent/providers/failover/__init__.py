"""Tests of `agent/providers/failover.py`, by topic."""
