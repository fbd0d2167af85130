"""The composition root: config entries become agents, provider chains and their health."""
