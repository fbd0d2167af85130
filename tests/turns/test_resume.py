"""A turn goes on when its question is answered elsewhere, without words."""

import asyncio

import pytest
from homeassistant.components.conversation import (
    AssistantContent,
    UserContent,
    async_get_chat_log,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import chat_session
from homeassistant.helpers.event import async_track_state_change_event
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
)

from custom_components.chatterbox.approvals.questions import (
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import (
    ApprovalWay,
    GivenAnswer,
)
from custom_components.chatterbox.const import DOMAIN, EVENT_CHANGE
from tests.approvals.questions.spoken_answers import TALK, last_words, say
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    DOOR,
    UNLOCK,
    UNLOCKS,
    Serve,
    assert_no_orphans,
    speech,
)
from tests.support.versions import IS_LATEST, OF_NOBODY


@pytest.mark.parametrize(
    ("first", "second"), [(0.5, 0), (0.2, 0.6)], ids=["ends last", "ends first"]
)
async def test_a_sentence_during_a_resumed_turn_keeps_both_transcripts(
    hass: HomeAssistant, serve: Serve, first: float, second: float
) -> None:
    come_in = ScriptedAnswer(content="Come in.", delay_seconds=first)
    noon = ScriptedAnswer(content="It is noon.", delay_seconds=second)
    await serve(Script(answers=(*UNLOCKS.answers[:1], come_in, noon)))
    await say(hass, "unlock the front door")
    approvals = async_get_approvals(hass)
    (question,) = approvals.waiting
    yes = GivenAnswer(approved=True, way=ApprovalWay.NOTIFICATION)

    unlocked = asyncio.Event()
    async_track_state_change_event(hass, DOOR, callback(lambda _: unlocked.set()))
    resumed = asyncio.create_task(approvals.answer(question.id, yes))
    await unlocked.wait()
    await say(hass, "what time is it?")
    await resumed

    contents = hass.data[DATA_CHAT_LOGS][TALK].content
    assert_no_orphans(contents)
    messages = [
        content.content
        for content in contents
        if isinstance(content, AssistantContent | UserContent)
    ]
    meanwhile = (
        set() if IS_LATEST else {"what time is it?", "It is noon."}
    )  # since 2026.11, the conversation is busy
    assert {"unlock the front door", "Come in."} | meanwhile <= set(messages)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_a_turn_is_resumed_in_a_chat_log_of_its_own(
    hass: HomeAssistant, serve: Serve
) -> None:
    """Whoever answers may be in another turn of the same conversation, the end of which is awaited since 2026.11."""
    await serve(UNLOCKS)
    await say(hass, "unlock the front door")
    approvals = async_get_approvals(hass)
    (question,) = approvals.waiting

    with (
        chat_session.async_get_chat_session(hass, TALK, **OF_NOBODY) as session,
        async_get_chat_log(hass, session) as other,
    ):
        before = list(other.content)
        answering = asyncio.create_task(
            approvals.answer(
                question.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
            )
        )
        if not IS_LATEST:
            await answering
        assert other.content == before

    await answering
    assert hass.states.is_state(DOOR, "unlocked")


async def test_an_agent_that_comes_again_with_other_rules_lets_no_old_turn_ask(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(
        Script(answers=(ScriptedAnswer(tool_calls=(UNLOCK,), delay_seconds=1),))
    )
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    asking = asyncio.create_task(say(hass, "unlock the front door"))
    await server.request_arrived.wait()

    await hass.config_entries.async_reload(entry.entry_id)
    requested = await asking

    assert async_get_approvals(hass).waiting == ()
    assert not requested.continue_conversation
    assert "?" not in speech(requested)
    assert hass.states.is_state(DOOR, "locked")


async def test_who_has_said_yes_elsewhere_need_not_wait_for_it(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS)
    await say(hass, "unlock the front door")
    approvals = async_get_approvals(hass)
    (question,) = approvals.waiting
    yes = GivenAnswer(approved=True, way=ApprovalWay.ACTION)

    answering = asyncio.create_task(approvals.answer(question.id, yes))
    await asyncio.sleep(0)
    answering.cancel()
    await hass.async_block_till_done(wait_background_tasks=True)

    assert hass.states.is_state(DOOR, "unlocked")
    assert last_words(hass) == "Come in."


@pytest.mark.usefixtures("loop_clock")
async def test_a_turn_without_its_conversation_is_not_resumed(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS)
    await say(hass, "unlock the front door")
    changes = async_capture_events(hass, EVENT_CHANGE)
    approvals = async_get_approvals(hass)
    (question,) = approvals.waiting
    hass.data[DATA_CHAT_LOGS].clear()

    answer = await approvals.answer(
        question.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    )

    assert answer == "Something went wrong. Please try again."
    assert hass.states.is_state(DOOR, "locked")
    assert [event.data["outcome"] for event in changes] == ["not_run"]
