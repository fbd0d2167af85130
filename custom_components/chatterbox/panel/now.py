"""The present: the agents, the questions and the plans that wait; and how a user answers or changes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Final

import voluptuous as vol
from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntryState,
    ConfigSubentry,
)
from homeassistant.const import CONF_PASSWORD
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.debounce import Debouncer
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.errors import (
    CreditSpent,
    ModelNotFound,
    ProviderError,
    ProviderRejectedKey,
)
from ..agent.messages import JsonObject
from ..agent.providers.managed_provider import BreakerState
from ..agent.text import capitalized
from ..approvals.asking import actions_text, question_text
from ..approvals.pin.pin_guard import Locked
from ..approvals.pin_tries import Right, Wrong, async_get_pin_tries, async_tried_device
from ..approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    QuestionGone,
    async_get_approvals,
    async_refusal,
)
from ..approvals.review import ApprovalWay, CallReview, GivenAnswer
from ..const import DOMAIN, LOGGER, REDACTED_PIN, SUBENTRY_CONVERSATION
from ..history.stores import async_keeps_turns
from ..home.entity_matches import tool_name
from ..later.plans import SIGNAL_PLANS, FuturePlan, PlanKind, plans_of
from ..later.routines import async_automation
from ..later.schedule import async_get_schedule, edited_plan
from ..later.telling import repetition_text, waiting_text
from ..later.tool import due_order
from ..records.turn_record import SIGNAL_TURN, SIGNAL_USAGE, shown_text
from ..repairs import unreadable_files
from ..runtime.agents import (
    HOME_ASSISTANT,
    Agent,
    ChatterboxConfigEntry,
    async_entity_of,
)
from ..runtime.health import SIGNAL_HEALTH
from ..runtime.recent_turns import async_get_recent_turns
from ..settings.rules import SIGNAL_HOME_RULES, async_get_home_rules
from ..speech.sentences import Sentences, async_closest_language, async_get_sentences
from ..usage.tracker import async_get_usage_tracker, today
from .commands import (
    ID_FIELD,
    IN_LANGUAGE,
    NOT_FOUND,
    REFUSED,
    CommandData,
    CommandRefused,
    Viewer,
    async_register_command,
    text_field,
)
from .turn_view import TurnViews

_PAUSE: Final = 0.5
"""Seconds between two messages to a page."""
_FAILING: Final = 2
"""Turns in a row that have failed, after which an agent is not said to be ready."""
_GONE: Final = "gone"
_STATES_OF_FAILURES: Final[Mapping[type[ProviderError] | None, str]] = {
    ProviderRejectedKey: "key",
    CreditSpent: "credit",
    ModelNotFound: "model_gone",
}
_CHANGES: Final = (
    SIGNAL_QUESTION,
    SIGNAL_PLANS,
    SIGNAL_TURN,
    SIGNAL_USAGE,
    SIGNAL_HEALTH,
    SIGNAL_CONFIG_ENTRY_CHANGED,
    SIGNAL_HOME_RULES,
)
"""The signals after which the present is another."""

_ANSWER: Final = vol.Schema(
    {  # Home Assistant logs no field of the name that the PIN has here
        vol.Required("question_id"): ID_FIELD,
        vol.Required("approved"): bool,
        vol.Optional(CONF_PASSWORD): vol.All(
            str,
            vol.Match(r"^[0-9]{1,40}$"),
        ),
    }
)
_PLAN: Final = vol.Schema({vol.Required("plan_id"): ID_FIELD})
_EDIT: Final = _PLAN.extend(
    {
        vol.Optional("due_at"): vol.All(
            vol.Any(
                int,
                float,
            ),
            vol.Range(min=0, max=1e11),
        ),
        vol.Optional("text", default=""): text_field(1000),
    }
)


def async_register_now(hass: HomeAssistant) -> None:
    """Register the commands."""
    register = partial(async_register_command, hass, for_users=True)
    register("now/subscribe", vol.Schema(IN_LANGUAGE), _async_subscribe)
    register("question/answer", _ANSWER, _async_answer)
    register("plan/change", _EDIT, _async_change_plan)
    register("plan/cancel", _PLAN, _async_cancel_plan)
    async_register_command(
        hass,
        "plan/automation",
        _PLAN,
        _async_automation,
    )


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class AgentNow:
    """An agent."""

    id: str
    name: str
    entity_id: str | None
    service: str
    state: str
    since_at: float | None
    """Since when its own model does not answer, if that is known; in seconds since the epoch, like all times here."""
    stands_in: str | None
    """The name of the agent that answers in its place."""
    is_available: bool
    detail: str
    """Why its own model does not answer, as a sentence."""
    turns_today: int | None = None
    """Like all figures, for administrators alone."""
    usual_wait_ms: float | None = None
    """Until the first words: the median of the last turns since the start."""
    cost_today: float | None = None
    """US dollars; None for an unknown price."""
    cost_month: float | None = None
    last_turn_at: float | None = None


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class QuestionNow:
    """A question that waits."""

    id: str
    text: str
    agent: str
    person: str | None
    place: str | None
    words: str
    expires_at: float
    needs_pin: bool
    is_choice: bool
    calls: Sequence[Mapping[str, object]]
    may_answer: str | None
    """The translation key of the reason for which the user may not say yes."""
    who: str
    turn_id: object
    """None if the turn is not stored."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class PlanNow:
    """A plan for later."""

    id: str
    kind: str
    """A `PlanKind`, or `routine`."""
    text: str
    agent: str
    person: str | None
    place: str | None
    due_at: float | None
    every: str
    repeats: str
    """How it comes again, in words; empty if it does not."""
    condition: str | None
    can_change: bool
    """Whether the user may move it, as far as that can be told without asking the owner's scripts."""
    can_rename: bool
    can_cancel: bool
    can_automate: bool
    """Whether the user may have it as an automation of Home Assistant."""


