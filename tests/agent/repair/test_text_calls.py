"""Reasoning and calls in the text of a model become events, and the rest is said, however it is cut."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import aiohttp
import pytest
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.conversation.window import fit_window
from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ProviderSwitched,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    Message,
    Summary,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import OutputFormat
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.repair.text_calls import TextCalls
from custom_components.chatterbox.agent.repair.text_markup import MAX_HELD_CHARACTERS
from custom_components.chatterbox.agent.wire.chat_dialect import (
    NO_ANSWER,
    NO_QUESTION,
)
from tests.agent.repair.hearing import cuts, hear, message, request
from tests.agent.repair.written_examples import (
    CALLS,
    OFFERED,
    PROSE,
    REASONING,
    TURN_ON,
    Written,
)
from tests.agent.turns import collect, results, spoken
from tests.support.doubles import ScriptedDispatcher, tool
from tests.support.servers.raw_http import RawReply, event_stream, raw_http_server
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


async def test_a_change_of_provider_is_passed_on() -> None:
    switched = ProviderSwitched("second", "late")
    assert await TextCalls().message(request()).read(switched) == [switched]


def test_nothing_in_plain_text_is_a_call_where_no_tool_is_offered() -> None:
    text = f"HassTurnOn(a=1)\n{KITCHEN_ON}\n[HassTurnOn()] ```json\n{KITCHEN_ON}\n``` <think>{KITCHEN_ON}</think>"

    heard = hear(*message(text), model_request=request(()))

    assert (
        heard.text
        == f"HassTurnOn(a=1)\n{KITCHEN_ON}\n[HassTurnOn()] ```json\n{KITCHEN_ON}\n``` "
    )
    assert heard.thought == KITCHEN_ON
    assert not heard.calls


def test_a_call_under_the_old_name_of_a_tool_is_recognised_without_markup() -> None:
    model_request = request([tool("todo__get_items")])

    for name in ("todo_get_items", "todo__get_items", "get_items"):
        heard = hear(
            *message(f'{name}(todo_list="Tasks")'), model_request=model_request
        )
        assert (heard.text, heard.calls) == ("", [(name, '{"todo_list":"Tasks"}')])


def test_markup_is_a_call_even_where_no_tool_is_offered() -> None:
    heard = hear(
        *message(f"<tool_call>{KITCHEN_ON}</tool_call>"), model_request=request(())
    )

    assert (heard.text, heard.calls) == (
        "",
        [("HassTurnOn", '{"name":"Kitchen Light"}')],
    )


def test_data_that_looks_like_a_call_is_the_answer_unless_it_names_a_tool() -> None:
    model_request = replace(
        request(), output=OutputFormat("person", {"type": "object"})
    )
    data = '{"name": "Ada", "parameters": {"age": 36}}'

    heard = hear(*message(data), model_request=model_request)
    called = hear(*message(KITCHEN_ON), model_request=model_request)

    assert (heard.text, heard.calls) == (data, [])
    assert (called.text, called.calls) == (
        "",
        [("HassTurnOn", '{"name":"Kitchen Light"}')],
    )


def test_calls_in_the_reasoning_of_a_service_run_when_nothing_else_comes() -> None:
    thinks: list[ProviderEvent] = [
        ReasoningDelta("I will "),
        ReasoningDelta("<tool_ca"),
        ReasoningDelta(f"ll>{KITCHEN_ON}"),
    ]

    silent = hear(*thinks, *message(""))
    answered = hear(*thinks, *message("Done."))
    cut = hear(*thinks, *message("", FinishReason.LENGTH))

    assert silent.calls == [("HassTurnOn", '{"name":"Kitchen Light"}')]
    assert silent.finish is FinishReason.TOOL_CALLS
    assert silent.thought == f"I will <tool_call>{KITCHEN_ON}"
    assert (answered.calls, answered.text, answered.finish) == (
        [],
        "Done.",
        FinishReason.STOP,
    )
    assert (cut.calls, cut.finish) == ([], FinishReason.LENGTH)


def test_a_thought_about_a_call_that_the_service_gave_is_not_a_second_call() -> None:
    own = ToolCall("c1", TURN_ON, '{"name":"Hall"}')

    heard = hear(
        ReasoningDelta(KITCHEN_ON),
        ToolCallReady(own),
        *message("", FinishReason.TOOL_CALLS),
    )

    assert heard.calls == [(own.name, own.arguments)]


@pytest.mark.parametrize("written_first", [True, False])
def test_a_call_that_is_given_and_written_is_one_call(written_first: bool) -> None:  # noqa: FBT001  # a case
    own: list[ProviderEvent] = [
        ToolCallReady(ToolCall("c1", TURN_ON, '{ "name": "Kitchen Light" }'))
    ]
    written: list[ProviderEvent] = [TextDelta(f"<tool_call>{KITCHEN_ON}</tool_call>")]
    order = [*written, *own] if written_first else [*own, *written]

    heard = hear(*order, *message("", FinishReason.STOP))

    assert [json.loads(arguments) for _, arguments in heard.calls] == [
        {"name": "Kitchen Light"}
    ]
    assert heard.text == ""
    assert heard.finish is FinishReason.TOOL_CALLS


def test_a_call_that_is_written_twice_and_given_once_is_two_calls() -> None:
    written = TextDelta(f"<tool_call>{KITCHEN_ON}</tool_call>")
    given = ToolCallReady(ToolCall("c1", TURN_ON, '{"name":"Kitchen Light"}'))

    heard = hear(written, given, written, *message(""))

    assert len(heard.calls) == 2


@pytest.mark.parametrize("written_at", [0, 1, 3])
def test_calls_that_differ_are_all_kept(written_at: int) -> None:
    arguments = ['{"name":"Hall"}', "{", ""]
    events: list[ProviderEvent] = [
        ToolCallReady(ToolCall(f"c{n}", TURN_ON, text))
        for n, text in enumerate(arguments)
    ]
    events.insert(written_at, TextDelta(f"<tool_call>{KITCHEN_ON}</tool_call>"))
    arguments.insert(written_at, '{"name":"Kitchen Light"}')

    heard = hear(*events, *message(""))

    assert [text for _, text in heard.calls] == arguments


def test_ids_are_unique_also_against_the_transcript() -> None:
    old = ToolCall("c1", TURN_ON, "{}")
    transcript = (
        UserMessage("Hi"),
        AssistantMessage(tool_calls=(old,)),
        ToolResult("c1", TURN_ON, "{}"),
    )
    given = ToolCallReady(ToolCall("c1", TURN_ON, "{}"))
    written = f"<tool_call>{KITCHEN_ON}</tool_call>" * 50

    heard = hear(given, *message(written), model_request=request(transcript=transcript))

    assert len(heard.ids) == 51
    assert "c1" not in heard.ids
    assert all(len(call_id) == 9 and call_id.isalnum() for call_id in heard.ids)


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "HassTurnOn", "arguments": {"area": "Kitchen"',
        '{"name": "HassTurnOn", "arguments": {"area": "Kitchen"}',
        '[TOOL_CALLS]HassTurnOn[ARGS]{"area": "Kitchen"',
        '[HassTurnOn(area="Kitchen"',
        '<function=HassTurnOn>{"area": "Kitchen"',
    ],
)
def test_a_call_that_was_cut_off_is_never_completed(
    text: str, reason: FinishReason
) -> None:
    heard = hear(*message(text, reason))

    ((name, arguments),) = heard.calls
    assert name == "HassTurnOn"
    with pytest.raises(json.JSONDecodeError):
        json.loads(arguments)
    assert arguments.endswith("…")
    assert heard.text == ""
    assert heard.finish is reason


def test_the_calls_before_a_cut_are_kept() -> None:
    text = '[TOOL_CALLS]HassTurnOn[ARGS]{}, GetLiveContext[ARGS]{"name": "Li'

    heard = hear(*message(text, FinishReason.LENGTH))

    assert heard.calls == [("HassTurnOn", "{}")]
    assert heard.text == ""


def test_that_a_template_opens_the_reasoning_is_learned_from_the_messages() -> None:
    """A draft is the answer, or its calls count, if nothing else comes; the next message is then read as it comes."""
    model = TextCalls()
    opened, called = (
        "Off it is. </think>\n\nIt is off.",
        f"Hm. <tool_call>{KITCHEN_ON}</tool_call>",
    )
    texts = [
        opened,
        opened,
        ["No reasoning, ", "just words."],
        "As it comes.",
        opened,
        called,
        opened,
    ]

    heard = [hear(*message(text), model=model) for text in texts]

    assert [(one.text, one.thought) for one in heard[:5]] == [
        ("Off it is. It is off.", ""),
        ("It is off.", "Off it is. "),
        ("No reasoning, just words.", "No reasoning, just words."),
        ("As it comes.", ""),
        ("Off it is. It is off.", ""),
    ]
    assert (heard[5].text, heard[5].calls) == (
        "",
        [("HassTurnOn", '{"name":"Kitchen Light"}')],
    )
    assert (heard[6].text, heard[6].thought) == ("Off it is. It is off.", "")


THOUGHTS = (
    "The user wants the time. I should say noon.",
    "Okay, the user asks for the time.",
    "Hmm, so the user wants light.",
    "We need to answer briefly.",
    "The assistant responded with two stars, maybe formatting.",
    "Alright, let me think about this.",
    "Der Nutzer fragt nach der Zeit.",
    "Okay, der Benutzer möchte Licht.",
    "L'utilisateur veut savoir l'heure.",
    "Użytkownik pyta o godzinę.",
    "好的\uff0c用户想知道时间。",
    "嗯\uff0c用户问时间。",
)


@pytest.mark.parametrize(
    "end", ["</think>", "</THINK>", "[/THINK]", "</thinking>", "<channel|>", "◁/think▷"]
)
@pytest.mark.parametrize("thought", THOUGHTS)
def test_the_first_answer_of_a_model_may_be_a_thought_without_its_start(
    thought: str, end: str
) -> None:
    text = f"{thought}\n{end}\n\nIt is noon."
    for pieces in ([text], [*text], [text[:4], text[4:30], text[30:]]):
        model = TextCalls()
        heard = hear(*message(pieces), model=model)
        assert (heard.text, heard.thought) == ("It is noon.", f"{thought}\n")
        assert hear(*message("Noon.</think>Yes."), model=model).text == "Yes.", (
            "learned from the first"
        )


@pytest.mark.parametrize("text", ["It is noon.<eos> Bye.", "</think>It is noon."])
def test_a_mark_that_ends_no_thought_teaches_nothing(text: str) -> None:
    model = TextCalls()
    hear(*message(text), model=model)
    assert hear(*message(["No reasoning, ", "just words."]), model=model).thought == ""


@pytest.mark.parametrize("thought", THOUGHTS)
def test_first_words_like_a_thought_are_the_answer_if_no_other_comes(
    thought: str,
) -> None:
    model = TextCalls()

    assert hear(*message([*thought]), model=model).text == thought
    assert hear(*message([*thought]), model=model).text == thought


@pytest.mark.parametrize(
    "text",
    [
        "The light is on.",
        "Okay, the light is on.",
        "Let me check the weather.",
        "So it is.",
    ],
)
async def test_an_answer_of_an_unknown_model_is_said_as_it_comes(text: str) -> None:
    reader = TextCalls().message(request())

    sentence = [
        event
        for piece in text.split(" ")
        for event in await reader.read(TextDelta(piece + " "))
    ]

    assert (
        "".join(
            event.text for event in sentence if isinstance(event, TextDelta)
        ).strip()
        == text
    )


@pytest.mark.parametrize(
    "name", ["deepseek-r1:8b", "QwQ-32B", "Qwen3-4B-Thinking-2507", "kimi_k2-thinking"]
)
def test_a_model_whose_name_says_that_it_thinks_begins_in_thought(name: str) -> None:
    assert (
        hear(
            *message(["Noon is at twelve. ", "</think>It is noon."]),
            model=TextCalls(name),
        ).text
        == "It is noon."
    )
    assert hear(*message("It is noon."), model=TextCalls(name)).text == "It is noon."
    assert (
        hear(*message("Noon is", FinishReason.LENGTH), model=TextCalls(name)).text == ""
    )


@pytest.mark.parametrize(
    "name", ["qwen3-4b-non-thinking", "r12", "gpt-5", "llama-3.1-8b", "mistral-thinker"]
)
async def test_other_models_begin_with_their_answer(name: str) -> None:
    begins = TextCalls(name).begins_in_thought
    assert begins is (name == "mistral-thinker")


async def test_a_service_that_tells_reasoning_apart_delays_no_answer() -> None:
    reader = TextCalls("deepseek-r1").message(request())

    await reader.read(ReasoningDelta("Hm."))

    assert await reader.read(TextDelta("It is noon. ")) == [TextDelta("It is noon. ")]


def test_reasoning_that_is_opened_twice_ends_once() -> None:
    text = "<think>\n<think>b</think>On."
    for pieces in ([text], [*text]):
        assert hear(*message(pieces)).text == "On."


COMMENT = "<|channel|>commentary<|message|>"
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{COMMENT}Let me think.{FINAL}Two.", "Let me think. Two."),
        (f"{COMMENT}One moment{FINAL}Two.", "One moment\nTwo."),
        (f"{COMMENT}One moment\n{FINAL}Two.", "One moment\nTwo."),
        (
            "assistantcommentaryLet me think.assistantfinalTwo lights.",
            "Let me think. Two lights.",
        ),
        ("It is on.<think>Hm.</think>Done.", "It is on. Done."),
        ("It is on.<|im_end|>Done.", "It is on. Done."),
        ("It costs 3.<|im_end|>5 euros.", "It costs 3.5 euros."),
        ("Kit<|x|>chen", "Kitchen"),
        ("<|channel|>final Hello", "Hello"),
        ('[{"na', '[{"na'),
        ("assistantana", "assistantana"),
        (
            "Sunny\ue200cite\ue202turn0search0\ue201. Yes【4:0†source】 and so【3】.",
            "Sunny. Yes and so.",
        ),
    ],
)
def test_messages_and_sentences_stay_apart(text: str, sentence: str) -> None:
    assert hear(*message(text)).text == hear(*message([*text])).text == sentence


def test_sentences_around_reasoning_and_calls_of_a_service_stay_apart() -> None:
    between: list[ProviderEvent] = [
        ReasoningDelta("Hm."),
        ToolCallReady(ToolCall("a", "GetLiveContext", "{}")),
    ]

    for event in between:
        assert (
            hear(TextDelta("One moment."), event, *message("It is on.")).text
            == "One moment. It is on."
        )


def test_words_before_a_call_of_the_service_are_no_thought_without_its_end() -> None:
    call = ToolCallReady(ToolCall("a", "GetLiveContext", "{}"))
    events: list[ProviderEvent] = [
        TextDelta("We need to look. "),
        call,
        *message("It is on."),
    ]

    heard = hear(*events)

    assert heard.text == "We need to look. It is on."
    assert hear(TextDelta("We need to look.</think>"), call, *message("")).text == ""


ONLY_ARGUMENTS = '{\n  "name": "Kitchen",\n  "domain": "light"\n}'


@pytest.mark.parametrize(
    "text",
    [
        f"<|channel|>commentary<|message|>{ONLY_ARGUMENTS}<|end|>",
        f"<|channel|>commentary<|message|>{ONLY_ARGUMENTS}",
        f"<|channel|>commentary <|constrain|>json<|message|>{ONLY_ARGUMENTS}<|call|>",
        f"<|start|>assistant<|channel|>commentary json<|message|> {ONLY_ARGUMENTS}<|end|>",
        f"<|channel|>commentary<|message|>```json\n{ONLY_ARGUMENTS}\n```<|end|>",
        f"commentary{ONLY_ARGUMENTS}",
        f"assistantcommentary json{ONLY_ARGUMENTS}",
        f"analysisHm.assistantcommentary{ONLY_ARGUMENTS}",
    ],
)
def test_arguments_without_a_tool_are_an_unknown_call_and_not_said(text: str) -> None:
    for pieces in ([text], [*text]):
        heard = hear(*message(pieces))
        assert heard.text == ""
        assert [name for name, _ in heard.calls] == [""]
        assert heard.finish is FinishReason.TOOL_CALLS


def test_arguments_of_a_comment_name_a_tool_only_beside_them() -> None:
    """The name of a device may be that of a tool."""
    begins = "<|channel|>commentary<|message|>"
    named = hear(
        *message(
            begins + '{"name": "HassTurnOn", "arguments": {"name": "Kitchen Light"}}'
        )
    )
    flat = hear(*message(begins + '{"name": "HassTurnOn", "domain": "light"}'))

    assert named.calls == [("HassTurnOn", '{"name":"Kitchen Light"}')]
    assert [name for name, _ in flat.calls] == [""]


def test_data_in_a_comment_is_the_answer_to_a_task() -> None:
    model_request = replace(
        request(()), output=OutputFormat("task", {"type": "object"})
    )

    assert (
        hear(
            *message('<|channel|>commentary<|message|>{"a": 1}<|end|>'),
            model_request=model_request,
        ).text
        == '{"a": 1}'
    )


def test_braces_in_a_comment_are_words() -> None:
    assert (
        hear(*message("<|channel|>commentary<|message|>{x} is on.")).text
        == "{x} is on."
    )


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


async def test_a_turn_over_http_runs_a_written_call_and_learns_from_the_message(
    session: aiohttp.ClientSession,
) -> None:
    def answer(text: str) -> RawReply:
        chunk = {
            "choices": [
                {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
            ]
        }
        return event_stream(
            [b"data: " + json.dumps(chunk).encode() + b"\n\n", b"data: [DONE]\n\n"]
        )

    dispatcher = ScriptedDispatcher()
    async with raw_http_server(
        answer(
            f'On.</think><tool_call>{KITCHEN_ON}</tool_call><tool_call>{{"name": "Dance"}}</tool_call>'
        ),
        answer("So it is on.</think>It is on."),
    ) as server:
        model = OpenAIChatProvider(
            session, f"http://127.0.0.1:{server.port}", "small-1"
        )
        chain = FailoverProvider(
            [ManagedProvider("model", model, CircuitBreaker(), closes_promptly=True)]
        )
        events = await collect(
            AgenticLoop(chain, dispatcher), Turn("Light on!", tools=OFFERED)
        )

    assert [(call.name, call.arguments) for call in dispatcher.finished] == [
        (TURN_ON, '{"name":"Kitchen Light"}')
    ]
    assert [result.is_error for result in results(events)] == [False, True]
    assert spoken(events) == "On.It is on."


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
