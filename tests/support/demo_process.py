"""`script/demo` as a process: started, read and stopped as from a terminal.

Knows how a terminal runs it; must not know what it prints.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import demo

RUN_SECONDS = 240
_SCRIPTS = Path(demo.__file__).parents[1] / "script"


@dataclass(frozen=True, slots=True)
class FinishedDemo:
    """The remains of a run of the demo."""

    exit_code: int | None
    output: str
    messages: str


@contextlib.asynccontextmanager
async def started_demo(
    folder: Path, *arguments: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start the demo; what it writes to disk goes to `folder`, its log to home-assistant.log there.

    It is stopped when the block is left, if it has not ended by then.
    """
    # The demo would set up its environment first, and uv would leave a lock file in
    # `folder`.
    await (await asyncio.create_subprocess_exec(_SCRIPTS / "setup")).wait()
    process = await asyncio.create_subprocess_exec(
        *(
            str(_SCRIPTS / "demo"),
            "--log",
            str(folder / "home-assistant.log"),
            *arguments,
        ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.communicate()


async def run_demo(folder: Path, *arguments: str) -> FinishedDemo:
    """Run the demo to its end, as `started_demo` starts it."""
    async with (
        asyncio.timeout(RUN_SECONDS),
        started_demo(folder, *arguments) as process,
    ):
        output, messages = await process.communicate()
    return FinishedDemo(process.returncode, output.decode(), messages.decode())


async def printed_address(process: asyncio.subprocess.Process) -> str:
    """Return the address that a demo without sentences prints, once it can be opened."""
    if process.stdout is None:
        raise RuntimeError("the demo was started without an output to read")
    async with asyncio.timeout(RUN_SECONDS):
        line = (await process.stdout.readline()).decode()
    return line.removeprefix("Open ").strip()
