"""Turns against a real llama.cpp server over small models: what holds whatever words they write."""
