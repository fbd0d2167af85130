"""Reads what a person said: one reading of the words of a sentence, in any language that has a lexicon."""
