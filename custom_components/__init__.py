"""The folder where Home Assistant looks for custom integrations; only ``chatterbox`` is released."""
