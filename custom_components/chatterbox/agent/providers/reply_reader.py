"""What makes events of the bytes of one reply: the seam between connections and wire formats.

Knows events; nothing of connections, nor of any one format.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from ..events import ProviderEvent, ReasoningDelta, TextDelta
from ..messages import JsonValue


class FailureReported(Exception):
    """Raised by a reader: the service reports, inside a successful reply, that it failed."""

    def __init__(self, report: JsonValue) -> None:
        """Carry what stands under `error`: an object or a text."""
        super().__init__()
        self.report = report


class ReplyReader(Protocol):
    """Makes the events of one reply. Each wire format has its own; it is used once.

    `feed` and `read_whole` raise `FailureReported` or `ProviderReplyInvalid`.
    """

    @property
    def finished(self) -> bool:
        """True once the message is whole: from then on nothing can fail any more. Usage may still follow."""
        ...

    @property
    def done(self) -> bool:
        """True once the service has said that nothing at all follows; the rest is not fed."""
        ...

    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        """Yield what the next bytes of a stream bring, wherever the network cut them."""
        ...

    def read_whole(self, text: str) -> Iterator[ProviderEvent]:
        """Yield what the whole JSON answer of a server that does not stream brings."""
        ...

    def end(self) -> Iterator[ProviderEvent]:
        """Yield what is left, `CompletionResult` last. Called once, where the reply ends.

        Raises `ProviderReplyInvalid` when the reply ended before it was finished.
        """
        ...


PIECES: Final = (TextDelta, ReasoningDelta)
"""What comes in many small pieces."""


def joined(events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
    """Yield events, neighbouring pieces of text as one, and those of reasoning; what comes before a failure too."""
    kind: type[TextDelta | ReasoningDelta] = TextDelta
    pieces: list[str] = []
    try:
        for event in events:
            if pieces and type(event) is not kind:
                yield kind("".join(pieces))
                pieces = []
            if isinstance(event, PIECES):
                kind = type(event)
                pieces.append(event.text)
            else:
                yield event
    except Exception:
        if pieces:
            yield kind("".join(pieces))
        raise
    if pieces:
        yield kind("".join(pieces))
