"""Tests of the agent package, which runs without Home Assistant."""
