"""A PIN that was said is gone from the turn, and from what Home Assistant keeps of it, before anybody else reads it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.assist_pipeline.pipeline import KEY_ASSIST_PIPELINE
from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    ConversationEntity,
    ConversationInput,
    ConversationResult,
    UserContent,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.conversation.const import DATA_COMPONENT
from homeassistant.components.conversation.trace import (
    async_clear_traces,
    async_get_traces,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import intent
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

import custom_components
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import REDACTED_PIN
from custom_components.chatterbox.turns.input import async_redact_pin, async_was_asked
from tests.support.ears import say_aloud
from tests.support.leaks import LOGGED_BEFORE_AN_AGENT_HEARS, Leaks
from tests.support.listening_room import WholeVoice, furnish
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT
from tests.support.versions import IS_LATEST
from tests.support.waiting_questions import NAMED, ask, scope, unlocking

PIN = "8593614207"
TALK = "a-talk"


class Listener(ConversationEntity):
    """An agent that hides a PIN and repeats what is left to it."""

    _attr_name = "Talker"

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.has_pin = True

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        return "*"

    @override
    async def _async_handle_message(
        self, user_input: ConversationInput, chat_log: ChatLog
    ) -> ConversationResult:
        self.heard.append(user_input.text)
        where = replace(
            scope(chat_log.conversation_id, user_input.device_id), agent_id=AGENT
        )
        async_was_asked(self.hass)
        user_input = async_redact_pin(
            self.hass, user_input, chat_log, where, NAMED, has_pin=self.has_pin
        )
        self.heard.append(user_input.text)
        chat_log.async_add_assistant_content_without_tools(
            AssistantContent(AGENT, f"I heard {user_input.text}")
        )
        response = intent.IntentResponse("en")
        response.async_set_speech(f"I heard {user_input.text}")
        return ConversationResult(response, chat_log.conversation_id)


@pytest.fixture
async def listener(hass: HomeAssistant) -> Listener:
    """Set up the agent."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    agent = Listener()
    await hass.data[DATA_COMPONENT].async_add_entities([agent])
    return agent


async def say(
    hass: HomeAssistant,
    text: str,
    conversation_id: str = TALK,
    device_id: str | None = None,
) -> None:
    """Say something to the agent."""
    await conversation.async_converse(
        hass, text, conversation_id, Context(), "en", AGENT, device_id
    )


async def ask_to_unlock(
    hass: HomeAssistant,
    *,
    needs_pin: bool,
    device_id: str | None = None,
    expires_in: float = 60,
) -> GivenAnswer:
    """Ask whether the front door shall be unlocked, after a first turn; return a no."""
    await say(hass, "Unlock the front door", device_id=device_id)
    where = replace(scope(TALK, device_id), agent_id=AGENT)
    ask(hass, unlocking(where, needs_pin=needs_pin), expires_in)
    return GivenAnswer(approved=False, way=ApprovalWay.NOTIFICATION)


def user_words(hass: HomeAssistant, conversation_id: str = TALK) -> list[str]:
    """Return what a person said in a conversation, as Home Assistant keeps it."""
    contents = hass.data[DATA_CHAT_LOGS][conversation_id].content
    return [content.content for content in contents if isinstance(content, UserContent)]


@pytest.mark.each_row
@pytest.mark.parametrize(
    "sentence", [PIN, f"yes, {PIN}", f"no, {PIN}!", f"{PIN}?", " ".join(PIN)]
)
@pytest.mark.parametrize(
    ("needs_pin", "has_pin"), [(True, True), (False, True), (True, False)]
)
async def test_a_pin_is_gone_from_wherever_it_can_be_read(  # noqa: PLR0917  # fixtures
    hass: HomeAssistant,
    listener: Listener,
    leaks: Leaks,
    sentence: str,
    needs_pin: bool,  # noqa: FBT001  # of a table
    has_pin: bool,  # noqa: FBT001  # of a table
) -> None:
    listener.has_pin = has_pin
    answer = await ask_to_unlock(hass, needs_pin=needs_pin)

    await say(hass, sentence)
    async_get_approvals(hass).take("question-1", answer)

    assert listener.heard[-2:] == [sentence, REDACTED_PIN]
    assert user_words(hass) == ["Unlock the front door", REDACTED_PIN]
    leaks.assert_nowhere(PIN, sentence)


