"""What weaker models said is heard by a satellite as words, every call in it is run, and no turn ends in silence."""

import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import override

import pytest
from aiohttp.test_utils import TestServer
from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.calendar.const import DATA_COMPONENT as CALENDARS
from homeassistant.components.conversation import AssistantContent, ChatLog, Content, ToolResultContent
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pydantic import JsonValue

from custom_components.chatterbox.agent.messages import canonical_json
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_CHECK_ACTIONS,
    CONF_KIND,
    CONF_MAX_ITERATIONS,
    CONF_RULES,
    ServiceKind,
)
from tests.behaviour.recorded_runs.hard_cases import TOOLS, HardCase, is_read_by_hand, read_hard_cases
from tests.demo_house.move_in import move_in
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import add_agent, assert_no_orphans, speech, talk_as_the_pipeline_does

HOME = Path(__file__).with_name("hard_cases_home.yaml")
SATELLITE = "assist_satellite.kitchen"
CASES = read_hard_cases()
KINDS = sorted({case.why for case in CASES})
SILENCE = ScriptedAnswer(content="")
ENOUGH_ROUNDS = 15

PIECES = ScriptedAnswer(piece_characters=3, write_bytes=211)
"""How the model's answers are cut, in the stream and on the wire."""
WHOLE = ScriptedAnswer(piece_characters=100_000)

MARKUP = re.compile(r"[*_`#{}<>\[\]|\n]|\b(?:assistant|analysis|commentary)(?=[A-Z])")
"""What nobody should hear. None of the cases means any of it."""
END = "\n\n"
"""Ends a message that another one comes after, so that a voice need not wait for it; see `turns/spoken_answer.py`."""
LISTS = {"domain", "device_class"}


class Model(ScriptedChatCompletions):
    """A server whose model says what the one of a case said, and then nothing."""

    def play_case(self, case: HardCase, cut: ScriptedAnswer) -> None:
        answers = [
            cut.model_copy(
                update={
                    "content": message.content,
                    "tool_calls": tuple(
                        ScriptedCall(name=call.name, arguments=call.args) for call in message.tool_calls
                    ),
                }
            )
            for message in case.asst
        ]
        self.play(Script(answers=(*answers, SILENCE)))


class Satellite:
    """Hears what the pipeline is given to speak, message by message."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._role: object = None

    def __call__(self, _: ChatLog, delta: dict[str, object]) -> None:
        self._role = delta.get("role", self._role)
        if "role" in delta and self._role == "assistant":
            self.heard.append("")
        if self._role == "assistant":
            self.heard[-1] += str(delta.get("content") or "")


class PersonalCalendar(CalendarEntity):
    """A calendar without events."""

    _attr_name = "Personal"
    _attr_should_poll = False

    @property
    @override
    def event(self) -> CalendarEvent | None:
        return None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        return []


async def set_up_home(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    assert await async_setup_component(hass, "calendar", {})
    await hass.data[CALENDARS].async_add_entities([PersonalCalendar()])
    async_expose_entity(hass, "conversation", "calendar.personal", should_expose=True)
    await move_in(hass, HOME.read_text(encoding="utf-8"))


@asynccontextmanager
async def agent(hass: HomeAssistant, **options: object) -> AsyncGenerator[Model]:
    """Move in, and run a server and an agent that uses it."""
    await set_up_home(hass)
    model = Model(Script())
    async with TestServer(model.application()) as server:
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: str(server.make_url("/v1")),
        }
        allowing = {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"], CONF_RULES: [{"verdict": "allow"}]}
        await add_agent(hass, service, {**allowing, **options})
        yield model


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("kind", KINDS)
async def test_every_call_is_made_and_every_word_is_heard(hass: HomeAssistant, kind: str) -> None:
    # As many rounds as the model took then, and its own words where it reports what it has not done.
    async with agent(hass, **{CONF_MAX_ITERATIONS: ENOUGH_ROUNDS, CONF_CHECK_ACTIONS: False}) as model:
        for case in (case for case in CASES if case.why == kind):
            model.play_case(case, PIECES)
            await talk_and_compare(hass, case)


@pytest.mark.usefixtures("socket_enabled")
async def test_an_agent_that_nothing_was_set_for_is_never_silent(hass: HomeAssistant) -> None:
    async with agent(hass) as model:
        for case in CASES:
            model.play_case(case, WHOLE)
            satellite = Satellite()
            result = await talk_as_the_pipeline_does(hass, case.text, case.id, satellite, SATELLITE)

            assert_no_orphans(hass.data[DATA_CHAT_LOGS][case.id].content)
            assert re.search(r"\w", speech(result)), case.id
            assert re.search(r"\w", "".join(satellite.heard)), case.id
            for said in (*satellite.heard, speech(result)):
                assert not MARKUP.search(said.removesuffix(END)), (case.id, said)


async def talk_and_compare(hass: HomeAssistant, case: HardCase) -> None:
    satellite = Satellite()
    result = await talk_as_the_pipeline_does(hass, case.text, case.id, satellite, SATELLITE)
    spoken = speech(result)
    contents = hass.data[DATA_CHAT_LOGS][case.id].content

    assert_no_orphans(contents)
    assert calls_of(contents) == [(TOOLS.get(call.name, call.name), as_meant(call.args)) for call in case.calls()]
    assert unknown_tools(contents) == [call.name for call in case.calls() if call.name not in TOOLS], case.id
    for said in (*satellite.heard, spoken):
        assert not MARKUP.search(said.removesuffix(END)), (case.id, said)
    meant = [case.meaning(number).says for number in range(len(case.asst))]
    assert letters(satellite.heard[: len(meant)]) == letters(meant), case.id
    assert spoken.strip(), case.id
    assert satellite.heard[-1].strip() == spoken, case.id


def calls_of(contents: Iterable[Content]) -> list[tuple[str, dict[str, JsonValue]]]:
    return [
        (call.tool_name, as_meant(call.tool_args))
        for content in contents
        if isinstance(content, AssistantContent)
        for call in content.tool_calls or ()
    ]


def as_meant(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return arguments without those that say nothing, with lists of one where a list is meant, in small letters."""
    return {
        key: canonical_json([value] if key in LISTS and isinstance(value, str) else value).casefold()
        for key, value in arguments.items()
        if key and value not in ("", None)
    }


def unknown_tools(contents: Iterable[Content]) -> list[str]:
    """Return the names of calls that were answered by "there is no such tool"."""
    return [
        content.tool_name
        for content in contents
        if isinstance(content, ToolResultContent) and "There is no tool" in str(content.result)
    ]


def letters(texts: Iterable[str]) -> list[str]:
    return [re.sub(r"[\W_]+", "", text) for text in texts]


def test_the_cases_are_what_they_are_taken_for() -> None:
    assert len(CASES) == 161
    assert len({case.id for case in CASES}) == 161
    assert sum(map(is_read_by_hand, CASES)) == 6
    assert {call.name for case in CASES for call in case.calls()} - TOOLS.keys() == {"HassGetDeviceState"}
