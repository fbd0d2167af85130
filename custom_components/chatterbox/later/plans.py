"""Plans: what is to happen later, for whom, and when; and the news of them that nobody has heard yet.

Both are stored once for the home, in one file, so that a plan becomes news in one step.
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from math import inf, isfinite
from typing import Final

from homeassistant.const import (
    ATTR_UNIT_OF_MEASUREMENT,
    STATE_HOME,
    STATE_NOT_HOME,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import HomeAssistant, State, StateMachine
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object
from homeassistant.util.signal_type import SignalType
from pydantic import AwareDatetime, TypeAdapter

from ..agent.messages import JsonObject, JsonValue, ToolCall, canonical_json
from ..agent.text import heard_words, plain_name
from ..const import DOMAIN, home_singleton
from ..people.speakers import Asking, Speaker
from ..settings.stored_file import StoredFile, Unreadable
from ..speech.text.times import Repetition

MOST_PLANS: Final = 50
"""Of the home."""
MOST_OF_A_PERSON: Final = 20
"""Of the household, and of automations, too."""
LONGEST_TEXT: Final = 200
"""Characters."""
MOST_NEWS: Final = 50
MOST_BEGUN: Final = 10
"""How often a routine may begin within `RESTLESS` before it is ended."""
RESTLESS: Final = timedelta(minutes=10)
TIMER_WORDS: Final = "in 0 hours"
"""Begin the words for the time of a timer, which nobody says."""
VERSION: Final = 4
_ID_BYTES: Final = 3
_HAPPENING: Final = frozenset({"button", "event", "input_button", "scene"})
"""The domains of entities whose state is when something last happened."""
_STALE: Final = 0
"""The time of change of a file that could not be replaced, in seconds since the epoch."""


class PlanKind(StrEnum):
    """The kind of a plan."""

    ACT = "act"
    REMIND = "remind"
    TELL = "tell"


class PlanProblem(StrEnum):
    """Why nothing was planned or changed. The values are translation keys."""

    FULL = "later_full"
    """The person has as many plans as one may have."""
    FULL_HOUSEHOLD = "later_full_household"
    FULL_AUTOMATIONS = "later_full_automations"
    FULL_HOME = "later_full_home"
    NOT_KEPT = "later_not_kept"
    """It cannot be stored; nothing was changed."""
    NO_ROOM = "later_no_room"
    """The same, since the disk is full."""
    UNREADABLE = "later_unreadable"
    """The stored plans cannot be read; the file is left as it is."""
    NO_TIME = "later_no_time"
    """Its time has passed or is too far away, or its text is too long."""
    NOT_PERMITTED = "later_not_permitted"
    """The person who changes it has no right to control what it does."""
    NOT_ALLOWED = "later_not_allowed"
    """The rules or a script of the home refuse it to that person."""
    NEEDS_YES = "later_needs_yes"
    """It needs a yes for its new time."""
    FIXED = "later_fixed"
    """The yes was given for its time."""
    UNTIMED = "later_untimed"
    """It waits for a state or an event, and has no time that could be moved."""
    BEGUN = "later_begun"
    """It is being done, and cannot be cancelled any more."""
    GONE = "later_gone"
    """There is no such plan."""


class NotPlanned(ServiceValidationError):
    """Nothing was changed. Home Assistant translates its message for people."""

    def __init__(self, problem: PlanProblem) -> None:
        """Keep the problem, for callers with texts of their own."""
        super().__init__(
            translation_domain=DOMAIN,
            translation_key=problem.value,
        )
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asked, as far as known, and the place."""

    user_id: str | None = None
    person_id: str | None = None
    """None for the household."""
    name: str | None = None
    device_id: str | None = None
    satellite_id: str | None = None
    is_signed_in: bool = False
    is_api_client: bool = False
    is_automation: bool = False
    """Whether nobody was there. It has a share of its own in the room for plans, and is of the household otherwise."""
    guests_since: AwareDatetime | None = None
    """Of a guest, when guest mode began; None for anybody else."""

    @property
    def full(self) -> PlanProblem:
        """The problem of too many plans of theirs."""
        if self.person_id is not None:
            return PlanProblem.FULL
        if self.is_automation:
            return PlanProblem.FULL_AUTOMATIONS
        return PlanProblem.FULL_HOUSEHOLD

    @property
    def speaker(self) -> Speaker:
        """The speaker whose rights and rules a plan has. The person gave their answer when it was made."""
        return Speaker(
            self.user_id,
            self.device_id,
            self.name,
            Asking.PERSON,
            is_signed_in=self.is_signed_in,
            person_id=self.person_id,
            is_api_client=self.is_api_client,
        )


