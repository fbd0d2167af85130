"""The wait of a listener because a model's text is searched for calls and markup.

Run it with `python -m bench.speech_latency`: for plain prose in several languages
(`bench/prose.py`) it prints how much text the recogniser of written calls, the speech
filter and both together hold back at most, and how many characters a second they pass
on. Then it prints when a voice has the first piece of an answer, from a model that
writes 15 tokens a second, by the time of the tokens. Ends with status 1 when more than
one word is held back, or a first piece comes later than 0.6 s after its sentence is
whole. Both tables are those of `bench/pages/speech.md`.
"""

import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from typing import Final

from homeassistant.components.assist_pipeline.default_pipeline import (
    STREAM_RESPONSE_CHARS,
)
from sentence_stream import SentenceBoundaryDetector

from bench.prose import WITH_UNITS, Prose, read_prose
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    ToolDefinition,
    UserMessage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.repair.text_calls import TextCalls
from custom_components.chatterbox.speech.text import SpeechFilter
from custom_components.chatterbox.turns.chat_log import ENDS_SENTENCE, with_early_start

WORDS_HELD: Final = 1
"""Words that may be held back at most."""

LATEST_PIECE: Final = 0.6
"""Seconds from the end of the first sentence of an answer to its first piece, at most."""

_TOKENS_A_SECOND: Final = 15
_TOKEN: Final = re.compile(r"\s?(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]{1,4})")
_FIRST_SENTENCE: Final = re.compile(r".*?(?:[.!?](?= )|。)")

ANSWERS: Final[Sequence[tuple[str, str, str]]] = (
    *(
        (code, found[0], text[found.end() :])
        for code, text in WITH_UNITS.items()
        if (found := _FIRST_SENTENCE.match(text))
    ),
    (
        "en",
        "21 °C.",
        " I also turned off the fan in the bedroom, because it is cool enough now.",
    ),
    (
        "en",
        "It is 70 °F.",
        " The fan in the bedroom is on, and the windows are closed.",
    ),
    (
        "en",
        "It uses 80 W.",
        " The lamp in the hallway uses twice as much, as you know.",
    ),
    ("en", "Take plan B.", " The lamp in the hallway is on, so you will find the way."),
    ("en", "Yes.", " The front door is locked, and so is the door of the garage."),
    (
        "en",
        "The lamp is on.",
        " I also closed the blinds in the living room and in the bedroom.",
    ),
    (
        "en",
        "The appt. is at 5 p.m.",
        " The drive takes about twenty minutes at that time of the day.",
    ),
    (
        "de",
        "Der Termin ist am 3. Dezember 2026.",
        " Davor ist an diesem Tag nichts geplant, und danach auch nicht.",
    ),
    (
        "de",
        "Es sind 21 °C.",
        " Luftfeuchtigkeitssensoren melden in allen Zimmern gute Werte.",
    ),
)
"""Answers: the language, the first sentence and the others."""

_TOKEN_LENGTH: Final = 4
"""Characters of a piece as services send them, about."""
_CHARACTERS: Final = 200_000
"""Length of the text of which the throughput is measured."""

_TOOLS: Final = tuple(
    ToolDefinition(name, "", {"type": "object"})
    for name in (
        *(
            "homeassistant__GetDateTime",
            "homeassistant__GetLiveContext",
            "intent__HassBroadcast",
        ),
        *(
            "intent__HassClimateSetTemperature",
            "intent__HassLightSet",
            "intent__HassListAddItem",
        ),
        *(
            "intent__HassMediaPause",
            "intent__HassSetPosition",
            "intent__HassTurnOff",
            "intent__HassTurnOn",
        ),
        *("light", "script__good_night", "the_weather", "todo__get_items"),
    )
)


@dataclass(frozen=True, slots=True)
class Held:
    """The most that was held back."""

    characters: int = 0
    words: int = 0

    def __or__(self, other: Held) -> Held:
        """Return the most of both."""
        return Held(
            max(self.characters, other.characters), max(self.words, other.words)
        )


type Stage = Callable[[Iterable[str], str], AsyncGenerator[str]]
"""Passes on pieces of a text in a language."""


async def recogniser(pieces: Iterable[str], language: str) -> AsyncGenerator[str]:
    """Pass text through the recogniser of calls; the language makes no difference."""
    del language
    request = CompletionRequest("", (UserMessage("How is it in the kitchen?"),), _TOOLS)
    model = TextCalls()
    model.known = True  # as after its first answer
    message = model.message(request)
    for event in chain[TextDelta | CompletionResult](
        map(TextDelta, pieces), [CompletionResult(FinishReason.STOP)]
    ):
        for parsed in await message.read(event):
            if isinstance(parsed, TextDelta):
                yield parsed.text


async def speech(pieces: Iterable[str], language: str) -> AsyncGenerator[str]:
    """Pass text through the speech filter."""
    speech_filter = SpeechFilter(language)
    for piece in pieces:
        yield speech_filter.feed(piece)
    yield speech_filter.finish()


async def both(pieces: Iterable[str], language: str) -> AsyncGenerator[str]:
    """Pass text through both, as a turn does."""
    speech_filter = SpeechFilter(language)
    async with aclosing(recogniser(pieces, language)) as texts:
        async for text in texts:
            yield speech_filter.feed(text)
    yield speech_filter.finish()


