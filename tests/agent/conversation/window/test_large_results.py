"""Results that are too large for a model: what is left of them."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.conversation.prompt_fitter import (
    ContextWindow,
    PromptFitter,
)
from custom_components.chatterbox.agent.conversation.token_estimate import TokenEstimate
from custom_components.chatterbox.agent.conversation.window import (
    MOST_TOKENS,
    LargeResults,
    shortened_result,
)
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonValue,
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from tests.agent.conversation.transcripts import ask
from tests.support.doubles import ScriptedProvider, say

LOOK = ToolDefinition(
    "look",
    "Looks.",
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "area": {"type": "string"}},
    },
)
CLOCK = ToolDefinition("clock", "Tells the time.", {"type": "object", "properties": {}})
MANY: list[JsonValue] = [
    {"name": f"Light {number}", "state": "on"} for number in range(5_000)
]
WINDOW = 32_768


def request(
    content: str,
    name: str = "look",
    tools: tuple[ToolDefinition, ...] = (LOOK, CLOCK),
    *,
    may_be_shortened: bool = True,
) -> CompletionRequest:
    """Return a request after a tool has answered."""
    pending_calls = AssistantMessage(tool_calls=(ToolCall("1", name, "{}"),))
    transcript = (
        UserMessage("What is on?"),
        pending_calls,
        ToolResult("1", name, content),
    )
    return CompletionRequest(
        "Be kind.", transcript, tools, may_be_shortened=may_be_shortened
    )


def content_of(model_request: CompletionRequest) -> str:
    """Return what its result says."""
    result = model_request.transcript[-1]
    assert isinstance(result, ToolResult)
    return result.content


def read(content: str) -> dict[str, JsonValue]:
    """Return what a shortened result says."""
    value: JsonValue = json.loads(content)
    assert isinstance(value, dict)
    return value


def shown_of(content: str) -> JsonValue:
    """Return what is left of a result."""
    return read(content)["result"]


def test_a_request_with_short_results_is_the_same_object() -> None:
    model_request = request('{"state":"on"}')
    assert LargeResults().without(model_request, WINDOW) is model_request


READS = replace(LOOK, annotations=ToolAnnotations(read_only=True))
RETURNED = (AssistantMessage("Much is on."), UserMessage("Thanks."))


@pytest.mark.parametrize(
    ("tool", "may_be_shortened", "is_short", "hint"),
    [
        (READS, True, True, "To read it all, call look again."),
        (LOOK, True, True, ""),
        (CLOCK, True, True, ""),
        (replace(READS, client=True), True, False, ""),
        (READS, False, False, ""),
    ],
    ids=["reads", "changes something", "is gone", "of a client", "as it is"],
)
def test_a_long_result_is_short_from_the_next_turn_on(
    tool: ToolDefinition, hint: str, *, may_be_shortened: bool, is_short: bool
) -> None:
    results, content = LargeResults(), json.dumps(MANY[:200])
    now = request(content, tools=(tool,), may_be_shortened=may_be_shortened)
    later = replace(now, transcript=(*now.transcript, *RETURNED))

    assert results.without(now, WINDOW).transcript == now.transcript
    returned = results.without(later, WINDOW)
    assert returned.transcript[:2] + returned.transcript[3:] == (
        later.transcript[:2] + later.transcript[3:]
    )
    short = returned.transcript[2]
    assert isinstance(short, ToolResult)
    assert (len(short.content) <= 1_000) is is_short
    assert (short.content == content) is not is_short
    if is_short:
        assert read(short.content)["left_out"] == (
            f"This is not all: of {len(content)} characters, some were left out to save "
            f"room. {hint}".strip()
        )
    # The prompt of the next turns, and of their inferences, begins with the very same
    # messages.
    pending_calls = AssistantMessage(tool_calls=(ToolCall("2", "look", "{}"),))
    result = ToolResult("2", "look", content)
    further = (*later.transcript, pending_calls, result)
    again = results.without(replace(later, transcript=further), WINDOW).transcript
    assert [*map(id, again[:5])] == [*map(id, returned.transcript)]
    assert again[5:] == (pending_calls, result)


@pytest.mark.parametrize("content", ["on " * 600, json.dumps(MANY[:40])])
def test_a_result_of_moderate_length_stays_whole_in_later_turns(content: str) -> None:
    now = request(content)
    later = replace(now, transcript=(*now.transcript, *RETURNED))
    assert LargeResults().without(later, WINDOW) is later


def test_a_result_takes_a_quarter_of_the_window_at_most_and_never_more_than_a_fixed_number_of_tokens() -> (
    None
):
    content = json.dumps(MANY)
    for window, most in ((8_192, 2_048), (32_768, 8_192), (1_000_000, MOST_TOKENS)):
        short = content_of(LargeResults().without(request(content), window))
        assert most * 0.8 < TokenEstimate().of_text(short) < most * 1.1


def test_long_words_that_take_few_tokens_are_left_alone() -> None:
    model_request = request("word " * 5_000)
    short = LargeResults().without(model_request, WINDOW)
    assert short == model_request


def test_a_list_is_cut_between_its_items_and_says_how_many_are_missing() -> None:
    remaining = shown_of(shortened_result(json.dumps(MANY), 2_000))
    assert isinstance(remaining, list)
    assert len(remaining) > 20
    assert remaining[:-1] == MANY[: len(remaining) - 1]
    assert remaining[-1] == f"… {5_000 - len(remaining) + 1} more of 5000"


def test_small_values_beside_a_long_list_stay_whole() -> None:
    remaining = shown_of(
        shortened_result(
            json.dumps({"ok": True, "found": MANY, "page": 1, "more": "b" * 200}), 2_000
        )
    )
    assert isinstance(remaining, dict)
    assert (remaining["ok"], remaining["page"], remaining["more"]) == (
        True,
        1,
        "b" * 200,
    )
    assert isinstance(remaining["found"], list)
    assert len(remaining["found"]) > 20


def test_an_object_of_many_entries_keeps_the_first() -> None:
    states: dict[str, JsonValue] = {
        f"light.number_{number}": "on" for number in range(1_000)
    }
    remaining = shown_of(shortened_result(json.dumps(states), 1_000))
    assert isinstance(remaining, dict)
    assert list(remaining)[:10] == list(states)[:10]
    assert remaining["…"] == f"{1_000 - len(remaining) + 1} more of 1000"


def test_an_object_with_a_large_first_entry_shows_the_first_items_of_it() -> None:
    remaining = shown_of(
        shortened_result(
            json.dumps({"0": MANY} | {f"{one}": MANY[0] for one in range(1, 99)}), 1_000
        )
    )
    assert isinstance(remaining, dict)
    assert list(remaining) == ["0", "…"]
    first = remaining["0"]
    assert isinstance(first, list)
    assert first[0] == MANY[0]


def test_lines_in_json_are_cut_between_entities() -> None:
    """The result looks like Home Assistant's live context."""
    context = "".join(
        f"- names: Light {number}\n  domain: light\n  state: 'on'\n"
        for number in range(500)
    )
    remaining = shown_of(shortened_result(json.dumps({"result": context}), 2_000))
    assert isinstance(remaining, dict)
    text = remaining["result"]
    assert isinstance(text, str)
    lines, _, mark = text.rpartition("[")
    assert lines
    assert context.startswith(lines)
    assert context.removeprefix(lines).startswith("- names")
    assert (
        mark
        == f"… {1_500 - lines.count(chr(10))} of 1500 lines were left out here to save room.]"
    )