@dataclass(frozen=True, slots=True)
class Condition:
    """A state, or something that happens, that is waited for."""

    entity_id: str
    state: str = ""
    """Empty for a number; of an event, its type, or empty for any."""
    above: float | str | None = None
    """A number, or the id of an entity with the same unit."""
    below: float | str | None = None
    seconds: int = 0
    """For how long it has to hold."""

    @property
    def entity_ids(self) -> list[str]:
        """The entities whose states it is about."""
        return [
            self.entity_id,
            *(one for one in (self.above, self.below) if isinstance(one, str)),
        ]

    @property
    def happens(self) -> bool:
        """Whether it happens at a moment, and never holds."""
        return self.entity_id.partition(".")[0] in _HAPPENING

    def is_met(self, states: StateMachine) -> bool | None:
        """Return whether it holds, or has just happened; None if that is not known."""
        if self.happens:
            return True
        return self.holds(states)

    def renamed(
        self,
        old: str,
        new: str,
    ) -> Condition:
        """Return it with another id of an entity."""
        above, below = (new if one == old else one for one in (self.above, self.below))
        return replace(
            self,
            entity_id=new if self.entity_id == old else self.entity_id,
            above=above,
            below=below,
        )

    def holds(self, states: StateMachine) -> bool | None:
        """Return whether the states fulfil it; None if they are not known."""
        state = states.get(self.entity_id)
        if state is None or state.state in {STATE_UNAVAILABLE, STATE_UNKNOWN}:
            return None
        if self.state == STATE_NOT_HOME:  # in any other zone, too
            return state.state != STATE_HOME
        if self.state:
            return self.state in {state.state, state_key(state.state)}
        value = _number(
            state,
            self.entity_id,
            states,
        )
        above = -inf if self.above is None else _number(state, self.above, states)
        below = inf if self.below is None else _number(state, self.below, states)
        if value is None or above is None or below is None:
            return None
        return above < value < below


def state_key(words: str) -> str:
    """Return a state as it is compared: of a person, it may be the name of a zone."""
    return plain_name(words).replace(" ", "_")


