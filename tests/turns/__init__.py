"""Tests of `turns/`."""
