"""A question and its answer, by voice: the real entity, a scripted model, the demo home."""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from hassil.sample import sample_sentence
from homeassistant.auth.models import User
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ConversationResult,
    UserContent,
    async_get_chat_log,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import chat_session, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
    async_mock_service,
)

from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    QuestionUpdate,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import (
    ApprovalWay,
    CallState,
    GivenAnswer,
)
from custom_components.chatterbox.const import DOMAIN, EVENT_CHANGE
from custom_components.chatterbox.settings.rules import (
    Rule,
    Verdict,
    async_get_home_rules,
)
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    AGENT,
    DOOR,
    LIGHT,
    LIGHT_ON,
    UNLOCK,
    UNLOCKS,
    Serve,
    assert_no_orphans,
    messages_of,
    speech,
)
from tests.support.versions import IS_LATEST, OF_NOBODY

TALK = "a-talk"


async def say(
    hass: HomeAssistant,
    text: str,
    device_id: str | None = "the-hall",
    satellite_id: str | None = None,
    language: str = "en",
) -> ConversationResult:
    """Say something at a device."""
    return await conversation.async_converse(
        hass,
        text,
        TALK,
        Context(),
        language,
        AGENT,
        device_id=device_id,
        satellite_id=satellite_id,
    )


def results_in(request: ReceivedRequest) -> list[str]:
    """Return the results of tools that a model was told."""
    return [
        str(message["content"])
        for message in messages_of(request)
        if message["role"] == "tool"
    ]


def last_words(hass: HomeAssistant) -> str | None:
    """Return what the conversation ends with."""
    last = hass.data[DATA_CHAT_LOGS][TALK].content[-1]
    assert isinstance(last, AssistantContent)
    return last.content


async def test_a_yes_after_the_agent_was_loaded_anew_is_told_that_it_is_late(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS)
    assert "?" in speech(await say(hass, "unlock the front door"))
    await hass.config_entries.async_reload(
        hass.config_entries.async_entries(DOMAIN)[0].entry_id
    )
    await hass.async_block_till_done()
    model_request = len(server.requests)

    assert (
        speech(await say(hass, "yes")) == "That question has expired. Please ask again."
    )
    assert len(server.requests) == model_request


@pytest.mark.usefixtures("whole_home")
async def test_a_yes_is_asked_for_only_when_it_is_known_which_of_one_name_is_meant(
    hass: HomeAssistant, serve: Serve
) -> None:
    unlock = ScriptedCall(name="HassTurnOff", arguments={"name": "Front Door"})
    message = ScriptedAnswer(content="Which one?")
    server = await serve(
        Script(answers=(ScriptedAnswer(tool_calls=(unlock,)), message))
    )
    registry = er.async_get(hass)
    registry.async_update_entity(LIGHT, aliases=["Front Door"])

    assert speech(await say(hass, "open up the front door")) == "Which one?"
    assert "several things are called Front Door" in results_in(server.requests[-1])[-1]

    registry.async_update_entity(LIGHT, aliases=[])
    registry.async_update_entity(
        "binary_sensor.front_door_contact", aliases=["Front Door"]
    )
    server.play(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(unlock,)),
                ScriptedAnswer(content="Come in."),
            )
        )
    )
    assert (
        speech(await say(hass, "unlock the front door"))
        == "Unlock the Front Door in the Hallway?"
    )
    assert speech(await say(hass, "yes")) == "Come in."
    assert hass.states.is_state(DOOR, "unlocked")


async def test_an_unlocked_door_takes_a_yes_and_no_model_call_before_it(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS)

    question = await say(hass, "unlock the front door")
    assert hass.states.is_state(DOOR, "locked")
    assert speech(question).startswith("Unlock")
    assert "ront" in speech(question)
    assert question.continue_conversation
    assert len(server.requests) == 1

    answered = await say(hass, "yes please")

    assert hass.states.is_state(DOOR, "unlocked")
    assert speech(answered) == "Come in."
    assert len(server.requests) == 2
    waited, ran = results_in(server.requests[1])
    assert "a person has to say yes" in waited
    assert "error" not in ran
    assert async_get_approvals(hass).waiting == ()
    assert_no_orphans(hass.data[DATA_CHAT_LOGS][TALK].content)