def _number(
    like: State,
    value: float | str,
    states: StateMachine,
) -> float | None:
    """Return a number, or the state of an entity that has the unit of another one."""
    if not isinstance(value, str):
        return value
    state = states.get(value)
    unit = like.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
    if state is None or state.attributes.get(ATTR_UNIT_OF_MEASUREMENT) != unit:
        return None
    try:
        number = float(state.state)
    except ValueError:
        return None
    return number if isfinite(number) else None


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The call of a plan, exactly as it was judged."""

    tool: str
    arguments: str
    """Canonical JSON."""
    terms: str = ""
    """The terms of the approval; empty if it needed none. See `PendingCall.terms`."""


def _renamed(
    value: JsonObject,
    old: str,
    new: str,
) -> JsonObject:
    """Return a trigger with another id of an entity."""
    texts = canonical_json(value)
    return json_loads_object(texts.replace(canonical_json(old), canonical_json(new)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FuturePlan:
    """A plan for later."""

    kind: PlanKind
    agent: str
    """Subentry id."""
    asker: Asker
    language: str
    text: str
    """Its action in words; of a reminder, its words."""
    due: AwareDatetime | None = None
    """None for a plan that only waits for its condition."""
    words: str = ""
    """The words for the time, from which that of a repetition is resolved."""
    every: Repetition = ""
    condition: Condition | None = None
    """With a time, it is looked at then."""
    waits_for: tuple[JsonObject, ...] = ()
    """Triggers of Home Assistant, of any kind, that it waits for in place of a time or a condition."""
    call: PlannedCall | None = None
    until: AwareDatetime | None = None
    """The time after which its condition is not worth waiting for; None if it has a time."""
    is_urgent: bool = False
    """Whether it is told at night, too."""
    repeats: bool = False
    """Whether it tells its condition, or acts, each time that it begins to hold."""
    told_at: AwareDatetime | None = None
    """When it last did."""
    begun_at: tuple[AwareDatetime, ...] = ()
    """When its action last began each time that its condition held, the latest last."""
    trouble: str = ""
    """Why it was not done the last time, in the words that were told."""
    is_begun: bool = False
    """It is marked before it acts, so that it never acts twice."""
    id: str = field(default_factory=lambda: secrets.token_hex(_ID_BYTES))

    @property
    def is_routine(self) -> bool:
        """Whether it acts again and again, by itself. Decision 63."""
        return self.kind is PlanKind.ACT and bool(self.every or self.repeats)

    @property
    def tool_call(self) -> ToolCall:
        """The call that it makes, without an id; one of no tool if it only speaks."""
        call = self.call or PlannedCall("", "{}")
        return ToolCall(
            "",
            call.tool,
            call.arguments,
        )

    @property
    def is_restless(self) -> bool:
        """Whether it has acted too often lately: something may turn in circles."""
        begun = self.begun_at
        return len(begun) >= MOST_BEGUN and begun[-1] - begun[0] <= RESTLESS

    @property
    def begun(self) -> FuturePlan:
        """It, as it begins to act."""
        if not self.repeats:
            return replace(self, is_begun=True)
        now = dt_util.utcnow()
        begun_at = (*self.begun_at, now)[-MOST_BEGUN:]
        return replace(
            self,
            is_begun=True,
            told_at=now,
            begun_at=begun_at,
        )

    @property
    def essence(self) -> FuturePlan:
        """Its action or words, its person, place and time: two plans with the same are one."""
        # Said twice, "in ten minutes" is some seconds later. Of timers, there may be
        # two.
        due = self.due
        is_timer = self.words.startswith(TIMER_WORDS)
        if due and self.call:
            due = due.replace(second=0, microsecond=0)
        return replace(
            self,
            id="",
            agent=self.agent if self.call else "",
            asker=replace(
                self.asker,
                name=None,
            ),
            language="",
            text=" ".join(heard_words(self.text)),
            due=due,
            words=self.words if is_timer else "",
            until=None,
            told_at=None,
            begun_at=(),
            trouble="",
        )

    @property
    def triggers(self) -> tuple[JsonObject, ...]:
        """The triggers of Home Assistant at which it is looked at."""
        if self.due:
            at = f"{dt_util.as_local(self.due):%H:%M:%S}"
            return ({"trigger": "time", "at": at},)
        if self.condition:
            entity_ids: list[JsonValue] = [*self.condition.entity_ids]
            return ({"trigger": "state", "entity_id": entity_ids},)
        return self.waits_for

    def renamed(
        self,
        old: str,
        new: str,
    ) -> FuturePlan:
        """Return it with another id of an entity."""
        if self.condition:
            condition = self.condition.renamed(old, new)
        else:
            condition = None
        waits_for = tuple(_renamed(one, old, new) for one in self.waits_for)
        call = self.call
        if call and self.is_routine and new:
            arguments = _renamed(
                json_loads_object(call.arguments),
                old,
                new,
            )
            call = replace(
                call,
                arguments=canonical_json(arguments),
            )
        return replace(
            self,
            condition=condition,
            waits_for=waits_for,
            call=call,
        )

    def put_off(self, time: timedelta) -> FuturePlan:
        """Return a new plan to say once more, after a time, what a reminder says."""
        return FuturePlan(
            kind=self.kind,
            agent=self.agent,
            asker=self.asker,
            language=self.language,
            text=self.text,
            due=dt_util.utcnow() + time,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Words that nobody has heard yet, mostly about a plan."""

    text: str
    language: str
    asker: Asker
    plan: FuturePlan | None = None
    """The plan that they are about. A reminder can be put off."""
    missed: str = ""
    """Of an action that can still be done, why it was not; it is asked about then."""
    is_urgent: bool = False
    """Whether they are told at night, too."""
    is_kept: bool = False
    """Whether it waits until somebody speaks in its place."""
    id: str = field(default_factory=lambda: secrets.token_hex(_ID_BYTES))
    secret: str = field(default_factory=secrets.token_hex)
    """Begins the actions of its buttons."""

    @property
    def of_moment(self) -> bool:
        """Whether its action is only asked about at once: another moment was not meant."""
        return self.plan is not None and self.plan.repeats