@in_one_home(
    "sentence",
    ["yes", "no", "turn on the light", "set a timer for ten minutes"],
    puts_back=True,
)
async def test_other_words_stay_as_they_are(
    hass: HomeAssistant, listener: Listener, sentence: str
) -> None:
    answer = await ask_to_unlock(hass, needs_pin=True)

    await say(hass, sentence)
    async_get_approvals(hass).take("question-1", answer)

    assert listener.heard[-1] == sentence
    assert user_words(hass)[-1] == sentence
    assert any(
        event["data"].get("text") == sentence
        for trace in async_get_traces()
        for event in trace.as_dict()["events"]
    )


@pytest.mark.usefixtures("listener")
async def test_traces_that_hold_no_pin_are_kept(hass: HomeAssistant) -> None:
    async_clear_traces()  # Home Assistant keeps them for the whole process
    answer = await ask_to_unlock(hass, needs_pin=True)
    remaining = [trace.trace_id for trace in async_get_traces()]
    log = ChatLog(hass, TALK)
    heard = ConversationInput(PIN, Context(), TALK, None, None, "en", AGENT)

    content = async_redact_pin(
        hass, heard, log, replace(scope(TALK), agent_id=AGENT), NAMED, has_pin=True
    )
    async_get_approvals(hass).take("question-1", answer)

    assert content.text == REDACTED_PIN
    assert [trace.trace_id for trace in async_get_traces()] == remaining != []


async def test_a_pin_is_hidden_for_ten_minutes_after_its_question_was_answered(
    hass: HomeAssistant,
    listener: Listener,
    freezer: FrozenDateTimeFactory,
    leaks: Leaks,
) -> None:
    answer = await ask_to_unlock(hass, needs_pin=True)
    async_get_approvals(hass).take("question-1", answer)

    freezer.tick(599)
    await say(hass, f"My pen is {PIN}.")
    assert listener.heard[-1] == REDACTED_PIN
    await say(hass, PIN)
    await say(hass, "wake me at 12:30")

    assert listener.heard[-3:] == [REDACTED_PIN, "wake me at 12:30", "wake me at 12:30"]
    leaks.assert_nowhere(PIN)
    assert async_was_asked(hass)
    freezer.tick(1)
    assert not async_was_asked(hass)
    await say(hass, "47 11 47 11")
    assert listener.heard[-1] == "47 11 47 11"


async def test_a_pin_is_hidden_in_another_conversation_at_the_same_device(
    hass: HomeAssistant, listener: Listener
) -> None:
    answer = await ask_to_unlock(hass, needs_pin=True, device_id="hall")

    await say(hass, PIN, "another-talk", "hall")
    await say(hass, PIN, TALK, "kitchen")
    await say(hass, "4711 4711", "a-third-talk", "kitchen")
    await say(hass, "wake me at 12:30", "a-third-talk", "kitchen")
    async_get_approvals(hass).take("question-1", answer)
    await say(hass, "4711 4711", "a-third-talk", "kitchen")

    hidden = [listener.heard[place] for place in range(-9, 1, 2)]
    assert hidden == [
        REDACTED_PIN,
        REDACTED_PIN,
        REDACTED_PIN,
        "wake me at 12:30",
        "4711 4711",
    ]


