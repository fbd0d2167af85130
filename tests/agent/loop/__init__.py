"""Tests of `agent/loop/`."""
