"""Calls are put together from fragments, whatever the habits of the server."""

import json
import re
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import example, given, strategies as st

from custom_components.chatterbox.agent.errors import ProviderReplyInvalid
from custom_components.chatterbox.agent.json.text import is_json_object
from custom_components.chatterbox.agent.messages import (
    MAX_CALL_LENGTH,
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolCall,
    UserMessage,
)
from custom_components.chatterbox.agent.wire.call_assembly import (
    MAX_CALLS,
    CallAssembler,
    CallFragment,
    CallIds,
    ObjectText,
    new_call_id,
)

type Chunk = Sequence[CallFragment]


def fragment(
    arguments: str = "", *, index: int | None = None, call_id: str = "", name: str = ""
) -> CallFragment:
    return CallFragment(index, call_id, name, arguments)


def assemble(*chunks: Chunk) -> list[list[ToolCall]]:
    """Return the calls that went out at each chunk, and last those that waited for the end."""
    assembler = CallAssembler(CallIds(()))
    return [[*assembler.add(chunk)] for chunk in chunks] + [[*assembler.finish()]]


def called(*chunks: Chunk) -> list[tuple[str, str]]:
    return [call.key for calls in assemble(*chunks) for call in calls]


def test_a_call_goes_out_with_the_fragment_that_completes_it() -> None:
    assert assemble(
        [fragment(index=0, call_id="a", name="on")],
        [fragment('{"x"', index=0)],
        [fragment(":1}", index=0)],
        [fragment("\n", index=0)],
    ) == [[], [], [ToolCall("a", "on", '{"x":1}')], [], []]


def test_an_empty_object_at_the_end_waits_because_arguments_may_follow() -> None:
    assert assemble([fragment("{}", index=0, call_id="a", name="now")]) == [
        [],
        [ToolCall("a", "now", "{}")],
    ]
    assert assemble(
        [fragment("{}", index=0, call_id="a", name="on")],
        [fragment('{"x":', index=0)],
        [fragment("1}", index=0)],
    ) == [[], [], [ToolCall("a", "on", '{"x":1}')], []]


@pytest.mark.parametrize("name", ["", "on"])
@pytest.mark.parametrize(
    "texts",
    [('{"x', '{"x": 1', '{"x": 1}'), ("{", '{"x"', '{"x"', '{"x": 1}', '{"x": 1}')],
)
def test_a_fragment_may_repeat_what_came_before_it(
    texts: Sequence[str], name: str
) -> None:
    """vercel/ai#12052."""
    first, *others = texts

    assert called(
        [fragment(first, index=0, call_id="a", name="on")],
        *([fragment(text, index=0, call_id="a", name=name)] for text in others),
        [fragment('{"y": {"x": 1}}', index=1, call_id="b", name="off")],
    ) == [("on", '{"x": 1}'), ("off", '{"y": {"x": 1}}')]


def test_a_fragment_that_begins_like_the_call_continues_a_text() -> None:
    assert called(
        [fragment('{"x": "', name="on")], [fragment('{"x'), fragment(': "}')]
    ) == [("on", '{"x": "{"x: "}')]


def test_an_empty_object_goes_out_when_the_next_call_begins() -> None:
    assert assemble(
        [fragment("{ }", index=0, call_id="a", name="now")],
        [fragment(index=1, call_id="b", name="on")],
    ) == [[], [ToolCall("a", "now", "{ }")], [ToolCall("b", "on", "{}")]]


@pytest.mark.parametrize("nothing", ["", "null", "  "])
def test_no_arguments_at_all_are_an_empty_object(nothing: str) -> None:
    assert called(
        [fragment(nothing, index=0, name="now")],
        [fragment('{"x":1}', index=1, name="on")],
    ) == [
        ("now", "{}"),
        ("on", '{"x":1}'),
    ]


@pytest.mark.parametrize(
    "written",
    [
        "{}<|call|>",
        "{}</s>",
        "{}\n```",
        "```json\n{}\n```",
        "`{}`",
        "json{}",
        "<|constrain|>json<|message|>{}<|call|>",
        "<|message|>{}",
        "[ARGS]{}",
        "<tool_call>{}</tool_call>",
        "\u2581{}",
    ],
)
def test_remains_of_a_template_around_arguments_are_dropped(written: str) -> None:
    text = written.replace("{}", '{"x":{"y":"}"}}')
    whole = [[fragment(text, index=0, name="on")]]
    pieces = [
        [fragment(index=0, name="on")],
        *([fragment(character, index=0)] for character in text),
    ]

    assert called(*whole) == called(*pieces) == [("on", '{"x":{"y":"}"}}')]


