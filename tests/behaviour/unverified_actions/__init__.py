"""Measures how well reports of an action are told from other sentences, in each language."""
