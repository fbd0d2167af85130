"""Tests of the UI: a real browser on the real frontend of a real Home Assistant."""
