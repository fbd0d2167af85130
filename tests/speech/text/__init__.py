"""Spoken text, as tests in several languages."""