async def measure_held(stage: Stage, text: str, language: str) -> Held:
    """Give a text character by character, and compare after each what went in with what came out.

    Raises ValueError when prose comes out changed.
    """
    words: list[str] = []
    held: list[str] = []

    def characters() -> Iterable[str]:
        for index, character in enumerate(text):
            held.append(
                text[len("".join(words)) : index]
            )  # of the characters before this one
            yield character

    async with aclosing(stage(characters(), language)) as pieces:
        async for piece in pieces:
            words.append(piece)  # noqa: PERF401  # what comes out is looked at while more goes in
    if (result := "".join(words)) != text:
        raise ValueError(f"{language}: {result!r} came out of {text!r}")
    return Held(max(map(len, held)), max(len(piece.split()) for piece in held))


async def measure_throughput(stage: Stage) -> float:
    """Return how many characters a second pass in pieces of the size of tokens."""
    text = (WITH_UNITS["en"] + "\n") * (_CHARACTERS // len(WITH_UNITS["en"]))
    tokens = [
        text[start : start + _TOKEN_LENGTH]
        for start in range(0, len(text), _TOKEN_LENGTH)
    ]
    began = time.perf_counter()
    async with aclosing(stage(tokens, "en")) as pieces:
        async for _ in pieces:
            pass
    return len(text) / (time.perf_counter() - began)


STAGES: Final[Mapping[str, Stage]] = {
    "recogniser": recogniser,
    "speech": speech,
    "both": both,
}


async def measure_prose(prose: Prose) -> dict[str, Held]:
    """Return the most that each stage held back of any text."""
    held = dict.fromkeys(STAGES, Held())
    for name, stage in STAGES.items():
        for text in prose.texts:
            held[name] |= await measure_held(stage, text, prose.language)
    return held


def table(measured: Iterable[tuple[Prose, Mapping[str, Held]]]) -> str:
    """Return the table of the page: characters and words held back at most."""
    rows = [
        ["plain prose", "texts", *STAGES],
        ["---"] * (2 + len(STAGES)),
        *(
            [
                prose.name,
                str(len(prose.texts)),
                *(f"{one.characters}, {one.words}" for one in held.values()),
            ]
            for prose, held in measured
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


async def measure_all() -> list[tuple[Prose, dict[str, Held]]]:
    """Measure what is held back of all the prose there is."""
    return [(prose, await measure_prose(prose)) for prose in read_prose()]


async def measure_first_piece(
    language: str, first: str, more: str
) -> tuple[float, float]:
    """Return after how many seconds the first sentence of an answer is whole, and a voice has its first piece.

    The pipeline starts to speak after some characters, and voices cut what they get
    (`sentence_stream`).
    """
    count = whole = 0

    def tokens() -> Iterable[str]:
        nonlocal count, whole
        for found in _TOKEN.finditer(first + more):
            count += 1
            whole = whole or (count if found.end() >= len(first) else 0)
            yield found[0]

    speech_filter, cutter = (
        SpeechFilter(language, pause=ENDS_SENTENCE),
        SentenceBoundaryDetector(),
    )
    passed_on, waiting = 0, ""
    async with aclosing(recogniser(tokens(), language)) as texts:
        async for text in texts:
            spoken = with_early_start(speech_filter.feed(text), passed_on)
            passed_on += len(spoken)
            waiting += spoken
            if passed_on > STREAM_RESPONSE_CHARS:
                if any(cutter.add_chunk(waiting)):
                    break
                waiting = ""
    return whole / _TOKENS_A_SECOND, count / _TOKENS_A_SECOND


async def measure_first_pieces() -> list[tuple[str, str, float, float]]:
    """Return the language and first sentence of each answer, with the seconds of `measure_first_piece`."""
    return [
        (code, first, *await measure_first_piece(code, first, more))
        for code, first, more in ANSWERS
    ]


def first_piece_table(measured: Iterable[tuple[str, str, float, float]]) -> str:
    """Return the table of the page on the first piece."""
    head = "| | the first sentence | is whole after | is spoken after |\n| --- | --- | --- | --- |\n"
    return head + "".join(
        f"| {code} | {first} | {whole:.2f} s | {spoken:.2f} s |\n"
        for code, first, whole, spoken in measured
    )


async def _main() -> int:
    measured = await measure_all()
    sys.stdout.write(table(measured))
    for name, stage in STAGES.items():
        sys.stdout.write(
            f"\n{name}: {await measure_throughput(stage):,.0f} characters a second"
        )
    first_pieces = await measure_first_pieces()
    sys.stdout.write(f"\n\n{first_piece_table(first_pieces)}")
    latest = max(spoken - whole for _, _, whole, spoken in first_pieces)
    sys.stdout.write(
        f"\nThe latest first piece: {latest:.2f} s after its sentence; allowed: {LATEST_PIECE} s."
    )
    most = max(one.words for _, held in measured for one in held.values())
    sys.stdout.write(f"\nHeld back at most: {most} word(s); allowed: {WORDS_HELD}.\n")
    return int(most > WORDS_HELD or latest > LATEST_PIECE)


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
