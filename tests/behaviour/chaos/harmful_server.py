"""A model server that means harm: a process of its own, whose path names the harmful answer that it sends."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.agent.providers.contract.dialect import Answer
from tests.agent.providers.contract.dialects import DIALECTS
from tests.behaviour.chaos.harmful_answers import HARMFUL_ANSWERS, STOLEN
from tests.support.servers.process import WITHOUT_HOME_ASSISTANT
from tests.support.servers.raw_http import (
    RawReply,
    RawRequest,
    event_stream,
    serve_connection,
)

_REPOSITORY: Final = Path(__file__).resolve().parents[3]
_TARGET: Final = re.compile(r"/(\d+)/(\w+)/")


def path_of(case: int, dialect: str) -> str:
    """Return the path, below the address of the server, that stands for a case and a wire format."""
    return f"/{case}/{dialect}"


def _answer(request: RawRequest) -> RawReply:
    if (requested := _TARGET.match(request.target)) is None:
        return event_stream([DIALECTS[0].render(Answer((STOLEN,)))])
    dialect = next(one for one in DIALECTS if one.name == requested[2])
    return HARMFUL_ANSWERS[int(requested[1])].send(dialect)


async def _serve() -> None:
    serving: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            async for _ in serve_connection(reader, writer, _answer):
                pass

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(talk(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


@contextmanager
def harmful_server() -> Iterator[str]:
    """Serve until the block is left; yield the address."""
    with subprocess.Popen(
        [sys.executable, "-c", WITHOUT_HOME_ASSISTANT, __name__],
        cwd=_REPOSITORY,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(_serve())
