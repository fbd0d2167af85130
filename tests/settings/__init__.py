"""Tests of `settings/`."""
