"""Tests of what the benchmark computes; how quick anything is, is no matter for a test."""
