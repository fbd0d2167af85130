"""Tests of `people/`."""
