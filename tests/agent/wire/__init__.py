"""Tests of the wire formats: bytes and JSON in, events out, and back."""
