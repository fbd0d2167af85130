"""Tests of `home/`."""
