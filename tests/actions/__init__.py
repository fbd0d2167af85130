"""Tests of `actions/`."""
