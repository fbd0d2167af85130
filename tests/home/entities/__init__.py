"""Tests of `home/entities.py`, by topic."""
