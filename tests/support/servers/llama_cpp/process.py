"""Starts a llama.cpp server in its environment, which `script/setup llama` makes."""

import asyncio
import contextlib
import json
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[4]
_PYTHON: Final = _REPOSITORY / ".venv-llama" / "bin" / "python"
_SET_UP_SECONDS: Final = 300
_START_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class LlamaSetup:
    """A server with one slot, and its model."""

    texts: Mapping[str, str] | None = None
    """The answers of the model by the last token of the prompt; None for noise. See `weights.write_texts`."""
    endless: bool = False
    """Whether the model never ends: a text begins anew, and noise has no token of the end."""
    context: int = 16_384
    """Tokens of the context."""
    shows_tools: bool = True
    """Whether the chat template has tools."""
    port: int = 0
    """0 for any free port."""


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """A server that listens."""

    url: str
    process: asyncio.subprocess.Process

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rpartition(":")[2])


def set_up_llama() -> None:
    """Build the environment where it is missing. Raises CalledProcessError when that fails."""
    script = _REPOSITORY / "script" / "setup"
    subprocess.run(
        [script, "llama"], check=True, timeout=_SET_UP_SECONDS, stdin=subprocess.DEVNULL
    )


@contextlib.asynccontextmanager
async def llama_server(setup: LlamaSetup = LlamaSetup()) -> AsyncIterator[LlamaServer]:
    """Run a server until the block is left."""
    # The folder is removed here, because the server is killed.
    with tempfile.TemporaryDirectory(prefix="chatterbox-llama-") as folder:
        process = await asyncio.create_subprocess_exec(
            *(
                _PYTHON,
                "-m",
                "tests.support.servers.llama_cpp",
                json.dumps(asdict(setup)),
                folder,
            ),
            cwd=_REPOSITORY,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            if process.stdout is None:
                raise RuntimeError("the server was started without an output to read")
            url = (
                (await asyncio.wait_for(process.stdout.readline(), _START_SECONDS))
                .decode()
                .strip()
            )
            if not url:
                raise RuntimeError("the llama.cpp server did not start")
            yield LlamaServer(url, process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
