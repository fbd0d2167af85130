"""Selections of records, retention limits, search queries and lists of turns, with their results."""

from dataclasses import dataclass

from .records import AuditRecord, StoredTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Records that match every field that is set; without any, all records."""

    conversation_id: str | None = None
    person_id: str | None = None
    """Person who spoke, or whose user sent the request."""
    device_id: str | None = None
    """Device at which the turn took place; responses have none."""
    agent: str | None = None
    before: float | None = None
    """Seconds since the epoch."""

    def includes(self, turn: StoredTurn) -> bool:
        """Return whether a turn matches."""
        origin = turn.origin
        return (
            self.conversation_id in (None, origin.conversation_id)
            and self.person_id in (None, origin.person_id)
            and self.device_id in (None, origin.device_id)
            and self.agent in (None, origin.agent)
            and (self.before is None or turn.ended_at < self.before)
        )


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits for the records of an agent; None is unlimited."""

    seconds: float | None = None
    size: int | None = None
    """Characters of all its turns, of all its audit records, or of all its responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """A search in the turns of one person. Turns of unknown speakers are never found."""

    words: str
    """Turns with all words are found, in any order; if there are none, turns with any. The last word may be incomplete.
    Without words, the latest turns are found."""
    person_id: str
    agent: str | None = None
    """Id of the agent that answered; None is any."""
    since: float | None = None
    """Seconds since the epoch, compared with the end of a turn, as is `until`."""
    until: float | None = None
    most: int = 10
    """Turns to return; a search for words never returns more than 200."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A turn that was found."""

    turn_id: str
    at: float
    """End of the turn in seconds since the epoch."""
    words: str
    """Words of the person, clipped."""
    answered: str
    """Words of the answer, clipped."""
    has_outside_content: bool
    """Whether this turn or an earlier one of the conversation holds content from outside the home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnList:
    """A page of a list of turns, the newest first. Turns that match every field that is set are listed."""

    people: frozenset[str] | None = None
    """Ids of the people who spoke; None is anybody, unknown speakers too."""
    device_id: str | None = None
    agent: str | None = None
    words: str = ""
    """All of them occur in the turn, in any order. The last one may be incomplete."""
    since: float | None = None
    """Seconds since the epoch, compared with the end of a turn, as is `until`."""
    until: float | None = None
    ends: frozenset[str | None] = frozenset()
    """Stop reasons, None for a turn that was cut off; empty for any."""
    or_failed: bool = False
    """Whether turns with other ends match, too, if they have failed."""
    slower_than: float | None = None
    """Seconds until the first words, or the end of a turn without any."""
    before: int | None = None
    """The `seq` after which the page begins; None for the first page."""
    most: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTurn:
    """A turn in a list."""

    seq: int
    turn: StoredTurn
    changes: tuple[AuditRecord, ...]
    """Its changes and questions, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurn:
    """A turn that was looked up."""

    turn: StoredTurn
    changes: tuple[AuditRecord, ...]
    """As in `ListedTurn`."""
    previous: str | None
    """Id of the turn before it in its conversation."""
    next: str | None
