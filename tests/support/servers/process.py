"""A scripted model server as a process of its own, for as long as a test needs it.

Knows how to start, ask and stop it; must not know what its script says.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
from pydantic import TypeAdapter

from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script

START_TIMEOUT_SECONDS = 120
WITHOUT_HOME_ASSISTANT: Final = """
import runpy, sys, types
import custom_components
chatterbox = types.ModuleType("custom_components.chatterbox")
chatterbox.__path__ = [custom_components.__path__[0] + "/chatterbox"]
sys.modules[chatterbox.__name__] = chatterbox
runpy.run_module(sys.argv[1], run_name="__main__")
"""
"""Runs a module with the integration's packages, without its `__init__.py`: Home Assistant takes a while to load."""
_REPOSITORY = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class ScriptedServer:
    """A server that listens; `base_url` is what a person enters."""

    base_url: str

    async def requests(self) -> list[ReceivedRequest]:
        """Return what it was asked so far, in order."""
        root = self.base_url.removesuffix("/v1")
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{root}/requests") as response,
        ):
            return TypeAdapter(list[ReceivedRequest]).validate_json(
                await response.read()
            )


@contextlib.asynccontextmanager
async def scripted_server(
    script: Script,
    folder: Path,
    module: str = "tests.support.servers.chat_completions",
    *,
    port: int = 0,
) -> AsyncIterator[ScriptedServer]:
    """Serve `script`, written to `folder`, until the block is left; `module` calls `model_server.run`."""
    path = folder / "script.json"
    path.write_text(script.model_dump_json(), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, str(path), "--port", str(port)),
        cwd=_REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the server was started without an output to read")
        async with asyncio.timeout(START_TIMEOUT_SECONDS):
            base_url = (await process.stdout.readline()).decode().strip()
        yield ScriptedServer(base_url)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
