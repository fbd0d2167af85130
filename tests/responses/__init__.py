"""Tests of `responses/`."""
