"""No text, however strange, takes a pattern, or what reads text with patterns, longer than its length allows.

All of them read what a model wrote, on the event loop: one that tries a text in many
ways stops the whole home.
"""

import math
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from itertools import chain, product
from string import ascii_lowercase
from time import thread_time
from types import ModuleType

import pytest

from custom_components.chatterbox.agent import json, providers, repair, text, wire
from custom_components.chatterbox.agent.json.coercion import read_arguments
from custom_components.chatterbox.agent.json.malformed_json import (
    fenced_blocks,
    repair_json,
)
from custom_components.chatterbox.agent.loop.structured_output import read_output
from custom_components.chatterbox.agent.protocols import OutputFormat
from custom_components.chatterbox.agent.providers.failures import (
    FailureWording,
    error_of_response,
)
from custom_components.chatterbox.agent.repair.text_markup import (
    MarkupScanner,
    markers_for,
)
from custom_components.chatterbox.agent.repair.written_calls import read_calls
from custom_components.chatterbox.approvals import answers, pin
from custom_components.chatterbox.approvals.answers.yes_or_no import understand_answer
from custom_components.chatterbox.approvals.pin.pin_detection import may_be_pin
from custom_components.chatterbox.approvals.pin.spoken_digits import spoken_digits
from custom_components.chatterbox.speech import text as spoken_text
from custom_components.chatterbox.speech.text.speech_filter import asks_back, speakable
from tests.support.at_once import at_once

LARGE = 20_000
"""For a reader, some of which give up early on what is shorter."""
LARGE_FOR_A_PATTERN = 4_000
SURELY_LINEAR = 5
"""Looks at each character of a text: nothing that takes more looks the longer a text is gets by with so few."""
MOST_GROWTH = 2
"""A text takes as long as 4 times its quarter if time grows with the length, and 4 times as long with its square."""
SHARE, SOME = 8, 3
"""Of so many units, the quick run has a reader try one."""
TRIES = 25
"""Each costs time only where the one before seemed too long."""

ONLY_AT_A_PLACE = frozenset(
    {
        "_NAMED",
        "_PYTHON",
        "_NAME",
        "_KEYWORD",
        "_ATTRIBUTE",
        "_PATH",
        "_RULE",
        "_CHOICE",
        "_COURTESY",
        "_CELL_RULE",
    }
    | {
        "_NUMBER",
        "_EMOTICON",
        "_LABEL",
        "_REFERENCE",
        "_CITATION_BEFORE",
        "_HEART",
        "VENDOR_TYPE",
    }
    | {"_TOKEN", "_UNIT"}
)
"""Patterns that are matched at one place and never searched for."""

