"""Tests of `responses/protocol/items/`."""
