"""Instructions of the context block are no answer, however they are cut; facts and what was asked for are."""

import pytest

from custom_components.chatterbox.agent.conversation.own_words import (
    NO_MODEL,
    as_models_read,
    with_own_words,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.repetition import EchoFilter, echoed_lines
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import AssistantMessage, UserMessage
from tests.agent.turns import collect, spoken
from tests.support.doubles import ScriptedDispatcher, ScriptedProvider, say, tool

TIMERS = "This device is not able to start timers."
AREAS = "When a user asks to turn on all devices of a specific type, ask the user to specify an area."
CONTEXT = f"<context>\nIt is Thursday, 2026-11-26, 12:44.\nRoom of the person: “Hall”.\n{AREAS}\n{TIMERS}\n</context>"


def passed(text: str, words: str = "Turn on the light", size: int = 1) -> str:
    """Return what is passed on of an answer that comes in pieces."""
    echoes = EchoFilter(echoed_lines((UserMessage(words, context=CONTEXT),)))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return "".join(map(echoes.feed, pieces)) + echoes.end()


def test_context_that_earlier_messages_hold_is_no_answer_either() -> None:
    assert echoed_lines((UserMessage("Turn on the light", omitted=CONTEXT),)) == {
        AREAS,
        TIMERS,
    }


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (TIMERS, ""),
        (f"{AREAS}\n{TIMERS}\nThe light is on.", "The light is on."),
        (f"The light is on. {TIMERS}", "The light is on. "),
        (f" {TIMERS} Done.", "Done."),
    ],
)
def test_an_echo_is_dropped(text: str, rest: str, size: int) -> None:
    assert passed(text, size=size) == rest


@pytest.mark.parametrize(
    "text",
    [
        "This device is on.",
        "It is Thursday, 2026-11-26, 12:44.",
        "Room of the person: “Hall”.",
        f"It says: {TIMERS[:-1]}, I fear.",
        f"Sadly this device, {TIMERS}",
        "This",
    ],
)
def test_everything_else_is_passed_on(text: str) -> None:
    assert passed(text) == text


def test_a_line_that_answers_the_words_is_passed_on() -> None:
    assert passed(TIMERS, "Set a timer for five minutes") == TIMERS


def test_a_conversation_without_words_has_no_echo() -> None:
    assert echoed_lines(()) == frozenset()


async def test_a_model_that_only_echoes_is_asked_once_more_and_then_heard() -> None:
    provider = ScriptedProvider(say(TIMERS), say(TIMERS))
    turn = Turn(
        "Turn on the light",
        tools=(tool("light_on"),),
        context=CONTEXT,
        checks_answer=True,
    )

    assert (
        spoken(await collect(AgenticLoop(provider, ScriptedDispatcher()), turn))
        == TIMERS
    )
    assert len(provider.requests) == 2


def test_a_mark_of_ours_is_an_echo_and_what_the_person_heard_is_not() -> None:
    failure = with_own_words(AssistantMessage(), after="It failed.", is_fact=False)
    heard = AssistantMessage("Turned on.", provider_items=(NO_MODEL,))
    first, last = UserMessage("Turn it on"), UserMessage("And the time?")
    (*_, unanswered), (*_, answered) = (
        as_models_read((first, before, last)) for before in (failure, heard)
    )
    assert isinstance(unanswered, UserMessage)

    echoes = EchoFilter(echoed_lines((unanswered,)))
    text = echoes.feed(f"{unanswered.context}\nIt is noon.") + echoes.end()

    assert text.strip() == "It is noon."
    assert echoed_lines((answered,)) == frozenset()
