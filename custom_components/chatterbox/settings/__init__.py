"""Stored options of services and agents, as typed values with defaults."""
