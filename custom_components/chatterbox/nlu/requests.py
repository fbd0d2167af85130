"""Requests that a sentence may hold, and the surroundings in which it was spoken."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class EntityCommand:
    """Something to do with entities of the home."""

    act: str
    ids: frozenset[str] = frozenset()
    """Entity ids."""
    amount: float | None = None
    unit: str = ""
    colour: str = ""
    aspect: str = ""
    is_by: bool = False
    """Whether the amount is a difference: "two degrees warmer"."""
    is_elliptic: bool = False
    """Whether it names nothing: "louder", "turn it off"."""


@dataclass(frozen=True, slots=True)
class DeviceSetting:
    """Values to set on what heats, cools or plays."""

    ids: frozenset[str]
    values: Mapping[str, str | float | bool]
    """By the names that Home Assistant has for them."""
    unit: str
    """Of temperatures: `celsius` or `fahrenheit`; empty for that of the home."""


@dataclass(frozen=True, slots=True)
class PlayerGroup:
    """Players that are to play together, or each on its own."""

    ids: frozenset[str]
    leader: str = ""
    """The player that the others follow; empty to part them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A command that several entities fit, one of which is meant."""

    ids: frozenset[str]
    sentence: str = field(default="", compare=False)
    """The sentence with `…` in the place of the names; empty if they stand in several places, or there are none."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A request that lacks something."""

    lacks: str
    """`value` or `item`."""
    sentence: str = ""
    """The sentence with `…` in the place of what it lacks; empty if an answer may follow it."""


@dataclass(frozen=True, slots=True)
class UnknownName:
    """Words of a command for what is not at home, or not there."""

    text: str
    alike: tuple[str, ...] = ()
    """Names of things of its kind."""


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question about the world around the home: the time, the date, the weather."""

    topics: tuple[str, ...]
    days: tuple[str, ...] = ()
    is_whether: bool = False
    """Whether its answer begins with yes or no."""
    zone: str = ""
    """The time zone of the place whose time is asked for; empty for here."""
    on: date | None = None
    """The date that is asked about, if it is none of the `days`."""
    hour: datetime | None = None
    """The hour that is asked about."""
    limit: float = 0
    """The degrees that it may be `above` or `below`, its topic."""


@dataclass(frozen=True, slots=True)
class StateQuestion:
    """A question about the states of entities."""

    ids: frozenset[str]
    form: str
    """The key of Home Assistant's answer."""
    state: str = ""
    """The state that is asked for, a value of the lexicon; empty for any."""
    spoken_state: str = ""
    """The same, as it was said."""
    aspect: str = ""
    """The measured property: temperature, humidity."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request about a list."""

    act: str
    """`add`, `remove`, `complete`, `read` or `count`."""
    list_id: str = ""
    """Empty where none is named."""
    items: tuple[str, ...] = ()
    is_all: bool = False
    """Whether it is about the names of all lists."""

    @property
    def ids(self) -> frozenset[str]:
        """The list that is named, if one is."""
        return frozenset({self.list_id} - {""})


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """A request for music that is searched for."""

    query: str
    """The words that tell what is meant."""
    words: str
    """All words."""
    ids: frozenset[str]
    """The players that are named."""
    is_each: bool
    """Whether those are players of several places, each of which is to play it."""


@dataclass(frozen=True, slots=True)
class TimerRequest:
    """A timer to start."""

    durations: Mapping[str, int]
    """Numbers by `hours`, `minutes` and `seconds`."""
    name: str = ""


type SpokenRequest = (
    EntityCommand
    | DeviceSetting
    | PlayerGroup
    | Choice
    | OpenQuestion
    | UnknownName
    | WorldQuestion
    | StateQuestion
    | ListRequest
    | PlayRequest
    | TimerRequest
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a sentence was said, and what it may refer to."""

    area_id: str | None = None
    playing: frozenset[str] = frozenset()
    """Players that are playing, or else those that are on."""
    on: frozenset[str] = frozenset()
    """Players that are on."""
    paused: frozenset[str] = frozenset()
    """Players that are paused."""
    last: frozenset[str] = frozenset()
    """The entities of the request before."""
    before: EntityCommand | WorldQuestion | StateQuestion | None = None
    """The request before."""

    @property
    def command(self) -> EntityCommand | None:
        """Return the request before, if it is a command."""
        if isinstance(self.before, EntityCommand):
            return self.before
        return None
