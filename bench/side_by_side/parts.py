"""The parts of our agent, for a profile: which modules do what together.

Knows how modules are named; must not know how time is measured.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_OURS: Final = "chatterbox."
_PARTS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("formats", ("agent.wire.",)),
    ("connection to the model", ("agent.providers.",)),
    (
        "history and long conversations",
        ("agent.history.", "history_", "conversation_continuity", "thread chatterbox-history"),
    ),
    ("loop", ("agent.",)),
    ("prompt and tools", ("tools.", "home.", "turns.prompt", "llm")),
    (
        "sums, sensors and reports",
        ("tally", "agent_tallies", "number_", "sensor", "turn_report", "turn_facts", "turn_trace"),
    ),
    ("Home Assistant", ("Home Assistant",)),
    ("waiting, mostly for the server", ("the server",)),
    ("event loop and network", ("asyncio",)),
    ("other threads, mostly files that are written", ("thread ",)),
    ("the benchmark", ("the benchmark",)),
)
"""Parts by what the names of their modules begin with; the first that fits is meant."""
_REST: Final = "the turn in the home"
_NAMED: Final = 4
"""How many modules of a part are named."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a profile."""

    name: str
    cost: float
    """Milliseconds of a turn."""
    dearest: tuple[tuple[str, float], ...]
    """Its dearest modules and what they cost; none where the part says it all."""


def parts_of(costs: Mapping[str, float]) -> list[Part]:
    """Sum up what modules cost, the dearest part first."""
    sums: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for module, cost in costs.items():
        short = module.removeprefix(_OURS)
        sums[_part(short)].append((short, cost))
    parts = [
        Part(name, sum(cost for _, cost in modules), tuple(sorted(modules, key=lambda one: -one[1])[:_NAMED]))
        for name, modules in sums.items()
    ]
    return sorted(parts, key=lambda part: -part.cost)


def _part(module: str) -> str:
    return next((part for part, prefixes in _PARTS if module.startswith(prefixes)), _REST)
