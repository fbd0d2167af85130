"""No words, however many and however strange, hold the loop: each function that takes words is found and tried."""

import inspect
import math
import pkgutil
from annotationlib import Format
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from time import thread_time
from typing import Final, NamedTuple
from zlib import crc32

import pytest
from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    ConversationInput,
)
from homeassistant.components.conversation.const import HOME_ASSISTANT_AGENT
from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util

import custom_components.chatterbox as product
from custom_components.chatterbox.agent.protocols import OutputFormat
from custom_components.chatterbox.agent.text import MOST_UNDERSTOOD
from custom_components.chatterbox.approvals.answers.yes_or_no import NOTHING_NAMED
from custom_components.chatterbox.home.entities import async_get_home
from custom_components.chatterbox.internals.conversation import built_in_agent
from custom_components.chatterbox.nlu.lexicon import lexicon
from custom_components.chatterbox.nlu.reading import read
from custom_components.chatterbox.offline.local_commands import Talk
from custom_components.chatterbox.speech.text.speech_filter import SpeechFilter
from tests.support.fragments import LANGUAGES, fragments
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home
from tests.support.yardstick import json_pass

type Given = Callable[[HomeAssistant, str, str], object]
"""Returns an argument for a home, a text and its language."""

WORDS: Final = frozenset(
    {
        "answer",
        "query",
        "request",
        "said",
        "sentence",
        "speech",
        "spoken",
        "text",
        "words",
        "written",
    }
)
"""Names of parameters that hold words."""
SOME_LANGUAGES: Final = ("de", "en", "zh-Hans")
LANGUAGE: Final = frozenset({"code", "language", "tag"})
SIZES: Final = (MOST_UNDERSTOOD, 20_000)
"""Characters: as many as are understood, and more."""
CHEAP: Final = 3
"""Megabytes of JSON that are parsed as fast: nobody notices."""
MOST_GROWTH: Final = 2
"""A text takes as long as 4 times its quarter if time grows with the length, and 4 times as long with its square."""
TRIES: Final = 12
FRAGMENTS: Final = 1
"""Of each language, for each reader; other ones for each."""
BESIDE: Final = {
    "en": (
        "from six to ",
        "turn on the floor lamp and ",
        "at six and ",
        "the alarm to six ",
        "not ",
        "at night ",
    ),
    "de": (
        "von sechs bis ",
        "um sechs und ",
        "schalte die Lampe ein und ",
        "ein",
        "vier und ",
    ),
    "it": ("un'ora e mezza ",),
    "zh-Hans": ("六点到", "打开客厅的灯和", "一百"),
}
"""Fragments with which readers have been slow."""


NEVER_ALONE: Final = frozenset(
    {
        "agent.json.malformed_json.skip",
        "ai_task.data_of",
        "approvals.asking.chosen_of",
        "effects.reading.async_chosen",
        "history.store.search.has_words",
        "home.search.async_entity_query",
        "later.schedule.edited_plan",
        "memory.fact_tools.async_get_memory_prompt",
        "nlu.happenings.happenings",
        "nlu.messages.spoken_message",
        "nlu.past.past_question",
        "nlu.reading.read",
        "nlu.targets.with_chosen",
        "nlu.understanding.is_assumed",
        "nlu.understanding.understand",
        "offline.answers.async_answer",
        "offline.handling.async_handle",
        "offline.handling.async_tell_temperatures",
        "offline.handling.state_sentence",
        "responses.protocol.items.encrypted_content.encode_summary",
        "speech.text.times.lasting_words",
        "tools.dispatch.no_match_outcome",
        "tools.own.search_web.async_search",
        "tools.turn_tools.async_gather_tools",
        "tools.turn_tools.async_offer_tools",
        "turns.input.async_read_answer",
        "turns.input.async_redact_pin",
        "turns.record.turn_origin",
    }
)
"""Readers that need more than words: they hand these to others, which are tried."""


ARGUMENTS: Final[Mapping[str, Given]] = {
    "HomeAssistant": lambda hass, _text, _language: hass,
    "Home": lambda hass, _text, _language: async_get_home(hass, CONVERSATION),
    "ConversationInput": lambda _hass, text, language: user_input(text, language),
    "Lexicon": lambda _hass, _text, language: lexicon(language),
    "SpeechFilter": lambda _hass, _text, language: SpeechFilter(language),
    "OutputFormat": lambda *_: OutputFormat(
        "data", {"type": "object", "properties": {}}
    ),
    "QuestionContext": lambda *_: NOTHING_NAMED,
    "JsonObject": lambda *_: {"type": "object"},
    "Talk": lambda hass, _text, _language: Talk((), built_in_agent(hass)),
    "SunTimes": lambda *_: lambda *_: None,
    "Callable[[str], ToolDefinition | None]": lambda *_: lambda *_: None,
    "datetime": lambda *_: dt_util.now(),
    "None": lambda *_: None,
    "int": lambda *_: 50,
    "bool": lambda *_: True,
    "str": lambda *_: "a",
    **dict.fromkeys(("Slots", "Mapping", "dict"), lambda *_: {}),
    **dict.fromkeys(
        ("Transcript", "Sequence", "Iterable", "Collection", "tuple"), lambda *_: ()
    ),
}
"""The arguments for parameters, by their types."""


