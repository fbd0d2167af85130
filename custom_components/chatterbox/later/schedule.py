"""Follows the plans of the home: when they are due, what becomes of them, and the news that nobody has heard yet.

A call is marked before it runs, and a plan becomes news in one step: whenever Home
Assistant is killed, nothing is done twice, and nothing is lost without a word.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Sequence,
    Set as AbstractSet,
)
from contextlib import asynccontextmanager, suppress
from contextvars import Context as Variables
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Final, Protocol

from homeassistant.auth import EVENT_USER_REMOVED
from homeassistant.const import EVENT_CORE_CONFIG_UPDATE, EVENT_HOMEASSISTANT_STOP
from homeassistant.core import (
    CALLBACK_TYPE,
    Context,
    Event,
    HassJob,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.event import (
    async_call_later,
    async_track_point_in_time,
)
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.util import dt as dt_util

from ..approvals.guard import ANYTHING, async_is_permitted
from ..approvals.notifications import CLEAR, EVENT_TAP, can_announce, phones_of
from ..approvals.policy import judge
from ..approvals.questions import Question, Running, async_get_approvals
from ..const import DOMAIN, LOGGER, home_singleton
from ..effects.effect import NOTHING, CallEffects
from ..effects.reported import actions_in
from ..effects.silent_home import SilentCall, is_silent
from ..people.speakers import Asking, Speaker, speaker_of
from ..settings.rules import Verdict, async_get_home_rules
from ..settings.tool_names import LATER_TOOL
from ..speech.sentences import async_error_text, async_get_sentences
from ..speech.text.times import (
    FURTHEST,
    Moment,
    exact_words,
    pause_after,
    prepare,
    resolve_time,
)
from ..turns.input import TurnInput
from .acting import ENDS_WITHIN, Outcome
from .plans import (
    LONGEST_TEXT,
    Asker,
    Condition,
    FuturePlan,
    News,
    NotPlanned,
    PlanKind,
    PlanProblem,
    Stored,
    async_get_plans,
    waiting_news,
)
from .ringing import async_get_ringing
from .telling import (
    Button,
    ReminderKind,
    async_announce,
    async_notify,
    async_reminder_kind,
    buttons_of,
    condition_text,
    may_see,
    moment_text,
    plan_text,
    states_text,
    time_text,
)
from .triggers import Watch

EVENT_PLAN: Final = f"{DOMAIN}_plan"
GRACE: Final = timedelta(minutes=2)
"""Time for the answer to a question about a plan, in which its time may pass."""
WORTH: Final = timedelta(minutes=1)
"""Time after which a call is not worth doing any more, but told."""
_RETRY: Final = timedelta(minutes=1)
"""Time until a file that could not be read is read again."""
_HOUR: Final = timedelta(hours=1)
_WEEK: Final = timedelta(days=7)
_SOON: Final = timedelta(seconds=10)
"""Time until a call that could not be marked is tried again."""
_FILE: Final = ""
"""Stands for the file where ids of plans stand."""
_ABOUT: Final = timedelta(minutes=10)
"""The difference up to which a named time means that of a plan."""
_JUST: Final = timedelta(minutes=10)
"""Time after a reminder was heard in which it can be put off without naming it."""
_AGAIN: Final = timedelta(minutes=10)
"""Time for which the button of a reminder puts it off."""


class Runner(Protocol):
    """Runs the calls of the plans of an agent."""

    async def async_act(self, plan: FuturePlan) -> Outcome:
        """Run the call of a plan to its end, and return what came of it."""

    async def async_actions(self, plan: FuturePlan) -> Sequence[SilentCall]:
        """Return the actions of which the call of a plan consists; see `acting.PlanRunner`."""

    async def async_problem(
        self,
        plan: FuturePlan,
        mover: Speaker,
        *,
        takes_back: bool,
        asks_scripts: bool,
    ) -> PlanProblem | None:
        """Return why somebody may not have the call of a plan, or take it back; see `acting.PlanRunner`."""

    async def async_ask(
        self,
        plan: FuturePlan,
        reason: str,
        running: Running,
        here: TurnInput | None = None,
    ) -> Question | None:
        """Ask whether to do now what was missed; see `acting.PlanRunner`."""


class PlanChange(StrEnum):
    """A change of a plan; `type` in the data of its event."""

    ADDED = "added"
    CHANGED = "changed"
    DUE = "due"
    DONE = "done"
    NOT_DONE = "not_done"
    MISSED = "missed"
    CANCELLED = "cancelled"


class Schedule:
    """The plans of the home, followed from `async_start` until Home Assistant stops."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Follow nothing yet."""
        self._hass = hass
        self.plans = async_get_plans(hass)
        self._watched: dict[str, CALLBACK_TYPE] = {}
        """Ends of what waits, by the ids of plans."""
        self._agents: dict[str, Runner] = {}
        """By subentry id."""
        self._served = asyncio.Event()
        self._knows_time_at = hass.loop.time() + _HOUR.total_seconds()
        """Seconds of the event loop from which on a clock is believed that is long after the time of a plan."""
        self._tapped: set[str] = set()
        """The secrets of the buttons that are being followed."""

    async def async_start(self, _hass: HomeAssistant) -> None:
        """Follow the stored plans as soon as they can be read, and do or tell what was due meanwhile."""
        bus = self._hass.bus
        bus.async_listen(EVENT_USER_REMOVED, self._async_user_removed)
        bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._async_entity_changed)
        bus.async_listen(EVENT_CORE_CONFIG_UPDATE, self._async_clock_changed)
        bus.async_listen(EVENT_TAP, self._async_take_tap)
        bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, self.async_stop)
        await self._async_follow()

    async def _async_follow(self, _now: datetime | None = None) -> None:
        try:
            await self.plans.async_load()
        except NotPlanned:
            self._watched[_FILE] = async_call_later(
                self._hass, _RETRY, self._async_follow
            )
            return
        # Their times are told by their words, and to read these takes some time at first.
        for language in {one.language for one in self.plans.stored.plans if one.every}:
            await self._hass.async_add_executor_job(prepare, language)
        for news in self.plans.found.news:
            self._deliver(replace(news, missed="") if news.of_moment else news)
        for plan in self.plans.found.plans:
            if plan.is_begun:
                self._run(self._async_interrupted(plan))
        for plan in self.plans.stored.plans:
            if not plan.is_begun:
                self._watch(plan)

    @callback
    def async_stop(self, _event: Event | None = None) -> None:
        """Begin nothing more."""
        for plan_id in list(self._watched):
            self._unwatch(plan_id)

    @callback
    def async_serve(
        self,
        agent: str,
        runner: Runner,
    ) -> CALLBACK_TYPE:
        """Have an agent run the calls of its plans; return what ends that."""
        self._agents[agent] = runner
        self._served.set()

        @callback
        def end() -> None:
            if self._agents.get(agent) is runner:
                del self._agents[agent]

        return end

    def serves(self, agent: str) -> bool:
        """Return whether an agent can run the calls of plans."""
        return agent in self._agents

    async def async_actions(self, plan: FuturePlan) -> Sequence[SilentCall]:
        """Return the actions of which the call of a plan consists; none where its agent is not there."""
        runner = self._agents.get(plan.agent)
        if runner:
            return await runner.async_actions(plan)
        return ()

    async def async_problem(
        self,
        plan: FuturePlan,
        mover: Speaker | None,
        *,
        takes_back: bool = False,
        asks_scripts: bool = True,
    ) -> PlanProblem | None:
        """Return why somebody may not have now what a plan does, or may not take it back; None if they may.

        `mover` is None for a change that has been judged, or that nobody asks for. A
        plan of one's own can always be taken back, and so can what only speaks. The
        owner's scripts are only asked before something is done.
        """
        if mover is None or (
            takes_back and (plan.call is None or _is_by(plan.asker, mover))
        ):
            return None
        if plan.call is None:  # rules may be about our tool
            rules = async_get_home_rules(self._hass).current.policy
            call = CallEffects(LATER_TOOL, NOTHING)
            verdict = judge(self._hass, rules, call, mover, dt_util.now()).verdict
            return {Verdict.ALLOW: None, Verdict.DENY: PlanProblem.NOT_ALLOWED}.get(
                verdict, PlanProblem.NEEDS_YES
            )
        runner = self._agents.get(plan.agent)
        if runner:
            asks_scripts = asks_scripts and not takes_back
            return await runner.async_problem(
                plan, mover, takes_back=takes_back, asks_scripts=asks_scripts
            )
        if not await async_is_permitted(self._hass, mover.user_id, ANYTHING):
            return PlanProblem.NOT_PERMITTED
        return None if takes_back else PlanProblem.NEEDS_YES

    async def async_add(
        self, plan: FuturePlan, mover: Speaker | None = None
    ) -> FuturePlan:
        """Add a plan, which is judged if there is a `mover`; see `Plans.async_add`. Raises `NotPlanned`."""
        problem = await self.async_problem(plan, mover)
        if problem:
            raise NotPlanned(problem)
        planned = await self.plans.async_add(plan)
        if planned is plan:
            self._fire(plan, PlanChange.ADDED)
            self._watch(plan)
        return planned

    async def async_change(
        self,
        plan_id: str,
        change: Callable[[FuturePlan], FuturePlan],
        mover: Speaker | None = None,
    ) -> FuturePlan:
        """Change a plan that has not begun, for somebody; see `async_problem`. Raises `NotPlanned`."""

        def changed_plan(known: FuturePlan) -> FuturePlan:
            if known.is_begun:
                raise NotPlanned(PlanProblem.BEGUN)
            changed = change(known)
            if known.due is None and changed.due:
                raise NotPlanned(PlanProblem.UNTIMED)
            if known.call and known.call.terms and changed != known:
                raise NotPlanned(PlanProblem.FIXED)
            return changed

        def apply(stored: Stored) -> Stored:
            known = stored.plan(plan_id)
            return stored.replacing(known, changed_plan(known))

        await self.plans.async_load()
        known = self.plans.stored.plan(plan_id)
        if changed_plan(known) != known and (
            problem := await self.async_problem(known, mover)
        ):
            raise NotPlanned(problem)
        changed = (await self.plans.async_change(apply)).plan(plan_id)
        self._fire(changed, PlanChange.CHANGED)
        self._watch(changed)
        return changed

    async def async_cancel(
        self,
        plan_id: str,
        mover: Speaker | None = None,
        *,
        even_begun: bool = False,
    ) -> None:
        """Remove a plan that has not begun, for somebody; see `async_problem`. Raises `NotPlanned`."""

        def cancel(stored: Stored) -> Stored:
            known = stored.plan(plan_id)
            if known.is_begun and not even_begun:
                raise NotPlanned(PlanProblem.BEGUN)
            return stored.replacing(known)

        await self.plans.async_load()
        plan = self.plans.stored.plan(plan_id)
        if not plan.is_begun and (
            problem := await self.async_problem(plan, mover, takes_back=True)
        ):
            raise NotPlanned(problem)
        await self.plans.async_change(cancel)
        self._unwatch(plan_id)
        self._fire(plan, PlanChange.CANCELLED)

    async def async_forget(
        self, is_gone: Callable[[FuturePlan], bool]
    ) -> Sequence[FuturePlan]:
        """Remove and return the plans whose agent or person is gone."""
        gone = [*filter(is_gone, self.plans.stored.plans)]
        for plan in gone:
            with suppress(NotPlanned):
                await self.async_cancel(
                    plan.id,
                    even_begun=True,
                )
        return gone

    def news_for(
        self,
        speaker: Speaker,
        satellite_id: str | None,
    ) -> list[News]:
        """Return the news that wait for a person or for somebody in a place."""
        if speaker.asking is not Asking.PERSON or speaker.is_api_client:
            return []
        return [
            news
            for news in waiting_news(self._hass)
            if _is_for(self._hass, news, speaker, satellite_id)
        ]

    def last_heard(self, satellite_id: str | None) -> FuturePlan | None:
        """Return the reminder that was just heard at a satellite, which can be put off there."""
        heard = (
            one
            for one in self.plans.stored.heard
            if satellite_id and one.satellite_id == satellite_id
        )
        return next(
            (one.news.plan for one in heard if dt_util.utcnow() - one.at < _JUST), None
        )

    async def async_heard(
        self, heard: Sequence[News], satellite_id: str | None = None
    ) -> None:
        """Forget news that were told, and note the reminders among them."""
        with suppress(NotPlanned):
            await self.plans.async_change(
                lambda stored: stored.hearing(heard, satellite_id), even_unstored=True
            )

    async def async_ask(
        self, news: News, here: TurnInput | None = None
    ) -> Question | None:
        """Ask whether to do now what was missed, as part of the turn `here` or wherever the plan was made.

        Missed calls that cannot be asked about become plain news.
        """
        plan = news.plan
        question = None
        if plan and (runner := self._agents.get(plan.agent)):
            running = partial(
                self._async_running,
                news,
                plan,
            )
            question = await runner.async_ask(
                plan,
                news.missed,
                running,
                here,
            )
        if question is None:
            await self._async_keep(replace(news, missed=""))
        return question

    @asynccontextmanager
    async def _async_running(
        self,
        news: News,
        plan: FuturePlan,
        context: Context,
    ) -> AsyncGenerator[None]:
        """Mark a missed call while it runs, and what it began after it, so that an interruption is told."""
        now = dt_util.utcnow()
        begun = replace(
            plan,
            is_begun=True,
            every="",
            repeats=False,
            due=now,
        )

        await self.plans.async_change(
            lambda stored: replace(
                stored.without_news({news.id}),
                plans=(*stored.plans, begun),
            ),
            even_unstored=True,
        )
        with actions_in(self._hass, context) as actions:
            try:
                yield
            finally:
                self._run(
                    self._async_ended(
                        begun,
                        actions,
                    )
                )

    async def _async_ended(
        self, begun: FuturePlan, actions: AbstractSet[asyncio.Task[object]]
    ) -> None:
        """Forget a call that has run, once its actions have ended."""
        if actions:
            await asyncio.wait(actions, timeout=ENDS_WITHIN)
        if not self._hass.is_stopping:
            await self.plans.async_change(
                lambda stored: stored.replacing(begun), even_unstored=True
            )

    async def _async_keep(self, news: News) -> None:
        await self.plans.async_change(
            lambda stored: stored.with_same_news(news), even_unstored=True
        )

    def _can_ask(self, news: News) -> bool:
        """Return whether a question would be heard where a plan was made, or on a phone, and be the only one there."""
        satellite = news.asker.satellite_id
        waiting = async_get_approvals(self._hass).waiting
        is_free = satellite is None or all(
            one.scope.satellite_id != satellite for one in waiting
        )
        return is_free and (
            can_announce(self._hass, satellite)
            or bool(phones_of(self._hass, news.asker.user_id))
        )

    @callback
    def _watch(
        self,
        plan: FuturePlan,
        _now: datetime | None = None,
    ) -> None:
        """Wait for the triggers of a plan. What is overdue is due at once."""
        if self.plans.is_tried:
            return
        self._unwatch(plan.id)
        if plan.due:
            late = dt_util.utcnow() - plan.due
        else:
            late = -_WEEK
        if late > _WEEK and self._hass.loop.time() < self._knows_time_at:
            self._wait(plan, _HOUR, self._watch)
        elif late >= timedelta():
            self._begin(plan)
        else:
            watch = Watch(
                self._hass,
                plan,
                partial(self._begin, plan),
            )
            self._watched[plan.id] = watch.async_end
            self._run(
                self._async_wait(plan, watch),
                eager_start=True,
            )

    def _wait(
        self,
        plan: FuturePlan,
        delay: timedelta,
        follow: Callable[[FuturePlan, datetime], None],
    ) -> None:
        """Go on with a plan after a delay."""
        job = HassJob(
            partial(follow, plan),
            cancel_on_shutdown=True,
        )
        self._watched[plan.id] = async_call_later(
            self._hass,
            delay,
            job,
        )

    async def _async_wait(
        self,
        plan: FuturePlan,
        watch: Watch,
    ) -> None:
        if not await watch.async_start():
            await self._async_blind(plan)

    @callback
    def _unwatch(self, plan_id: str) -> None:
        if self.plans.is_tried:
            return
        end = self._watched.pop(plan_id, None)
        if end:
            end()

    @callback
    def _begin(
        self,
        plan: FuturePlan,
        _now: datetime | None = None,
    ) -> None:
        self._unwatch(plan.id)
        self._run(self._async_due(plan.id))

    def _run(
        self,
        work: Awaitable[None],
        *,
        eager_start: bool = False,
    ) -> None:
        """Run work with an owner and apart from the turn that planned it, whose variables must not reach it."""
        run = partial(
            self._hass.async_create_background_task,
            _logged(work),
            "chatterbox plan",
            eager_start=eager_start,
        )
        _ = Variables().run(run)  # Home Assistant keeps the task

    async def _async_due(self, plan_id: str) -> None:
        plan = self.plans.get(plan_id)
        if plan is None or plan.is_begun:
            return
        condition = plan.condition
        if condition:
            person_id = plan.asker.person_id
            if not all(
                may_see(self._hass, one, person_id) for one in condition.entity_ids
            ):
                await self._async_blind(plan)
                return
            holds = condition.is_met(self._hass.states)
            if not holds:
                await self._async_does_not_hold(
                    plan,
                    condition,
                    is_known=holds is False,
                )
                return
        self._fire(plan, PlanChange.DUE)
        if plan.kind is not PlanKind.ACT:
            await self._async_speak(plan)
        elif plan.repeats and plan.call and plan.call.terms:
            await self._async_ask_again(plan)
        else:
            await self._async_act(plan)

    async def _async_speak(self, plan: FuturePlan) -> None:
        text = plan.text
        condition = plan.condition
        if condition and plan.kind is PlanKind.TELL:
            tell = condition_text if condition.happens else states_text
            text = tell(self._hass, condition)
        is_late = plan.due is not None and dt_util.utcnow() - plan.due > WORTH
        key = "later_late" if is_late else "later_remind"
        if (
            not is_late
            and await async_reminder_kind(self._hass, plan) is ReminderKind.ALARM
        ):
            key = "later_rings"
        words = await self._async_say(
            key,
            replace(plan, text=text),
        )
        is_urgent = plan.is_urgent or (plan.due is not None and not is_late)
        await self._async_conclude(
            plan,
            PlanChange.DONE,
            words,
            is_urgent=is_urgent,
        )

    async def _async_does_not_hold(
        self,
        plan: FuturePlan,
        condition: Condition,
        *,
        is_known: bool,
    ) -> None:
        if plan.due is None:  # it was so a moment ago
            self._watch(plan)
            return
        self._fire(plan, PlanChange.DUE)
        words = ""
        if not is_known:
            why = states_text(self._hass, condition)
            words = await self._async_say(
                "later_failed",
                plan,
                why,
            )
        await self._async_conclude(
            plan, PlanChange.NOT_DONE, words, is_urgent=plan.kind is not PlanKind.ACT
        )

    async def _async_act(self, plan: FuturePlan) -> None:
        runner = await self._async_agent(plan.agent)
        if (
            self.plans.get(plan.id) != plan or self._hass.is_stopping
        ):  # it was moved or cancelled; it cannot be marked
            return
        if runner is None or _is_late(plan) or plan.id in self.plans.doubtful:
            if plan.due:
                why = await self._async_say("later_missed_then", plan)
            else:
                why = ""
            await self._async_conclude(
                plan,
                PlanChange.MISSED,
                await self._async_say("later_missed", plan),
                why,
            )
            return
        begun = plan.begun
        try:
            await self.plans.async_change(
                lambda stored: stored.replacing(plan, begun)
            )  # it never runs twice
        except NotPlanned as error:
            await self._async_not_marked(plan, error.problem)
            return
        try:
            outcome = await runner.async_act(begun)
        except Exception:  # noqa: BLE001  # whatever happens is told
            LOGGER.exception("A plan of %s failed", plan.agent)
            outcome = Outcome(
                "later_failed", await self._async_say("spoken_agent_failed", plan)
            )
        if outcome.problem:
            words = await self._async_say(
                outcome.problem,
                plan,
                outcome.why,
            )
        else:
            words = ""
        await self._async_conclude(
            begun, PlanChange.NOT_DONE if words else PlanChange.DONE, words
        )

    async def _async_ask_again(self, plan: FuturePlan) -> None:
        """Ask about a call that a rule asks about: nobody knew, saying yes to the plan, when it would run."""
        sentences = await async_get_sentences(
            self._hass,
            plan.language,
        )
        time = time_text(
            self._hass,
            sentences,
            plan,
            plan.language,
        )
        why = sentences["spoken_nobody_to_ask"]
        words = await self._async_say(
            "later_failed",
            plan,
            why,
        )
        await self._async_conclude(
            plan, PlanChange.NOT_DONE, words, f"{time}.", is_urgent=True
        )

    async def _async_not_marked(
        self,
        plan: FuturePlan,
        problem: PlanProblem,
    ) -> None:
        """Tell that a call was not done, since that it begins could not be stored; but not while it may yet be done.

        A restart finds the plan as it was. So it is told once the file says so, or once
        it is too late for the call.
        """
        if problem not in {PlanProblem.NOT_KEPT, PlanProblem.NO_ROOM}:
            return
        if not await self.plans.async_doubt():
            self._wait(plan, _SOON, self._begin)
            return
        if problem is PlanProblem.NO_ROOM:
            why = await self._async_say("spoken_no_room", plan)
        else:
            why = ""
        await self._async_conclude(
            plan, PlanChange.NOT_DONE, await self._async_say("later_failed", plan, why)
        )

    async def _async_interrupted(self, plan: FuturePlan) -> None:
        words = await self._async_say("later_unsure", plan)
        await self._async_conclude(
            plan,
            PlanChange.NOT_DONE,
            words,
        )

    async def _async_agent(self, agent: str) -> Runner | None:
        """Return what runs the calls of an agent, which may just be loaded anew; None if it does not come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WORTH.total_seconds()):
                while agent not in self._agents:
                    self._served.clear()
                    await self._served.wait()
        return self._agents.get(agent)

    async def _async_conclude(
        self,
        plan: FuturePlan,
        change: PlanChange,
        words: str,
        missed: str = "",
        *,
        is_urgent: bool = False,
    ) -> None:
        """Replace a plan by its next time and by news, in one step."""
        following = (
            None
            if change is PlanChange.CANCELLED
            else await self._async_following(plan)
        )
        if following and plan.is_routine and plan.repeats:
            following, words, missed = await self._async_routine(
                following, words, missed
            )
        about = replace(plan, is_begun=False)
        one = News(
            text=words,
            language=plan.language,
            asker=plan.asker,
            plan=about,
            missed=missed,
            is_urgent=is_urgent,
        )
        news = [one] if words else []

        def conclude(stored: Stored) -> Stored:
            if following:
                left = stored.replacing(plan, following)
            else:
                left = stored.replacing(plan)
            if plan.repeats and news:
                left = left.without_news_of(plan.id)
            return left.with_news(*news)

        await self.plans.async_change(conclude, even_unstored=True)
        self._fire(plan, change)
        for one in news:
            self._deliver(one)
        if following:
            self._watch(following)
        elif plan.repeats and change is not PlanChange.CANCELLED:
            self._fire(plan, PlanChange.CANCELLED)

    async def _async_routine(
        self,
        following: FuturePlan,
        words: str,
        missed: str,
    ) -> tuple[FuturePlan | None, str, str]:
        """Return a routine as it goes on, and its news: the same trouble is told once. It ends if it is restless."""
        known = following.trouble
        following = replace(
            following,
            trouble="" if missed else words,
        )
        if words == known and not missed:
            words = ""
        if not following.is_restless:
            return following, words, missed
        stopped = await self._async_say("later_restless", following)
        return None, f"{words} {stopped}".strip(), ""

    async def _async_following(self, plan: FuturePlan) -> FuturePlan | None:
        """Return a plan at its next time; None if it is not repeated."""
        if plan.repeats:
            return replace(
                plan if plan.is_begun else plan.begun,
                is_begun=False,
            )
        if not plan.every or plan.due is None:
            return None
        after = max(plan.due, dt_util.utcnow())
        pause = pause_after(plan.every)
        start = plan.due + pause
        while pause and start + pause < after:
            start += pause + timedelta(hours=12)
        moment = await async_resolve(
            self._hass, plan.words, plan.language, start if pause else after
        )
        if moment and moment.due.replace(tzinfo=None) == dt_util.as_local(
            plan.due
        ).replace(tzinfo=None):
            # Clocks show it twice that day.
            after = max(moment.due, dt_util.utcnow())
            moment = await async_resolve(
                self._hass,
                plan.words,
                plan.language,
                after,
            )
        if moment:
            return replace(
                plan,
                due=moment.due,
                is_begun=False,
            )
        return None

    async def async_tell_all(self, news: Iterable[News]) -> None:
        """Deliver words that are about no plan. They wait where nobody hears them."""
        await self.plans.async_load()
        messages = [*news]
        await self.plans.async_change(
            lambda stored: stored.with_news(*messages), even_unstored=True
        )
        for one in messages:
            self._deliver(one)

    @callback
    def _deliver(
        self,
        news: News,
        _now: datetime | None = None,
    ) -> None:
        """Tell news, unless it is night: then at its end."""
        if self.plans.is_tried:
            return
        night = async_get_home_rules(self._hass).current.night
        self._unwatch(news.id)
        if news.is_kept:
            return
        now = dt_util.now()
        if night and not news.is_urgent and night.holds(now.time()):
            end = datetime.combine(
                now.date() + timedelta(days=now.time() >= night.before),
                night.before,
                now.tzinfo,
            )
            deliver = partial(self._deliver, news)
            self._watched[news.id] = async_track_point_in_time(
                self._hass,
                deliver,
                end,
            )
        else:
            self._run(self._async_deliver(news))

    async def _async_deliver(self, news: News) -> None:
        if all(
            one.id != news.id for one in self.plans.stored.news
        ):  # there are newer ones
            return
        if not news.missed or self._can_ask(news):
            if news.missed:
                question = await self.async_ask(news)
            else:
                question = None
            if await self._async_tell(news, question):
                return
            news = news if question else replace(news, missed="")
        if news.of_moment:
            news = replace(news, missed="")
        await self._async_keep(replace(news, is_kept=True))

    async def _async_tell(
        self,
        news: News,
        question: Question | None,
    ) -> bool:
        """Tell news where the plan was made, or on the phones of its person; return whether they were told."""
        plan = news.plan
        if plan and await async_reminder_kind(self._hass, plan) is ReminderKind.ALARM:
            is_announced = await async_get_ringing(self._hass).async_ring(news)
        else:
            is_announced = await async_announce(
                self._hass, replace(news, text=question.text) if question else news
            )
        if question is None:
            is_told = is_announced or await async_notify(
                self._hass, news, has_buttons=True
            )
            if is_told:
                await self.async_heard(
                    [news], news.asker.satellite_id if is_announced else None
                )
            return is_told
        approvals = async_get_approvals(self._hass)
        has_phone = bool(phones_of(self._hass, news.asker.user_id))
        with suppress(NotPlanned):
            if is_announced or (has_phone and not question.needs_pin):
                await self.plans.async_change(
                    lambda stored: stored.without_news({news.id})
                )
                if is_announced:
                    approvals.note_heard(question.id)
                return True
        approvals.drop(question.id)
        return False

    @callback
    def _async_take_tap(self, event: Event) -> None:
        """Do what a button says, once, if the tap comes from the person whose reminder it is."""
        secret, _, action = str(event.data.get("action")).partition("_")
        reminders = (
            *self.plans.stored.news,
            *(one.news for one in self.plans.stored.heard),
        )
        news = next(
            (one for one in reminders if one.secret == secret),
            None,
        )
        if news:
            button = next(
                (one for one in buttons_of(news) if one == action),
                None,
            )
        else:
            button = None
        if (
            news is None
            or news.plan is None
            or button is None
            or secret in self._tapped
        ):
            return
        if event.context.user_id is None or event.context.user_id != news.asker.user_id:
            LOGGER.warning(
                "Ignored a tap that did not come from the user of the reminder %s",
                news.id,
            )
            return
        self._tapped.add(secret)
        async_get_ringing(self._hass).stop(news.plan.text)
        self._run(
            self._async_tapped(
                news,
                news.plan,
                button,
            )
        )

    async def _async_tapped(
        self,
        news: News,
        plan: FuturePlan,
        button: Button,
    ) -> None:
        """Do what a button says, and show what became of it."""
        sentences = await async_get_sentences(
            self._hass,
            plan.language,
        )
        text = CLEAR
        has_buttons = False
        mover = speaker_of(self._hass, news.asker.user_id)
        try:
            if button is Button.AGAIN:
                again = plan.put_off(_AGAIN)
                await self.async_add(again, mover)
                text = plan_text(
                    self._hass,
                    sentences,
                    again,
                    plan.language,
                )
            elif button is Button.CANCEL:
                await self.async_cancel(plan.id, mover)
                text = sentences["later_cancelled"].format(what=plan.text)
            await self.plans.async_change(
                lambda stored: stored.without_buttons(news.secret), even_unstored=True
            )
        except NotPlanned as error:
            why = await async_error_text(
                self._hass,
                plan.language,
                error.problem,
            )
            text = f"{sentences['later_not_changed'].format(what=plan.text)} {why}"
            has_buttons = True
        self._tapped.discard(news.secret)
        await async_notify(
            self._hass, replace(news, text=text), has_buttons=has_buttons
        )

    async def _async_say(
        self,
        key: str,
        plan: FuturePlan,
        why: str = "",
    ) -> str:
        sentences = await async_get_sentences(
            self._hass,
            plan.language,
        )
        return (
            sentences[key]
            .format(time=moment_text(plan.due), what=plan.text, why=why)
            .strip()
        )

    @callback
    def _fire(
        self,
        plan: FuturePlan,
        change: PlanChange,
    ) -> None:
        if self.plans.is_tried:
            return
        self._hass.bus.async_fire(
            EVENT_PLAN,
            {
                "type": str(change),
                "plan_id": plan.id,
                "kind": str(plan.kind),
                "text": plan.text,
                "due": plan.due.isoformat() if plan.due else None,
                "every": plan.every or None,
                "person_id": plan.asker.person_id,
                "satellite_id": plan.asker.satellite_id,
            },
        )

    async def _async_user_removed(self, event: Event[dict[str, str]]) -> None:
        await self.async_forget(
            lambda plan: plan.asker.user_id == event.data["user_id"]
        )

    async def _async_entity_changed(
        self, event: Event[er.EventEntityRegistryUpdatedData]
    ) -> None:
        """Follow entities that plans wait for, and forget the plans of persons who are gone."""
        data = event.data
        entity_id = event.data["entity_id"]
        waiting = [one for one in self.plans.stored.plans if not one.is_begun]
        if data["action"] == "update" and (old := data.get("old_entity_id")):
            for plan in waiting:
                await self._async_replace(
                    plan,
                    plan.renamed(old, entity_id),
                )
        if data["action"] != "remove":
            return
        for plan in waiting:
            if plan.renamed(entity_id, "") != plan:
                self._run(self._async_blind(plan))
        if entity_id.startswith("person."):
            entries = er.async_get(self._hass).entities.values()
            known = {one.unique_id for one in entries if one.platform == "person"}
            # Where there is no person, the id is that of the user.
            await self.async_forget(
                lambda plan: (
                    plan.asker.person_id not in {*known, None, plan.asker.user_id}
                )
            )

    async def _async_replace(
        self,
        plan: FuturePlan,
        changed: FuturePlan,
    ) -> None:
        """Have a plan wait for something else, unless it has changed meanwhile."""
        if changed == plan:
            return
        with suppress(NotPlanned):
            await self.plans.async_change(
                lambda stored: stored.replacing(plan, changed), even_unstored=True
            )
            self._watch(changed)

    @callback
    def _async_clock_changed(self, _event: Event) -> None:
        """Wait anew for times, since another time zone has other clocks."""
        for plan in self.plans.stored.plans:
            if plan.due and plan.id in self._watched:
                self._watch(plan)

    async def _async_blind(self, plan: FuturePlan) -> None:
        """End a plan whose condition can no longer be looked at."""
        self._unwatch(plan.id)
        await self._async_conclude(
            plan, PlanChange.CANCELLED, await self._async_say("later_hidden", plan)
        )


async def async_resolve(
    hass: HomeAssistant,
    words: str,
    language: str,
    at: datetime | None = None,
) -> Moment | None:
    """Return the time that words mean now, or at another time.

    It is None if they mean none within a year.
    """
    await hass.async_add_executor_job(prepare, language)
    return resolved_time(hass, words, language, at)


def resolved_time(
    hass: HomeAssistant,
    words: str,
    language: str,
    at: datetime | None = None,
    *,
    moved: Moment | None = None,
) -> Moment | None:
    """Return the same, or the time to which a plan is moved, once the phrases of the language are read."""
    now = dt_util.as_local(at or dt_util.utcnow())
    return resolve_time(
        words,
        now=now,
        language=language,
        sun=partial(get_astral_event_date, hass),
        moved=moved,
    )


def moment_of(plan: FuturePlan | None) -> Moment | None:
    """Return when a plan is due; None for one that waits for a state."""
    if plan and plan.due:
        return Moment(
            dt_util.as_local(plan.due),
            plan.every,
            is_sure=True,
        )
    return None


def due_about(
    hass: HomeAssistant,
    plans: Sequence[FuturePlan],
    words: str,
    language: str,
) -> FuturePlan | None:
    """Return the plan that is due about when words say, the latest of equals; None for another time or other words."""
    moments = [
        (plan, resolved_time(hass, words, language, moved=moment_of(plan)))
        for plan in reversed(plans)
    ]
    apart = [
        (abs(moment.due - plan.due), plan)
        for plan, moment in moments
        if moment and plan.due
    ]
    distance, nearest = min(
        apart,
        key=lambda one: one[0],
        default=(_ABOUT, None),
    )
    return nearest if distance <= _ABOUT else None


def _is_by(asker: Asker, speaker: Speaker) -> bool:
    return asker.person_id is not None and asker.person_id == speaker.person_id


def is_within_bounds(due: datetime) -> bool:
    """Return whether a time has not passed, but for that of an answer, and is within a year."""
    return -GRACE <= due - dt_util.utcnow() <= FURTHEST


def _is_late(plan: FuturePlan) -> bool:
    """Return whether a call is not worth doing any more."""
    last = plan.due + WORTH if plan.due else plan.until
    return last is not None and dt_util.utcnow() > last


def edited_plan(
    plan: FuturePlan,
    text: str,
    due: datetime | None,
) -> FuturePlan:
    """Return a plan with another time; a reminder with another text, too, unless that is empty. Raises `NotPlanned`."""
    if plan.kind is PlanKind.REMIND and (words := " ".join(text.split())):
        plan = replace(plan, text=words)
    if due != plan.due:
        if due is None or not is_within_bounds(due):
            raise NotPlanned(PlanProblem.NO_TIME)
        plan = replace(
            plan,
            due=due,
            words=exact_words(Moment(dt_util.as_local(due), plan.every, is_sure=True)),
        )
    if len(plan.text) > LONGEST_TEXT:
        raise NotPlanned(PlanProblem.NO_TIME)
    return plan


async def _logged(work: Awaitable[None]) -> None:
    """Await work whose result nobody waits for."""
    try:
        await work
    except NotPlanned as error:
        LOGGER.warning("A plan could not be concluded: %s", error.problem)


def _is_for(
    hass: HomeAssistant,
    news: News,
    speaker: Speaker,
    satellite_id: str | None,
) -> bool:
    asker = news.asker
    if _is_by(asker, speaker):
        return True
    if (
        asker.satellite_id
        and asker.satellite_id == satellite_id
        and not speaker.is_signed_in
    ):
        return True  # an app may name the device of any satellite
    if asker.device_id and asker.device_id == speaker.sure_device_id:
        return True
    return asker.person_id is None and not _has_place(hass, asker)


def _has_place(
    hass: HomeAssistant,
    asker: Asker,
) -> bool:
    """Return whether there still is a place at which somebody could hear what a person at it asked for."""
    satellite = asker.satellite_id
    is_known = satellite and (
        hass.states.get(satellite) or er.async_get(hass).async_get(satellite)
    )
    return bool(
        is_known or (asker.device_id and dr.async_get(hass).async_get(asker.device_id))
    )


_schedule: Final = home_singleton("schedule", Schedule)


@callback
def async_get_schedule(hass: HomeAssistant) -> Schedule:
    """Return the schedule of the home; in a silent home, a copy of which nothing is kept, begun or told."""
    schedule = _schedule(hass)
    if is_silent(hass):
        schedule = copy(schedule)
        schedule.plans = copy(schedule.plans)
        schedule.plans.is_tried = True
    return schedule
