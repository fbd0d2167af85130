"""The model server seen from the driver: started, told what to say, asked what it heard; and the bare client.

The bare client asks for an answer and reads its stream to the end with aiohttp, and
nothing more: no agent can be cheaper. Must not know Home Assistant.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from pydantic import TypeAdapter

from bench.side_by_side import answers
from bench.side_by_side.answers import Format
from bench.side_by_side.model_server import Plan, ServedRequest
from demo.configuration import REPOSITORY
from tests.support.servers.process import WITHOUT_HOME_ASSISTANT

_LOG = TypeAdapter(list[ServedRequest])


@dataclass(frozen=True, slots=True)
class Server:
    """A model server that listens."""

    url: str
    session: aiohttp.ClientSession

    def base_url(self, spoken: Format) -> str:
        """Return the address that a person enters."""
        return f"{self.url}{answers.base_path(spoken)}"

    async def plan(self, plan: Plan) -> None:
        """Let it say something else from now on, and forget what it was asked."""
        async with self.session.post(
            f"{self.url}/plan", data=plan.model_dump_json()
        ) as response:
            response.raise_for_status()

    async def log(self) -> list[ServedRequest]:
        """Return what it was asked since the last plan."""
        async with self.session.get(f"{self.url}/log") as response:
            return _LOG.validate_json(await response.read())

    async def ask_bare(self, body: bytes) -> float:
        """Send a Chat Completions request, read the stream to its end; return the time of the first words."""
        first = 0.0
        headers = {"Content-Type": "application/json"}
        async with self.session.post(
            f"{self.url}{answers.paths(Format.CHAT)[1]}", data=body, headers=headers
        ) as answer:
            async for line in answer.content:
                if not first and b'"content": "' in line:
                    first = time.monotonic()
        return first


@asynccontextmanager
async def model_server() -> AsyncIterator[Server]:
    """Run a model server until the block is left."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WITHOUT_HOME_ASSISTANT),
        "bench.side_by_side.model_server",
        cwd=REPOSITORY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the server was started without an output to read")
        url = (await process.stdout.readline()).decode().strip()
        async with aiohttp.ClientSession() as session:
            yield Server(url, session)
    finally:
        process.terminate()
        await process.wait()
