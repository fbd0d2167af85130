"""Memories: facts that people asked to be remembered, of one person with one agent or of the whole household.

Agents never share the facts of a person: the model of another one may run elsewhere.
Those of the household belong to the home. Decision 62.
"""

import asyncio
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, assert_never

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType
from pydantic import AwareDatetime, TypeAdapter

from ..agent.messages import JsonValue
from ..agent.text import plain_name
from ..const import DOMAIN, LOGGER, home_singleton
from ..people.speakers import Speaker
from ..settings.agent import existing_agents
from ..settings.rules import HouseholdWriters, async_get_home_rules
from ..settings.stored_file import StoredFile, Unreadable

MOST_FACTS: Final = 100
"""Of one person with one agent, or of the household."""
LONGEST_FACT: Final = 300
"""Characters."""
BOUNDS: Final = {"longest": str(LONGEST_FACT), "most": str(MOST_FACTS)}
"""The same for texts."""

VERSION: Final = 2
_ID_BYTES: Final = 3
_JOINERS: Final = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Invisible, but part of the spelling in some languages."""


class MemoryProblem(StrEnum):
    """Why a fact was not changed. The values are translation keys."""

    EMPTY = "memory_empty"
    TOO_LONG = "memory_too_long"
    FULL = "memory_full"
    GONE = "memory_gone"
    """The fact does not exist."""
    NOT_KEPT = "memory_not_kept"
    """It cannot be stored; nothing was changed."""
    NO_ROOM = "memory_no_room"
    """The same, since the disk is full."""
    UNREADABLE = "memory_unreadable"
    """The stored facts cannot be read; the file is left as it is."""
    NOT_PERMITTED = "memory_not_permitted"
    """It is a fact of the household; see `async_may_write`."""


class NotRemembered(Exception):
    """Nothing was changed."""

    def __init__(self, problem: MemoryProblem) -> None:
        """Keep the problem, for callers with texts of their own."""
        super().__init__(problem.value)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a person wants to be known."""

    id: str
    """Short, because models have to copy it; unique among the facts that an agent is told together."""
    text: str
    """One line, of 1 to `LONGEST_FACT` characters."""
    created: AwareDatetime
    """In UTC."""
    is_aside: bool = False
    """Whether it is kept without being told to the agent."""
    ends: AwareDatetime | None = None
    """In UTC. It is deleted then; None for one that stays."""

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.ends is not None and self.ends <= dt_util.utcnow()


@dataclass(frozen=True, slots=True)
class Keeper:
    """A person and an agent, whose facts belong together."""

    agent: str
    """Subentry id."""
    person: str
    """See `Speaker.person_id`."""


HOUSEHOLD: Final = Keeper("", "")
"""All who live in the home, whichever agent they talk to."""


SIGNAL_MEMORIES: Final[SignalType[Keeper]] = SignalType(f"{DOMAIN}_memories")
"""Sent when facts were changed."""


@dataclass(frozen=True, slots=True)
class _Person:
    """The facts of one keeper, as they are stored."""

    agent: str
    person: str
    name: str
    """Name of the person when a fact was last changed."""
    facts: tuple[Fact, ...] = ()
    """The oldest first."""


type _People = Mapping[Keeper, _Person]
type Change = Callable[[tuple[Fact, ...]], tuple[Fact, ...]]
"""Returns the changed facts of a person; raises `NotRemembered`."""

_STORED: Final = TypeAdapter(tuple[_Person, ...])