# fixtures
async def test_a_pin_is_hidden_from_the_debug_runs_of_a_pipeline_and_all_but_these_loggers(
    hass: HomeAssistant,
    listener: Listener,
    leaks: Leaks,
    hass_ws_client: WebSocketGenerator,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    room = await furnish(hass, WholeVoice())
    client = await hass_ws_client(hass)
    answer = await ask_to_unlock(hass, needs_pin=True)

    await room.say(f"Yes, {PIN}", TALK)
    await type_as_somebody_else(client, PIN, TALK)
    await say_aloud(hass, PIN, TALK, room.pipeline)
    async_get_approvals(hass).take("question-1", answer)

    assert listener.heard[-2:] == [PIN, REDACTED_PIN]
    assert room.heard == f"[I heard {REDACTED_PIN}]"
    leaks.assert_nowhere(PIN)
    await client.send_json_auto_id(
        {"type": "assist_pipeline/pipeline_debug/list", "pipeline_id": room.pipeline.id}
    )
    events = list[dict[str, Any]]()  # as it came over the socket
    for run in (await client.receive_json())["result"]["pipeline_runs"]:
        which = {
            "pipeline_id": room.pipeline.id,
            "pipeline_run_id": run["pipeline_run_id"],
        }
        await client.send_json_auto_id(
            {"type": "assist_pipeline/pipeline_debug/get", **which}
        )
        events += (await client.receive_json())["result"]["events"]
    assert [
        event["data"]["intent_input"]
        for event in events
        if event["type"] == "intent-start"
    ] == [REDACTED_PIN] * 3
    assert [
        event["data"]["stt_output"]["text"]
        for event in events
        if event["type"] == "stt-end"
    ] == [REDACTED_PIN]
    writers = {record.name for record in caplog.records if PIN in record.getMessage()}
    assert writers == LOGGED_BEFORE_AN_AGENT_HEARS - {
        # where Home Assistant itself is asked first
        "homeassistant.components.conversation.default_agent",
        "homeassistant.components.conversation.services",  # where an action says it
    }


async def type_as_somebody_else(
    client: MockHAClientWebSocket, text: str, conversation_id: str
) -> None:
    """Write in Home Assistant's dialog in the conversation of a satellite; the latest version refuses that."""
    run = {
        "start_stage": "intent",
        "end_stage": "intent",
        "input": {"text": text},
        "conversation_id": conversation_id,
    }
    await client.send_json_auto_id({"type": "assist_pipeline/run", **run})
    assert (await client.receive_json())["success"]
    kinds: list[str] = []
    while "run-end" not in kinds:
        kinds.append((await client.receive_json())["event"]["type"])
    assert ("intent-end" in kinds) is not IS_LATEST


@pytest.mark.parametrize("ends", ["answer", "turn", "turn after ten minutes"])
async def test_a_pin_that_home_assistant_refused_is_gone_from_the_debug_runs_soon(
    hass: HomeAssistant,
    listener: Listener,
    hass_ws_client: WebSocketGenerator,
    freezer: FrozenDateTimeFactory,
    ends: str,
) -> None:
    room = await furnish(hass, WholeVoice())
    client = await hass_ws_client(hass)
    await room.say("What a day", "another-talk")
    answer = await ask_to_unlock(hass, needs_pin=True)
    await type_as_somebody_else(client, PIN, TALK)
    await type_as_somebody_else(client, "Wake me at 12:30", "another-talk")

    match ends:
        case "answer":
            async_get_approvals(hass).take("question-1", answer)
        case "turn":
            await say(hass, "Good morning", "a-third-talk")
        case _:
            freezer.tick(601)
            await say(hass, "Good morning", "a-third-talk")

    runs = hass.data[KEY_ASSIST_PIPELINE].pipeline_debug[room.pipeline.id].values()
    data = [event.data for run in runs for event in run.events if event.data]
    words = [one["intent_input"] for one in data if "intent_input" in one]
    assert words == ["What a day", REDACTED_PIN, "Wake me at 12:30"]
    assert IS_LATEST is (PIN not in listener.heard)


@pytest.mark.parametrize("logger", sorted(LOGGED_BEFORE_AN_AGENT_HEARS))
def test_the_page_names_the_loggers_that_hold_a_pin(logger: str) -> None:
    page = (Path(custom_components.__file__).parents[1] / "docs" / "pin.md").read_text(
        "utf-8"
    )
    assert f"`{'.'.join(logger.split('.')[:3])}`" in page


async def test_a_pipeline_that_keeps_its_runs_in_another_way_stops_nobody(
    hass: HomeAssistant, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    hass.data["assist_pipeline"] = SimpleNamespace(
        pipeline_debug={"assistant": {"run": object()}}
    )
    answer = await ask_to_unlock(hass, needs_pin=True)

    await say(hass, PIN)
    async_get_approvals(hass).take("question-1", answer)

    assert listener.heard[-1] == REDACTED_PIN
    assert (
        "A PIN may be in the debug runs of voice pipelines, which could not be redacted"
        in caplog.text
    )
