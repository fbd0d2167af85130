"""The measurements of a run, their order and their longest durations.

What takes long and mostly waits goes on beside everything else; what measures time has
the machine to itself. Knows the kinds of measurements by name; must not know how they
are run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench.side_by_side.targets import ALONE, OURS, REFERENCE

SIZES: Final = (10, 100, 300, 500, 2000)
THOROUGH: Final = (10, 300)
"""The sizes that the table of targets is about."""
_CORE: Final = (
    REFERENCE,
    "litellm",
    "open_router",
    "openai_conversation",
    "anthropic",
    "ollama",
)
_PROCESSES: Final = 5
"""In which the turns of that table are measured: how memory lies and what hashes are is a matter of luck, and the same
code may cost one process more than another, all its life."""
_USUAL: Final = 240.0
"""Seconds that a job may take."""
_LONG: Final = 1140.0
"""Seconds that one may take which goes on beside the others."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a worker."""

    kind: str
    entities: int = 10
    rounds: int = 1
    only: tuple[str, ...] = ()
    minutes: float = 0
    conversations: int = 0
    limit: float = _USUAL
    """Seconds after which it has failed."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the worker."""
        numbers = {
            "--entities": self.entities,
            "--rounds": self.rounds,
            "--minutes": self.minutes,
            "--conversations": self.conversations,
        }
        given = [
            part
            for name, number in numbers.items()
            if number
            for part in (name, str(number))
        ]
        return (
            self.kind,
            *given,
            *(part for name in self.only for part in ("--only", name)),
        )


type Together = Sequence[Job]
"""Jobs that run at once, because none of them measures time, or only one does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: what goes on beside everything, what may be done until that only waits, and what has the machine then."""

    beside: Together
    meanwhile: Sequence[Together]
    then: Sequence[Together]


def everything(share: float = 1) -> Plan:
    """Return all that there is to measure; a smaller share has fewer rounds of it, and shorter waits."""

    def of(whole: int) -> int:
        return max(1, round(whole * share))

    minutes = 10 * share
    return Plan(
        beside=(
            Job("prefix", 300, minutes=minutes, limit=_LONG),
            Job(
                "idle",
                only=(OURS,),
                minutes=minutes,
                conversations=max(100, of(10_000)),
                limit=_LONG,
            ),
            *(
                Job(
                    "idle",
                    only=(name,),
                    minutes=minutes,
                    conversations=max(100, of(2000)),
                    limit=_LONG,
                )
                for name in (REFERENCE, ALONE)
            ),
        ),
        meanwhile=[
            *((Job("prompts", size),) for size in SIZES),
            *((Job("warm_up", size, only=(OURS, REFERENCE)),) for size in THOROUGH),
        ],
        # what the table of targets is about comes first, should there be no time for
        # all
        then=[
            *(
                (Job("turns", size, of(4)),)
                for _ in range(of(_PROCESSES))
                for size in THOROUGH
            ),
            *((Job("growth", rounds=of(2)),), (Job("five", rounds=of(6)),)),
            *_starts((OURS, REFERENCE), of(3)),
            (Job("first", rounds=of(150), only=(OURS,)),),
            [Job("profile", size, of(180), (OURS,)) for size in THOROUGH],
            *((Job("turns", size, of(4)),) for size in SIZES if size not in THOROUGH),
            *((Job("pipeline", size, of(8)),) for size in THOROUGH),
            (Job("crowds", rounds=of(3)),),
            *((Job("fragments", size, of(6)),) for size in THOROUGH),
            *_starts(tuple(name for name in _CORE if name != REFERENCE), 1),
            [Job("allocations", size, of(2)) for size in THOROUGH],
        ],
    )


def a_little() -> Plan:
    """Return what is measured in about a minute: the table of targets, with few samples."""
    return Plan(
        beside=(),
        meanwhile=[
            (
                Job("prompts", 300),
                *(
                    Job(kind, 300, only=(OURS, REFERENCE))
                    for kind in ("prefix", "warm_up")
                ),
            ),
        ],
        then=[
            *((Job("turns", size, 3),) for size in THOROUGH),
            (Job("growth", rounds=1, only=(OURS, REFERENCE)),),
            (Job("five", rounds=2),),
            *_starts((OURS, REFERENCE), 1),
        ],
    )


def _starts(names: Sequence[str], times: int) -> Iterator[Together]:
    for _ in range(times):
        for name in names:
            yield (Job("import", only=(name,)),)
            yield (Job("setup", only=(name,)),)