def test_remains_of_a_template_in_an_id_are_dropped() -> None:
    [[], [call]] = assemble([fragment(index=0, call_id="call_1<|call|>\n", name="now")])
    assert call.id == "call_1"
    [[], [call]] = assemble([fragment(index=0, call_id="functions.now:0", name="now")])
    assert call.id == "functions.now:0"


@pytest.mark.parametrize(
    "text", ['{"x":', "{'x':1}", "[1]", '"{}"', "kitchen", '{"x":1']
)
def test_what_is_no_object_goes_out_as_written_at_the_end(text: str) -> None:
    assert assemble([fragment(text, index=0, call_id="a", name="on")]) == [
        [],
        [ToolCall("a", "on", text)],
    ]


def test_calls_keep_the_order_of_the_model_when_their_fragments_mix() -> None:
    assert assemble(
        [
            fragment(index=0, call_id="a", name="on"),
            fragment(index=1, call_id="b", name="off"),
        ],
        [fragment('{"y":2}', index=1)],
        [fragment('{"x":1}', index=0)],
    ) == [[], [], [ToolCall("a", "on", '{"x":1}'), ToolCall("b", "off", '{"y":2}')], []]


def test_a_call_that_is_never_whole_keeps_those_after_it_until_the_end() -> None:
    assert assemble(
        [fragment('{"x":', index=0, call_id="a", name="on")],
        [fragment('{"y":2}', index=1, call_id="b", name="off")],
    ) == [[], [], [ToolCall("a", "on", '{"x":'), ToolCall("b", "off", '{"y":2}')]]


def test_the_end_of_a_call_is_final() -> None:
    ended = fragment("{}", index=0, call_id="a", name="on")._replace(ended=True)

    assert assemble([ended]) == [[ToolCall("a", "on", "{}")], []]


def test_half_characters_in_two_fragments_become_one() -> None:
    assert called(
        [fragment('{"x":"\ud83d', name="on")],
        [fragment('\udca1"}')],
        [fragment('{"x":"\udca1"}')],
    ) == [
        ("on", '{"x":"💡"}'),
        ("on", '{"x":"\ufffd"}'),
    ]


TWO = [("on", '{"x":1}'), ("off", '{"y":2}')]
SAME_TOOL = [("on", '{"x":1}'), ("on", '{"x":2}')]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [
                [
                    fragment('{"x":1}', index=0, call_id="a", name="on"),
                    fragment('{"y":2}', index=1, call_id="b", name="off"),
                ]
            ],
            TWO,
            id="two calls in one chunk",
        ),
        pytest.param(
            [
                [
                    fragment('{"x":1}', call_id="a", name="on"),
                    fragment('{"y":2}', call_id="b", name="off"),
                ]
            ],
            TWO,
            id="no index",
        ),
        pytest.param(
            [[fragment('{"x":1}', name="on"), fragment('{"y":2}', name="off")]],
            TWO,
            id="neither index nor id",
        ),
        pytest.param(
            [[fragment('{"x":1}', name="on"), fragment('{"x":2}', name="on")]],
            SAME_TOOL,
            id="neither index nor id, the same tool",
        ),
        pytest.param(
            [
                [fragment(name="on")],
                [fragment('{"x"')],
                [fragment(":1}")],
                [fragment(name="off")],
                [fragment('{"y":2}')],
            ],
            TWO,
            id="neither index nor id, in fragments",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment('{"y":2}', index=0, call_id="b", name="off")],
            ],
            TWO,
            id="the same index twice",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment('{"x":2}', index=0, call_id="b", name="on")],
            ],
            SAME_TOOL,
            id="the same index and tool twice",
        ),
        pytest.param(
            [
                [
                    fragment('{"x":1}', index=0, name="on"),
                    fragment('{"x":1}', index=0, name="on"),
                ]
            ],
            [("on", '{"x":1}')] * 2,
            id="twice the same in one chunk",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment('{"y":2}', index=1, call_id="a", name="off")],
            ],
            TWO,
            id="the same id twice",
        ),
        pytest.param(
            [
                [fragment('{"x"', index=0, call_id="a", name="on")],
                [fragment(":1}", index=0, call_id="a", name="on")],
                [fragment("", index=0, call_id="a", name="on")],
            ],
            TWO[:1],
            id="id and name in each fragment",
        ),
        pytest.param(
            [
                [fragment('{"x"', call_id="a", name="on")],
                [fragment(":1}", call_id="a")],
                [fragment('{"y":2}', call_id="b", name="off")],
            ],
            TWO,
            id="id in each fragment and no index",
        ),
        pytest.param(
            [
                [fragment('{"x"', index=0, call_id="a", name="on")],
                [fragment(":1}", index=0, call_id="other")],
            ],
            TWO[:1],
            id="another id in each fragment",
        ),
        pytest.param(
            [
                [fragment('{"x"', call_id="a", name="on")],
                [fragment(":1}", call_id="other")],
            ],
            TWO[:1],
            id="another id in each fragment and no index",
        ),
        pytest.param(
            [
                [fragment(index=0, call_id="a")],
                [fragment(index=0, name="on")],
                [fragment('{"x":1}', index=0)],
            ],
            TWO[:1],
            id="id, name and arguments apart",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
            ],
            TWO[:1],
            id="the whole call once more at the end",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment('{"x"', index=0)],
                [fragment(":1}", index=0)],
            ],
            TWO[:1],
            id="the whole arguments once more in fragments",
        ),
        pytest.param(
            [[fragment('{"x":1} {"x":2}', index=0, call_id="a", name="on")]],
            SAME_TOOL,
            id="two objects in one text",
        ),
        pytest.param(
            [
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment(',{"x"', index=0)],
                [fragment(":2}", index=0)],
            ],
            SAME_TOOL,
            id="two objects in fragments",
        ),
        pytest.param(
            [
                [
                    fragment("{}", index=0, call_id="a", name="on"),
                    fragment(index=1, call_id="b", name="now"),
                ],
                [fragment('{"x":1}', index=0)],
            ],
            [("on", "{}"), ("now", "{}"), ("on", '{"x":1}')],
            id="arguments after an empty object that went out",
        ),
        pytest.param(
            [
                [fragment('{"x":1}}</tool_call>', index=0, call_id="a", name="on")],
                [fragment("}", index=0)],
            ],
            TWO[:1],
            id="left-overs of the model's own format",
        ),
        pytest.param(
            [
                [fragment(index=0)],
                [fragment('{"x":1}', index=0, call_id="a", name="on")],
                [fragment(index=1)],
            ],
            TWO[:1],
            id="openings without anything",
        ),
        pytest.param(
            [[fragment('{"x":1}', index=0, call_id="a")]],
            [("", '{"x":1}')],
            id="no name at all",
        ),
    ],
)
def test_dialects(chunks: Sequence[Chunk], expected: list[tuple[str, str]]) -> None:
    assert called(*chunks) == expected


