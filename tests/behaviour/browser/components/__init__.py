"""Integrations that a home of the browser tests has beside ours."""
