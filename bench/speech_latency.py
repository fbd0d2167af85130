"""The wait of a listener because a model's text is searched for calls and markup.

Run it with `python -m bench.speech_latency`: for plain prose in several languages (`bench/prose.py`) it prints how
much text the recogniser of written calls, the speech filter and both together hold back at most, and how many
characters a second they pass on. Ends with status 1 when more than one word is held back. The table of what is held
back is that of `docs/speech.md`.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from typing import Final

from bench.prose import WITH_UNITS, Prose, read_prose
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, ToolDefinition, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.text_calls import TextCalls
from custom_components.chatterbox.speech.text import SpeechFilter

WORDS_HELD: Final = 1
"""Words that may be held back at most."""

_TOKEN_LENGTH: Final = 4
"""Characters of a piece as services send them, about."""
_CHARACTERS: Final = 200_000
"""Length of the text of which the throughput is measured."""

_TOOLS: Final = tuple(
    ToolDefinition(name, "", {"type": "object"})
    for name in (
        *("homeassistant__GetDateTime", "homeassistant__GetLiveContext", "intent__HassBroadcast"),
        *("intent__HassClimateSetTemperature", "intent__HassLightSet", "intent__HassListAddItem"),
        *("intent__HassMediaPause", "intent__HassSetPosition", "intent__HassTurnOff", "intent__HassTurnOn"),
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
        return Held(max(self.characters, other.characters), max(self.words, other.words))


type Stage = Callable[[Iterable[str], str], AsyncGenerator[str]]
"""Passes on pieces of a text in a language."""


async def recogniser(pieces: Iterable[str], language: str) -> AsyncGenerator[str]:
    """Pass text through the recogniser of calls; the language makes no difference."""
    del language
    request = CompletionRequest("", (UserMessage("How is it in the kitchen?"),), _TOOLS)
    model = TextCalls()
    model.known = True  # as after its first answer
    message = model.message(request)
    for event in chain[TextDelta | CompletionResult](map(TextDelta, pieces), [CompletionResult(FinishReason.STOP)]):
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
            held.append(text[len("".join(words)) : index])  # of the characters before this one
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
    tokens = [text[start : start + _TOKEN_LENGTH] for start in range(0, len(text), _TOKEN_LENGTH)]
    began = time.perf_counter()
    async with aclosing(stage(tokens, "en")) as pieces:
        async for _ in pieces:
            pass
    return len(text) / (time.perf_counter() - began)


STAGES: Final[Mapping[str, Stage]] = {"recogniser": recogniser, "speech": speech, "both": both}


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
            [prose.name, str(len(prose.texts)), *(f"{one.characters}, {one.words}" for one in held.values())]
            for prose, held in measured
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


async def measure_all() -> list[tuple[Prose, dict[str, Held]]]:
    """Measure what is held back of all the prose there is."""
    return [(prose, await measure_prose(prose)) for prose in read_prose()]


async def _main() -> int:
    measured = await measure_all()
    sys.stdout.write(table(measured))
    for name, stage in STAGES.items():
        sys.stdout.write(f"\n{name}: {await measure_throughput(stage):,.0f} characters a second")
    most = max(one.words for _, held in measured for one in held.values())
    sys.stdout.write(f"\nHeld back at most: {most} word(s); allowed: {WORDS_HELD}.\n")
    return int(most > WORDS_HELD)


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
