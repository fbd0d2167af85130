"""A question and its answer, by voice: the real entity, a scripted model, the demo home."""

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
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
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
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.settings.rules import (
    Rule,
    Verdict,
    async_get_home_rules,
)
from tests.approvals.questions.spoken_answers import TALK, last_words, say
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


def results_in(request: ReceivedRequest) -> list[str]:
    """Return the results of tools that a model was told."""
    return [
        str(message["content"])
        for message in messages_of(request)
        if message["role"] == "tool"
    ]


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
