"""What is written down: one figure for each thing measured, with its median and its spread.

Knows numbers; must not know how they came about, or how they are shown.
"""

import statistics
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

_FROZEN = ConfigDict(frozen=True, extra="forbid")

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
"""What is measured; what each means stands in the page (`page.py`)."""


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
    load_before: float
    """Of the last minute, for each core, before anything was measured: above 0.3, somebody else was at work."""
    quick: bool

    @property
    def was_quiet(self) -> bool:
        """Whether nobody else was at work."""
        return self.load_before <= 0.3  # noqa: PLR2004  # said above


class Results(BaseModel):
    """A whole run."""

    model_config = _FROZEN

    machine: Machine
    figures: tuple[Figure, ...]

    def find(self, scenario: str, entities: int, agent: str, measure: Measure) -> Figure | None:
        """Return a figure, None when it was not measured."""
        wanted = (scenario, entities, agent, measure)
        return next((f for f in self.figures if (f.scenario, f.entities, f.agent, f.measure) == wanted), None)


def figure(scenario: str, entities: int, agent: str, measure: Measure, samples: Sequence[float]) -> Figure:
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
