"""Calls that are written half in words run if nothing of them is left over, and are never spoken."""

import json

import pytest

from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    UserMessage,
)
from tests.agent.repair.hearing import cuts, hear, message, request
from tests.support.doubles import tool

_TEXT: JsonObject = {"type": "string"}
TURN_OFF = tool(
    "intent__HassTurnOff",
    parameters={
        "type": "object",
        "properties": {"name": _TEXT, "area": _TEXT, "domain": {"type": "array"}},
    },
)
OFFERED = (
    TURN_OFF,
    tool("search_web", parameters={"type": "object", "properties": {"query": _TEXT}}),
    tool("light"),
    tool("all_off"),
)
LAMP = {"name": "Salt and Pepper Lamp"}


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('HassTurnOff\n{"name": "Salt and Pepper Lamp"}', "HassTurnOff", LAMP),
        ('HassTurnOff {"name": "Salt and Pepper Lamp"}', "HassTurnOff", LAMP),
        ('call:HassTurnOff{name:<|"|>Salt and Pepper Lamp<|"|>}', "HassTurnOff", LAMP),
        ("HassTurnOff(Salt and Pepper Lamp)", "HassTurnOff", LAMP),
        (
            "Sure. <think>Hm.</think>HassTurnOff(Salt and Pepper Lamp)",
            "HassTurnOff",
            LAMP,
        ),
        ('intent__HassTurnOff("Salt and Pepper Lamp")', "intent__HassTurnOff", LAMP),
        ("HassTurnOff with name Salt and Pepper Lamp", "HassTurnOff", LAMP),
        ("Call HassTurnOff with the name 'Salt and Pepper Lamp'.", "HassTurnOff", LAMP),
        (
            "HassTurnOff with name: Lamp, area: Kitchen",
            "HassTurnOff",
            {"name": "Lamp", "area": "Kitchen"},
        ),
        (
            "HassTurnOff with name Lamp and domain light",
            "HassTurnOff",
            {"name": "Lamp", "domain": "light"},
        ),
        ("search_web(the weather, tomorrow)", "", {}),
        (
            "search_web('the weather, tomorrow')",
            "search_web",
            {"query": "the weather, tomorrow"},
        ),
    ],
)
def test_a_call_in_words_runs_and_is_not_spoken(
    text: str, name: str, arguments: JsonObject
) -> None:
    for pieces in [[text], *cuts(text), [f"Sure.\n{text}\nDone."]]:
        heard = hear(*message(pieces), model_request=request(OFFERED))
        assert [(called, json.loads(given)) for called, given in heard.calls] == (
            [(name, arguments)] if name else []
        )
        assert not name or "HassTurnOff" not in heard.text


@pytest.mark.parametrize(
    "text",
    [
        "HassTurnOff(name) turns a device off.",
        "HassTurnOff()",
        "HassTurnOff(Lamp, Kitchen)",
        "HassTurnOff with care",
        "HassTurnOff with something and name Lamp",
        "HassTurnOff with name Lamp and name Fan",
        "HassTurnOff with name",
        "I can use HassTurnOff with name Lamp.",
        "light (kitchen): on",
        "light with name Lamp",
        "HassUnlock with name Front Door",
        "HassUnlock(Front Door)",
        "all_off with name Lamp",
        "all_off(Lamp)",
    ],
)
def test_a_text_that_is_no_whole_call_runs_nothing(text: str) -> None:
    for pieces in [[text], *cuts(text)]:
        heard = hear(*message(pieces), model_request=request(OFFERED))
        assert [given for _, given in heard.calls if given != "{}"] == []


def test_words_of_a_person_with_a_call_are_no_call() -> None:
    words = UserMessage("What does HassTurnOff with name Lamp do?")
    heard = hear(
        *message(["HassTurnOff with name Lamp"]),
        model_request=request(OFFERED, (words,)),
    )
    assert heard.calls == []


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "function", "name": "',
        '"type": "function", "name": "',
        '[{"type": "function", "function": {"na',
        '{"function_call": {',
        '{"name": "HassLightGet", "parameters": {"device_class": "["}"} Note that I have assumed it.',
        "<context>\nIt is noon.\n</context>",
        "<context>\nIt is noon.",
        "</context>",
    ],
)
@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.STOP])
def test_a_cut_call_and_our_tags_are_not_spoken(
    text: str, reason: FinishReason
) -> None:
    heard = hear(
        *(TextDelta(piece) for piece in text),
        CompletionResult(reason),
        model_request=request(OFFERED),
    )
    assert (heard.text.strip(), heard.calls) == ("", [])


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Kitchen", "on',
        "The <context> is here.",
        'The key is "type": "function".',
        "<contextual>",
    ],
)
def test_text_like_that_is_spoken(text: str) -> None:
    for pieces in [[text], *cuts(text)]:
        assert hear(*message(pieces), model_request=request(OFFERED)).text == text
