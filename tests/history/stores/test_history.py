"""The stored part of turns, and the conversations that are resumed after a restart or a while."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationResult
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, EventOrigin, HomeAssistant
from homeassistant.helpers import (
    chat_session,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now
from pytest_homeassistant_custom_component.common import (
    MockUser,
    async_capture_events,
    async_fire_time_changed,
)
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.const import (
    CONF_HISTORY_ADDRESS,
    CONF_KEEP_HISTORY,
    DOMAIN,
    EVENT_CHANGE,
)
from custom_components.chatterbox.history.store.query import Selection
from custom_components.chatterbox.history.store.records import (
    StoredTurn,
    StoreState,
    Trouble,
)
from custom_components.chatterbox.history.stores import (
    async_get_histories,
    async_report,
)
from custom_components.chatterbox.runtime.agents import ChatterboxConfigEntry
from tests.support.listening_agent import a_user, add_person
from tests.support.listening_room import WholeVoice, furnish
from tests.support.llm_apis import satellite
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedUsage
from tests.support.singletons import forget
from tests.support.talk import AGENT, LIGHT_ON, Serve, messages_of, say, type_in_dialog

ANSWER = ScriptedAnswer(
    content="It is on.", usage=ScriptedUsage(prompt_tokens=90, completion_tokens=6)
)
WORDS = Script(
    answers=tuple(ScriptedAnswer(content=f"Answer {number}.") for number in range(1, 5))
)


def the_entry(hass: HomeAssistant) -> ChatterboxConfigEntry:
    [entry] = hass.config_entries.async_entries(DOMAIN)
    return entry


def the_agent(hass: HomeAssistant) -> ConfigSubentry:
    [agent] = the_entry(hass).subentries.values()
    return agent


async def stored(
    hass: HomeAssistant, conversation_id: str = "kitchen-talk"
) -> tuple[StoredTurn, ...]:
    store = await async_get_histories(hass).async_open(the_entry(hass))
    assert store
    return await store.turns(conversation_id)


async def write(
    hass: HomeAssistant,
    text: str,
    user_id: str | None,
    conversation_id: str | None = None,
    device_id: str | None = None,
) -> ConversationResult:
    """Write as a user, or speak at a device."""
    return await conversation.async_converse(
        hass,
        text,
        conversation_id,
        Context(user_id=user_id),
        "en",
        AGENT,
        device_id=device_id,
    )


async def forget_conversations(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, seconds: float = 400
) -> None:
    """Wait until Home Assistant has forgotten what was said."""
    freezer.tick(timedelta(seconds=seconds))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert not hass.data[chat_session.DATA_CHAT_SESSION]


@pytest.fixture
def restarted(hass: HomeAssistant) -> Restart:
    return Restart(hass)


@dataclass
class Restart:
    """Makes Home Assistant forget what was said as a restart does: at once, and the history knows when it began."""

    hass: HomeAssistant

    async def __call__(self) -> None:
        hass = self.hass
        await hass.config_entries.async_unload(the_entry(hass).entry_id)
        for session in list(hass.data[chat_session.DATA_CHAT_SESSION].values()):
            session.async_cleanup()
        hass.data[chat_session.DATA_CHAT_SESSION].clear()
        await asyncio.gather(
            *(store.close() for store in async_get_histories(hass).all)
        )
        forget(hass, async_get_histories)
        assert await hass.config_entries.async_setup(the_entry(hass).entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)


async def test_a_turn_is_stored_whole(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ANSWER)))

    await say(hass, "Light!", satellite_id="assist_satellite.kitchen")

    [turn] = await stored(hass)
    words, call, result, answer = turn.messages
    assert isinstance(words, UserMessage)
    assert words.text == "Light!"
    assert "It is" in words.context, "the context is sent again with the words"
    assert isinstance(call, AssistantMessage)
    assert [one.name for one in call.tool_calls] == ["intent__HassTurnOn"]
    assert isinstance(result, ToolResult)
    assert not result.is_error
    assert answer == AssistantMessage("It is on.")
    assert turn.origin.agent == the_agent(hass).subentry_id
    assert turn.origin.satellite == "assist_satellite.kitchen"
    assert turn.stop_reason is StopReason.COMPLETED
    assert turn.iterations == 2
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (90, 6)
    assert len(turn.timings["inferences"]) == 2  # type: ignore[arg-type]  # a list of objects


async def test_an_agent_that_keeps_nothing_stores_nothing(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(WORDS, **{CONF_KEEP_HISTORY: False})

    await say(hass, "Hello")

    assert await stored(hass) == ()


async def test_changes_are_stored_with_the_turn(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="It is on."),
            )
        )
    )

    await say(hass, "Light!")

    store = await async_get_histories(hass).async_open(the_entry(hass))
    assert store
    lines = [line async for line in store.export(Selection())]
    assert [('"kind":"turn"' in line, '"kind":"audit"' in line) for line in lines] == [
        (True, False),
        (False, True),
    ]
    assert "light.kitchen_ceiling" in lines[1]


async def test_a_forged_event_is_not_stored(hass: HomeAssistant, serve: Serve) -> None:
    """Any user can have the app on their phone fire an event."""
    await serve(WORDS)
    changes = async_capture_events(hass, EVENT_CHANGE)
    await say(hass, "Hello")
    [turn] = await stored(hass)
    data = {
        "turn_id": turn.id,
        "entity_id": AGENT,
        "history_id": "kitchen-talk",
        "language": "en",
        "outcome": "done",
    }
    origin = dict.fromkeys(
        ("person_id", "person", "device_id", "satellite_id", "caller")
    )

    hass.bus.async_fire(EVENT_CHANGE, origin | data, EventOrigin.remote)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert len(changes) == 1
    store = await async_get_histories(hass).async_open(the_entry(hass))
    assert store
    assert [
        line async for line in store.export(Selection()) if '"kind":"audit"' in line
    ] == []


@pytest.mark.parametrize(("seconds", "messages"), [(200, 4), (310, 2)])
async def test_after_a_restart_a_satellite_resumes_for_as_long_as_home_assistant_remembers(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    seconds: float,
    messages: int,
) -> None:
    server = await serve(WORDS)
    kitchen = satellite(hass, "kitchen")
    await write(hass, "Play jazz.", None, ulid_now(), kitchen)
    freezer.tick(30)
    await Restart(hass)()
    freezer.tick(seconds)

    await write(hass, "Louder!", None, ulid_now(), kitchen)
    await write(hass, "Hello", None, ulid_now(), satellite(hass, "bedroom"))

    assert len(messages_of(server.requests[1])) == messages
    assert len(messages_of(server.requests[2])) == 2, "another satellite begins anew"


async def test_a_new_dialog_begins_anew(
    hass: HomeAssistant, serve: Serve, restarted: Restart
) -> None:
    server = await serve(WORDS)
    anna = await a_user(hass)
    await write(hass, "Hello", anna)

    await restarted()
    await write(hass, "Hello again", anna)

    assert len(messages_of(server.requests[1])) == 2


async def test_after_a_restart_one_dialog_of_a_person_resumes(
    hass: HomeAssistant,
    serve: Serve,
    restarted: Restart,
    hass_ws_client: WebSocketGenerator,
) -> None:
    """A pipeline gives the conversation a new id, and the agent never hears the old one."""
    server = await serve(WORDS)
    await furnish(hass, WholeVoice())
    client = await hass_ws_client(hass)
    talk = await type_in_dialog(client, "Tell me about jazz.")

    await restarted()
    resumed = await type_in_dialog(client, "Louder!", talk)
    await type_in_dialog(client, "Hello")
    await type_in_dialog(client, "Softer!", resumed)

    assert [len(messages_of(request)) for request in server.requests] == [2, 4, 2, 6]
    assert len(await stored(hass, talk)) == 3


async def test_a_dialog_resumes_for_as_long_as_home_assistant_remembers(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    hass_ws_client: WebSocketGenerator,
) -> None:
    server = await serve(WORDS)
    await furnish(hass, WholeVoice())
    talk = await type_in_dialog(await hass_ws_client(hass), "Play jazz.")
    freezer.tick(30)

    await Restart(hass)()
    freezer.tick(280)
    await type_in_dialog(await hass_ws_client(hass), "Louder!", talk)

    assert len(messages_of(server.requests[1])) == 2


@pytest.mark.parametrize("place", ["an id of their own", "a satellite", "a script"])
async def test_after_a_restart_a_dialog_does_not_resume_what_was_said_elsewhere(  # noqa: PLR0917  # fixtures
    hass: HomeAssistant,
    serve: Serve,
    restarted: Restart,
    hass_ws_client: WebSocketGenerator,
    hass_admin_user: MockUser,
    place: str,
) -> None:
    await add_person(hass, "Anna", hass_admin_user.id)
    kitchen = satellite(hass, "kitchen")
    server = await serve(
        WORDS, people_at_satellites=[{"device": kitchen, "person": "person.anna"}]
    )
    await furnish(hass, WholeVoice())
    if place == "a satellite":
        await write(hass, "Play jazz.", None, ulid_now(), kitchen)
    elif place == "a script":
        step = {
            "action": "conversation.process",
            "data": {"text": "Play jazz.", "agent_id": AGENT},
        }
        assert await async_setup_component(
            hass, "script", {"script": {"play": {"sequence": [step]}}}
        )
        await hass.services.async_call(
            "script", "play", blocking=True, context=Context(hass_admin_user.id)
        )
    else:
        await write(hass, "Play jazz.", hass_admin_user.id, "my-program")

    await restarted()
    await type_in_dialog(await hass_ws_client(hass), "Hello")

    assert len(messages_of(server.requests[1])) == 2


@pytest.mark.parametrize(("minutes", "messages"), [(0, 2), (5, 2), (30, 4)])
async def test_a_conversation_is_resumed_for_as_long_as_the_owner_wants(
    hass: HomeAssistant,
    serve: Serve,
    freezer: FrozenDateTimeFactory,
    minutes: int,
    messages: int,
) -> None:
    server = await serve(WORDS, continue_minutes=minutes)
    kitchen = satellite(hass, "kitchen")
    first = await write(hass, "Play jazz.", None, ulid_now(), kitchen)
    await forget_conversations(hass, freezer)

    second = await write(hass, "Louder!", None, ulid_now(), kitchen)

    assert len(messages_of(server.requests[1])) == messages
    assert first.conversation_id != second.conversation_id
    assert len(await stored(hass, str(first.conversation_id))) == messages // 2


async def test_a_person_resumes_in_another_dialog(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve(WORDS, continue_minutes=30)
    anna = await a_user(hass)
    await write(hass, "Hello", anna)
    await forget_conversations(hass, freezer)

    await write(hass, "Where were we?", anna)

    assert len(messages_of(server.requests[1])) == 4


async def test_a_resumed_conversation_is_sent_whole(
    hass: HomeAssistant, serve: Serve, restarted: Restart
) -> None:
    answers = tuple(
        answer
        for _ in range(3)
        for answer in (
            ScriptedAnswer(tool_calls=(LIGHT_ON,)),
            ScriptedAnswer(content="It is on."),
        )
    )
    server = await serve(Script(answers=(*answers, ScriptedAnswer(content="Bye."))))
    for text in ("One", "Two", "Three"):
        await say(hass, text)
    before = messages_of(server.requests[-1])

    await restarted()
    await say(hass, "Four")

    assert messages_of(server.requests[-1])[: len(before)] == before


async def test_a_resumed_conversation_keeps_its_prompt_and_repeats_no_context(
    hass: HomeAssistant,
    serve: Serve,
    restarted: Restart,
    freezer: FrozenDateTimeFactory,
) -> None:
    server = await serve(WORDS)
    freezer.tick(60 - dt_util.utcnow().second)
    kitchen = satellite(hass, "kitchen")
    for text in ("One", "Two", "Three"):
        await write(hass, text, None, ulid_now(), kitchen)
        freezer.tick(1)
        await restarted()

    instructions, *others = [
        message["content"] for message in messages_of(server.requests[-1])
    ]
    assert instructions == messages_of(server.requests[0])[0]["content"]
    assert "It is" in str(others[0])
    assert others[2::2] == ["Two", "Three"]


async def test_a_change_that_was_told_before_a_restart_is_in_the_list_after_it(
    hass: HomeAssistant, serve: Serve, restarted: Restart
) -> None:
    server = await serve(WORDS)
    kitchen, conversation_id = satellite(hass, "kitchen"), "kitchen-talk"
    await write(hass, "One", None, conversation_id, kitchen)
    er.async_get(hass).async_update_entity("light.floor_lamp", name="Dinosaur")
    await write(hass, "Two", None, conversation_id, kitchen)
    await restarted()
    await write(hass, "Three", None, ulid_now(), kitchen)

    assert "Dinosaur" in str(messages_of(server.requests[1])[-1]["content"])
    before, after = (
        str(messages_of(request)[0]["content"]) for request in server.requests[::2]
    )
    assert "Dinosaur" not in before
    assert "Dinosaur" in after
    assert "up to date again" in str(messages_of(server.requests[-1])[-1]["content"])


async def test_a_store_that_is_down_is_reported_and_stops_no_turn(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(WORDS)
    entry = the_entry(hass)
    hass.config_entries.async_update_entry(
        entry,
        options={CONF_HISTORY_ADDRESS: "sqlite:////there/is/no/such/folder/history.db"},
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    result = await say(hass, "Hello")

    assert result.response.speech["plain"]["speech"] == "Answer 1."
    assert len(server.requests) == 1
    [issue] = [
        issue for issue in ir.async_get(hass).issues.values() if issue.domain == DOMAIN
    ]
    assert issue.translation_key == "history_cannot_open"
    assert issue.translation_placeholders
    assert (
        issue.translation_placeholders["where"] == "/there/is/no/such/folder/history.db"
    )

    hass.config_entries.async_update_entry(entry, options={})
    await hass.async_block_till_done(wait_background_tasks=True)

    assert not [
        issue for issue in ir.async_get(hass).issues.values() if issue.domain == DOMAIN
    ]


async def test_an_interrupted_turn_is_stored_up_to_its_end(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(content="Never heard.", delay_seconds=3600),))
    )
    turn = asyncio.create_task(say(hass, "Hello"))
    await server.request_arrived.wait()

    turn.cancel()
    await asyncio.wait({turn})

    [record] = await stored(hass)
    assert record.stop_reason is None
    assert [type(message) for message in record.messages] == [UserMessage]


async def test_words_that_a_script_refuses_are_not_stored(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(WORDS, user_prompt_submit="script.refuse")
    refusal = {
        "sequence": [{"stop": "no", "response_variable": "answer"}],
        "variables": {"answer": {"decision": "deny", "reason": "No."}},
    }
    assert await async_setup_component(hass, "script", {"script": {"refuse": refusal}})

    await say(hass, "My secret")

    [record] = await stored(hass)
    assert record.stop_reason is StopReason.PROMPT_DENIED
    assert not [
        message for message in record.messages if isinstance(message, UserMessage)
    ]


async def test_every_trouble_has_an_issue_until_it_is_over(hass: HomeAssistant) -> None:
    issues = ir.async_get(hass).issues
    texts = await async_get_translations(hass, "en", "issues", {DOMAIN})
    for trouble in set(Trouble) - {Trouble.CLOSED}:
        async_report(
            hass, "an address", "/config/chatterbox.db", StoreState(trouble, "", 3, 1)
        )

        [issue] = issues.values()
        text = texts[f"component.{DOMAIN}.issues.{issue.translation_key}.description"]
        assert "once this is fixed: 3" in text.format(
            **(issue.translation_placeholders or {})
        )

        async_report(hass, "an address", "/config/chatterbox.db", StoreState())
        assert not issues


async def test_a_damaged_file_has_an_issue(hass: HomeAssistant) -> None:
    state = StoreState(put_aside="/config/chatterbox.db.corrupt-1")

    async_report(hass, "an address", "/config/chatterbox.db", state)

    [issue] = ir.async_get(hass).issues.values()
    assert issue.translation_placeholders == {
        "where": "/config/chatterbox.db",
        "aside": state.put_aside,
    }
