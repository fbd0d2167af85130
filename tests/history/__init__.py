"""Tests of `history/`."""
