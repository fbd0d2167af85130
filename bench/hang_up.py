"""How soon the model call ends of an API client that hangs up in the middle of an answer.

Run it with `python -m bench.hang_up`: a real Home Assistant and a model's server are
started, and streams are left at their first words. It prints how long the server still
had an answer under way. Ends with status 1 when that is too long.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from tests.behaviour.clients.home import Address

ALLOWED: Final = 0.2
"""Seconds."""
_GIVE_UP: Final = 10.0
"""Seconds."""
_LOOK_AGAIN_AFTER: Final = 0.002
_ENDLESS: Final = "slowly\nrepeat 2000\nsay And so on. "
"""The instruction by which the model of the home gives a long answer."""


@asynccontextmanager
async def _home() -> AsyncGenerator[Address]:
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.behaviour.clients.home",
            folder,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None  # noqa: S101  # it is a pipe
        try:
            yield Address.model_validate_json(await process.stdout.readline())
        finally:
            process.terminate()
            await process.wait()


async def _leave_one(session: aiohttp.ClientSession, home: Address) -> float:
    """Hang up at the first words, and return the seconds until nobody asks the model any more."""
    body = {"model": home.model, "input": _ENDLESS, "stream": True}
    headers = {"Authorization": f"Bearer {home.token}"}
    answer = await session.post(
        f"{home.base_url}/responses", json=body, headers=headers
    )
    async for line in answer.content:
        if line.startswith(b"event: response.output_text.delta"):
            break
    left_at = time.perf_counter()
    answer.close()
    async with asyncio.timeout(_GIVE_UP):
        while (await (await session.get(f"{home.model_server}/load")).json())[  # noqa: ASYNC110  # a server in another process tells nobody
            "under_way"
        ]:
            await asyncio.sleep(_LOOK_AGAIN_AFTER)
    return time.perf_counter() - left_at


async def _measure(streams: int) -> list[float]:
    async with _home() as home, aiohttp.ClientSession() as session:
        await _leave_one(session, home)  # whatever is imported and cached
        return [await _leave_one(session, home) for _ in range(streams)]


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.hang_up", description=__doc__
    )
    parser.add_argument(
        "--streams",
        type=int,
        default=50,
        help="how many are left (default: %(default)s)",
    )
    took = asyncio.run(_measure(parser.parse_args().streams))
    sys.stdout.write(
        f"from hanging up to the end of the model call: median {statistics.median(took) * 1000:.1f} ms,"
        f" longest {max(took) * 1000:.1f} ms of {len(took)} (allowed: {ALLOWED * 1000:g} ms)\n"
    )
    return int(max(took) > ALLOWED)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