def test_json_that_an_mcp_server_writes_into_a_text_stays_json() -> None:
    inner = json.dumps({"items": MANY})
    remaining = shown_of(
        shortened_result(
            json.dumps({"content": [{"type": "text", "text": inner}]}), 3_000
        )
    )
    assert isinstance(remaining, dict)
    content = remaining["content"]
    assert isinstance(content, list)
    first = content[0]
    assert isinstance(first, dict)
    assert first["type"] == "text"
    text = first["text"]
    assert isinstance(text, str)
    items = read(text)["items"]
    assert isinstance(items, list)
    assert items[:10] == MANY[:10]


def test_a_text_that_only_looks_like_json_is_cut_like_a_text() -> None:
    remaining = shown_of(shortened_result(json.dumps(["[see below]\n" * 500]), 1_000))
    assert isinstance(remaining, list)
    text = remaining[0]
    assert isinstance(text, str)
    assert text.startswith("[see below]\n[see below]\n")
    assert text.endswith("lines were left out here to save room.]")


def test_a_plain_text_is_cut_between_lines() -> None:
    text = "".join(f"Line {number} of a page.\n" for number in range(900))
    short = shortened_result(text, 1_000, "Ask for less.")
    *lines, mark = short.splitlines()
    assert text.startswith("\n".join(lines))
    assert (
        mark
        == f"[… {900 - len(lines)} of 900 lines were left out here to save room. Ask for less.]"
    )


