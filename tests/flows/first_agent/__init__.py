"""Tests of `flows/first_agent.py`, by topic."""
