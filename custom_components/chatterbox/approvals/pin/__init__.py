"""Spoken PINs: their digits in words, texts that may hold one, and the lock after wrong tries."""
