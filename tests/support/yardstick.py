"""Measures processor time in passes over a megabyte of JSON, so that no verdict depends on the speed of the machine."""

import json
from time import thread_time
from typing import Final

_MEGABYTE: Final = json.dumps(
    [
        {
            "index": place,
            "function": {
                "name": "light_on",
                "arguments": f'{{"name": "Lamp {place}"}}',
            },
        }
        for place in range(11_000)
    ]
)
_TRIES: Final = 3


def json_pass() -> float:
    """Return the seconds of processor time in which this thread, here and now, parses a megabyte of JSON."""
    return min(_seconds() for _ in range(_TRIES))


def _seconds() -> float:
    began = thread_time()
    json.loads(_MEGABYTE)
    return thread_time() - began
