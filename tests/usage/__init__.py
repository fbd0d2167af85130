"""Tests of `usage/`."""
