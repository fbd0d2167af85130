"""The record of a turn: what was said, called and answered, and how long it took."""
