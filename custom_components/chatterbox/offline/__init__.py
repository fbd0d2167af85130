"""Home Assistant's built-in agent as a provider."""
