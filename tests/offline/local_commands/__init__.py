"""Tests of `offline/local_commands.py`, by topic."""
