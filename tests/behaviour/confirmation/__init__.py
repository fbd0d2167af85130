"""Measures how well a yes is told from everything else that people answer, in each language."""
