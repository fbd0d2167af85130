"""Tests of `agent/conversation/`."""
