"""The machine that it is measured on, and how much of it others took meanwhile.

Knows where Linux tells that; must not know what is measured.
"""

import os
import platform
import resource
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, Self

from bench.side_by_side.results import Machine

_PACKAGES: Final = (
    "homeassistant",
    "openai",
    "anthropic",
    "ollama",
    "aiohttp",
    "pydantic",
)
_WATCHED: Final = 3.0
"""Seconds for which it is watched, before anything is measured, whether others are at work."""
_IDLE_COLUMNS: Final = (3, 4)
"""Of the times in `/proc/stat`: idle, and waiting for a disk."""
_TIMES: Final = 8
"""How many of those times count; the rest is contained in others."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The work of the machine and of this process with its children since it began, in seconds of a processor."""

    began: float
    machine: float
    ours: float

    @classmethod
    def begin(cls) -> Self:
        """Begin to watch."""
        return cls(time.monotonic(), _machine_seconds(), _our_seconds())

    def others_took(self) -> float:
        """Return which share of all processors others took since; what children do counts once they have ended."""
        elapsed = (time.monotonic() - self.began) * (os.cpu_count() or 1)
        others = (_machine_seconds() - self.machine) - (_our_seconds() - self.ours)
        return max(0.0, others / elapsed) if elapsed else 0.0


def _machine_seconds() -> float:
    try:
        with Path("/proc/stat").open(encoding="ascii") as stat:
            times = [int(ticks) for ticks in stat.readline().split()[1 : _TIMES + 1]]
    except OSError:  # not Linux: nobody knows of others
        return _our_seconds()
    return (sum(times) - sum(times[column] for column in _IDLE_COLUMNS)) / os.sysconf(
        "SC_CLK_TCK"
    )


def _our_seconds() -> float:
    used = [
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return sum(one.ru_utime + one.ru_stime for one in used)


def describe_machine(*, quick: bool) -> Machine:
    """Return what it is measured on, and whether others are at work right now; takes some seconds."""
    watch = Watch.begin()
    time.sleep(_WATCHED)
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [
        line.partition(":")[2].strip()
        for line in lines
        if line.startswith("model name")
    ]
    return Machine(
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        processor=models[0] if models else platform.machine(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        versions={name: version(name) for name in _PACKAGES},
        others_before=watch.others_took(),
        quick=quick,
    )
