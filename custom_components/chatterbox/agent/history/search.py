"""Looking for what was said: the question, and the answer.

Pure. Knows turns; must not know tables or databases.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..messages import Message
from ..text import clipped
from .search_terms import Phrase, padded, terms_of
from .turn_records import TurnRecord, answered_in, said_in

_SHOWN: Final = 500
"""Characters of what was said, and of what was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What is looked for, and whose words it has to be in.

    What nobody knows who said, such as at a satellite that belongs to nobody, is found by nobody.
    """

    words: str
    """Any text of a person. What holds all of its words is looked for, in any order; if there is nothing such, what
    holds any. The last one may be the beginning of a word. Without a text, the latest turns are found."""
    person_id: str
    """Whose turns are searched, and nobody else's."""
    agent: str | None = None
    """Id of the agent that answered; None is any."""
    since: float | None = None
    """Seconds since the epoch, as is `until`; the end of a turn counts."""
    until: float | None = None
    most: int = 10
    """Turns; more than 200 are never found by their words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A turn that was found."""

    turn_id: str
    conversation_id: str
    at: float
    """When it ended, in seconds since the epoch."""
    said: str
    """What the person said, clipped."""
    answered: str
    """What was answered, clipped."""
    has_outside_content: bool
    """Whether something from outside the house came up then or earlier in the conversation; it may be in the answer."""


def found_turn(turn: TurnRecord, *, has_outside_content: bool) -> Found:
    """Return a turn as it is shown to who looks for it."""
    return Found(
        turn_id=turn.id,
        conversation_id=turn.origin.conversation_id,
        at=turn.ended_at,
        said=clipped(said_in(turn.messages), _SHOWN),
        answered=clipped(answered_in(turn.messages), _SHOWN),
        has_outside_content=has_outside_content,
    )


def terms_of_messages(messages: Sequence[Message]) -> list[str]:
    """Return the words that a turn with these messages is found by: the person's, and those of the answer."""
    return terms_of(said_in(messages)) + terms_of(answered_in(messages))


def is_meant(turn: TurnRecord, query: SearchQuery) -> bool:
    """Tell whether a turn is of the person, the agent and the time that are meant."""
    return (
        turn.origin.person_id == query.person_id
        and query.agent in (None, turn.origin.agent)
        and (query.since is None or turn.ended_at >= query.since)
        and (query.until is None or turn.ended_at <= query.until)
    )


def matches(turn: TurnRecord, phrases: Iterable[Phrase], *, needs_all: bool) -> bool:
    """Tell whether a turn holds what is looked for."""
    words = padded(terms_of_messages(turn.messages))
    found = (phrase.is_in(words) for phrase in phrases)
    return all(found) if needs_all else any(found)
