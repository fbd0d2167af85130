"""Tests of what is inside Home Assistant."""
