"""Tests of `tools/llm_apis.py`, by topic."""
