"""Tools offered to models: those of Home Assistant's LLM APIs and our own, and how they are run."""
