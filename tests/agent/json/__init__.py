"""Tests of `agent/json/`."""
