"""The effects of a call on entities, worked out before it runs."""
