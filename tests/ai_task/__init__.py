"""Tests of `ai_task.py`, by topic."""