def test_a_runaway_number_of_calls_is_refused() -> None:
    with pytest.raises(ProviderReplyInvalid, match="more than"):
        assemble(
            [
                fragment('{"x":1}', index=index, name="on")
                for index in range(MAX_CALLS + 1)
            ]
        )
    with pytest.raises(ProviderReplyInvalid, match="more than"):
        assemble(
            [
                fragment(
                    "".join(f'{{"x":{number}}}' for number in range(MAX_CALLS + 1)),
                    name="on",
                )
            ]
        )


def test_nothing_is_added_to_a_call_that_went_out_at_the_end() -> None:
    assembler = CallAssembler(CallIds(()))

    list(assembler.add([fragment('{"x":', index=0, call_id="a", name="on")]))
    assert [*assembler.finish()] == [ToolCall("a", "on", '{"x":')]
    assert [*assembler.add([fragment("1}", index=0)])] == []
    assert [
        *assembler.add([fragment('{"y":2}', index=1, call_id="b", name="off")])
    ] == [ToolCall("b", "off", '{"y":2}')]
    assert [*assembler.finish()] == []


ARGUMENTS = st.dictionaries(
    st.text(max_size=3),
    st.integers() | st.text(alphabet='{}"\\a', max_size=4),
    min_size=1,
)


@example(arguments=[{"a": '"'}], sizes=[8], numbered=True)
@example(arguments=[{"": 0}, {"{": 0}], sizes=[2], numbered=False)
@given(
    arguments=st.lists(ARGUMENTS, min_size=1, max_size=4),
    sizes=st.lists(st.integers(min_value=1, max_value=9), min_size=1),
    numbered=st.booleans(),
)
def test_the_size_of_the_fragments_makes_no_difference(
    *, arguments: list[dict[str, int | str]], sizes: list[int], numbered: bool
) -> None:
    written = [json.dumps(each) for each in arguments]
    chunks: list[Chunk] = []
    for number, text in enumerate(written):
        index = number if numbered else None
        chunks.append([fragment(index=index, call_id=f"id{number}", name="on")])
        size = sizes[number % len(sizes)]
        chunks.extend(
            [fragment(text[at : at + size], index=index)]
            for at in range(0, len(text), size)
        )

    assert called(*chunks) == [("on", text) for text in written]


@pytest.mark.parametrize("call_id", ["", "a"])
def test_a_name_may_arrive_in_pieces(call_id: str) -> None:
    assert assemble(
        [fragment(index=0, call_id="a", name="get_")],
        [fragment(index=0, call_id=call_id, name="weather")],
        [fragment('{"x":1}', index=0)],
    ) == [[], [], [ToolCall("a", "get_weather", '{"x":1}')], []]


