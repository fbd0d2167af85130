"""Tests of `agent/conversation/prompt_fitter.py`, by topic."""
