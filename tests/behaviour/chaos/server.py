"""A model server that speaks all four wire formats and asks what to send for each request of a turn.

Tells turns apart by a mark in what the instructions say besides. Must not know what is
sent.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from tests.agent.providers.contract.dialect import MODEL, Answer, Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.support.servers.raw_http import (
    RawReply,
    RawRequest,
    event_stream,
    reply,
    serve_connection,
)

_MARK: Final = re.compile(rb"\(turn (\d+)\)")
_BY_TARGET: Final = {dialect.completion_target: dialect for dialect in DIALECTS}
_LISTS: Final = {
    dialect.models_target: dialect.model_list([MODEL]) for dialect in DIALECTS
}

type AnswerTurn = Callable[[int, Dialect], RawReply]
"""Takes the number of a turn and the wire format in which it is asked."""


def mark(turn: int) -> str:
    """Return what the instructions of a turn hold, so that the server knows it."""
    return f"(turn {turn})"


class ChaosServer:
    """Where all models are."""

    def __init__(self, answer_turn: AnswerTurn) -> None:
        self._answer_turn = answer_turn
        self._serving: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    @property
    def base_url(self) -> str:
        """Return the address for config entries."""
        assert self._listener is not None
        return f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Listen on a free port of the loopback address."""
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def hang_up(self) -> None:
        """End every connection, idle ones too."""
        assert self._listener is not None
        self._listener.close_clients()
        await asyncio.gather(*self._serving)

    async def stop(self) -> None:
        """Listen no more: who asks now is refused."""
        assert self._listener is not None
        self._listener.close()
        await self.hang_up()
        await self._listener.wait_closed()

    def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        async for _ in serve_connection(reader, writer, self._answer):
            pass

    def _answer(self, request: RawRequest) -> RawReply:
        if (models := _LISTS.get(request.target)) is not None:
            return reply(models)
        numbers, dialect = _MARK.findall(request.body), _BY_TARGET.get(request.target)
        if dialect is None:
            return reply(b"no such page", "text/plain", 404)
        if not numbers:  # no turn, but somebody who tries whether the model answers
            return event_stream(
                [dialect.render(Answer(("Hello.",)))], content_type=dialect.content_type
            )
        return self._answer_turn(int(numbers[-1]), dialect)


@asynccontextmanager
async def chaos_server(answer_turn: AnswerTurn) -> AsyncIterator[ChaosServer]:
    """Serve until the block is left."""
    server = ChaosServer(answer_turn)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
