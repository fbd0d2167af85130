"""Events of which the first has come already, so that nothing can be wrong with the request any more.

Knows nothing of what they say.
"""

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import override

from ..messages import JsonObject


class OpenedEvents(AsyncGenerator[JsonObject]):
    """Closing them closes where they come from, also when nobody has taken the first."""

    def __init__(self, first: JsonObject, others: AsyncGenerator[JsonObject]) -> None:
        """Put back what was taken."""
        self._first: JsonObject | None = first
        self._others = others

    @override
    async def asend(self, value: None) -> JsonObject:
        """Return the next event."""
        if (first := self._first) is not None:
            self._first = None
            return first
        return await anext(self._others)

    @override
    async def athrow(
        self,
        typ: type[BaseException] | BaseException,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
        /,
    ) -> JsonObject:
        """Let whoever makes the events know."""
        self._first = None
        return await self._others.athrow(typ if isinstance(typ, BaseException) else typ())

    @override
    async def aclose(self) -> None:
        """End what makes the events."""
        self._first = None
        await self._others.aclose()


async def opened(events: AsyncGenerator[JsonObject]) -> OpenedEvents:
    """Wait for the first event. Raises what comes instead of it; then nothing is left to close."""
    return OpenedEvents(await anext(events), events)
