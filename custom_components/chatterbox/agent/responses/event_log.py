"""Events of a response that is made in the background, kept to be followed by whoever comes, as often as they come.

Knows that events are numbered from 0 without a gap, and how many characters of them it may keep. Nothing of what they
say. Who follows from where nothing is kept any more is told so.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

from ..messages import JsonObject, canonical_json
from .errors import ApiError, ErrorType, invalid

MOST_CHARACTERS: Final = 4_000_000
"""Of the events of one response, as JSON; the oldest beyond it are given up."""

_LOST: Final = ApiError(
    "Events were read too slowly, and are not kept any longer. Read the response itself.",
    status=503,
    kind=ErrorType.SERVER,
    code="stream_lost",
)


class EventLog:
    """The events of one response, until they end."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        """Begin with none."""
        self._most = most_characters
        self._events = deque[tuple[JsonObject, int]]()
        self._dropped = 0
        """How many of the first are not kept any more: the number of the first one that is."""
        self._changed = asyncio.Event()
        self._is_over = False
        self.characters = 0
        """What is kept, as JSON, without the responses in it."""

    def add(self, event: JsonObject) -> None:
        """Take in the next event. A response in it takes no room: all such events share what it is made of."""
        size = len(canonical_json({name: value for name, value in event.items() if name != "response"}))
        self._events.append((event, size))
        self.characters += size
        while self.characters > self._most and len(self._events) > 1:
            _, gone = self._events.popleft()
            self.characters -= gone
            self._dropped += 1
        self._wake()

    def end(self) -> None:
        """Take in no more; whoever follows comes to an end."""
        self._is_over = True
        self._wake()

    def follow(self, starting_after: int | None) -> AsyncGenerator[JsonObject]:
        """Yield the events with a higher number, as they come. Raises `ApiError` where they are not kept any more."""
        number = 0 if starting_after is None else starting_after + 1
        if number < self._dropped:
            raise invalid(
                f"Events up to {self._dropped - 1} are not kept any longer. Read the response itself, or start after"
                f" {self._dropped - 1}.",
                "starting_after",
            )
        return self._follow(number)

    async def _follow(self, number: int) -> AsyncGenerator[JsonObject]:
        while True:
            changed = self._changed
            while (place := number - self._dropped) < len(self._events):
                if place < 0:
                    yield {"type": "error", "sequence_number": number, "error": _LOST.payload}
                    return
                yield self._events[place][0]
                number += 1
            if self._is_over:
                return
            await changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
