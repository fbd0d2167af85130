"""Replays recorded turns against a real llama.cpp server, and tells how many tokens it had to read for each.

Tokens are as the server reports them. The times are those of a random model on this
machine, and not compared.
"""

import argparse
import asyncio
import json
import logging
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import aiohttp
from homeassistant import runner
from homeassistant.util.resource import set_open_file_descriptor_limit

from bench.first_word.page import Measured, Row, publish, table, title
from bench.first_word.recording import STEPS, RecordedTurn, record
from bench.side_by_side.home import DEMO, STREET, Home
from bench.side_by_side.targets import OURS, REFERENCE
from tests.support.servers.llama_cpp.process import LlamaSetup, llama_server

_TARGETS: Final[dict[tuple[Home, str], int]] = {
    (DEMO, STEPS[0].name): 2_710,
    (STREET, STEPS[0].name): 5_230,
    (50, STEPS[0].name): 1_530,
    (300, STEPS[0].name): 2_700,
    (300, STEPS[1].name): 40,
    (300, STEPS[2].name): 745,
    (300, STEPS[3].name): 150,
    (300, STEPS[4].name): 150,
}
"""Most tokens of our agent, with and without warm-up, by home and turn."""
_HOMES: Final[tuple[Home, ...]] = (DEMO, STREET, 50, 300)
_AFTER_WARM_UP: Final = {
    (home, step.name): 100 for home in _HOMES for step in (STEPS[0], STEPS[-1])
}
"""The same after the warm-up alone."""
_MILLISECONDS: Final = 1_000
_CONTEXT: Final = 32_768
"""Tokens of the context, in which no conversation here is cut."""


async def measure(folder: Path, home: Home) -> Measured:
    """Return the tokens that a server reads in each turn, in a home."""
    recorded = await record(folder, home)
    core, ours = recorded[REFERENCE], recorded[OURS]
    times: list[list[float]] = [[], [], []]
    each = ((core, False), (ours, False), (ours, True))
    columns = [
        await _replay(turns, took, warm=warm)
        for (turns, warm), took in zip(each, times, strict=True)
    ]
    rows = [
        Row(step.name, *counts) for step, *counts in zip(STEPS, *columns, strict=True)
    ]
    return Measured(rows=rows, milliseconds=[took[0] for took in times])


async def _replay(
    turns: Sequence[RecordedTurn], times: list[float], *, warm: bool
) -> list[int]:
    setup = LlamaSetup(context=_CONTEXT)
    async with llama_server(setup) as server, aiohttp.ClientSession() as session:
        return await count(session, server.url, turns, times, warm=warm)


async def count(
    session: aiohttp.ClientSession,
    url: str,
    turns: Sequence[RecordedTurn],
    times: list[float] | None = None,
    *,
    warm: bool = False,
) -> list[int]:
    """Return the tokens that a server reads in each turn; with `warm`, after it was warmed up for each.

    The milliseconds that it took for each are added to `times`.
    """
    counts = []
    for turn in turns:
        if warm:
            await _tokens(session, url, turn.warm_up)
        began = time.monotonic()
        counts.append(await _tokens(session, url, turn.requests))
        if times is not None:
            times.append((time.monotonic() - began) * _MILLISECONDS)
    return counts


async def _tokens(
    session: aiohttp.ClientSession, url: str, bodies: Iterable[bytes]
) -> int:
    total = 0
    for body in bodies:
        payload = json.loads(body) | {"max_tokens": 1, "stream": False}
        for unused in ("max_completion_tokens", "stream_options"):
            payload.pop(unused, None)
        async with session.post(f"{url}/v1/chat/completions", json=payload) as response:
            response.raise_for_status()
            total += (await response.json())["timings"]["prompt_n"]
    return total


def _missed(home: Home, rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        place = home, row.turn
        checks = ((_TARGETS, row.ours, ""), (_TARGETS, row.warm, " after warm-up"))
        for targets, tokens, when in (
            *checks,
            (_AFTER_WARM_UP, row.warm, " after warm-up"),
        ):
            if tokens > (most := targets.get(place, tokens)):
                yield f"missed: {title(home)}, {row.turn}: {tokens} tokens{when}, at most {most}"


def report(home: Home, rows: Sequence[Row], *, is_checked: bool) -> int:
    """Print the table and the missed targets; return the exit status."""
    missed = [*_missed(home, rows)]
    sys.stdout.write("\n".join((*table(home, rows), "", *missed, "")))
    sys.stdout.flush()
    return int(bool(missed) and is_checked)


def _measure_all(*, is_checked: bool, is_published: bool) -> int:
    """Measure all homes, each in a process of its own; return the highest status."""
    command, codes = (
        (
            sys.executable,
            "-m",
            "bench.first_word",
            *(["--check"] if is_checked else []),
        ),
        [],
    )
    with tempfile.TemporaryDirectory(prefix="chatterbox-first-word-") as folder:
        files = {home: Path(folder) / f"{home}.json" for home in _HOMES}
        for home, file in files.items():
            given = ("--home", str(home), "--results", str(file))
            codes.append(subprocess.run((*command, *given), check=False).returncode)  # noqa: S603  # this module
        if is_published and not any(codes):
            publish(
                {
                    home: Measured.model_validate_json(file.read_bytes())
                    for home, file in files.items()
                }
            )
    return max(map(abs, codes))


def main() -> None:
    """Measure, print the tables, and with `--check` end with status 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="script/first_word", description=__doc__)
    parser.add_argument(
        "--home",
        help="only the home of script/demo, 'demo', eight of its kind, 'street', or one of so many entities",
    )
    parser.add_argument(
        "--check", action="store_true", help="end with status 1 if a target is missed"
    )
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write bench/pages/performance.md",
    )
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    logging.disable()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    set_open_file_descriptor_limit()
    if not given.home:  # a process has one Home Assistant
        sys.exit(_measure_all(is_checked=given.check, is_published=given.publish))
    loop = runner.create_event_loop()
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory(
        prefix="chatterbox-first-word-", ignore_cleanup_errors=True
    ) as folder:
        home: Home = given.home if given.home in {DEMO, STREET} else int(given.home)
        measured = loop.run_until_complete(measure(Path(folder), home))
    if given.results:
        given.results.write_text(measured.model_dump_json(), encoding="utf-8")
    sys.exit(report(home, measured.rows, is_checked=given.check))


if __name__ == "__main__":
    main()
