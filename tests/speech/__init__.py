"""Tests of `speech/`."""
