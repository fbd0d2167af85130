"""Measures how well claims of an action are told from other sentences, in each language."""
