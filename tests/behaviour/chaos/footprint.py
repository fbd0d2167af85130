"""The resources of a process, so that two moments can be compared."""

import asyncio
import gc
import re
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median
from typing import Final, Self
from unittest.mock import NonCallableMock

from sqlalchemy import Engine

from custom_components import chatterbox
from custom_components.chatterbox.runtime.recent_turns import RecentTurns
from custom_components.chatterbox.turns.run import AgentTurns

_BLOCKS_OF_NOISE: Final = 1_000
_MIB_OF_NOISE: Final = 40
_BOUNDED: Final = (
    NonCallableMock,
    AgentTurns,
    RecentTurns,
    Engine,
)


@dataclass(frozen=True, slots=True)
class Footprint:
    """The resources at a moment in which nothing is under way."""

    blocks: int
    """Pieces of memory that Python has given out: every object that is kept for longer is at least one."""
    tasks: int
    files: int
    """Open ones, sockets among them."""
    peak: int
    """MiB of memory that the process has ever had; for what is too large for `blocks`."""

    @classmethod
    def take(cls) -> Self:
        """Look now."""
        _forget_what_has_a_bound()
        gc.collect()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
            1024**2 if sys.platform == "darwin" else 1024
        )
        return cls(
            sys.getallocatedblocks(),
            len(asyncio.all_tasks()),
            len(list(Path("/dev/fd").iterdir())),
            peak,
        )


def _forget_what_has_a_bound() -> None:
    """Empty our caches that hold so many entries and no more: what they happen to hold is no growth.

    Neither is what the test storage of Home Assistant remembers: each time that
    something was stored.
    """
    re.purge()
    _clear_caches_of_modules()
    for cached in gc.get_objects():
        if not issubclass(type(cached), _BOUNDED):
            continue
        match cached:
            case NonCallableMock():
                cached.reset_mock()
            case AgentTurns():
                cached._prompts.clear()  # noqa: SLF001  # those of the last few conversations
            case RecentTurns():
                cached._turns.clear()  # noqa: SLF001  # the last few of each agent
            case Engine():
                # its pool holds a few connections, each opened when it is first needed
                cached.dispose()
            case _:
                pass


def _clear_caches_of_modules() -> None:
    """Empty the caches of our functions. What has been imported is frozen, so that `gc` does not show it."""
    for name, module in sys.modules.items():
        if not name.startswith(chatterbox.__name__):
            continue
        for cached in vars(module).values():
            is_cache = isinstance(cached, _lru_cache_wrapper)
            if is_cache and cached.cache_parameters()["maxsize"] is not None:
                cached.cache_clear()


def growth(footprints: Sequence[Footprint], turns: int) -> Iterator[str]:
    """Yield what has grown over some footprints, in words; `turns` are taken between two of them.

    The first does not count: things are still being loaded. A turn that leaves a few
    objects behind shows at once, a single one in a longer run.
    """
    early, late = footprints[1:3], footprints[-2:]
    blocks = [one.blocks for one in footprints[1:]]
    step = _step(blocks)
    if step > _BLOCKS_OF_NOISE + turns / 4:
        yield f"memory: {step:.0f} pieces more in {turns} turns, of {blocks}"
    if (peak := late[-1].peak - early[-1].peak) > _MIB_OF_NOISE:
        yield f"memory: {peak} MiB more"
    if (tasks := min(one.tasks for one in late) - max(one.tasks for one in early)) > 0:
        yield f"{tasks} tasks more"
    if (files := min(one.files for one in late) - max(one.files for one in early)) > 0:
        yield f"{files} open files more"


def _step(levels: Sequence[int]) -> float:
    """Return by how much a level grows from one moment to the next.

    Some things are loaded late, once: the median of the steps knows nothing of that.
    What is kept of the last turns is now more and now less: that is nothing to the
    median of all slopes (Theil-Sen). What grows grows by both.
    """
    steps = (after - before for before, after in pairwise(levels))
    slopes = (
        (levels[after] - levels[before]) / (after - before)
        for before, after in combinations(range(len(levels)), 2)
    )
    return min(median(steps), median(slopes))
