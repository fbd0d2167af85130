"""Answers that report an action are recognised, and compared with the tool results."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Message,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.text import base_language
from custom_components.chatterbox.agent.unverified_actions import CHECKED_LANGUAGES, changed_something, reports_action
from custom_components.chatterbox.agent.unverified_actions.grammar import GRAMMARS

CHANGING = ToolDefinition("turn_on", "Turn something on.", {})
READING = ToolDefinition("look", "Look around.", {}, ToolAnnotations(read_only=True))
SAID = UserMessage("Light!")
DONE, LOOKED = ToolResult("1", "turn_on", "ok"), ToolResult("2", "look", "ok")
FAILED = ToolResult("3", "turn_on", "no such light", is_error=True)
NOT_RUN = ToolResult("4", "turn_on", "Not run yet: a person has to say yes first.", synthetic=True)
ANSWERS = st.sampled_from(["I've turned on the light.", "The light is on.", "Done!", "Shall I?", ""])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I've turned on the kitchen light.", "en"),
        ("The door is now locked.", "en"),
        ("Done!", "en"),
        ("Ich habe das Licht eingeschaltet.", "de"),
        ("J'ai allumé la lumière.", "fr"),
        ("He encendido la luz.", "es"),
        ("Ho acceso la luce.", "it"),
        ("Ik heb het licht aangezet.", "nl"),
        ("Liguei a luz.", "pt"),
        ("Włączyłam światło.", "pl"),
        ("Jag har tänt lampan.", "sv"),
        ("我已经打开了灯。", "zh"),
    ],
)
def test_reports_are_recognised(text: str, language: str) -> None:
    assert reports_action(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "The light is on.",
        "I can turn it on.",
        "Shall I turn it on?",
        "I couldn't turn it on.",
        "Nothing has been turned on.",
        "You asked me to turn it on.",
        "I'll turn it on.",
        "If I've turned on the wrong one, tell me.",
        'Say "I\'ve turned on the light".',
        "I've checked the lights.",
        "",
    ],
)
def test_other_sentences_report_nothing(text: str) -> None:
    assert not reports_action(text, "en")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I don't think the light has been turned on.", "en"),
        ("Ich glaube nicht, dass das Licht eingeschaltet wurde.", "de"),
        ("Je ne crois pas que la lumière a été allumée.", "fr"),
        ("No creo que se ha encendido la luz.", "es"),
        ("Non credo che la luce è stata accesa.", "it"),
        ("Ik denk niet dat het licht is aangezet.", "nl"),
        ("Não acho que a luz foi ligada.", "pt"),
        ("Nie sądzę, że światło zostało włączone.", "pl"),
        ("Jag tror inte att lampan har tänts.", "sv"),
        ("我不认为灯已打开。", "zh"),
    ],
)
def test_doubt_withdraws_a_report(text: str, language: str) -> None:
    assert not reports_action(text, language)


def test_a_refusal_does_not_withdraw_the_report_beside_it() -> None:
    assert reports_action("I couldn't find the lamp, but I've turned on the ceiling light.", "en")


@pytest.mark.parametrize("tag", ["pt", "pt-BR", "pt_BR", "PT-br"])
def test_a_region_does_not_matter(tag: str) -> None:
    assert base_language(tag) == "pt"
    assert reports_action("Liguei a luz.", tag)


def test_traditional_characters_are_read_too() -> None:
    assert reports_action("我已經把門鎖上了。", "zh-Hant")


@pytest.mark.parametrize("language", ["xx", "", "*"])
def test_nothing_is_reported_in_an_unknown_language(language: str) -> None:
    assert not reports_action("I've turned on the light.", language)


def test_an_answer_in_another_language_reports_nothing() -> None:
    assert not reports_action("Ich habe das Licht eingeschaltet.", "en")


@given(st.lists(ANSWERS))
def test_a_text_reports_what_one_of_its_lines_reports(lines: list[str]) -> None:
    assert reports_action("\n".join(lines), "en") == any(reports_action(line, "en") for line in lines)


def turns(*results: list[ToolResult]) -> list[Message]:
    """Return a conversation in which each turn has such results."""
    messages: list[Message] = []
    for ones in results:
        calls = tuple(ToolCall(one.call_id, one.name, "{}") for one in ones)
        messages += [SAID, AssistantMessage(tool_calls=calls), *ones, AssistantMessage("Well.")]
    return messages


CONVERSATIONS: dict[str, tuple[list[Message], bool]] = {
    "nothing": ([], False),
    "words": ([SAID], False),
    "a change": (turns([DONE]), True),
    "a change and a look": (turns([LOOKED, DONE, LOOKED]), True),
    "a look": (turns([LOOKED]), False),
    "a change that failed": (turns([FAILED]), False),
    "a change that another one made up for": (turns([FAILED, DONE]), True),
    "a change that was not made": (turns([NOT_RUN]), False),
    "a tool that nobody knows any more": (turns([ToolResult("5", "gone", "ok")]), True),
    "a change before what is asked now": ([*turns([DONE]), SAID], True),
    "a change before what was looked at": (turns([DONE], [LOOKED]), True),
    "a failure after the change": (turns([DONE], [FAILED]), False),
    "a failure before what is asked now": ([*turns([FAILED]), SAID], False),
    "a change long ago": ([*turns([DONE], []), SAID], False),
    "a change of the turn that goes on": (
        [SAID, AssistantMessage(tool_calls=(ToolCall("1", "turn_on", "{}"),)), DONE],
        True,
    ),
    "a change in a history without words": (turns([DONE])[1:], True),
}


@pytest.mark.parametrize(("transcript", "expected"), CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_a_change_in_this_turn_or_the_one_before_verifies_a_report(
    transcript: list[Message], *, expected: bool
) -> None:
    assert changed_something(transcript, [CHANGING, READING]) is expected


def test_languages_that_are_checked_by_default_are_known() -> None:
    assert set(GRAMMARS) >= CHECKED_LANGUAGES
