"""Finds the plans of a speaker that words mean, by kind, name or time, and puts them into words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonValue
from ..agent.text import uncapitalized
from ..home.entities import telling_words
from ..people.speakers import speaker_of
from ..settings.rules import async_get_home_rules
from ..speech.sentences import async_get_sentences
from ..speech.text.times import Moment, names_days, recurs_on, spoken_time
from .plans import Asker, FuturePlan, NotPlanned, PlanKind, plans_of, plans_of_guests
from .schedule import async_get_schedule, due_about, moment_of, resolved_time
from .telling import ReminderKind, async_reminder_kind, due_text
from .tool import due_order, plans_called, plans_named

MOST_NAMED: Final = 5
"""Plans in a question."""
_NONE: Final = "later_none"
"""Begins the keys of sentences that tell that there is no such plan."""
_EXACTLY: Final = timedelta(minutes=1)
"""The difference up to which a time means the time of a plan to cancel."""


@dataclass(frozen=True, slots=True)
class KnownPlans:
    """The plans of a speaker, and their language."""

    hass: HomeAssistant
    language: str
    texts: Mapping[str, str]
    """The sentences in that language."""
    stored: Sequence[FuturePlan]
    kinds: Mapping[str, ReminderKind | None]
    """Of these plans, by their ids."""
    problem: NotPlanned | None
    """Why they cannot be read."""
    is_of_guest: bool = False
    """Whether they are those of guests alone, who are not told that there are none."""

    @property
    def all(self) -> Sequence[FuturePlan]:
        """The plans, the oldest first. Raises `NotPlanned`."""
        if self.problem:
            raise self.problem
        return self.stored

    def of_kind(self, kind: ReminderKind) -> Sequence[FuturePlan]:
        """Return the plans of a kind, in the order in which they are due. Raises `NotPlanned`."""
        found = (plan for plan in self.all if self.kinds[plan.id] is kind)
        return sorted(found, key=due_order)

    def called(self, words: str) -> Sequence[FuturePlan]:
        """Return the plans with these ids or words. Raises `NotPlanned`."""
        return plans_called(self.all, words)

    def is_named(self, words: str) -> bool:
        """Return whether a plan has these words, of which one is more than "the" and the like."""
        return bool(telling_words(words) and plans_named(self.all, words))

    async def async_device_timers(self) -> Sequence[FuturePlan] | None:
        """Return the timers of devices as if they were plans; None if one is paused, which ends at no time."""
        status = await intent.async_handle(
            self.hass,
            CONVERSATION,
            intent.INTENT_TIMER_STATUS,
            language=self.language,
        )
        timers = status.speech_slots["timers"]
        if not all(timer["is_active"] for timer in timers):
            return None
        now = dt_util.utcnow()
        return [
            FuturePlan(
                kind=PlanKind.REMIND,
                agent="",
                asker=Asker(),
                language=self.language,
                text=str(timer["name"] or self.texts["later_timer"]),
                due=now + timedelta(seconds=timer["total_seconds_left"]),
            )
            for timer in timers
        ]

    def resolve(
        self,
        words: str,
        said_at: JsonValue = None,
        moved: Moment | None = None,
    ) -> Moment | None:
        """Return the time that words mean now, or meant when they were said."""
        at = dt_util.parse_datetime(str(said_at))
        return resolved_time(
            self.hass,
            words,
            self.language,
            at,
            moved=moved,
        )

    def due_at(
        self,
        plans: Iterable[FuturePlan],
        words: str,
    ) -> Sequence[FuturePlan]:
        """Return those of some plans that are due exactly when words say, those that come again then as well."""
        moments = ((plan, self.resolve(words, moved=moment_of(plan))) for plan in plans)
        return [
            plan
            for plan, moment in moments
            if moment and plan.due and _is_due_at(plan, plan.due, moment)
        ]

    def due_about(
        self, plans: Sequence[FuturePlan], words: str
    ) -> Sequence[FuturePlan]:
        """Return the one of some plans that is due about when words say."""
        found = due_about(
            self.hass,
            plans,
            words,
            self.language,
        )
        return [found] if found else []

    def on_day(
        self,
        plans: Sequence[FuturePlan],
        new: str,
    ) -> Sequence[FuturePlan]:
        """Return those of some plans that may be moved to a time: of several those on its day, if it names one."""
        if len(plans) <= 1 or not names_days(new, self.language):
            return plans
        moment = self.resolve(new)
        if moment is None:
            return plans
        day = moment.due.date()
        return [
            plan
            for plan in plans
            if plan.due and dt_util.as_local(plan.due).date() == day
        ]

    def time_of(self, moment: Moment | None) -> str:
        """Return a time as it is said within a sentence; empty for none."""
        if moment is None:
            return ""
        time = spoken_time(
            moment.due,
            now=dt_util.now(),
            language=self.language,
            every=moment.every,
            has_distance=False,
        )
        return uncapitalized(time)

    def say(
        self,
        key: str,
        plans: Sequence[FuturePlan],
    ) -> str:
        """Return a sentence about the first few of some plans, with their texts and times."""
        if self.is_of_guest and key.startswith(_NONE):
            key = "spoken_guests"
        what = _listed(
            (plan.text, due_text(plan, self.language)) for plan in plans[:MOST_NAMED]
        )
        return self.texts[key].format(
            plans=what,
            what=what,
        )

    def count(self, plans: Sequence[FuturePlan]) -> str:
        """Return how many plans of one kind there are, with their times, and with the texts that tell them apart."""
        common = {self.texts["later_alarm"], self.texts["later_timer"]}
        named = _listed(
            (
                due_text(plan, self.language),
                "" if plan.text in common else plan.text,
            )
            for plan in plans
        )
        return self.texts["later_count"].format(
            count=len(plans),
            plans=named,
        )


async def async_known_plans(
    hass: HomeAssistant,
    user_id: str | None,
    language: str,
    *,
    of_guest: bool,
) -> KnownPlans:
    """Return the plans of a user and of the household; for a guest, those of guests."""
    plans = async_get_schedule(hass).plans
    problem = None
    try:
        await plans.async_load()
    except NotPlanned as error:
        problem = error
    own = plans_of(
        plans.stored.plans,
        speaker_of(hass, user_id).person_id,
    )
    if of_guest:
        since = async_get_home_rules(hass).current.guests_since
        own = plans_of_guests(plans.stored.plans, since)
    kinds = {plan.id: await async_reminder_kind(hass, plan) for plan in own}
    texts = await async_get_sentences(hass, language)
    return KnownPlans(
        hass,
        language,
        texts,
        own,
        kinds,
        problem,
        of_guest,
    )


def _is_due_at(
    plan: FuturePlan,
    first: datetime,
    moment: Moment,
) -> bool:
    later = dt_util.as_local(moment.due) - dt_util.as_local(first)
    if not plan.every:
        return not moment.every and abs(later) <= _EXACTLY
    is_day = recurs_on(
        moment.due.date(),
        dt_util.as_local(first).date(),
        plan.every,
    )
    return is_day and later >= timedelta() and later.seconds <= _EXACTLY.seconds


def _listed(plans: Iterable[tuple[str, str]]) -> str:
    """Return what is told of some plans."""
    return "; ".join(", ".join(filter(None, words)) for words in plans)
