"""Every call that weaker models made is found, however they might have written it, and none of it is said."""

import json
import re
from collections.abc import Callable, Iterator

import pytest
from pydantic import JsonValue

from custom_components.chatterbox.agent.events import (
    ProviderEvent,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.json.text import parse_json
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall
from custom_components.chatterbox.speech.text import SpeechFilter
from tests.agent.repair.hearing import Heard, hear, message, request
from tests.behaviour.recorded_runs.hard_cases import TOOLS, HardCase, read_hard_cases
from tests.behaviour.recorded_runs.runs import RecordedCall, RecordedMessage, read_runs
from tests.support.doubles import tool

CASES = read_hard_cases()
OFFERED = request([*map(tool, sorted(TOOLS.values()))])
BEFORE, AFTER = "I'll see to it.", "That is all."

type Format = Callable[[str, JsonObject], str]


def as_object(name: str, arguments: JsonObject) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def as_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def in_python(name: str, arguments: JsonObject) -> str:
    return (
        f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    )


def in_elements(arguments: JsonObject, element: str) -> str:
    texts = {
        key: value if isinstance(value, str) else as_json(value)
        for key, value in arguments.items()
    }
    return "".join(element.format(key=key, value=value) for key, value in texts.items())


EXACT: dict[str, Format] = {
    "Hermes": lambda name, args: f"<tool_call>\n{as_object(name, args)}\n</tool_call>",
    "a tag, as recorded": lambda name, args: (
        f"<tool>\n{as_object(name, args)}\n</tool>"
    ),
    "Mistral": lambda name, args: f"[TOOL_CALLS][{as_object(name, args)}]</s>",
    "Mistral, named": lambda name, args: f"[TOOL_CALLS]{name}[ARGS]{as_json(args)}</s>",
    "Llama, bare": lambda name, args: (
        f'{{"name": "{name}", "parameters": {as_json(args)}}}'
    ),
    "Llama, python tag": lambda name, args: (
        f"<|python_tag|>{as_object(name, args)}<|eom_id|>"
    ),
    "Llama 3.1": lambda name, args: f"<function={name}>{as_json(args)}</function>",
    "Llama 4": lambda name, args: f"[{in_python(name, args)}]",
    "Gemma": lambda name, args: f"```tool_code\nprint({in_python(name, args)})\n```",
    "fenced": lambda name, args: f"```json\n{as_object(name, args)}\n```",
    "harmony": lambda name, args: (
        f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
        f"{as_json(args)}<|call|><|start|>assistant<|channel|>final<|message|>"
    ),
    "LM Studio": lambda name, args: (
        f"[TOOL_REQUEST]{as_object(name, args)}[END_TOOL_REQUEST]"
    ),
    "Phi": lambda name, args: f"<|tool_call|>[{as_object(name, args)}]<|/tool_call|>",
    "Kimi": lambda name, args: (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>"
        f"{as_json(args)}<|tool_call_end|><|tool_calls_section_end|>"
    ),
}
"""Formats in which every value has a type."""
AS_TEXTS: dict[str, Format] = {
    "Qwen-coder": lambda name, args: (
        f"<tool_call>\n<function={name}>\n"
        f"{in_elements(args, '<parameter={key}>\n{value}\n</parameter>\n')}</function>\n</tool_call>"
    ),
    "GLM": lambda name, args: (
        f"<tool_call>{name}\n{in_elements(args, '<arg_key>{key}</arg_key><arg_value>{value}</arg_value>')}</tool_call>"
    ),
    "MiniMax": lambda name, args: (
        f'<minimax:tool_call><invoke name="{name}">'
        f"{in_elements(args, '<parameter name="{key}">{value}</parameter>')}</invoke></minimax:tool_call>"
    ),
}
"""Formats in which every value is text; what type it has to have, a tool's schema tells."""


def distinct_calls() -> Iterator[RecordedCall]:
    seen: set[str] = set()
    for call in (call for case in CASES for call in case.calls()):
        written = as_object(call.name, call.args)
        if written not in seen and call.name in TOOLS and all(call.args):
            seen.add(written)
            yield call


@pytest.mark.parametrize("written", [*EXACT, *AS_TEXTS])
def test_every_recorded_call_in_every_format(
    written: str, pytestconfig: pytest.Config
) -> None:
    write = EXACT.get(written) or AS_TEXTS[written]
    calls = [*distinct_calls()]
    assert len(calls) > 75
    if not pytestconfig.getoption("thorough"):
        calls = calls[::5]

    for call in calls:
        text = f"{BEFORE}\n{write(call.name, call.args)}\n{AFTER}"
        for pieces in (list(text), [text]):
            heard = hear(*message(pieces), model_request=OFFERED)

            ((name, arguments),) = heard.calls
            assert name in {call.name, TOOLS[call.name]}
            assert arguments_of(arguments, written) == arguments_of(
                as_json(call.args), written
            ), text
            assert re.sub(r"\s+", " ", heard.text.strip()) == f"{BEFORE} {AFTER}", text


def arguments_of(text: str, written: str) -> JsonValue:
    value = parse_json(text)
    assert isinstance(value, dict)
    if written in EXACT:
        return value
    return {
        key: part if isinstance(part, str) else as_json(part)
        for key, part in value.items()
    }


def recorded(words: RecordedMessage, pieces: list[str]) -> list[ProviderEvent]:
    given = [
        ToolCallReady(ToolCall(f"c{number}", call.name, as_json(call.args)))
        for number, call in enumerate(words.tool_calls)
    ]
    return [*(TextDelta(piece) for piece in pieces), *given, *message("")]


def test_the_messages_of_the_hard_cases() -> None:
    for case in CASES:
        for number, words in enumerate(case.asst):
            text = words.content or ""
            heard = hear(*recorded(words, [*text]), model_request=OFFERED)

            assert meant(heard) == expected(case, number)
            assert heard == hear_again(heard, recorded(words, [text] if text else []))


def hear_again(before: Heard, lines: list[ProviderEvent]) -> Heard:
    """Hear the same in other pieces; only ids may differ."""
    again = hear(*lines, model_request=OFFERED)
    again.ids = before.ids
    return again


def meant(heard: Heard) -> tuple[list[tuple[str, JsonValue]], str]:
    return [(name, parse_json(arguments)) for name, arguments in heard.calls], letters(
        heard.text
    )


def expected(case: HardCase, number: int) -> tuple[list[tuple[str, JsonValue]], str]:
    meaning = case.meaning(number)
    calls = (*meaning.calls, *case.asst[number].tool_calls)
    return [(call.name, call.args) for call in calls], letters(meaning.says)


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def test_recorded_answers_are_said_the_same_in_whatever_pieces(
    pytestconfig: pytest.Config,
) -> None:
    texts = {
        message.content
        for run in read_runs()
        for message in run.asst
        if message.content
    }
    texts |= {
        message.content for case in CASES for message in case.asst if message.content
    }
    assert len(texts) > 400

    for text in sorted(texts)[:: 1 if pytestconfig.option.thorough else 5]:
        sentence = spoken([text])
        for size in (1, 3):
            assert (
                spoken(
                    [text[start : start + size] for start in range(0, len(text), size)]
                )
                == sentence
            ), text


def spoken(pieces: list[str]) -> str:
    """Return what a voice says of a message, word by word as it comes."""
    speech = SpeechFilter("en")
    heard = hear(*message(pieces), model_request=OFFERED)
    return speech.feed(heard.text) + speech.finish()
