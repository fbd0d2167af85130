"""Tests of trials: which model is good for a home."""
