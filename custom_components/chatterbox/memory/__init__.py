"""Facts that people asked their agents to remember."""
