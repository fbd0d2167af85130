"""The results: one figure for each measurement, with its median and its spread.

Knows numbers; must not know how they came about, or how they are shown.
"""

import statistics
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_QUIET = 0.1
"""Which share of the machine others may take before its times mean nothing."""

type Measure = Literal[
    "cpu_ms",
    "cpu_us_per_token",
    "first_ms",
    "turn_ms",
    "between_requests_ms",
    "request_bytes",
    "prompt_bytes",
    "prompt_tokens",
    "same_as_before",
    "same_as_any_before",
    "peak_kib",
    "kept_kib",
    "blocks_left",
    "import_s",
    "import_mib",
    "setup_s",
]
"""The measurements; the page (`page.py`) explains each."""


class Figure(BaseModel):
    """One thing measured of one agent, in a home of a size."""

    model_config = _FROZEN

    scenario: str
    entities: int
    agent: str
    measure: Measure
    median: float
    low: float
    """First quartile."""
    high: float
    """Third quartile."""
    samples: int


class Machine(BaseModel):
    """Where and when it was measured, and with what."""

    model_config = _FROZEN

    date: str
    processor: str
    cores: int
    system: str
    python: str
    versions: dict[str, str]
    others_before: float
    """Which share of all processors others took before anything was measured."""
    others_meanwhile: float = 0
    """And while it was measured."""
    quick: bool

    @property
    def was_quiet(self) -> bool:
        """Whether nobody else was at work."""
        return max(self.others_before, self.others_meanwhile) <= _QUIET


class Profile(BaseModel):
    """Where the time of one agent's turns went."""

    model_config = _FROZEN

    scenario: str
    entities: int
    agent: str
    ms: float
    """Of a turn. To its first words, by the clock; else processor time of all threads, with everything that was put
    off: a while without turns counts with it."""
    parts: dict[str, float]
    """Milliseconds of a turn, the dearest part first."""
    samples: int
    """Of the main thread."""


type Measured = Sequence[Figure | Profile]
"""The outcome of a measurement."""

MEASURED: Final = TypeAdapter[Measured](Measured)
"""Reads and writes it as the last line of a worker."""
RESTS: Final = "rests"
"""The line before it with which a worker says that from now on it mostly waits."""


class Results(BaseModel):
    """A whole run."""

    model_config = _FROZEN

    machine: Machine
    figures: tuple[Figure, ...]
    profiles: tuple[Profile, ...] = ()
    failed: tuple[str, ...] = ()
    """A measurement that failed, and the reason."""

    def find(
        self, scenario: str, entities: int, agent: str, measure: Measure
    ) -> Figure | None:
        """Return a figure, None when it was not measured."""
        wanted = (scenario, entities, agent, measure)
        return next(
            (
                f
                for f in self.figures
                if (f.scenario, f.entities, f.agent, f.measure) == wanted
            ),
            None,
        )


def figure(
    scenario: str, entities: int, agent: str, measure: Measure, samples: Sequence[float]
) -> Figure:
    """Sum samples up, of which there is at least one."""
    if len(samples) > 1:
        low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    else:
        low = median = high = samples[0]
    return Figure(
        scenario=scenario,
        entities=entities,
        agent=agent,
        measure=measure,
        median=median,
        low=low,
        high=high,
        samples=len(samples),
    )
