"""Stored data is read by the next version, and left alone by the one before."""