@dataclass(frozen=True, slots=True)
class Now:
    """The present."""

    agents: Sequence[AgentNow]
    questions: Sequence[QuestionNow]
    plans: Sequence[PlanNow]
    unreadable: Sequence[str]
    """The names of the stored files that cannot be read, of which something is missing here."""
    guests_since: float | None
    """When guest mode was switched on; None while it is off."""


async def _async_subscribe(
    viewer: Viewer,
    data: CommandData,
) -> None:
    """Send the present now, and whenever it has changed, until the page is closed."""
    hass = viewer.hass
    language = await viewer.async_language(data)

    async def send() -> None:
        if viewer.is_allowed:
            viewer.send(await _async_now(viewer, language))

    sending = Debouncer(
        hass, LOGGER, cooldown=_PAUSE, immediate=True, function=send, background=True
    )

    @callback
    def follow(*_changed: object) -> None:
        sending.async_schedule_call()

    ends = [async_dispatcher_connect(hass, signal, follow) for signal in _CHANGES]

    @callback
    def end() -> None:
        sending.async_shutdown()
        for one in ends:
            one()

    viewer.follow(end)
    hass.loop.call_soon(follow)  # after the answer to the command


async def _async_now(
    viewer: Viewer,
    language: str,
) -> Now:
    views = TurnViews(viewer.hass, language)
    sentences = await async_get_sentences(viewer.hass, language)
    sentences = {
        **sentences,
        "spoken_say_pin": sentences["enter_pin"],
    }
    questions = [
        await _async_question(
            viewer,
            views,
            sentences,
            language,
            one,
        )
        for one in _questions(viewer)
    ]
    plans = [await _async_plan(viewer, views, plan) for plan in _plans(viewer)]
    since = async_get_home_rules(viewer.hass).current.guests_since
    return Now(
        [*_agents(viewer, sentences)],
        questions,
        plans,
        unreadable_files(viewer.hass),
        since.timestamp() if since else None,
    )


def _agents(
    viewer: Viewer,
    sentences: Sentences,
) -> Iterator[AgentNow]:
    entries: list[ChatterboxConfigEntry] = viewer.hass.config_entries.async_entries(
        DOMAIN, include_ignore=False
    )
    for entry in entries:
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
            yield _agent(
                viewer,
                entry,
                subentry,
                sentences,
            )


def _agent(
    viewer: Viewer,
    entry: ChatterboxConfigEntry,
    subentry: ConfigSubentry,
    sentences: Sentences,
) -> AgentNow:
    hass = viewer.hass
    agent_id = subentry.subentry_id
    entity = async_entity_of(hass, agent_id)
    runtime = entry.runtime_data if entry.state is ConfigEntryState.LOADED else None
    agent = runtime.agents.get(agent_id) if runtime else None
    state = _state(
        agent,
        has_model=runtime is not None and agent_id in runtime.models,
    )
    is_troubled = agent is not None and state not in {"ok", "offline", "failing"}
    if runtime and state == "down":
        since = runtime.health.down_since
    else:
        since = None
    return AgentNow(
        id=agent_id,
        name=subentry.title,
        entity_id=entity.entity_id if entity else None,
        service=entry.title,
        state=state,
        since_at=since.timestamp() if since else None,
        stands_in=_stand_in(agent) if agent and is_troubled else None,
        is_available=agent is not None and agent.chain.is_available,
        detail=agent.took_over(sentences) if agent and is_troubled else "",
        **(_figures(hass, agent_id) if viewer.is_admin else {}),
    )


