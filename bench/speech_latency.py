"""What a listener waits for because a model's text is looked through for calls and markup.

Run it with `python -m bench.speech_latency`: for plain prose in several languages it prints how much text the
recogniser of written calls, the speech filter and both together hold back at most, and how many characters a
second they pass on. Ends with status 1 when more than one word is held back, or when prose comes out changed.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, ToolDefinition, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.text_calls import TextCalls
from custom_components.chatterbox.agent.speech import SpeechFilter

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

_PROSE: Final[Mapping[str, str]] = {
    "en": "The kitchen is at 21.5 °C, and it's 50 % humid. I've turned on the lights (all three), as you asked. "
    "Assistants are patient: a call is a call. Is there anything else? Then final words: good night!",
    "de": "In der Küche sind es 21,5 °C, und die Luftfeuchte beträgt 50 %. Das Licht (alle drei Lampen) ist an. "
    "Der Wind kommt mit 12 km/h aus Westen. Soll ich um 7:30 Uhr wecken?",
    "fr": "Il fait 21,5 °C dans la cuisine, avec 50 % d'humidité. J'ai allumé les lampes (toutes les trois). "
    "Voulez-vous que je les éteigne à 7 h 30 ?",
    "es": "En la cocina hay 21,5 °C y un 50 % de humedad. He encendido las luces (las tres). ¿Quieres algo más?",
    "it": "In cucina ci sono 21,5 °C e il 50 % di umidità. Ho acceso le luci (tutte e tre). Vuoi altro?",
    "nl": "In de keuken is het 21,5 °C bij 50 % luchtvochtigheid. De lampen (alle drie) zijn aan. Nog iets?",
    "pt": "Na cozinha estão 21,5 °C e 50 % de umidade. Acendi as luzes (as três). Quer mais alguma coisa?",
    "pl": "W kuchni jest 21,5 °C i 50 % wilgotności. Światła (wszystkie trzy) są włączone. Coś jeszcze?",
    "sv": "I köket är det 21,5 °C och 50 % luftfuktighet. Lamporna (alla tre) är tända. Något mer?",
    "zh": "厨房现在是21.5 °C。三盏灯都已经打开了。明天早上7:30要叫醒您吗\uff1f",
}


@dataclass(frozen=True, slots=True)
class Held:
    """What was held back at most."""

    characters: int
    words: int


type Stage = Callable[[Iterable[str], str], AsyncGenerator[str]]
"""Passes on pieces of a text in a language."""


async def recogniser(pieces: Iterable[str], language: str) -> AsyncGenerator[str]:
    """Pass text through the recogniser of calls; the language makes no difference."""
    del language
    request = CompletionRequest("", (UserMessage("How is it in the kitchen?"),), _TOOLS)
    async with aclosing(TextCalls(_Model(pieces)).stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                yield event.text


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


class _Model:
    """A model that says pieces of text."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Say them, whatever was asked."""
        del request
        for piece in self._pieces:
            yield TextDelta(piece)
        yield CompletionResult(FinishReason.STOP)


async def measure_held(stage: Stage, text: str, language: str) -> Held:
    """Give a text character by character, and compare after each what went in with what came out.

    Raises ValueError when prose comes out changed.
    """
    said: list[str] = []
    held: list[str] = []

    def characters() -> Iterable[str]:
        for index, character in enumerate(text):
            held.append(text[len("".join(said)) : index])  # of the characters before this one
            yield character

    async with aclosing(stage(characters(), language)) as pieces:
        async for piece in pieces:
            said.append(piece)  # noqa: PERF401  # what comes out is looked at while more goes in
    if (result := "".join(said)) != text:
        raise ValueError(f"{language}: {result!r} came out of {text!r}")
    return Held(max(map(len, held)), max(len(piece.split()) for piece in held))


async def measure_throughput(stage: Stage) -> float:
    """Return how many characters a second pass in pieces of the size of tokens."""
    text = (_PROSE["en"] + "\n") * (_CHARACTERS // len(_PROSE["en"]))
    tokens = [text[start : start + _TOKEN_LENGTH] for start in range(0, len(text), _TOKEN_LENGTH)]
    began = time.perf_counter()
    async with aclosing(stage(tokens, "en")) as pieces:
        async for _ in pieces:
            pass
    return len(text) / (time.perf_counter() - began)


async def _main() -> int:
    stages: Mapping[str, Stage] = {"recogniser": recogniser, "speech": speech, "both": both}
    rows = [["language", *(f"{name}: characters, words" for name in stages)]]
    most = 0
    for language, text in _PROSE.items():
        row = [language]
        for stage in stages.values():
            held = await measure_held(stage, text, language)
            most = max(most, held.words)
            row.append(f"{held.characters}, {held.words}")
        rows.append(row)
    rows.append(["characters/s", *[f"{await measure_throughput(stage):,.0f}" for stage in stages.values()]])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    sys.stdout.write(f"\nHeld back at most: {most} word(s); allowed: {WORDS_HELD}.\n")
    return int(most > WORDS_HELD)


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
