"""Calls that are asked about, and their question."""

from collections.abc import Sequence
from dataclasses import replace

from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.messages import (
    ToolCall,
)
from custom_components.chatterbox.approvals.asking import (
    question_text,
)
from custom_components.chatterbox.approvals.policy import Decision, Judgement
from custom_components.chatterbox.approvals.review import CallReview
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
)
from custom_components.chatterbox.settings.rules import Verdict
from custom_components.chatterbox.speech.sentences import async_get_sentences

FRONT = EntityAction("lock.front_door", "lock.unlock")
GARAGE = EntityAction("cover.garage_door", "cover.open_cover")


def review_of(
    effects: Effects,
    *subjects: EntityAction | Unknown,
    verdict: Verdict = Verdict.ASK,
    tool: str = "intent__HassTurnOn",
    reason: str = "",
) -> CallReview:
    """Return a call that is asked about because of `subjects`."""
    decisions = tuple(Decision(subject, verdict, None) for subject in subjects)
    call = ToolCall("call_1", tool, '{"name": "*whatever* {a} model `wrote`"}')
    return CallReview(call, effects, Judgement(verdict, decisions), reason=reason)


def doing(*actions: EntityAction, verdict: Verdict = Verdict.ASK) -> CallReview:
    """Return a call that is asked about for all that it would do."""
    return review_of(Effects(frozenset(actions)), *actions, verdict=verdict)


def from_outside(*actions: EntityAction) -> CallReview:
    """Return a call that is allowed, and asked about because of what came from outside."""
    return replace(
        review_of(Effects(frozenset(actions)), verdict=Verdict.ALLOW),
        for_outside_content=True,
    )


async def question(
    hass: HomeAssistant, calls: Sequence[CallReview], language: str = "en"
) -> str:
    return question_text(hass, await async_get_sentences(hass, language), calls)


"""Calls that are asked about, and their question."""
