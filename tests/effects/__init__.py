"""Tests of `effects/`."""
