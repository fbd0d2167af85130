"""Tests of `later/`."""