def _state(
    agent: Agent | None,
    *,
    has_model: bool,
) -> str:
    """Return the state of an agent: of its own model and, where nothing is wrong with it, of the last turns."""
    if agent is None:
        return "not_loaded"
    recent = async_get_recent_turns(agent.hass).of(agent.id)[-_FAILING:]
    is_failing = len(recent) == _FAILING and all(
        turn.facts.has_failed for turn in recent
    )
    if not has_model:
        return "failing" if is_failing else "offline"
    if agent.chain.own.spent():
        return "budget"
    breaker = agent.chain.own.breaker
    if breaker.state is BreakerState.CLOSED:
        return "failing" if is_failing else "ok"
    return _STATES_OF_FAILURES.get(breaker.last_error, "down")


def _stand_in(agent: Agent) -> str | None:
    """Return the name of the first agent that would answer in its place."""
    working = (
        one.name
        for one in agent.chain.models()[1:]
        if one.breaker.state is BreakerState.CLOSED
    )
    return next(
        (name for name in working), HOME_ASSISTANT if agent.chain.ends_offline else None
    )


def _figures(
    hass: HomeAssistant,
    agent: str,
) -> dict[str, Any]:
    tracker = async_get_usage_tracker(hass)
    recent = async_get_recent_turns(hass).of(agent)
    usage = tracker.latest_usage(agent)
    waits = [
        one.facts.first_words for one in recent if one.facts.first_words is not None
    ]
    return {
        "turns_today": usage.turns_on(today()),
        "usual_wait_ms": median(waits) * 1000 if waits else None,
        "cost_today": usage.spent_on(today()) if tracker.has_price(agent) else None,
        "cost_month": usage.spent_in_month_of(today())
        if tracker.has_price(agent)
        else None,
        "last_turn_at": recent[-1].facts.began_at if recent else None,
    }


def _questions(viewer: Viewer) -> list[Question]:
    """Return the questions that a user sees: their own, or all."""
    return [
        one
        for one in async_get_approvals(viewer.hass).waiting
        if viewer.sees(one.speaker.person_id)
    ]


async def _async_question(
    viewer: Viewer,
    views: TurnViews,
    sentences: Sentences,
    language: str,
    question: Question,
) -> QuestionNow:
    """Return a question as it was asked, or anew in the language of the user, or for a PIN that is typed."""
    refusal = await async_refusal(
        viewer.hass, question, viewer.context, approved=True, has_pin=True
    )
    asked_in = await async_closest_language(viewer.hass, question.language)
    is_kept = asked_in == language and not question.needs_pin
    if is_kept:
        text = question.text
    else:
        text = question_text(viewer.hass, sentences, question.calls)
    entity = er.async_get(viewer.hass).async_get(question.scope.agent_id)
    agent_id = (entity.config_subentry_id if entity else None) or ""
    return QuestionNow(
        id=question.id,
        text=shown_text(text),
        agent=views.agents.get(agent_id, ""),
        person=question.speaker.name,
        place=views.place(
            question.scope.device_id,
            question.scope.satellite_id,
        ),
        words="" if question.request == REDACTED_PIN else shown_text(question.request),
        expires_at=question.pending.expires_at,
        needs_pin=question.needs_pin,
        is_choice=bool(question.options),
        calls=[
            {
                "sentence": _call_text(viewer.hass, sentences, one),
                "entity_ids": sorted(one.entity_ids),
            }
            for one in question.calls
        ],
        may_answer=f"question_{refusal}" if refusal else None,
        who="control" if question.is_foreseen else "admin",
        turn_id=question.origin.get("turn_id")
        if async_keeps_turns(viewer.hass, agent_id)
        else None,
    )


def _call_text(hass: HomeAssistant, sentences: Sentences, call: CallReview) -> str:
    """Return what a call does, or the name of its tool where that has no name."""
    text = actions_text(hass, sentences, call) or tool_name(call.acting_call.name)
    return capitalized(text)


