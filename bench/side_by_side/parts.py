"""The parts of our agent in a profile, each with its modules.

Knows how modules are named; must not know how time is measured.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_OURS: Final = "chatterbox."
_PARTS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("wire formats", ("agent.wire.",)),
    ("connection to the model", ("agent.providers.",)),
    (
        "history and long conversations",
        (
            "history.store.",
            "agent.conversation.",
            "history.",
            "thread chatterbox-history",
        ),
    ),
    ("loop", ("agent.",)),
    ("prompt and tools", ("tools.", "home.", "turns.prepare", "llm")),
    ("rules and their effects", ("approvals.", "effects.")),
    (
        "records, usage and sensors",
        ("records.", "usage.", "turns.record", "sensor", "runtime.recent_turns"),
    ),
    ("Home Assistant", ("Home Assistant",)),
    ("waiting, mostly for the server", ("the server",)),
    ("event loop and network", ("asyncio",)),
    ("other threads, mostly writing files", ("thread ",)),
    ("the benchmark", ("the benchmark",)),
)
"""Prefixes of module names by part; the first match counts."""
_REST: Final = "the rest of the turn"
_NAMED: Final = 4
"""Modules that are named for each part."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a profile."""

    name: str
    cost: float
    """Milliseconds of a turn."""
    dearest: tuple[tuple[str, float], ...]
    """Its most expensive modules with their costs."""


def parts_of(costs: Mapping[str, float]) -> list[Part]:
    """Add up the costs of modules by part, the most expensive part first."""
    sums: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for module, cost in costs.items():
        short = module.removeprefix(_OURS)
        sums[_part(short)].append((short, cost))
    parts = [
        Part(
            name,
            sum(cost for _, cost in modules),
            tuple(sorted(modules, key=lambda one: -one[1])[:_NAMED]),
        )
        for name, modules in sums.items()
    ]
    return sorted(parts, key=lambda part: -part.cost)


def _part(module: str) -> str:
    return next(
        (part for part, prefixes in _PARTS if module.startswith(prefixes)), _REST
    )
