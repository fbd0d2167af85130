"""Messages in turns: no neighbours of one role, no word lost, nothing said by a person that they did not say."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.wire.chat_dialect import (
    NO_ANSWER,
    NO_QUESTION,
    in_turns,
)

IMAGE: JsonValue = {"type": "image_url", "image_url": {"url": "data:,"}}
CALLS: JsonValue = [{"id": "a"}]


def user(content: JsonValue) -> JsonObject:
    return {"role": "user", "content": content}


def assistant(content: JsonValue, **more: JsonValue) -> JsonObject:
    return {"role": "assistant", "content": content, **more}


TOOL: JsonObject = {"role": "tool", "tool_call_id": "a", "content": "on"}
SYSTEM: JsonObject = {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    ("messages", "turns"),
    [
        ([], []),
        (
            [SYSTEM, user("A"), assistant("B"), user("C")],
            [SYSTEM, user("A"), assistant("B"), user("C")],
        ),
        ([user("A"), user("B"), user("C")], [user("A\n\nB\n\nC")]),
        ([user("A"), user("")], [user("A")]),
        ([user(""), user("B")], [user("B")]),
        ([user("A"), user([IMAGE])], [user([{"type": "text", "text": "A"}, IMAGE])]),
        ([user([IMAGE]), user([IMAGE])], [user([IMAGE, IMAGE])]),
        (
            [user("A"), assistant("Wait."), assistant(None, tool_calls=CALLS), TOOL],
            [user("A"), assistant("Wait.", tool_calls=CALLS), TOOL],
        ),
        (
            [user("A"), assistant(None, tool_calls=CALLS), TOOL, TOOL, user("B")],
            [
                user("A"),
                assistant(None, tool_calls=CALLS),
                TOOL,
                TOOL,
                assistant(NO_ANSWER),
                user("B"),
            ],
        ),
        (
            [
                user("A"),
                assistant(None, tool_calls=CALLS),
                TOOL,
                assistant("Done."),
                user("B"),
            ],
            [
                user("A"),
                assistant(None, tool_calls=CALLS),
                TOOL,
                assistant("Done."),
                user("B"),
            ],
        ),
        (
            [assistant("Hello?"), user("A")],
            [user(NO_QUESTION), assistant("Hello?"), user("A")],
        ),
        (
            [SYSTEM, assistant("Hello?")],
            [SYSTEM, user(NO_QUESTION), assistant("Hello?")],
        ),
    ],
)
def test_turns(messages: list[JsonObject], turns: list[JsonObject]) -> None:
    assert in_turns(messages) == turns


@pytest.mark.parametrize("mark", [NO_ANSWER, NO_QUESTION])
def test_what_stands_in_place_of_a_message_has_no_sentence(mark: str) -> None:
    assert re.fullmatch(r"<\w+( \w+=\"\w+\")*/>", mark)


MESSAGES = st.lists(
    st.sampled_from([user("A"), user("B"), assistant("C"), TOOL]), max_size=8
)


@given(MESSAGES)
def test_whatever_came_the_roles_take_turns_and_no_word_is_lost(
    messages: list[JsonObject],
) -> None:
    turns = in_turns(messages)
    neighbours = list(pairwise(turn["role"] for turn in turns))

    assert not {("user", "user"), ("assistant", "assistant"), ("tool", "user")} & {
        *neighbours
    }
    assert all(
        str(message["content"]) in "\n\n".join(str(turn["content"]) for turn in turns)
        for message in messages
    )
    assert in_turns(turns) == turns
