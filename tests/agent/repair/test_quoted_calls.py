"""A call that the conversation already holds is text, and no call."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from custom_components.chatterbox.agent.conversation.window import fit_window
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    Message,
    Summary,
    ToolCall,
    ToolResult,
    UserMessage,
)
from tests.agent.repair.hearing import hear, message, request
from tests.agent.repair.written_examples import (
    CALLS,
    OFFERED,
    TURN_ON,
)
from tests.support.doubles import tool

KITCHEN_ON = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen Light"}}'

ITEM_ADDED = (
    '{"name": "todo__add_item", "arguments": {"item": "milk", "list": "shopping list"}}'
)
PARTY = tool("script__party")
GOOD_NIGHT = tool("good_night")
ADD_ITEM = tool("todo__add_item")


@pytest.mark.parametrize(
    ("notice", "written", "name"),
    [
        (UserMessage("Turn on the light in the kitchen"), KITCHEN_ON, "HassTurnOn"),
        (UserMessage("Use HassTurnOn: the kitchen light"), KITCHEN_ON, "HassTurnOn"),
        (
            UserMessage("Add item milk to the list shopping list"),
            ITEM_ADDED,
            "todo__add_item",
        ),
        (
            UserMessage('"add_item", please: "milk", list: shopping list'),
            ITEM_ADDED,
            "todo__add_item",
        ),
        (
            UserMessage("Good night!"),
            '{"name": "good_night", "arguments": {}}',
            "good_night",
        ),
        (UserMessage("Party!"), "<tool_call>party</tool_call>", "party"),
        (UserMessage("Party!"), "<tool_call>party()</tool_call>", "party"),
        (
            ToolResult("1", "search", '[{"name": "Good Night", "tool": "good_night"}]'),
            "good_night()",
            "good_night",
        ),
        (
            ToolResult(
                "1",
                TURN_ON,
                'Tool "HassTurnOn": no name "Kitchn", is it "Kitchen Light"?',
                is_error=True,
            ),
            KITCHEN_ON,
            "HassTurnOn",
        ),
        (
            ToolResult("1", TURN_ON, f"Not run: {KITCHEN_ON}", synthetic=True),
            KITCHEN_ON,
            "HassTurnOn",
        ),
        (
            AssistantMessage(
                "", "", (ToolCall("1", TURN_ON, '{"name":"Kitchen Light"}'),)
            ),
            KITCHEN_ON,
            "HassTurnOn",
        ),
        (UserMessage(KITCHEN_ON), KITCHEN_ON.replace("Light", "Lamp"), "HassTurnOn"),
        (
            UserMessage(KITCHEN_ON),
            '{"name": "HassTurnOn", "arguments": "kitchen"}',
            "HassTurnOn",
        ),
        (UserMessage("Not HassTurnOff; name: Kitchen Light"), KITCHEN_ON, "HassTurnOn"),
    ],
)
def test_a_call_is_one_although_the_conversation_is_about_it(
    notice: Message, written: str, name: str
) -> None:
    model_request = request((*OFFERED, PARTY, GOOD_NIGHT, ADD_ITEM), (notice,))

    heard = hear(*message(written), model_request=model_request)

    assert [name for name, _ in heard.calls] == [name]
    assert heard.text == ""


QUOTED = (
    *(
        (KITCHEN_ON, call_text)
        for call_text in (
            KITCHEN_ON,
            f"So {KITCHEN_ON.upper()}!",
            json.dumps(json.dumps(KITCHEN_ON)),
        )
    ),
    *(
        (KITCHEN_ON, example.text)
        for example in CALLS
        if example.calls == (("HassTurnOn", '{"name":"Kitchen Light"}'),)
    ),
    (ITEM_ADDED, 'todo__add_item(list="shopping list", item="milk")'),
    ("<tool_call>party</tool_call>", "my <tool_call> party </tool_call>"),
    (
        '{"name": "good_night", "arguments": {}}',
        "{'name': 'good_night', 'arguments': {}}",
    ),
    (
        '{"name": "light", "arguments": {"at": 5e1}}',
        '{"name": "light", "arguments": {"at": 5e1}}',
    ),
    (
        '{"name": "light", "arguments": {"to": {"rgb": [1, 2], "on": true}, "text": ""}}',
        '{"name": "light", "parameters": {"text": "", "to": {"on": true, "rgb": [1,2]}}}',
    ),
    (
        '{"name": "light", "arguments": {"scene": "\N{SUNRISE}"}}',
        '{"name":"light","arguments":{"scene":"\\ud83c\\udf05"}}',
    ),
)


@pytest.mark.parametrize(("written", "warnings"), QUOTED)
@pytest.mark.parametrize(
    "message_of",
    [
        UserMessage,
        AssistantMessage,
        lambda text: ToolResult("1", "list", json.dumps({"items": [text]})),
    ],
)
def test_a_call_that_the_conversation_holds_is_text(
    message_of: Callable[[str], Message],
    written: str,
    warnings: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    model_request = request(
        (*OFFERED, PARTY, GOOD_NIGHT, ADD_ITEM), (message_of(warnings),)
    )

    heard = hear(*message(f"There it says: {written}"), model_request=model_request)

    assert heard.calls == []
    assert (
        heard.text
        == f"There it says: {written.removeprefix('<tool_call>').removesuffix('</tool_call>')}"
    )
    assert heard.finish is FinishReason.STOP
    assert "that it quotes from the conversation" in caplog.text


PARTY_CALL = '{"name": "script__party", "arguments": {}}'


@pytest.mark.parametrize(
    ("entry", "reading"),
    [
        ("<tool_call>script__party", "<tool_call>script__party"),
        ("<tool_call>script__party", "<tool_call>script__party</tool_call>"),
        ("<tool_call>script__party", PARTY_CALL),
        ("<tool_call>party</tool_call>", f"<tool_call>{PARTY_CALL}</tool_call>"),
        (
            '<tool_call>{"name": "script__party"}</tool_call>',
            f"<tool_call>{PARTY_CALL}</tool_call>",
        ),
        ("script__party()", PARTY_CALL),
        (PARTY_CALL, "<function=script__party></function>"),
        ('{"arguments": {}, "name": "party"}', "<tool_call>party</tool_call>"),
    ],
)
def test_a_call_without_arguments_is_text_if_an_entry_makes_it(
    entry: str, reading: str
) -> None:
    model_request = request(
        (*OFFERED, PARTY),
        (ToolResult("1", "list", json.dumps([{"summary": entry, "status": "open"}])),),
    )

    assert (
        hear(*message(f"You need {reading}"), model_request=model_request).calls == []
    )


@pytest.mark.parametrize(
    "notice",
    ['[{"name": "Party", "entity_id": "script.party"}]', "Birthday party (8 pm)"],
)
def test_a_call_without_arguments_is_made_although_its_tool_is_named(
    notice: str,
) -> None:
    model_request = request(
        (*OFFERED, PARTY), (ToolResult("1", "list", notice), UserMessage("Party!"))
    )

    assert hear(*message(PARTY_CALL), model_request=model_request).calls == [
        ("script__party", "{}")
    ]


@pytest.mark.parametrize("between", ["\n", " "])
@pytest.mark.parametrize(
    "listed",
    [
        lambda parts: json.dumps(
            {"items": [{"summary": part, "uid": "a", "done": False} for part in parts]}
        ),
        lambda parts: json.dumps("\n".join(f"- {part}" for part in parts)),
        lambda parts: "\n".join(f"{index}. {part}" for index, part in enumerate(parts)),
    ],
    ids=["JSON", "text in JSON", "text"],
)
def test_a_call_that_is_split_over_entries_is_text(
    listed: Callable[[list[str]], str], between: str
) -> None:
    cut = KITCHEN_ON.rindex('"Kitchen')
    parts = [f"<tool_call>{KITCHEN_ON[:cut]}", f"{KITCHEN_ON[cut:]}</tool_call>"]
    model_request = request(transcript=(ToolResult("1", "list", listed(parts)),))

    assert (
        hear(
            *message(f"Your list: {between.join(parts)}"), model_request=model_request
        ).calls
        == []
    )


def test_a_call_is_text_that_the_summary_holds_or_that_may_stand_in_a_picture() -> None:
    summarised = replace(request(), summary=Summary(f"The list said {KITCHEN_ON}.", 4))
    picture = request(
        transcript=(UserMessage("What is this?", (Attachment("image/png", b""),)),)
    )

    for requested in (summarised, picture):
        assert hear(*message(KITCHEN_ON), model_request=requested).text == KITCHEN_ON


def test_text_is_no_call_in_the_turn_with_a_picture_and_the_next_one() -> None:
    file = Attachment("image/png", b"", f"{KITCHEN_ON}.png")
    picture: tuple[Message, ...] = (
        UserMessage("Look", (file,)),
        UserMessage("What is this?"),
    )
    turn: tuple[Message, ...] = (AssistantMessage("A cat."), UserMessage("And now?"))
    acts = KITCHEN_ON.replace("Light", "Lamp")

    def calls_after(*messages: Message, written: str = acts) -> int:
        return len(
            hear(
                *message(written), model_request=replace(request(), transcript=messages)
            ).calls
        )

    assert calls_after(*picture) == 0
    called = AssistantMessage("", "", (ToolCall("1", TURN_ON, "{}"),))
    assert calls_after(*picture, called, ToolResult("1", TURN_ON, "{}")) == 0
    assert calls_after(*picture, *turn) == 0
    assert (
        calls_after(
            *picture,
            *turn,
            AssistantMessage("Yes."),
            UserMessage("", context="It is noon."),
        )
        == 0
    )
    assert calls_after(*picture, *turn, *turn) == 1
    assert calls_after(*picture, *turn, *turn, written=KITCHEN_ON) == 0


def test_a_call_that_was_made_in_a_turn_no_longer_sent_can_be_made_again() -> None:
    earlier: list[Message] = []
    for index in range(12):
        earlier += [
            UserMessage("Turn on the kitchen light", context="It is Monday."),
            AssistantMessage(
                "", "", (ToolCall(f"c{index}", TURN_ON, '{"name": "Kitchen Light"}'),)
            ),
            ToolResult(f"c{index}", TURN_ON, '{"success": true}'),
            AssistantMessage("It is on now. " * 40),
        ]
    sent = fit_window(
        (*earlier, UserMessage("Turn on the kitchen light")), 1500
    ).transcript
    first = sent[0]
    assert isinstance(first, UserMessage)
    assert f"” → {TURN_ON} {{" in first.context

    heard = hear(
        *message(KITCHEN_ON), model_request=replace(request(), transcript=sent)
    )

    assert heard.calls == [("HassTurnOn", '{"name":"Kitchen Light"}')]
    assert heard.text == ""


@pytest.mark.parametrize("earlier", [KITCHEN_ON, f"” → {KITCHEN_ON}"])
def test_a_call_is_text_that_a_person_spoke_of_in_a_turn_no_longer_sent(
    earlier: str,
) -> None:
    earlier_turns: list[Message] = [
        UserMessage(earlier),
        AssistantMessage("So it says. " * 2000),
    ]
    sent = fit_window(
        (*earlier_turns, UserMessage("Again", context="It is Monday.")), 1500
    ).transcript
    assert len(sent) == 1

    assert (
        hear(
            *message(KITCHEN_ON), model_request=replace(request(), transcript=sent)
        ).calls
        == []
    )


def test_a_call_in_thoughts_that_the_conversation_holds_is_none() -> None:
    model_request = request(transcript=(UserMessage(KITCHEN_ON),))

    heard = hear(
        ReasoningDelta(KITCHEN_ON),
        CompletionResult(FinishReason.STOP),
        model_request=model_request,
    )

    assert heard.calls == []


def test_only_quoted_calls_of_a_list_are_left_out() -> None:
    own = KITCHEN_ON.replace("Light", "Lamp")

    heard = hear(
        *message(f"<tool_call>[{KITCHEN_ON}, {own}]</tool_call>"),
        model_request=request(transcript=(UserMessage(KITCHEN_ON),)),
    )

    assert heard.calls == [("HassTurnOn", '{"name":"Kitchen Lamp"}')]


def test_a_native_call_is_made_although_the_conversation_holds_it() -> None:
    model_request = request(transcript=(UserMessage(KITCHEN_ON),))
    native = ToolCall("1", TURN_ON, '{"name": "Kitchen Light"}')

    heard = hear(
        TextDelta(KITCHEN_ON),
        ToolCallReady(native),
        CompletionResult(FinishReason.TOOL_CALLS),
        model_request=model_request,
    )

    assert heard.calls == [(TURN_ON, '{"name": "Kitchen Light"}')]
