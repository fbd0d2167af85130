"""Reasoning and calls in the text of a model become events, and the rest is said, however it is cut."""

import json
from dataclasses import replace

import aiohttp
import pytest

from custom_components.chatterbox.agent.events import (
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
    FinishReason,
    ToolCall,
    ToolResult,
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
from tests.agent.repair.hearing import hear, message, request
from tests.agent.repair.written_examples import (
    OFFERED,
    TURN_ON,
)
from tests.agent.turns import collect, results, spoken
from tests.support.doubles import ScriptedDispatcher, tool
from tests.support.servers.raw_http import RawReply, event_stream, raw_http_server

KITCHEN_ON = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen Light"}}'


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

    assert heard.calls == [own.key]


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

    assert [call.key for call in dispatcher.finished] == [
        (TURN_ON, '{"name":"Kitchen Light"}')
    ]
    assert [result.is_error for result in results(events)] == [False, True]
    assert spoken(events) == "On.It is on."
