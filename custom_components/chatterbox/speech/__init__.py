"""Translated sentences that an agent says by itself."""
