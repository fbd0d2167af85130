"""The part of a conversation that is sent to a model: window, summary, token estimates."""