async def _async_answer(
    viewer: Viewer,
    data: CommandData,
) -> object:
    """Answer a question, and return what the agent says."""
    hass = viewer.hass
    approved = data["approved"]
    question = next(
        (one for one in _questions(viewer) if one.id == data["question_id"]), None
    )
    if question is None:
        raise CommandRefused(_GONE)
    refusal = await async_refusal(
        hass, question, viewer.context, approved=approved, has_pin=CONF_PASSWORD in data
    )
    if refusal is not None:
        raise CommandRefused(REFUSED, f"question_{refusal}")
    way = ApprovalWay.PAGE
    if approved and question.needs_pin:
        await _async_compare_pin(hass, data[CONF_PASSWORD])
        way = ApprovalWay.PIN
    answer = GivenAnswer(
        approved, way=way, user_id=viewer.user.id, pin_channel=ApprovalWay.PAGE
    )
    try:
        return {
            "speech": await async_get_approvals(hass).answer(
                question.id,
                answer,
            )
        }
    except QuestionGone as error:
        raise CommandRefused(_GONE) from error


async def _async_compare_pin(
    hass: HomeAssistant,
    digits: str,
) -> None:
    """Compare a PIN that was typed, which costs a try. Raises `CommandRefused` unless it is right."""
    pin = async_get_home_rules(hass).current.pin
    if pin is None:  # it was removed meanwhile
        raise CommandRefused(_GONE)
    match await async_get_pin_tries(hass).async_try(
        async_tried_device(hass, None), pin, digits
    ):
        case Right():
            return
        case Locked(seconds_left):
            raise CommandRefused(
                "locked",
                seconds=f"{seconds_left:.0f}",
            )
        case Wrong(tries_left):
            raise CommandRefused("wrong_pin", tries_left=str(tries_left))
        case None:
            raise CommandRefused("wrong_pin")


def _plans(viewer: Viewer) -> Sequence[FuturePlan]:
    """Return the plans that a user may change, in order of time: their own and those of the household, or all."""
    plans = async_get_schedule(viewer.hass).plans.stored.plans
    return sorted(
        plans if viewer.is_admin else plans_of(plans, viewer.person_id), key=due_order
    )


async def _async_plan(
    viewer: Viewer,
    views: TurnViews,
    plan: FuturePlan,
) -> PlanNow:
    problem = partial(
        async_get_schedule(viewer.hass).async_problem,
        plan,
        viewer.speaker,
        asks_scripts=False,
    )
    can_cancel = not plan.is_begun and (
        viewer.is_admin or await problem(takes_back=True) is None
    )
    is_free = (
        can_cancel
        and not (plan.call and plan.call.terms)
        and (viewer.is_admin or await problem() is None)
    )
    return PlanNow(
        id=plan.id,
        kind="routine" if plan.is_routine else plan.kind,
        text=plan.text,
        agent=views.agents.get(
            plan.agent,
            "",
        ),
        person=plan.asker.name,
        place=views.place(
            plan.asker.device_id,
            plan.asker.satellite_id,
        ),
        due_at=plan.due.timestamp() if plan.due else None,
        every=plan.every,
        repeats=repetition_text(
            plan,
            views.language or views.hass.config.language,
        ),
        condition=waiting_text(views.hass, plan) or None,
        can_change=plan.due is not None and is_free,
        can_rename=plan.kind is PlanKind.REMIND and is_free,
        can_cancel=can_cancel,
        can_automate=viewer.is_admin and plan.is_routine and can_cancel,
    )


async def _async_change_plan(
    viewer: Viewer,
    data: CommandData,
) -> PlanNow:
    """Change the time of a plan, and the text of a reminder."""
    if "due_at" in data:
        due = dt_util.utc_from_timestamp(data["due_at"])
    else:
        due = None
    plan = _known_plan(viewer, data["plan_id"])
    changed = await async_get_schedule(viewer.hass).async_change(
        plan.id,
        lambda known: edited_plan(known, data["text"], due or known.due),
        viewer.speaker,
    )
    return await _async_plan(
        viewer,
        TurnViews(viewer.hass),
        changed,
    )


async def _async_automation(
    viewer: Viewer,
    data: CommandData,
) -> JsonObject:
    """Return a routine as the configuration of an automation."""
    plan = _known_plan(viewer, data["plan_id"])
    if plan.is_routine and (config := await async_automation(viewer.hass, plan)):
        return config
    raise CommandRefused(REFUSED, "later_no_automation")


async def _async_cancel_plan(
    viewer: Viewer,
    data: CommandData,
) -> None:
    """Cancel a plan."""
    plan = _known_plan(viewer, data["plan_id"])
    await async_get_schedule(viewer.hass).async_cancel(
        plan.id,
        viewer.speaker,
    )


def _known_plan(viewer: Viewer, plan_id: str) -> FuturePlan:
    plan = next(
        (one for one in _plans(viewer) if one.id == plan_id),
        None,
    )
    if plan:
        return plan
    raise CommandRefused(NOT_FOUND)
