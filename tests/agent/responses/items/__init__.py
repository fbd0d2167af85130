"""Tests of `agent/responses/items/`."""
