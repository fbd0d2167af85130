"""Text, reasoning and calls are told apart wherever the text of a model is cut, and held back by little."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    Usage,
)
from custom_components.chatterbox.agent.repair.text_calls import TextCalls
from custom_components.chatterbox.agent.repair.text_markup import MAX_HELD_CHARACTERS
from custom_components.chatterbox.agent.wire.chat_dialect import (
    NO_ANSWER,
    NO_QUESTION,
)
from tests.agent.repair.hearing import cuts, hear, message, request
from tests.agent.repair.written_examples import (
    CALLS,
    PROSE,
    REASONING,
    TURN_ON,
    Written,
)
from tests.support.doubles import tool
from tests.support.thorough import some_examples

EXAMPLES = (*REASONING, *CALLS)
KITCHEN_ON = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen Light"}}'


@pytest.mark.parametrize(
    "example", [pytest.param(example, id=example.format) for example in EXAMPLES]
)
def test_every_format_cut_anywhere(
    example: Written, pytestconfig: pytest.Config
) -> None:
    *in_two, whole = cuts(example.text)
    if not pytestconfig.option.thorough:
        in_two = in_two[::5]
    for pieces in [[example.text], *in_two, whole]:
        heard = hear(*message(pieces))

        assert (heard.text, heard.thought, tuple(heard.calls)) == (
            example.spoken,
            example.thought,
            example.calls,
        ), pieces
        assert heard.result == CompletionResult(
            FinishReason.TOOL_CALLS if example.calls else FinishReason.STOP, Usage(7, 3)
        )


@pytest.mark.parametrize("text", PROSE)
def test_prose_comes_through_as_it_is(text: str) -> None:
    for pieces in [[text], *cuts(text)]:
        heard = hear(*message(pieces))

        assert (heard.text, heard.thought, heard.calls) == (text, "", []), pieces
        assert heard.finish is FinishReason.STOP


FRAGMENTS = sorted(
    {
        "".join(text)
        for example in EXAMPLES
        for text in (example.text[:9], example.text[-9:])
    }
)


@settings(max_examples=some_examples(300))
@given(st.data())
def test_however_formats_are_mixed_the_cut_makes_no_difference(
    data: st.DataObject,
) -> None:
    parts = (
        st.sampled_from(FRAGMENTS)
        | st.sampled_from([example.text for example in EXAMPLES])
        | st.sampled_from(PROSE)
    )
    text = "".join(data.draw(st.lists(parts, min_size=1, max_size=6)))
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [
        text[start:end]
        for start, end in zip([0, *places], [*places, len(text)], strict=True)
    ]
    finish = data.draw(st.sampled_from([FinishReason.STOP, FinishReason.LENGTH]))

    whole, cut = hear(*message(text, finish)), hear(*message(pieces, finish))

    assert (cut.text, cut.thought, cut.calls) == (
        whole.text,
        whole.thought,
        whole.calls,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "It is 21 degrees.<|im_end|>\n<|im_start|>user\nturn on the light",
            "It is 21 degrees.\n",
        ),
        (
            "One.<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\nTwo.<|im_end|>",
            "One.\nTwo.",
        ),
        (
            'One.<end_of_turn>\n<start_of_turn>user\n<tool_call>{"name":"light_on","arguments":{}}</tool_call>',
            "One.\n",
        ),
    ],
)
def test_invented_turns_of_others_are_neither_said_nor_done(
    text: str, sentence: str
) -> None:
    for pieces in [[text], *cuts(text)]:
        heard = hear(*message(pieces))

        assert (heard.text, heard.calls) == (sentence, [])


@pytest.mark.parametrize("mark", [NO_ANSWER, NO_QUESTION])
def test_a_mark_in_place_of_a_message_is_not_said(mark: str) -> None:
    for pieces in cuts(f"{mark}\nIt is on. {mark}"):
        assert hear(*message(pieces)).text.strip() == "It is on."


@pytest.mark.parametrize(
    "text",
    [
        "AssistantRelay is running.",
        "FinalX is up.",
        "It is on. AssistantFinal is a name.",
    ],
)
def test_a_name_that_begins_like_a_header_is_said(text: str) -> None:
    for pieces in [[text], *cuts(text)]:
        assert (hear(*message(pieces))).text == text


def test_the_line_end_after_a_mark_may_come_in_the_next_piece() -> None:
    text = "<|im_start|>assistant\nOn.<|im_end|>" * 2

    assert {
        (hear(*message([text[:place], text[place:]]))).text
        for place in range(len(text))
    } == {"On.\nOn."}


@pytest.mark.parametrize(
    "text",
    [
        "The kitchen light is on, and it is 21.5 °C there.",
        "Das Licht ist an.",
        "灯已经打开了。",
    ],
)
async def test_plain_prose_is_held_back_by_one_word_at_most(text: str) -> None:
    model = TextCalls()
    model.known = True  # as after its first answer
    reader, sentence = model.message(request()), ""
    for index, character in enumerate(text):
        assert " " not in text[len(sentence) : index]
        parsed = await reader.read(TextDelta(character))
        sentence += "".join(
            event.text for event in parsed if isinstance(event, TextDelta)
        )
    *rest, _ = await reader.read(CompletionResult(FinishReason.STOP))
    assert (
        sentence + "".join(event.text for event in rest if isinstance(event, TextDelta))
        == text
    )


def test_reasoning_that_is_opened_twice_ends_once() -> None:
    text = "<think>\n<think>b</think>On."
    for pieces in ([text], [*text]):
        assert hear(*message(pieces)).text == "On."


@pytest.mark.parametrize(
    "marker", ["<tool_call>", f"assistantcommentary to={TURN_ON} {{", "[TOOL_CALLS]"]
)
def test_a_call_without_end_is_dropped_and_not_kept_in_memory(marker: str) -> None:
    runaway = '{"name": "HassTurnOn", "arguments": {"x": "' + "x" * MAX_HELD_CHARACTERS

    for pieces in (
        [marker + runaway],
        [marker, *runaway],
        [marker + runaway[:-1], runaway[-1:]],
    ):
        heard = hear(*message([*pieces, "y" * 1000]))

        assert (heard.text, heard.calls) == ("", [])


def test_endless_calls_are_bounded() -> None:
    heard = hear(*message("<tool_call>" + KITCHEN_ON * 300 + "</tool_call>"))

    assert len(heard.calls) == 256


def test_a_call_too_long_is_dropped_with_its_end() -> None:
    heard = hear(
        *message(
            [
                "<tool_call>",
                "x" * (MAX_HELD_CHARACTERS + 1),
                "</tool_",
                "call>It is on.",
            ]
        )
    )

    assert (heard.text, heard.calls) == ("It is on.", [])


def test_text_that_is_too_long_for_a_call_is_said() -> None:
    text = (
        '{"name": "'
        + "word " * (MAX_HELD_CHARACTERS // 5)
        + '"}. <think>Hm.</think>Done.'
    )

    for pieces in ([text], [text[:100], text[100:-30], text[-30:]]):
        heard = hear(*message(pieces))

        assert (heard.text, heard.thought) == (
            text.replace("<think>Hm.</think>", ""),
            "Hm.",
        )


def test_other_tools_need_no_other_patterns() -> None:
    """An API client may name 128 tools, and others with each request."""
    model, entered = TextCalls(), set[str]()
    model.message(request())
    many = replace(
        request(), tools=tuple(tool(f"t{number}_{'x' * 58}") for number in range(128))
    )

    sys.setprofile(
        lambda frame, _event, _argument: entered.add(frame.f_code.co_filename)
    )
    model.message(many)
    sys.setprofile(None)

    assert any("text_markup" in file for file in entered)
    assert not any("_compiler" in file for file in entered)