async def test_the_words_that_answer_are_prepared_off_the_event_loop(
    hass: HomeAssistant, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    await serve(UNLOCKS)
    threads: list[threading.Thread] = []

    def sampled(*args: Any, **kwargs: Any) -> Iterable[str]:
        threads.append(threading.current_thread())
        return sample_sentence(*args, **kwargs)

    monkeypatch.setattr("hassil.sample.sample_sentence", sampled)
    await say(
        hass, "lås upp ytterdörren", language="sv"
    )  # the phrases of other languages may be cached
    await hass.async_block_till_done(wait_background_tasks=True)
    assert threads
    assert threading.main_thread() not in threads

    threads.clear()
    assert speech(await say(hass, "ja tack", language="sv")) == "Come in."
    assert not threads


async def test_a_question_runs_out_and_a_late_yes_is_told_so(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve(UNLOCKS)

    await say(hass, "unlock the front door")
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    late = await say(hass, "yes")

    assert hass.states.is_state(DOOR, "locked")
    assert "expired" in speech(late)
    assert len(server.requests) == 1
    assert (
        speech(await say(hass, "yes")) == "Come in."
    )  # of the script: it is no answer any more
    assert hass.states.is_state(DOOR, "locked")


async def test_a_clock_that_is_400_days_ahead_for_a_while_costs_no_answer_and_opens_nothing(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> None:
    server = await serve(UNLOCKS)
    await say(hass, "unlock the front door")

    freezer.tick(timedelta(days=400))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    ahead = await say(hass, "yes")
    freezer.tick(timedelta(days=-400))
    back = await say(hass, "are you there?")

    assert hass.states.is_state(DOOR, "locked")
    assert "expired" in speech(ahead)
    assert speech(back) == "Come in."
    assert len(server.requests) == 2


async def test_whoever_approves_as_soon_as_it_is_asked_does_not_cut_the_conversation(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(UNLOCKS)
    approvals = async_get_approvals(hass)
    answers: list[object] = []

    @callback
    def approve(news: QuestionUpdate) -> None:
        if news.state is CallState.WAITING:
            answer = approvals.answer(
                news.question.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
            )
            answers.append(hass.async_create_task(answer))

    async_dispatcher_connect(hass, SIGNAL_QUESTION, approve)
    await say(hass, "unlock the front door")
    await hass.async_block_till_done()

    assert str(messages_of(server.requests[1])[1]["content"]).endswith(
        "unlock the front door"
    )
    assert hass.states.is_state(DOOR, "unlocked")
    assert_no_orphans(hass.data[DATA_CHAT_LOGS][TALK].content)
    assert last_words(hass) == "Come in."


@pytest.mark.usefixtures("offline")
async def test_home_assistants_own_understanding_asks_too(hass: HomeAssistant) -> None:
    question = await say(hass, "unlock the front door")
    assert hass.states.is_state(DOOR, "locked")
    assert question.continue_conversation

    declined = await say(hass, "no")
    assert hass.states.is_state(DOOR, "locked")
    assert "won't" in speech(declined)

    await say(hass, "turn on the kitchen light and unlock the front door")
    assert hass.states.is_state(DOOR, "locked")
    done = await say(hass, "yes")
    assert hass.states.is_state(DOOR, "unlocked")
    assert speech(done)


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


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_another_question_after_an_answer_is_a_question_like_any(
    hass: HomeAssistant, serve: Serve, answer: str
) -> None:
    garage = ScriptedCall(
        name="HassTurnOn", arguments={"name": "Garage Door", "domain": "cover"}
    )
    await serve(
        Script(answers=(*UNLOCKS.answers[:1], ScriptedAnswer(tool_calls=(garage,))))
    )

    await say(hass, "unlock the front door")
    question = await say(hass, answer)

    assert "Open the Garage Door" in speech(question)
    assert "changed" not in speech(question)
    assert question.continue_conversation


async def test_what_was_done_and_what_was_refused_are_both_told_when_the_model_says_nothing(
    hass: HomeAssistant, serve: Serve
) -> None:
    never = [{"verdict": "deny", "domains": ["lock"]}]
    await serve(
        Script(
            answers=(ScriptedAnswer(tool_calls=(LIGHT_ON, UNLOCK)), ScriptedAnswer())
        ),
        rules=never,
    )

    answer = speech(await say(hass, "light, and unlock the front door"))

    assert answer.startswith("Done: Kitchen Ceiling Light.")
    assert answer.endswith("The rules of this home don't allow that.")


MOVIE = ScriptedAnswer(
    tool_calls=(ScriptedCall(name="HassTurnOn", arguments={"name": "Movie Night"}),)
)


async def a_scene_that_hides_its_content(hass: HomeAssistant) -> list[ServiceCall]:
    """Add a scene of an integration that tells nobody what is in it; return its activations."""
    entry = er.async_get(hass).async_get_or_create(
        "scene", "vendor", "movie", suggested_object_id="movie_night"
    )
    hass.states.async_set(entry.entity_id, "unknown", {"friendly_name": "Movie Night"})
    async_expose_entity(hass, conversation.DOMAIN, entry.entity_id, should_expose=True)
    return async_mock_service(hass, "scene", "turn_on")


@pytest.mark.usefixtures("whole_home")
async def test_a_scene_that_hides_its_content_is_asked_about_once(
    hass: HomeAssistant, serve: Serve
) -> None:
    done = ScriptedAnswer(content="Enjoy.")
    await serve(Script(answers=(MOVIE, done, MOVIE, done)))
    activated = await a_scene_that_hides_its_content(hass)

    assert "Movie Night?" in speech(await say(hass, "make it a cinema"))
    assert activated == []
    assert speech(await say(hass, "Yes.")) == "Enjoy."
    assert len(activated) == 1

    assert speech(await say(hass, "make it a cinema")) == "Enjoy."
    assert len(activated) == 2


@pytest.mark.usefixtures("whole_home")
async def test_a_no_to_a_scene_is_not_remembered(
    hass: HomeAssistant, serve: Serve
) -> None:
    message = ScriptedAnswer(content="All right.")
    await serve(Script(answers=(MOVIE, message, MOVIE)))
    activated = await a_scene_that_hides_its_content(hass)

    for answer in ("No.", None):
        assert "Movie Night?" in speech(await say(hass, "make it a cinema"))
        if answer:
            await say(hass, answer)

    assert activated == []


@pytest.mark.usefixtures("whole_home")
async def test_a_rule_of_the_home_holds_for_a_scene_that_was_agreed_to(
    hass: HomeAssistant, serve: Serve
) -> None:
    done = ScriptedAnswer(content="Enjoy.")
    await serve(Script(answers=(MOVIE, done, MOVIE)))
    activated = await a_scene_that_hides_its_content(hass)
    await say(hass, "make it a cinema")
    await say(hass, "Yes.")
    store = async_get_home_rules(hass)
    rules = (Rule(verdict=Verdict.ASK, actions=frozenset({"lock.unlock"})),)

    await store.async_enter(
        replace(store.stored, policy=replace(store.stored.policy, rules=rules))
    )

    assert "Movie Night?" in speech(await say(hass, "make it a cinema")), (
        "it may unlock something"
    )
    assert len(activated) == 1


async def test_a_script_in_the_name_of_the_person_who_was_asked_says_no_yes(
    hass: HomeAssistant, serve: Serve, hass_admin_user: User
) -> None:
    await serve(
        Script(answers=(*UNLOCKS.answers[:1], ScriptedAnswer(content="Yes to what?")))
    )
    data = {"text": "yes", "agent_id": AGENT, "conversation_id": TALK}
    steps = {"sequence": [{"action": "conversation.process", "data": data}]}
    assert await async_setup_component(hass, "script", {"script": {"agree": steps}})
    context = Context(user_id=hass_admin_user.id)

    await conversation.async_converse(
        hass, "unlock the front door", TALK, context, "en", AGENT
    )
    await hass.services.async_call(
        "script", "agree", blocking=True, context=Context(user_id=hass_admin_user.id)
    )

    assert hass.states.is_state(DOOR, "locked")
    assert [question.entity_ids for question in async_get_approvals(hass).waiting] == [
        {DOOR}
    ]