def test_a_text_of_one_line_is_cut_between_characters() -> None:
    short = shortened_result("x" * 9_000, 1_000)
    remaining = short.count("x")
    assert remaining > 900
    assert (
        short
        == "x" * remaining
        + f"[… {9_000 - remaining} characters were left out here to save room.]"
    )


def test_the_model_is_told_by_which_arguments_to_ask_for_less() -> None:
    result = read(
        content_of(LargeResults().without(request(json.dumps(MANY)), WINDOW))
    )["left_out"]
    assert isinstance(result, str)
    assert result.endswith(
        "To read more, call look again for less at once; it takes: area, name."
    )


def test_where_there_is_no_room_for_a_value_only_its_place_is_shown() -> None:
    crowded: dict[str, JsonValue] = {"n" * 350: MANY, "more": 1}
    assert shown_of(shortened_result(json.dumps(crowded), 600)) == {
        "n" * 350: "…",
        "…": "1 more of 2",
    }
    too_long: dict[str, JsonValue] = {"n" * 900: MANY, "more": 1}
    assert shown_of(shortened_result(json.dumps(too_long), 650)) == {"…": "2 more of 2"}
    assert shown_of(shortened_result(json.dumps([int("9" * 2_000)]), 650)) == [
        "…",
        "… 0 more of 1",
    ]


@pytest.mark.parametrize("name", ["clock", "gone"])
def test_a_tool_that_cannot_be_asked_for_less_has_no_such_hint(name: str) -> None:
    result = read(
        content_of(LargeResults().without(request(json.dumps(MANY), name), WINDOW))
    )["left_out"]
    assert isinstance(result, str)
    assert result.endswith("were left out to save room.")


def test_results_of_client_tools_stay_whole_in_a_conversation_that_may_not_be_shortened() -> (
    None
):
    content = json.dumps(MANY)
    theirs = replace(LOOK, client=True)
    for tools in ((theirs,), ()):
        remaining = request(content, tools=tools, may_be_shortened=False)
        assert LargeResults().without(remaining, WINDOW) == remaining
    assert (
        content_of(LargeResults().without(request(content, tools=(theirs,)), WINDOW))
        != content
    )
    assert (
        content_of(
            LargeResults().without(request(content, may_be_shortened=False), WINDOW)
        )
        != content
    )


def test_the_same_result_is_the_same_message_in_each_request() -> None:
    results, model_request = LargeResults(), request(json.dumps(MANY))
    first, second = (
        results.without(model_request, WINDOW).transcript[-1] for _ in range(2)
    )
    assert first is second
    assert results.without(model_request, WINDOW // 2).transcript[-1] != first


async def test_a_model_is_sent_what_it_can_read_of_a_result() -> None:
    inner = ScriptedProvider(say("Many."))
    fitter = PromptFitter(ContextWindow(16_384))
    model_request = request(json.dumps({"result": MANY}))
    await ask(inner, fitter, model_request)
    assert TokenEstimate().of_text(content_of(inner.requests[0])) < 4_200
    result = fitter.window(model_request).transcript[-1]
    assert isinstance(result, ToolResult)
    assert result.content == content_of(inner.requests[0])


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=300)
    | st.text('"\\\n[{é', max_size=300),
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(st.text(max_size=40), inner, max_size=12)
    ),
    max_leaves=60,
)


@given(_JSON, st.integers(400, 3_000))
def test_json_stays_json_and_is_no_longer_than_it_may_be(
    value: JsonValue, length: int
) -> None:
    short = shortened_result(canonical_json(value), length)
    assert len(short) <= length
    json.loads(short)


@given(
    st.text(max_size=900), st.text(" \n\tab\"{'", max_size=900), st.integers(300, 600)
)
def test_a_text_is_no_longer_than_it_may_be(text: str, signs: str, length: int) -> None:
    short = shortened_result(text + signs, length, "Ask for less, such as {name}.")
    assert len(short) <= length