@dataclass(frozen=True, slots=True)
class Heard:
    """A reminder that was heard, which can be put off."""

    news: News
    at: AwareDatetime
    satellite_id: str | None
    """Where; None for a phone or a chat."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything in the file."""

    plans: tuple[FuturePlan, ...] = ()
    """The oldest first."""
    news: tuple[News, ...] = ()
    heard: tuple[Heard, ...] = ()
    """The latest last, one of each satellite."""

    def plan(self, plan_id: str) -> FuturePlan:
        """Return a plan. Raises `NotPlanned` (GONE)."""
        found = next(
            (plan for plan in self.plans if plan.id == plan_id),
            None,
        )
        if found is None:
            raise NotPlanned(PlanProblem.GONE)
        return found

    def replacing(
        self,
        known: FuturePlan,
        *changed: FuturePlan,
    ) -> Stored:
        """Return it with a plan replaced or removed. Raises `NotPlanned` (GONE) if it is not as it was known."""
        if known not in self.plans:
            raise NotPlanned(PlanProblem.GONE)
        return replace(
            self,
            plans=tuple(
                new
                for plan in self.plans
                for new in (changed if plan == known else (plan,))
            ),
        )

    def hearing(
        self,
        news: Sequence[News],
        satellite_id: str | None,
    ) -> Stored:
        """Return it without news that were heard. The reminders among them can be put off; the oldest are dropped."""
        waiting = {one.id for one in self.news}  # a button may have been tapped already
        reminders = [
            one for one in news if one.plan and one.plan.kind is PlanKind.REMIND
        ]
        reminders = [one for one in reminders if satellite_id or one.id in waiting]
        if reminders:
            left = self.without_heard_at(satellite_id).heard
        else:
            left = self.heard
        heard = (
            *left,
            *(Heard(one, dt_util.utcnow(), satellite_id) for one in reminders),
        )
        return replace(
            self.without_news({one.id for one in news}), heard=heard[-MOST_NEWS:]
        )

    def without_heard_at(self, satellite_id: str | None) -> Stored:
        """Return it without the reminder that was heard at a satellite."""
        return replace(
            self,
            heard=tuple(
                one for one in self.heard if one.satellite_id != (satellite_id or "")
            ),
        )

    def without_buttons(self, secret: str) -> Stored:
        """Return it without a reminder whose button was tapped."""
        left = self.without_news({one.id for one in self.news if one.secret == secret})
        return replace(
            left, heard=tuple(one for one in self.heard if one.news.secret != secret)
        )

    def without_news(self, ids: AbstractSet[str]) -> Stored:
        """Return it without some news."""
        return replace(
            self,
            news=tuple(one for one in self.news if one.id not in ids),
        )

    def without_news_of(self, plan_id: str) -> Stored:
        """Return it without the news of a plan."""
        return self.without_news(
            {one.id for one in self.news if one.plan and one.plan.id == plan_id}
        )

    def with_same_news(self, changed: News) -> Stored:
        """Return it with news replaced by their id, if they still wait."""
        return replace(
            self,
            news=tuple(changed if one.id == changed.id else one for one in self.news),
        )

    def with_news(self, *news: News) -> Stored:
        """Return it with more news; the oldest are dropped."""
        return replace(
            self,
            news=(*self.news, *news)[-MOST_NEWS:],
        )


waiting_news: Final = home_singleton("waiting_news", lambda _: list[News]())
"""Returns the news that wait until somebody speaks, which each turn looks at."""

SIGNAL_PLANS: Final[SignalType[()]] = SignalType(f"{DOMAIN}_plans")
"""Sent when plans were changed."""

_STORED: Final = TypeAdapter(Stored)


