"""The random draw of a turn: the agent, the person's behaviour, and the answer to each request.

Everything follows from a seed and the number of the turn, so that a turn can be had
again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from random import Random
from typing import Final

from tests.agent.providers.contract.dialect import Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.behaviour.chaos.answers import Talker
from tests.behaviour.chaos.faults import FAULTS, Fault, whole
from tests.behaviour.chaos.home import Agent
from tests.behaviour.chaos.people import KITCHEN, REPLIES, STRAY_YES, Reply
from tests.support.servers.raw_http import RawReply

TURNS_OF_A_CONVERSATION: Final = 4
_UNKNOWN_LANGUAGE: Final = "tlh"
LANGUAGES: Final = ("en", "en", "en", "de-CH", _UNKNOWN_LANGUAGE)
NOT_UNDERSTOOD: Final = "what is the meaning of life"
_LONGEST_LISTENING: Final = 0.3
"""Seconds, in which most turns end that meet no stall."""
_WORDS: Final = (
    "turn on the kitchen light",
    "turn off the kitchen light",
    "turn on the radio",
    "schalte Kitchen Light ein",
    "is the kitchen light on?",
    NOT_UNDERSTOOD,
    "unlock the front door",
    "turn on the kitchen light and open the garage",
    STRAY_YES,
)
"""Most of them Home Assistant understands by itself."""
_FAULTS: Final[tuple[Fault, ...]] = tuple(FAULTS)


class Mood(Enum):
    """How a model is while a turn lasts."""

    SOUND = auto()
    FLAKY = auto()
    """Every other request goes wrong."""
    DOWN = auto()


@dataclass(slots=True)
class TurnPlan:
    """One turn."""

    number: int
    agent: Agent
    moods: Mapping[str, Mood]
    """Of the models that speak each wire format."""
    language: str
    words: str
    """The sentence of the person when nothing was asked."""
    reply: Reply
    """How a question is answered, if one waits."""
    is_voice: bool
    breaks_in_after: float | None
    """Seconds until the person says something else instead of listening; None where they listen."""
    mends: bool
    """Whether the circuit of its service is closed before, which failures open for longer than a test lasts."""
    random: Random = field(repr=False)
    """Where the replies to its requests are drawn from."""
    received: list[str] = field(default_factory=list)
    """The answers to its requests."""

    @property
    def satellite_id(self) -> str | None:
        """Where it is said, if nothing was asked elsewhere; None for a chat."""
        return KITCHEN if self.is_voice else None

    @property
    def is_understood(self) -> bool:
        """Return whether a yes in its language is known to be one."""
        return self.language != _UNKNOWN_LANGUAGE

    def answer(self, dialect: Dialect) -> RawReply:
        """Return the reply to the next request."""
        talker = Talker(self.random, self.agent.calls)
        mood = self.moods[dialect.name]
        goes_wrong = mood is Mood.DOWN or (
            mood is Mood.FLAKY and self.random.random() < 0.5
        )
        if not goes_wrong:
            self.received.append("sound")
            return whole(self.random, dialect, dialect.render(talker.sane()))
        (fault,) = self.random.choices(_FAULTS, tuple(FAULTS.values()))
        self.received.append(fault.__name__.strip("_"))
        odd = talker.odd(dialect.finish_reasons, json_only=dialect.has_json_arguments)
        return fault(self.random, dialect, dialect.render(odd))


@dataclass(slots=True)
class Plans:
    """The turns of a seed, and those that are under way."""

    seed: int
    agents: Sequence[Agent] = ()
    under_way: dict[int, TurnPlan] = field(default_factory=dict)
    drawn: Counter[str] = field(default_factory=Counter)
    """The answers to requests, over all turns."""

    def draw(self, number: int) -> TurnPlan:
        """Return a turn, from now on under way."""
        conversation = Random(f"{self.seed}/{number // TURNS_OF_A_CONVERSATION}")  # noqa: S311  # no secret
        random = Random(f"{self.seed}/{number // TURNS_OF_A_CONVERSATION}/{number}")  # noqa: S311  # no secret
        plan = TurnPlan(
            number,
            conversation.choice(self.agents),
            {
                dialect.name: random.choices(tuple(Mood), (2, 4, 3))[0]
                for dialect in DIALECTS
            },
            conversation.choice(LANGUAGES),
            random.choice(_WORDS),
            random.choices(tuple(REPLIES), tuple(REPLIES.values()))[0],
            is_voice=random.random() < 0.8,
            breaks_in_after=random.random() ** 2 * _LONGEST_LISTENING
            if random.random() < 0.12
            else None,
            mends=random.random() < 0.8,
            random=random,
        )
        self.under_way[number] = plan
        return plan

    def end(self, plan: TurnPlan) -> None:
        """Forget a turn that is over."""
        del self.under_way[plan.number]
        self.drawn.update(plan.received)

    def answer(self, number: int, dialect: Dialect) -> RawReply:
        """Return the reply to a request of a turn; nothing where the turn was broken off before it was read."""
        plan = self.under_way.get(number)
        return plan.answer(dialect) if plan else RawReply([])
