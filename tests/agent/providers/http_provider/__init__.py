"""Providers over HTTP."""