def fitting(annotation: str) -> Given | None:
    """Return what is given for a parameter of a type."""
    kind = "None" if annotation.endswith("| None") else annotation.partition("[")[0]
    return ARGUMENTS.get(annotation) or ARGUMENTS.get(kind)


def user_input(text: str, language: str) -> ConversationInput:
    return ConversationInput(
        text, Context(), None, None, None, language, HOME_ASSISTANT_AGENT
    )


class Reader(NamedTuple):
    """A function that takes words."""

    function: Callable[..., object]
    parameters: Mapping[str, Given]
    speaks: bool
    """Whether it is told a language."""

    async def seconds(self, hass: HomeAssistant, text: str, language: str) -> float:
        """Return the seconds in which it holds the loop."""
        given = {
            name: give(hass, text, language) for name, give in self.parameters.items()
        }
        read.cache_clear()
        began = thread_time()
        with suppress(Exception):  # of words that it refuses
            result = self.function(**given)
            if isinstance(result, Awaitable):
                await result
            elif isinstance(result, Iterator):
                list(result)
        return thread_time() - began


def readers() -> dict[str, Reader | str]:
    """Return all readers of words by name, or the parameter for which there is no argument."""
    found: dict[str, Reader | str] = {}
    for module in pkgutil.walk_packages(product.__path__, f"{product.__name__}."):
        for name, one in vars(import_module(module.name)).items():
            if (
                inspect.isfunction(inspect.unwrap(one))
                and one.__module__ == module.name
                and not name.startswith("_")
            ):
                parameters = inspect.signature(
                    one, annotation_format=Format.STRING
                ).parameters
                if any(is_words(parameter) for parameter in parameters.values()):
                    found[
                        f"{module.name.removeprefix(f'{product.__name__}.')}.{name}"
                    ] = reader(one, parameters)
    return found


def is_words(parameter: inspect.Parameter) -> bool:
    return parameter.annotation == "ConversationInput" or (
        parameter.annotation == "str" and parameter.name in WORDS
    )


def reader(
    function: Callable[..., object], parameters: Mapping[str, inspect.Parameter]
) -> Reader | str:
    given: dict[str, Given] = {}
    for name, one in parameters.items():
        if one.annotation == "str" and name in WORDS:
            given[name] = lambda _hass, text, _language: text
        elif one.annotation == "str" and name in LANGUAGE:
            given[name] = lambda _hass, _text, language: language
        elif one.default is one.empty and one.kind is not one.VAR_POSITIONAL:
            if (give := fitting(str(one.annotation))) is None:
                return f"{name}: {one.annotation}"
            given[name] = give
    speaks = any(
        one.annotation == "ConversationInput" or name in LANGUAGE
        for name, one in parameters.items()
    )
    return Reader(function, given, speaks)


READERS: Final = readers()


def test_readers_are_found_by_what_they_take() -> None:
    unknown = {
        name: parameter
        for name, parameter in READERS.items()
        if isinstance(parameter, str)
    }

    assert unknown.keys() ^ NEVER_ALONE == set()
    assert {
        "later.sentences.async_recognize_plan",
        "speech.text.times.times_in",
        "home.name_index.names_in",
        "approvals.answers.yes_or_no.understand_answer",
        "effects.reading.async_past_question",
    } <= READERS.keys() - NEVER_ALONE


@pytest.fixture
async def demo_home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    return hass


@in_one_home(
    "name",
    sorted(name for name, one in READERS.items() if isinstance(one, Reader)),
    share=2,
)
async def test_words_hold_the_loop_for_a_moment_or_in_proportion(
    demo_home: HomeAssistant, pytestconfig: pytest.Config, name: str
) -> None:
    one = READERS[name]
    assert isinstance(one, Reader)
    cheap, first = CHEAP * json_pass(), crc32(name.encode())
    languages: Sequence[str] = LANGUAGES if one.speaks else SOME_LANGUAGES
    sizes: Sequence[int] = SIZES
    if not pytestconfig.getoption("thorough"):
        languages = (SOME_LANGUAGES[first % len(SOME_LANGUAGES)],)
        sizes = (SIZES[first % len(SIZES)],)
    for language in languages:
        known = fragments(language)
        drawn = [
            known[(first + 7919 * place) % len(known)] for place in range(FRAGMENTS)
        ]
        for unit in (*BESIDE.get(language, ()), *drawn):
            for size in sizes:
                await assert_in_proportion(
                    partial(one.seconds, demo_home), language, unit, size, cheap
                )


async def assert_in_proportion(
    seconds: Callable[[str, str], Awaitable[float]],
    language: str,
    unit: str,
    size: int,
    cheap: float,
) -> None:
    whole, quarter = (
        (f"{unit} " * (length // len(unit) + 1))[:length]
        for length in (size, size // 4)
    )
    large = part = math.inf
    for number in range(
        TRIES
    ):  # the least of each, as other work makes some of them longer
        other = " " * number  # some keep what they have read in a sentence
        large = min(large, await seconds(whole + other, language))
        if large < cheap:
            return
        part = min(part, await seconds(quarter + other, language))
        if large < MOST_GROWTH * 4 * part:
            return
    raise AssertionError(
        f"{size} characters of {unit!r} ({language}) take {large} s, a quarter of them {part} s"
    )
