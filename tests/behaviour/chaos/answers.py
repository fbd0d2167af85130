"""Answers of an unrestrained model: prose, markup, nothing, calls of every kind.

Knows answers as the contract of the providers has them. Must not know wire formats, or
how an answer gets lost.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    ToolCall,
    Usage,
)
from tests.agent.providers.contract.dialect import Answer

PLAIN: Final = (
    "The light is on.",
    "It is 21 degrees in the kitchen, and the window is open.",
    "Turning on the lamp.",
    "Licht ist an.",
    "Is that bright enough? Tell me.",
    "好的,灯已经打开了。",
    "OK",
    "…",
)
ODD: Final = (
    "",
    "   \n\n",
    "**Done.** It is *very* bright, see [the docs](https://example.com/a_b).",
    "# Lights\n\n- one\n- two\n\n1. three",
    "```python\nprint('hello')\n```",
    "| room | light |\n|---|---|\n| kitchen | on |",
    "https://example.com/a/very/long/path?with=query",
    "😀",
    "---",
    "***",
    "![](https://example.com/picture.png)",
    "`",
    "> > >",
    "<think>hm, what now",
    "<think>the light</think>",
    "<think>the light</think>It is on.",
    "no opening</think>It is on.",
    "<|channel|>analysis<|message|>thinking<|end|><|start|>assistant<|channel|>final<|message|>Done.",
    "<tool_call>",
    "<tool_call>{",
    "</s>",
    "[TOOL_CALLS]",
    "null",
    "{}",
    "[]",
    '{"name": "nobody", "parameters": {}}',
    "\u200b\ufeff",
    "\x00\x07\x1b[31m",
    "a" * 5_000,
    "word " * 100,
    "** " * 30,
)

_FINISHES: Final = (
    FinishReason.LENGTH,
    FinishReason.CONTENT_FILTER,
    FinishReason.UNKNOWN,
    FinishReason.TOOL_CALLS,
)
_UNKNOWN_TOOLS: Final = (
    "make_coffee",
    "",
    "HassTurn On!",
    "x" * 300,
    "default_api.open_pod_bay_doors",
)
_BROKEN_ARGUMENTS: Final = (
    "",
    "{",
    "[]",
    "null",
    '{"item": "milk"',
    "item=milk",
    "{'item': 'milk',}",
    '{"item": 1e999}',
)
_MISFITS: Final[tuple[JsonObject, ...]] = (
    {},
    {"item": None},
    {"item": {"deep": [1]}},
    {"Item": "milk", "more": True},
)


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call that one of the offered tools takes."""

    name: str
    arguments: JsonObject


class Talker:
    """A model that says whatever comes."""

    def __init__(self, random: Random, calls: Sequence[KnownCall]) -> None:
        """Draw from `random`; `calls` would be taken."""
        self._random = random
        self._calls = calls

    def sane(self) -> Answer:
        """Say something that can be spoken, or act as it should be done."""
        random = self._random
        if random.random() < 0.15:
            calls = tuple(
                self._known(f"call{random.randrange(10**9)}")
                for _ in range(random.choice((1, 1, 2)))
            )
            return Answer(
                calls=calls, finish=FinishReason.TOOL_CALLS, usage=Usage(100, 10)
            )
        return Answer(self._in_pieces(random.choice(PLAIN)), usage=Usage(100, 10))

    def odd(self, finishes: frozenset[FinishReason], *, json_only: bool) -> Answer:
        """Say anything; `json_only` where the format cannot carry arguments that are no JSON."""
        random = self._random
        text = random.choice((*PLAIN, *ODD, *ODD))
        calls: tuple[ToolCall, ...] = ()
        draw = random.random()
        if draw < 0.12:
            text += self._written()
        elif draw < 0.32:
            calls = tuple(
                self._call(json_only=json_only)
                for _ in range(random.choice((1, 1, 1, 2, 2, 3, 3, 33)))
            )
        usual = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        finish = random.choice((usual, usual, *_FINISHES))
        reasoning = (
            ("The user ", "wants light.", self._written())
            if random.random() < 0.2
            else ()
        )
        return Answer(
            self._in_pieces(text),
            reasoning,
            calls,
            finish if finish in finishes else usual,
            Usage(100, 10, 50, 5),
        )

    def _call(self, *, json_only: bool) -> ToolCall:
        random = self._random
        call_id = random.choice(
            ("same", "same", "", "x" * 200, f"call{random.randrange(10**9)}")
        )
        known = self._known(call_id)
        match random.randrange(4):
            case 0:
                return ToolCall(call_id, random.choice(_UNKNOWN_TOOLS), known.arguments)
            case 1:
                misfit = json.dumps(random.choice(_MISFITS))
                return ToolCall(
                    call_id,
                    known.name,
                    misfit if json_only else random.choice(_BROKEN_ARGUMENTS),
                )
            case _:
                return known

    def _known(self, call_id: str) -> ToolCall:
        call = self._random.choice(self._calls)
        return ToolCall(call_id, call.name, json.dumps(call.arguments))

    def _written(self) -> str:
        """Write a call as text, as models do that were not taught better."""
        call = self._known("")
        name, arguments = call.name, call.arguments
        return self._random.choice(
            (
                f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>',
                f'<tool_call>{{"name": "{name}", "arguments": {arguments[:-1]}',
                f'[TOOL_CALLS][{{"name": "{name}", "arguments": {arguments}}}]',
                f'<|python_tag|>{{"name": "{name}", "parameters": {arguments}}}',
                f'{{"name": "{name}", "parameters": {arguments}}}',
                f"<function={name}>{arguments}</function>",
                f'```json\n{{"name": "{name}", "arguments": {arguments}}}\n```',
            )
        )

    def _in_pieces(self, text: str) -> tuple[str, ...]:
        if len(text) < 2:
            return (text,) if text else ()
        middle = self._random.randrange(1, len(text))
        return text[:middle], text[middle:]
