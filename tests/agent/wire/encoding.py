"""Encodes JSON as services send it."""

import json

from custom_components.chatterbox.agent.messages import JsonValue


def sse(value: JsonValue) -> bytes:
    """Return a server-sent event."""
    return f"data: {json.dumps(value)}\n\n".encode()


def line(value: JsonValue) -> bytes:
    """Return a line of newline-delimited JSON."""
    return f"{json.dumps(value)}\n".encode()
