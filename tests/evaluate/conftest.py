"""A model that knows the right answers to the requests of a trial, unless it is told others."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final, override

import pytest
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from pydantic import JsonValue

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.evaluate.grading import TrialRequest
from custom_components.chatterbox.evaluate.requests import async_make_requests
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import ModelRequest, is_from_user
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import add_agent, move_into_the_demo_home

_BY_VALUE: Final = {
    "brightness": "light__HassLightSet",
    "position": "intent__HassSetPosition",
    "temperature": "climate__HassClimateSetTemperature",
    "volume_level": "media_player__HassSetVolume",
}
_BY_STATE: Final = {
    "cleaning": "vacuum__HassVacuumStart",
    "closed": "intent__HassTurnOff",
    "locked": "intent__HassTurnOn",
    "off": "intent__HassTurnOff",
    "on": "intent__HassTurnOn",
    "open": "intent__HassTurnOn",
    "paused": "media_player__HassMediaPause",
    "returning": "vacuum__HassVacuumReturnToBase",
    "unlocked": "intent__HassTurnOff",
}
_YES: Final = {"de": ("Ja.", "Nein."), "en": ("Yes.", "No, it is not.")}
USAGE: Final = ScriptedUsage(prompt_tokens=1000, completion_tokens=10)

type Answers = Mapping[str, tuple[tuple[ScriptedCall, ...], str]]
"""Calls and words by the request."""


def right_call(
    hass: HomeAssistant, entity_id: str, values: Mapping[str, JsonValue]
) -> ScriptedCall:
    """Return the call that brings about the changes of an entity."""
    state = hass.states.get(entity_id)
    assert state
    named: dict[str, JsonValue] = {"name": state.name}
    for value, tool in _BY_VALUE.items():
        if value in values:
            return ScriptedCall(name=tool, arguments={**named, value: values[value]})
    return ScriptedCall(name=_BY_STATE[str(values["state"])], arguments=named)


def right_answers(
    hass: HomeAssistant, requests: list[TrialRequest], language: str
) -> Answers:
    """Return the right answers to requests, and to what is said before them."""
    answers: dict[str, tuple[tuple[ScriptedCall, ...], str]] = {}
    for one in requests:
        words = "Done." if one.wanted else "I cannot do that."
        if one.number is not None:
            words = f"It is {one.number:g}."
        elif one.is_so is not None:
            words = _YES[language][not one.is_so]
        answers[one.text] = (
            tuple(right_call(hass, *change) for change in one.wanted.items()),
            words,
        )
        if one.before:
            answers[one.before] = (
                tuple(right_call(hass, *change) for change in one.earlier.items()),
                "Done.",
            )
    return answers


class KnowingModel(ScriptedChatCompletions):
    """Answers each request as it was told."""

    def __init__(self, answers: Answers) -> None:
        """Take the answers."""
        super().__init__(Script())
        self.answers = dict(answers)

    @override
    def answer_to(
        self, body: dict[str, JsonValue], parsed: ModelRequest
    ) -> ScriptedAnswer | ScriptedFailure | None:
        messages = body["messages"]
        assert isinstance(messages, list)
        dialog = [one for one in messages if isinstance(one, dict)]
        latest = str(
            next(one["content"] for one in reversed(dialog) if is_from_user(one))
        )
        known = sorted(
            (text for text in self.answers if latest.endswith(text)), key=len
        )
        if not known:
            return super().answer_to(body, parsed)
        calls, words = self.answers[known[-1]]
        if calls and dialog[-1].get("role") == "user":
            return ScriptedAnswer(tool_calls=calls, usage=USAGE)
        return ScriptedAnswer(content=words, usage=USAGE)


type Tried = Callable[..., Awaitable[KnowingModel]]


@pytest.fixture
async def knowing(hass: HomeAssistant) -> AsyncGenerator[Tried]:
    """Return a function that sets up the demo home and an agent whose model knows the right answers."""
    await move_into_the_demo_home(hass)
    model = KnowingModel({})
    async with serving(model.application()) as address:

        async def start(
            requests: int = 40,
            language: str = "en",
            server: str = "",
            **options: object,
        ) -> KnowingModel:
            model.answers = dict(
                right_answers(
                    hass, await async_make_requests(hass, language, requests), language
                )
            )
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_BASE_URL: address,
                CONF_SERVER: server,
            }
            known: dict[str, object] = {
                CONF_MODEL: "scripted-model",
                CONF_LLM_HASS_API: ["assist"],
            }
            await add_agent(hass, service, known | options)
            return model

        yield start


async def evaluate(
    hass: HomeAssistant, context: Context | None = None, **data: object
) -> Mapping[str, Any]:
    """Call the action, and return its result."""
    result = await hass.services.async_call(
        DOMAIN, "evaluate", data, blocking=True, context=context, return_response=True
    )
    assert result
    return result