@pytest.mark.parametrize(
    "second",
    [
        fragment("{}", index=0, call_id="b", name="off"),
        fragment("{}", index=1, name="off"),
        fragment("{}", name="off"),
    ],
    ids=["new id", "new index", "no index"],
)
def test_another_name_with_a_sign_of_its_own_is_another_call(
    second: CallFragment,
) -> None:
    assert called([fragment(index=0, call_id="a", name="on")], [second]) == [
        ("on", "{}"),
        ("off", "{}"),
    ]


def test_another_name_after_arguments_is_another_call() -> None:
    assert called(
        [fragment('{"x":1}', index=0, name="on")], [fragment("{}", index=0, name="off")]
    ) == [
        ("on", '{"x":1}'),
        ("off", "{}"),
    ]


TEXT = st.text(alphabet=st.sampled_from('ab{}[]"\\/,: \n💡'))
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=4)


def collect(pieces: Iterable[str]) -> ObjectText:
    text = ObjectText()
    for piece in pieces:
        text.add(piece)
    return text


@given(
    value=OBJECTS, ascii_only=st.booleans(), space=st.sampled_from(["", " ", "\n\t "])
)
def test_an_object_is_complete_at_its_last_character(
    *, value: JsonObject, ascii_only: bool, space: str
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    text = ObjectText()

    for character in space + written:
        assert not text.complete
        text.add(character)

    assert text.complete
    assert text.text == written
    assert text.is_empty_object == (not value)


@given(value=OBJECTS, cut=st.integers(min_value=0, max_value=50), after=TEXT)
def test_what_follows_an_object_is_left_over(
    value: JsonObject, cut: int, after: str
) -> None:
    written = json.dumps(value) + after
    cut = min(cut, len(json.dumps(value)))
    text = ObjectText()

    first = text.add(written[:cut])
    end = text.add(written, first)

    assert written[end:] == after
    assert text.add(after) == 0
    assert text.text == json.dumps(value)


@pytest.mark.parametrize(
    "written",
    [
        '{"a":1',
        "{'a':1}",
        '{"a":NaN}',
        '[{"a":1}]',
        '"{}"',
        "null",
        "",
        "}{}",
        '{"a":1}'[::-1],
        '{"a":"\\',
        "{" * 5_000,
    ],
)
def test_what_is_no_object_is_kept_as_written(written: str) -> None:
    text = collect(written)

    assert not text.complete
    assert text.text == written


def test_text_after_a_broken_object_belongs_to_it() -> None:
    text = ObjectText()

    assert text.add("{'a':1}{}") == len("{'a':1}{}")
    assert text.add('{"b":2}') == len('{"b":2}')
    assert text.text == """{'a':1}{}{"b":2}"""
    assert not text.complete


@pytest.mark.parametrize("piece", ["x" * 10_000, "\\" * 9_999, '{"a":{}' * 1_000])
def test_runaway_text_is_bounded_and_never_complete(piece: str) -> None:
    text = ObjectText()
    text.add('{"a":"')

    for _ in range(2 * MAX_CALL_LENGTH // len(piece)):
        text.add(piece)
    text.add('"}')

    assert len(text.text) == MAX_CALL_LENGTH + 1
    assert not text.complete


def test_an_object_of_the_greatest_length_is_complete() -> None:
    written = '{"a":"' + "x" * (MAX_CALL_LENGTH - 8) + '"}'

    assert collect([written]).complete
    assert not collect([written.replace("x", "xx", 1)]).complete


@given(value=VALUES)
def test_only_an_object_is_an_object(value: JsonValue) -> None:
    assert is_json_object(f" {json.dumps(value)} ") == isinstance(value, dict)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}}",
        "{} {}",
        '{"a":Infinity}',
        '{"a":"\\ud83d"}',
        '{"a":' * 100_000,
        '{"a":' + "9" * 5_000 + "}",
    ],
)
def test_what_cannot_be_read_or_written_is_no_object(text: str) -> None:
    assert not is_json_object(text)


def test_new_ids_of_calls_fit_everywhere_and_differ() -> None:
    assert re.fullmatch("[A-Za-z0-9]{9}", new_call_id())
    assert new_call_id() != new_call_id()


def test_ids_of_calls_are_unique_in_a_conversation() -> None:
    calls = (ToolCall("a", "on", "{}"), ToolCall("b", "off", "{}"))
    ids = CallIds(
        (UserMessage("Hi"), AssistantMessage("", "", calls)),
        iter(["b", "new1", "new2"]).__next__,
    )

    assert [ids.unique(sent) for sent in ("a", "", "c")] == ["new1", "new2", "c"]
