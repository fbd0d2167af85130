"""Tests of `home/name_index.py`, by topic."""
