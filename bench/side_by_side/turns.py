"""Turns of a conversation, as they come from an API client and from the Assist pipeline.

Knows how Home Assistant is talked to; must not know which agent answers, or what is
measured.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from inspect import signature

from homeassistant.components import conversation
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineEventType
from homeassistant.components.assist_pipeline.pipeline import (
    PipelineInput,
    PipelineRun,
    PipelineStage,
    async_get_pipeline,
)
from homeassistant.components.conversation import ChatLog
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from bench.side_by_side.agents import Agent


@dataclass(frozen=True, slots=True)
class TimedTurn:
    """One sentence."""

    text: str = "What is it like at home?"
    conversation_id: str | None = None
    """A conversation of its own when it is not given."""
    device_id: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """When what happened, in seconds of the monotonic clock."""

    began: float
    first: float
    """The first words of the answer; its end, where nothing comes before."""
    ended: float


type Way = Callable[[HomeAssistant, Agent, TimedTurn], Awaitable[Heard]]
"""A way to say something."""


async def converse(hass: HomeAssistant, agent: Agent, words: TimedTurn) -> Heard:
    """Say something with `conversation.async_converse`, and listen to the deltas as a pipeline does.

    Raises RuntimeError when the agent fails.
    """
    began, first = time.monotonic(), 0.0

    def listen(_log: ChatLog, delta: dict[str, object]) -> None:
        nonlocal first
        if not first and delta.get("content"):
            first = time.monotonic()

    context = Context()
    with (
        _session(hass, words, context) as session,
        conversation.async_get_chat_log(hass, session, chat_log_delta_listener=listen),
    ):
        result = await conversation.async_converse(
            hass,
            words.text,
            session.conversation_id,
            context,
            "en",
            agent.entity_id,
            device_id=words.device_id,
        )
    ended = time.monotonic()
    _check(agent, result.response.as_dict())
    return Heard(began, first or ended, ended)


async def through_pipeline(
    hass: HomeAssistant, agent: Agent, words: TimedTurn
) -> Heard:
    """Say something through the Assist pipeline, text to text. Raises RuntimeError when the agent fails."""
    began, first = time.monotonic(), 0.0
    outputs: list[object] = []

    def on_event(event: PipelineEvent) -> None:
        nonlocal first
        data = event.data or {}
        match event.type:
            case PipelineEventType.INTENT_PROGRESS if not first and data.get(
                "chat_log_delta", {}
            ).get("content"):
                first = time.monotonic()
            case PipelineEventType.INTENT_END:
                outputs.append(data["intent_output"]["response"])
            case _:
                pass

    context = Context()
    with _session(hass, words, context) as session:
        run = PipelineRun(
            hass,
            context=context,
            pipeline=async_get_pipeline(hass, agent.entity_id),
            start_stage=PipelineStage.INTENT,
            end_stage=PipelineStage.INTENT,
            event_callback=on_event,
        )
        turn = PipelineInput(
            run=run, session=session, intent_input=words.text, device_id=words.device_id
        )
        await turn.execute(validate=True)
    ended = time.monotonic()
    _check(agent, *outputs)
    return Heard(began, first or ended, ended)


def _session(
    hass: HomeAssistant, words: TimedTurn, context: Context
) -> AbstractContextManager[chat_session.ChatSession]:
    """Open the session of a conversation. Since 2026.11, Home Assistant asks for the context of a turn."""
    sessions = chat_session.async_get_chat_session
    wants_context = "context" in signature(sessions).parameters
    return (
        partial(sessions, context=context)(hass, words.conversation_id)
        if wants_context
        else sessions(hass, words.conversation_id)
    )


def _check(agent: Agent, *responses: object) -> None:
    """Raise RuntimeError unless there is one response, and no error."""
    match responses:
        case [{"response_type": "error", "speech": speech}]:
            raise RuntimeError(f"{agent.name} failed: {speech}")
        case [_]:
            pass
        case _:
            raise RuntimeError(f"{agent.name} said nothing")
