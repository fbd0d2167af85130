"""The Home Assistant process of a demo: its start, its end, its port and its log.

Knows how `hass` is run; must not know what is set up in it, who talks to it or what
about.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from demo.configuration import LOOPBACK
from demo.errors import DemoError

START_TIMEOUT_SECONDS = 120.0
STOP_TIMEOUT_SECONDS = 30.0
_POLL_SECONDS = 0.05
_RESTART_EXIT_CODE = 100
"""The exit code by which Home Assistant asks to be started again (`homeassistant/const.py`)."""


@dataclass(frozen=True, slots=True)
class RunningHomeAssistant:
    """A Home Assistant that answers on `url`."""

    url: str
    log: Path
    process: asyncio.subprocess.Process

    async def ended(self) -> bool:
        """Wait until the process ends by itself; return whether it wants to be started again."""
        return await self.process.wait() == _RESTART_EXIT_CODE


def free_port() -> int:
    """Return a port of the loopback address that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def check_port(port: int) -> None:
    """Raise `DemoError` when nothing can listen on `port` of the loopback address."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((LOOPBACK, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise DemoError(
            f"Port {port} cannot be used ({reason}). Choose another --port, or leave it out for a free one."
        ) from error


@contextlib.asynccontextmanager
async def running_home_assistant(
    folder: Path, port: int, log: Path
) -> AsyncIterator[RunningHomeAssistant]:
    """Run Home Assistant on the configuration `folder` until the block is left; everything it prints goes to `log`.

    Raises `DemoError` when it does not answer on `port` within two minutes.
    """
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *(
                "-m",
                "homeassistant",
                "--config",
                str(folder),
                "--skip-pip",
                "--log-no-color",
            ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=_environment(),
            # A Ctrl-C of the terminal is for the demo, which then stops Home Assistant
            # in order.
            start_new_session=True,
        )
    try:
        url = f"http://{LOOPBACK}:{port}"
        await _wait_until_it_answers(process, url, log)
        yield RunningHomeAssistant(url=url, log=log, process=process)
    finally:
        await asyncio.shield(_stop(process))


def _environment() -> dict[str, str]:
    """Return the environment without what would change how Home Assistant imports or logs."""
    foreign = ("PYTHON", "SUPERVISOR", "CHATTERBOX_API_KEY")
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(foreign)
    }
    return inherited | {"HA_DISABLE_LOG_FILE": "1", "PYTHONUNBUFFERED": "1"}


async def _wait_until_it_answers(
    process: asyncio.subprocess.Process, url: str, log: Path
) -> None:
    ended = asyncio.ensure_future(process.wait())
    answers = asyncio.ensure_future(_answers(url))
    try:
        await asyncio.wait(
            {ended, answers},
            timeout=START_TIMEOUT_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if ended.done():
            raise DemoError(
                f"Home Assistant ended while starting (exit code {ended.result()}). Its log: {log}"
            )
        if not answers.done():
            raise DemoError(
                f"Home Assistant did not answer within {START_TIMEOUT_SECONDS:.0f} s. Its log: {log}"
            )
    finally:
        for task in (ended, answers):
            task.cancel()
        await asyncio.gather(ended, answers, return_exceptions=True)


async def _answers(url: str) -> None:
    """Return once its page can be opened, which is there last; a new home sends on to the onboarding."""
    async with aiohttp.ClientSession() as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(url, allow_redirects=False) as response:
                    if response.ok:
                        return
            await asyncio.sleep(_POLL_SECONDS)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the process in order, by force when it takes too long."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
