"""Tests of `tools/own/`."""
