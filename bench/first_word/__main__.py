"""Replays recorded turns against a real llama.cpp server, and tells how many tokens it had to read for each.

Tokens are as the server reports them. The times are those of a random model, and not compared.
"""

import argparse
import asyncio
import json
import logging
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import aiohttp
from homeassistant import runner
from homeassistant.util.resource import set_open_file_descriptor_limit

from bench.first_word.recording import STEPS, RecordedTurn, record
from bench.side_by_side.targets import OURS, REFERENCE
from tests.support.servers.llama_cpp.process import llama_server

_TARGETS: Final = {
    (50, STEPS[0].name): 1_700,
    (300, STEPS[0].name): 2_900,
    (300, STEPS[1].name): 40,
    (300, STEPS[2].name): 900,
    (300, STEPS[3].name): 150,
    (300, STEPS[4].name): 150,
}
"""Most tokens of our agent without warm-up, by entities and turn."""
_SIZES: Final = (50, 300)
type Row = tuple[str, int, int, int]
"""The turn, the tokens of core's agent, of ours, and of ours after its warm-up."""


async def measure(folder: Path, entities: int) -> list[Row]:
    """Return the tokens that a server reads in each turn, in a home of so many entities."""
    recorded = await record(folder, entities)
    core, ours = recorded[REFERENCE], recorded[OURS]
    columns = [await _replay(turns, warm=warm) for turns, warm in ((core, False), (ours, False), (ours, True))]
    return [(step.name, *counts) for step, *counts in zip(STEPS, *columns, strict=True)]


async def _replay(turns: Sequence[RecordedTurn], *, warm: bool) -> list[int]:
    async with llama_server() as server, aiohttp.ClientSession() as session:
        return await count(session, server.url, turns, warm=warm)


async def count(
    session: aiohttp.ClientSession, url: str, turns: Sequence[RecordedTurn], *, warm: bool = False
) -> list[int]:
    """Return the tokens that a server reads in each turn; with `warm`, after it was warmed up for each."""
    counts = []
    for turn in turns:
        if warm:
            await _tokens(session, url, turn.warm_up)
        counts.append(await _tokens(session, url, turn.requests))
    return counts


async def _tokens(session: aiohttp.ClientSession, url: str, bodies: Iterable[bytes]) -> int:
    total = 0
    for body in bodies:
        payload = json.loads(body) | {"max_tokens": 1, "stream": False}
        for unused in ("max_completion_tokens", "stream_options"):
            payload.pop(unused, None)
        async with session.post(f"{url}/v1/chat/completions", json=payload) as response:
            response.raise_for_status()
            total += (await response.json())["timings"]["prompt_n"]
    return total


def _table(entities: int, rows: Iterable[Row]) -> Iterator[str]:
    yield f"| {entities} entities: tokens read before the first word | core | ours | ours after warm-up |"
    yield "| --- | --- | --- | --- |"
    for name, core, ours, warm in rows:
        yield f"| {name} | {core} | {ours} | {warm} |"


def _missed(entities: int, rows: Iterable[Row]) -> Iterator[str]:
    for name, _, ours, _ in rows:
        if ours > (most := _TARGETS.get((entities, name), ours)):
            yield f"missed: {entities} entities, {name}: {ours} tokens, at most {most}"


def report(entities: int, rows: Sequence[Row], *, is_checked: bool) -> int:
    """Print the table and the missed targets; return the exit status."""
    missed = [*_missed(entities, rows)]
    sys.stdout.write("\n".join((*_table(entities, rows), "", *missed, "")))
    sys.stdout.flush()
    return int(bool(missed) and is_checked)


def main() -> None:
    """Measure, print the tables, and with `--check` end with status 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="script/first_word", description=__doc__)
    parser.add_argument("--entities", type=int, help="only a home of this size")
    parser.add_argument("--check", action="store_true", help="end with status 1 if a target is missed")
    given = parser.parse_args()
    logging.disable()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    set_open_file_descriptor_limit()
    if not given.entities:  # a process has one Home Assistant
        command = (sys.executable, "-m", "bench.first_word", *(["--check"] if given.check else []))
        codes = [subprocess.run((*command, "--entities", str(size)), check=False).returncode for size in _SIZES]  # noqa: S603  # this module
        sys.exit(max(map(abs, codes)))
    loop = runner.create_event_loop()
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory(prefix="chatterbox-first-word-", ignore_cleanup_errors=True) as folder:
        rows = loop.run_until_complete(measure(Path(folder), given.entities))
    sys.exit(report(given.entities, rows, is_checked=given.check))


if __name__ == "__main__":
    main()
