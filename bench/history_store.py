"""How quick the history is with 100,000 turns in SQLite: to search, to open, and to hand a turn to it.

Run it with `python -m bench.history_store`. It stores the turns of a household of three
people, who say the same few things in the morning and a sentence of their own now and
then, in four languages; a third of the turns has a tool result of a kilobyte. Then it
prints:

- searching: the median and the 95th percentile of the milliseconds that a person waits
  for, over searches for words that stand in nearly every turn, in some, in one and in
  none, with and without a time;
- opening: the seconds until a store that was closed has answered its first question;
- recording: the milliseconds of processor time that the event loop spends on a turn,
  until it is told that the turn is stored, and the longest time that `record()` took;
- resuming: the milliseconds until a chain of 100 responses of the API is read, of
  10,000 that are stored beside the turns, and until one with ten pictures of a megabyte
  is;
- the size of the file, and the time it took to fill it.

`--check` ends with status 1 when one of the first four takes longer than is allowed;
pictures are not counted.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.household import AGENT, Household
from custom_components.chatterbox.history.store.history_store import HistoryStore

SEARCHING: Final = 0.050
OPENING: Final = 1.0
RECORDING: Final = 0.002
RESUMING: Final = 0.050
"""Seconds that are allowed."""

_CHAINS: Final = 100
_LONG: Final = 100
"""Responses of a chain."""
_PICTURES: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, sorted."""

    values: Sequence[float]

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.values)

    @property
    def p95(self) -> float:
        """The duration that 95 of 100 stay below."""
        return self.values[len(self.values) * 95 // 100]


def opened(file: Path) -> HistoryStore:
    """Return a store that is being opened."""
    store = HistoryStore(f"sqlite:///{file}", lambda _state: None, timeout=60)
    store.start()
    return store


async def fill(file: Path, household: Household, turns: int) -> None:
    """Store the turns."""
    store = opened(file)
    for begin in range(0, turns, 500):
        answers = [
            store.record(household.turn(number))
            for number in range(begin, min(begin + 500, turns))
        ]
        if not all([await answer.stored() for answer in answers]):
            raise RuntimeError("a turn was not stored")
    await store.close(60)


async def opening(file: Path, turns: int) -> float:
    """Return how long it takes to open the store and to read a conversation."""
    began = time.perf_counter()
    store = opened(file)
    found = await store.turns(f"talk {(turns - 1) // 5}")
    taken = time.perf_counter() - began
    await store.close()
    if not found:
        raise RuntimeError("nothing was stored")
    return taken


async def searching(file: Path, household: Household, searches: int) -> Measured:
    """Return how long searches take, one after the other."""
    store = opened(file)
    taken: list[float] = []
    for number in range(searches):
        query = household.query(number)
        began = time.perf_counter()
        await store.search(query)
        taken.append(time.perf_counter() - began)
    await store.close()
    return Measured(sorted(taken))


async def recording(
    file: Path, household: Household, first: int, turns: int
) -> tuple[Measured, Measured]:
    """Return what recording costs the event loop: the processor time until it is stored, and the time of the call."""
    store = opened(file)
    taken: list[float] = []
    waited: list[float] = []
    for number in range(first, first + turns):
        turn = household.turn(number)
        began, busy = time.perf_counter(), time.thread_time()
        answer = store.record(turn)
        waited.append(time.perf_counter() - began)
        await answer.stored()
        taken.append(time.thread_time() - busy)
    await store.close()
    return Measured(sorted(taken)), Measured(sorted(waited))


async def resuming(file: Path, household: Household) -> tuple[Measured, float]:
    """Return how long it takes to read the responses of a chain, and those of one with pictures."""
    store = opened(file)
    for chain in range(_CHAINS):
        answers = [
            store.record(household.response(number, f"chain {chain}"))
            for number in range(_LONG)
        ]
        await answers[-1].stored()
    for number in range(_PICTURES):
        picture = random.Random(number).randbytes(1_000_000)  # noqa: S311  # pictures, not secrets
        await store.record(household.response(number, "pictures", picture)).stored()
    taken = [await _read(store, f"chain {chain}", _LONG) for chain in range(_CHAINS)]
    with_pictures = await _read(store, "pictures", _PICTURES)
    await store.close()
    return Measured(sorted(taken)), with_pictures


async def _read(store: HistoryStore, chain: str, length: int) -> float:
    began = time.perf_counter()
    found = await store.responses(chain, [AGENT])
    taken = time.perf_counter() - began
    if len(found) != length:
        raise RuntimeError("a response was not stored")
    return taken


async def main(turns: int, searches: int) -> bool:
    """Print the figures; tell whether all are within what is allowed."""
    household = Household()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "history.db"
        began = time.perf_counter()
        await fill(file, household, turns)
        filled, size = time.perf_counter() - began, file.stat().st_size
        to_open = await opening(file, turns)
        to_search = await searching(file, household, searches)
        to_record, to_call = await recording(file, household, turns, 500)
        to_resume, with_pictures = await resuming(file, household)
    lines = (
        f"{turns} turns: {size / 2**20:.0f} MB, stored in {filled:.0f} s",
        (
            f"searching: median {to_search.middle * 1000:.1f} ms, p95 {to_search.p95 * 1000:.1f} ms, "
            f"longest {to_search.values[-1] * 1000:.1f} ms (allowed: p95 {SEARCHING * 1000:.0f} ms)"
        ),
        f"opening: {to_open:.2f} s (allowed: {OPENING:.0f} s)",
        (
            f"recording: median {to_record.middle * 1000:.2f} ms, p95 {to_record.p95 * 1000:.2f} ms of the event loop "
            f"(allowed: p95 {RECORDING * 1000:.0f} ms); the call at most {to_call.values[-1] * 1000:.2f} ms"
        ),
        (
            f"resuming from {_LONG} responses: median {to_resume.middle * 1000:.1f} ms, "
            f"p95 {to_resume.p95 * 1000:.1f} ms (allowed: p95 {RESUMING * 1000:.0f} ms); "
            f"from {_PICTURES} with pictures {with_pictures * 1000:.0f} ms"
        ),
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return (
        to_search.p95 <= SEARCHING
        and to_open <= OPENING
        and to_record.p95 <= RECORDING
        and to_resume.p95 <= RESUMING
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Measures the history with many turns."
    )
    parser.add_argument(
        "--turns",
        type=int,
        default=100_000,
        help="that are stored (default: %(default)s)",
    )
    parser.add_argument(
        "--searches",
        type=int,
        default=1_000,
        help="that are made (default: %(default)s)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="end with status 1 when something takes too long",
    )
    options = parser.parse_args()
    is_quick = asyncio.run(main(options.turns, options.searches))
    sys.exit(0 if is_quick or not options.check else 1)
