"""Tests of what is known of languages."""
