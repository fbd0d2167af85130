"""Tests of `turns/prepare.py`, by topic."""
