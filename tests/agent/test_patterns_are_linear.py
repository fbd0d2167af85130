"""No text, however strange, takes the patterns of wire formats and of speech longer than its length allows.

All of them read what a model wrote, on the event loop: one that tries a text in many ways stops
the whole home.
"""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from time import process_time
from types import ModuleType

import pytest

from custom_components.chatterbox.agent import speech, wire
from custom_components.chatterbox.agent.wire.written_calls import read_calls

LARGE = 20_000
SMALL = LARGE // 4
SURELY_LINEAR = 0.02
"""Seconds for a large text that no pattern needs that takes more than one look at each character."""
MOST_GROWTH = 12
MOST_SECONDS = 1.0

ONLY_AT_A_PLACE = frozenset(
    {"_NAMED", "_PYTHON", "_NAME", "_KEYWORD", "_ATTRIBUTE", "_PATH", "_RULE", "_CHOICE", "_COURTESY", "_CELL_RULE"}
    | {"_NUMBER", "_EMOTICON", "_LABEL", "_REFERENCE", "_CITATION_BEFORE", "_HEART", "VENDOR_TYPE"}
)
"""Patterns that are matched at one place and never searched for."""

PARTS = (
    *("a", "1", " ", "\n", "\\", "$", ".", ",", ":", ";", "=", "-", "_", "*", "^", "~", "|", "!", "?", "#", "+", "°"),
    *("<", ">", "(", ")", "[", "]", "{", "}", "'", '"', "`", "/", "好", "。", "\uff5c", "🙂", "\u200b", "\ufe0f"),
)
UNITS = (
    *PARTS,
    *("a ", ". ", "\\n", "\\a", "\\frac{", "{a}", "```", "```json", "json", "json ", "call:", "to=", "to=a "),
    *("[args]", "[call_id]", "[call_id]a", "[tool_calls]", "<tool_call", "<tool_call ", "<tool_calls" + " " * 12),
    "<a:tool_call",
    *("<function=", "<function=a", "<function=a>", "<invoke name=", "<invoke name=a ", "</function>"),
    *("<parameter=", "<parameter=a ", "<parameter=a>", "<parameter name=", "</parameter>"),
    *(
        "<arg_key>",
        "a<arg_key>",
        "<arg_key>a</arg_key>",
        "</arg_key>",
        "<arg_value>",
        "<arg_key>a</arg_key><arg_value>",
    ),
    *("<|", "<|a", "<|a|>", "<|message|>", '<|"|>', "analysis", "final ", "print(", "print( ", "a=", "a = ", '"name"'),
    *('"name": ', '"name":"a', "num_ctx ", "num_ctx\n", "num_ctx 1\n", "<!--", "-->", "<!-", "<a", "</a", "a-", "--"),
    *("|-", "|--", "](", "](a", "(a", "](a(", "][", "[^a", "[1]", ":a", ":a-", "http://", "www.", "data:", "data:a"),
    *(
        "&a",
        "&#1",
        "^{",
        "_{",
        "_{a",
        "$a",
        "1970-01-01",
        "1970-01-01T10:00",
        ".)",
        ".) ",
        "1.",
        "- ",
        "==",
        "=a",
        "<3",
    ),
)
TEXTS = tuple(dict.fromkeys([*product(("", "a", "<function=a><parameter=", "a<tool_call>"), UNITS)]))


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for package in (wire, speech):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield from patterns_of(import_module(module.name))


def patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        found = value.items() if isinstance(value, dict) else [("", value)]
        for key, pattern in found:
            if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
                yield f"{module.__name__.rpartition('.')[2]}.{name}.{key}".strip("."), pattern


def look(pattern: re.Pattern[str], text: str, *, everywhere: bool) -> None:
    pattern.match(text)
    pattern.fullmatch(text)
    if everywhere:
        for _ in pattern.finditer(text):
            pass


def seconds(pattern: re.Pattern[str], text: str, *, everywhere: bool) -> float:
    start = process_time()
    look(pattern, text, everywhere=everywhere)
    return process_time() - start


def test_patterns_are_found() -> None:
    assert {"written_calls._NAMED", "spoken_text._TAG", "speech_filter._COURTESY.en"} <= {
        name for name, _ in patterns()
    }


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*found, id=found[0]) for found in patterns()])
def test_a_pattern_takes_time_in_proportion(name: str, pattern: re.Pattern[str]) -> None:
    everywhere = ONLY_AT_A_PLACE.isdisjoint(name.split("."))
    for head, unit in TEXTS:
        texts = [(head + unit * (length // len(unit) + 1))[:length] + "\0" for length in (160, SMALL, LARGE)]
        look(pattern, texts[0], everywhere=everywhere)
        if seconds(pattern, texts[2], everywhere=everywhere) < SURELY_LINEAR:
            continue
        small, large = (min(seconds(pattern, text, everywhere=everywhere) for _ in range(3)) for text in texts[1:])
        assert large < MOST_SECONDS, (head, unit)
        assert large < MOST_GROWTH * small or large < SURELY_LINEAR, (head, unit)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    [
        "light_on" + "```json" * 40,
        "a" + ("<tool_call" + " " * 12) * 6 + "x",
        "<function=light_on><parameter=" + "a " * 30_000,
        "<function=" * 6500,
        "a<arg_key>" * 6500,
    ],
)
def test_what_only_looks_like_a_call_is_read_at_once(text: str) -> None:
    assert len(read_calls(text[:65_536]).calls) <= 1