class Memories:
    """All facts of the home."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Prepare the storage without reading it."""
        self._hass = hass
        self._file = StoredFile(
            hass,
            "memories",
            _people_from,
            version=VERSION,
        )
        self._people: _People | None = None
        self._one_at_a_time = asyncio.Lock()
        self._cancel_end: CALLBACK_TYPE = lambda: None

    async def async_load(self) -> None:
        """Read the stored facts once. Raises `NotRemembered` (UNREADABLE)."""
        if self._people is None:
            async with self._one_at_a_time:
                await self._async_known()

    def facts(self, keeper: Keeper) -> tuple[Fact, ...]:
        """Return the facts of a keeper, oldest first; none before they are loaded."""
        person = (self._people or {}).get(keeper)
        if person:
            return _current(person.facts)
        return ()

    def keepers(self) -> tuple[Keeper, ...]:
        """Return all keepers of facts."""
        return tuple(self._people or ())

    def people(self, agent: str) -> dict[str, str]:
        """Return the names of the people who have facts with an agent, by their ids."""
        return {
            keeper.person: person.name
            for keeper, person in (self._people or {}).items()
            if keeper.agent == agent
        }

    async def async_add(
        self,
        keeper: Keeper,
        text: str,
        name: str,
        ends: datetime | None = None,
    ) -> Fact:
        """Add a fact of the person called `name`, or keep the same one until then. Raises `NotRemembered`."""
        text = one_line(text)

        def add(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
            known = next(
                (fact for fact in facts if _is_same(fact, text)),
                None,
            )
            if known is not None:
                return _with(
                    facts,
                    replace(
                        known,
                        is_aside=False,
                        ends=ends,
                    ),
                )
            if len(facts) >= MOST_FACTS:
                raise NotRemembered(MemoryProblem.FULL)
            return (
                *facts,
                Fact(
                    self._new_id(),
                    text,
                    dt_util.utcnow(),
                    ends=ends,
                ),
            )

        facts = await self._async_change(
            keeper,
            add,
            name,
        )
        return next(fact for fact in facts if _is_same(fact, text))

    async def async_change(
        self,
        keeper: Keeper,
        fact_id: str,
        text: str,
        *,
        is_aside: bool,
        ends: datetime | None = None,
    ) -> None:
        """Change the text of a fact, whether it is aside, and its end. Raises `NotRemembered`."""
        text = one_line(text)

        def change(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
            known = next(
                (fact for fact in facts if fact.id == fact_id),
                None,
            )
            if known is None:
                raise NotRemembered(MemoryProblem.GONE)
            return _with(
                facts,
                replace(
                    known,
                    text=text,
                    is_aside=is_aside,
                    ends=ends,
                ),
            )

        await self._async_change(keeper, change)

    async def async_forget(
        self,
        keeper: Keeper,
        fact_ids: Iterable[str],
    ) -> None:
        """Delete facts; unknown ones are ignored. Raises `NotRemembered`."""
        gone = frozenset(fact_ids)
        await self._async_change(
            keeper, lambda facts: tuple(fact for fact in facts if fact.id not in gone)
        )

    async def async_forget_removed(self, *, keeps_household: bool = True) -> None:
        """Delete the facts of removed agents, and those of the household with the last service."""
        agents = {*existing_agents(self._hass)}
        if keeps_household:
            agents.add(HOUSEHOLD.agent)
        async with self._one_at_a_time:
            try:
                known = await self._async_known()
                left = {
                    keeper: person
                    for keeper, person in known.items()
                    if keeper.agent in agents
                }
                await self._async_store(left)
            except NotRemembered as error:
                LOGGER.warning(
                    "Memories of a removed agent could not be deleted: %s", error
                )

    async def _async_known(self) -> _People:
        if self._people is None:
            try:
                self._people = await self._file.async_load() or {}
            except Unreadable as error:
                raise NotRemembered(MemoryProblem.UNREADABLE) from error
            self._follow_end()
        return self._people

    async def _async_change(
        self, keeper: Keeper, change: Change, name: str = ""
    ) -> tuple[Fact, ...]:
        """Change the facts of a keeper, also if the caller is cancelled meanwhile. Return them."""
        changing = self._async_change_whole(
            keeper,
            change,
            name,
        )
        return await asyncio.shield(
            self._hass.async_create_task(changing, "chatterbox change of facts")
        )

    async def _async_change_whole(
        self, keeper: Keeper, change: Change, name: str
    ) -> tuple[Fact, ...]:
        async with self._one_at_a_time:
            known = await self._async_known()
            before = known.get(
                keeper,
                _Person(
                    keeper.agent,
                    keeper.person,
                    name,
                ),
            )
            after = replace(
                before,
                facts=change(_current(before.facts)),
                name=name or before.name,
            )
            others = {
                other: person for other, person in known.items() if other != keeper
            }
            await self._async_store(
                {
                    **others,
                    keeper: after,
                }
                if after.facts
                else others
            )
        async_dispatcher_send(
            self._hass,
            SIGNAL_MEMORIES,
            keeper,
        )
        return after.facts

    async def _async_store(self, people: _People) -> None:
        """Store a new state, and use it once it is stored."""
        if people == self._people:
            return
        written = {
            "people": _STORED.dump_python(
                tuple(people.values()),
                mode="json",
            )
        }
        obstacle = await self._file.async_save(
            written,
            keeps=False,
        )
        if obstacle:
            raise NotRemembered(MemoryProblem(f"memory_{obstacle}"))
        self._people = people
        self._follow_end()

    def _follow_end(self) -> None:
        """Delete the fact that ends next when it does."""
        self._cancel_end()
        facts = _facts_of(self._people or {})
        ends = [fact.ends for fact in facts if fact.ends and not fact.is_over]
        if ends:
            job = HassJob(self._async_end, cancel_on_shutdown=True)
            wait = (min(ends) - dt_util.utcnow()).total_seconds()
            self._cancel_end = async_call_later(
                self._hass,
                wait,
                job,
            )

    async def _async_end(self, _now: datetime) -> None:
        for keeper, person in (self._people or {}).items():
            if any(fact.is_over for fact in person.facts):
                with suppress(NotRemembered):  # it is not told any more
                    await self._async_change(keeper, lambda facts: facts)
        self._follow_end()

    def _new_id(self) -> str:
        taken = {fact.id for fact in _facts_of(self._people or {})}
        while (fact_id := secrets.token_hex(_ID_BYTES)) in taken:
            pass
        return fact_id


def _facts_of(people: _People) -> Sequence[Fact]:
    return [fact for person in people.values() for fact in person.facts]


def _current(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if not fact.is_over)


def _people_from(stored: JsonValue) -> _People:
    match stored:
        case {"people": people}:
            return {
                Keeper(one.agent, one.person): one
                for one in _STORED.validate_python(people)
            }
        case _:
            raise ValueError("no people are stored")


def one_line(text: str) -> str:
    """Return a text on one line, without invisible characters. Raises `NotRemembered`."""
    visible = (
        char
        if char in _JOINERS or not unicodedata.category(char).startswith("C")
        else " "
        for char in text
    )
    line = " ".join("".join(visible).split())
    if not line.strip(_JOINERS):
        raise NotRemembered(MemoryProblem.EMPTY)
    if len(line) > LONGEST_FACT:
        raise NotRemembered(MemoryProblem.TOO_LONG)
    return line


def _is_same(fact: Fact, text: str) -> bool:
    return plain_name(fact.text) == plain_name(text)


def _with(
    facts: Sequence[Fact],
    changed: Fact,
) -> tuple[Fact, ...]:
    return tuple(changed if fact.id == changed.id else fact for fact in facts)


async def async_may_write(
    hass: HomeAssistant,
    speaker: Speaker,
) -> bool:
    """Return whether a speaker may change the facts of the household."""
    match writers := async_get_home_rules(hass).current.household_writers:
        case HouseholdWriters.EVERYONE:
            return True
        case HouseholdWriters.KNOWN:
            return speaker.person_id is not None
        case HouseholdWriters.ADMINS:
            user = await hass.auth.async_get_user(speaker.user_id or "")
            return user is not None and user.is_active and user.is_admin
        case _:
            assert_never(writers)


async_get_memories: Final = home_singleton("memories", Memories)
"""Returns the facts of the home."""
