"""Suites of behaviour that span the whole integration."""