class Plans:
    """The stored plans of the home."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Prepare the storage without reading it."""
        self._file = StoredFile(
            hass,
            "later",
            _STORED.validate_python,
            version=VERSION,
        )
        self._hass = hass
        self.stored = Stored()
        """Everything, as it is stored; nothing before it is loaded."""
        self.found = Stored()
        """Everything that the file held when it was read: of earlier runs of Home Assistant."""
        self.is_tried = False
        """Whether nothing is stored."""
        self.doubtful: frozenset[str] = frozenset()
        """Ids of plans of earlier runs that may have been told not to be done, which could not be stored then."""
        self.is_loaded = False
        self._one_at_a_time = asyncio.Lock()

    def get(self, plan_id: str) -> FuturePlan | None:
        """Return a plan."""
        return next(
            (plan for plan in self.stored.plans if plan.id == plan_id),
            None,
        )

    async def async_load(self) -> None:
        """Read the file once. Raises `NotPlanned` (UNREADABLE)."""
        await self.async_change(lambda stored: stored)

    async def async_add(self, plan: FuturePlan) -> FuturePlan:
        """Add a plan and return it, or the same one that is there already. Raises `NotPlanned`."""

        def add(stored: Stored) -> Stored:
            left = stored.without_heard_at(plan.asker.satellite_id)
            if any(one.essence == plan.essence for one in stored.plans):
                return left
            alike = [
                one.asker
                for one in stored.plans
                if one.asker.person_id == plan.asker.person_id
            ]
            own = [
                asker
                for asker in alike
                if asker.is_automation == plan.asker.is_automation
            ]
            if len(own) >= MOST_OF_A_PERSON:
                raise NotPlanned(plan.asker.full)
            if len(stored.plans) >= MOST_PLANS:
                raise NotPlanned(PlanProblem.FULL_HOME)
            return replace(
                left,
                plans=(*stored.plans, plan),
            )

        stored = await self.async_change(add)
        return next(one for one in stored.plans if one.essence == plan.essence)

    async def async_change(
        self,
        change: Callable[[Stored], Stored],
        *,
        even_unstored: bool = False,
    ) -> Stored:
        """Store what `change` returns, and use it once it is stored. Raises `NotPlanned`.

        `even_unstored`, it is used although it cannot be stored, and stored with the
        next change.
        """
        async with self._one_at_a_time:
            known = await self._async_known()
            changed = change(known)
            if changed != known and not self.is_tried:
                await self._async_store(changed, even_unstored=even_unstored)
                if changed.plans != known.plans:
                    async_dispatcher_send(self._hass, SIGNAL_PLANS)
            return changed

    async def _async_known(self) -> Stored:
        if not self.is_loaded:
            try:
                self.found = await self._file.async_load() or Stored()
            except Unreadable as error:
                raise NotPlanned(PlanProblem.UNREADABLE) from error
            if self._file.changed_at == _STALE:
                now = dt_util.utcnow()
                self.doubtful = frozenset(
                    plan.id
                    for plan in self.found.plans
                    if plan.due is None or plan.due <= now
                )
            self._use(self.found)
            async_dispatcher_send(self._hass, SIGNAL_PLANS)
        return self.stored

    def _use(self, stored: Stored) -> None:
        self.stored = stored
        self.is_loaded = True
        waiting_news(self._hass)[:] = [news for news in stored.news if news.is_kept]

    async def _async_store(
        self,
        stored: Stored,
        *,
        even_unstored: bool,
    ) -> None:
        written = _STORED.dump_python(stored, mode="json")
        obstacle = await self._file.async_save(
            written,
            keeps=even_unstored,
        )
        if obstacle and not even_unstored:
            raise NotPlanned(PlanProblem(f"later_{obstacle}"))
        self._use(stored)

    async def async_doubt(self) -> bool:
        """Note at the file that it should have been replaced, for which no room is needed. Return whether it is noted.

        Then what is due by now is not done after a restart.
        """
        try:
            await self._hass.async_add_executor_job(
                os.utime, self._file.path, (_STALE, _STALE)
            )
        except OSError as error:
            return isinstance(error, FileNotFoundError)
        return True


def plans_of(
    plans: Sequence[FuturePlan],
    person_id: str | None,
) -> list[FuturePlan]:
    """Return the plans that a person may ask about: their own, and those of the household."""
    return [plan for plan in plans if plan.asker.person_id in {None, person_id}]


def plans_of_guests(
    plans: Sequence[FuturePlan], since: AwareDatetime | None
) -> list[FuturePlan]:
    """Return the plans that guests have made since guest mode began."""
    return [plan for plan in plans if since and plan.asker.guests_since == since]


async_get_plans: Final = home_singleton("plans", Plans)
"""Returns the plans of the home."""