PARTS = (
    *(
        "a",
        "1",
        " ",
        "\n",
        "\\",
        "$",
        ".",
        ",",
        ":",
        ";",
        "=",
        "-",
        "_",
        "*",
        "^",
        "~",
        "|",
        "!",
        "?",
        "#",
        "+",
        "°",
    ),
    *(
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "`",
        "/",
        "好",
        "。",
        "\uff5c",
        "🙂",
        "\u200b",
        "\ufe0f",
    ),
)
UNITS = (
    *PARTS,
    *('"\\', '"a\\', '\\"'),
    *(
        "a ",
        ". ",
        "\\n",
        "\\a",
        "\\frac{",
        "{a}",
        "```",
        "```json",
        "json",
        "json ",
        "call:",
        "to=",
        "to=a ",
    ),
    *(
        "[args]",
        "[call_id]",
        "[call_id]a",
        "[tool_calls]",
        "<tool_call",
        "<tool_call ",
        "<tool_calls" + " " * 12,
    ),
    "<a:tool_call",
    *(
        "<function=",
        "<function=a",
        "<function=a>",
        "<invoke name=",
        "<invoke name=a ",
        "</function>",
    ),
    *(
        "<parameter=",
        "<parameter=a ",
        "<parameter=a>",
        "<parameter name=",
        "</parameter>",
    ),
    *(
        "<arg_key>",
        "a<arg_key>",
        "<arg_key>a</arg_key>",
        "</arg_key>",
        "<arg_value>",
        "<arg_key>a</arg_key><arg_value>",
    ),
    *(
        "<|",
        "<|a",
        "<|a|>",
        "<|message|>",
        '<|"|>',
        "analysis",
        "final ",
        "print(",
        "print( ",
        "a=",
        "a = ",
        '"name"',
    ),
    *(
        '"name": ',
        '"name":"a',
        "num_ctx ",
        "num_ctx\n",
        "num_ctx 1\n",
        "<!--",
        "-->",
        "<!-",
        "<a",
        "</a",
        "a-",
        "--",
    ),
    *(
        "|-",
        "|--",
        "](",
        "](a",
        "(a",
        "](a(",
        "][",
        "[^a",
        "[1]",
        ":a",
        ":a-",
        "http://",
        "www.",
        "data:",
        "data:a",
    ),
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
TEXTS = tuple(
    dict.fromkeys(
        [*product(("", "a", "<function=a><parameter=", "a<tool_call>"), UNITS)]
    )
)


def patterns() -> dict[tuple[re.Pattern[str], bool], str]:
    """Return the names of patterns, each with whether it is searched for; one that modules import is there once."""
    packages = (wire, repair, spoken_text, json, answers, pin, providers)
    infos = chain.from_iterable(
        pkgutil.iter_modules(found.__path__, f"{found.__name__}.") for found in packages
    )
    modules = [*(import_module(info.name) for info in infos), text]
    named = [found for module in modules for found in patterns_of(module)]
    return {
        (pattern, ONLY_AT_A_PLACE.isdisjoint(name.split("."))): name
        for name, pattern in reversed(named)
    }


def patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        yield from _patterns_in(value, f"{module.__name__.rpartition('.')[2]}.{name}")


def _patterns_in(value: object, name: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    match value:
        case re.Pattern(pattern=str()):
            yield name, value
        case dict():
            for key, item in value.items():
                yield from _patterns_in(item, f"{name}.{key}")
        case tuple() | list():
            for place, item in enumerate(value):
                yield from _patterns_in(item, f"{name}.{place}")
        case FailureWording(patterns=pattern):
            yield name, pattern
        case _:
            pass


def look(pattern: re.Pattern[str], written: str, *, everywhere: bool) -> None:
    pattern.match(written)
    pattern.fullmatch(written)
    if everywhere:
        for _ in pattern.finditer(written):
            pass


def seconds[T](act: Callable[[T], object], text: T, times: int = 1) -> float:
    start = thread_time()
    for _ in range(times):
        with suppress(ValueError):
            act(text)
    return thread_time() - start


@cache
def one_look(size: int) -> float:
    """Return the seconds in which this process looks once at each character of a text of a size."""
    return min(seconds(re.compile(r"\w|\W").findall, "a" * size) for _ in range(5))


def assert_in_proportion(
    act: Callable[[str], object], head: str, unit: str, size: int
) -> None:
    texts = [
        (head + unit * (length // len(unit) + 1))[:length] + "\0"
        for length in (160, size // 4, size)
    ]
    seconds(act, texts[0])
    large, quarters = math.inf, {1: math.inf, 4: math.inf}
    for _ in range(TRIES):  # the least of each, as other work makes some of them longer
        large = min(large, seconds(act, texts[2]))
        if large < SURELY_LINEAR * one_look(size):
            return
        for (
            times,
            least,
        ) in quarters.items():  # what takes as long is paused by the machine as often
            quarters[times] = min(least, seconds(act, texts[1], times) * 4 / times)
            if large < MOST_GROWTH * quarters[times]:
                return
    raise AssertionError(
        f"{head + unit!r} takes {large} seconds, 4 times a quarter of it {quarters}"
    )


def test_patterns_are_found() -> None:
    assert {
        "written_calls._NAMED",
        "spoken_text._TAG",
        "speech_filter._COURTESY.en",
    } <= {*patterns().values()}


@pytest.mark.parametrize(
    ("pattern", "everywhere"),
    [pytest.param(*found, id=name) for found, name in patterns().items()],
)
def test_a_pattern_takes_time_in_proportion(
    pattern: re.Pattern[str],
    everywhere: bool,  # noqa: FBT001  # as pytest calls
    pytestconfig: pytest.Config,
) -> None:
    some = UNITS[len(pattern.pattern) % SOME :: SOME]  # each begins elsewhere
    for head, unit in (
        TEXTS if pytestconfig.getoption("thorough") else product(("",), some)
    ):
        assert_in_proportion(
            partial(look, pattern, everywhere=everywhere),
            head,
            unit,
            LARGE_FOR_A_PATTERN,
        )


def in_pieces(
    feed: Callable[[str], object], end: Callable[[], object], written: str
) -> None:
    for start in range(0, len(written), 512):
        feed(written[start : start + 512])
    end()


def scan(written: str) -> None:
    scanner = MarkupScanner(markers_for(("light_on",)))
    in_pieces(scanner.feed, scanner.finish, written)


READERS: dict[str, Callable[[str], object]] = {
    "calls": read_calls,
    "markup": scan,
    "arguments": lambda written: read_arguments(written, {"type": "object"}),
    "JSON": repair_json,
    "fences": fenced_blocks,
    "data": lambda written: at_once(
        read_output(written, OutputFormat("data", {"type": "object", "properties": {}}))
    ),
    "speech": lambda written: speakable(written, "en"),
    "question": lambda written: asks_back(f"{written}?", "en"),
    "answer": lambda words: understand_answer(words, "en"),
    "digits": lambda words: spoken_digits(words, "de"),
    "PIN": lambda words: may_be_pin(words, "de", is_asked_for=True),
    "refusal": lambda written: error_of_response(
        400, written.encode(errors="replace"), secret="a"
    ),
    "words": lambda words: text.spoken_words(words, "ab"),
    "runs": lambda words: list(text.runs(text.fold(words))),
}
SAID = (
    "four ",
    "vier",
    "one ",
    "a moment ",
    "yes ",
    "tausend ",
    "I turned on the light ",
    "\u0316\u0301",
    "\u2039",
    '"a. ',
)


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_takes_time_in_proportion(
    reader: str, pytestconfig: pytest.Config
) -> None:
    units: Sequence[str] = (*UNITS, *SAID)
    if not pytestconfig.getoption("thorough"):  # each reader begins elsewhere
        units = units[len(reader) % SHARE :: SHARE]
    for unit in units:
        assert_in_proportion(READERS[reader], "", unit, LARGE)


def test_an_answer_of_many_words_is_scanned_as_fast_as_one_of_few() -> None:
    def stream(words: Sequence[str]) -> None:
        scanner = MarkupScanner(markers_for(("light_on",)))
        for word in words:
            scanner.feed(word)

    words = [f"{one}{two}ing " for one, two in product(ascii_lowercase, repeat=2)]
    of_few, of_many = (
        min(seconds(stream, some) for _ in range(TRIES))
        for some in (words[:1] * len(words), words)
    )

    assert of_many < 5 * of_few


@pytest.mark.parametrize(
    "written",
    [
        "light_on" + "```json" * 40,
        "a" + ("<tool_call" + " " * 12) * 6 + "x",
        "<function=light_on><parameter=" + "a " * 30_000,
        "<function=" * 6500,
        "a<arg_key>" * 6500,
    ],
)
def test_what_only_looks_like_a_call_is_read_at_once(written: str) -> None:
    assert len(read_calls(written[:65_536]).calls) <= 1
