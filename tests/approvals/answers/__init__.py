"""Tests of how answers and PINs are understood and kept."""
