"""Spoken answers: the deltas for a voice, and fillers while there is nothing else to speak.

Fillers are only spoken: they are not part of the ChatLog or of the result. A pipeline whose text-to-speech does not
stream speaks the result alone, and is silent until then.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Final

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..speech.text import SpeechFilter
from ..tools.own.registry import own_tools

# The signature of `ChatLog.delta_listener` (homeassistant.components.conversation.chat_log).
type DeltaListener = Callable[[ChatLog, dict[str, object]], None]

FILLERS: Final = ("spoken_filler", "spoken_filler_2", "spoken_filler_3")
"""Keys of the fillers, in the order in which they are spoken."""

_ENDS_SENTENCE: Final = "\n\n"
"""Inaudible. Voices that synthesise sentence by sentence (`sentence_stream`) need not wait for the next sentence."""

_BEGINS_TO_SPEAK: Final = 61
"""Characters of an answer at which the pipeline starts to speak.

Source: more than `STREAM_RESPONSE_CHARS` (homeassistant.components.assist_pipeline.default_pipeline).
"""


class SpokenDeltas:
    """Wraps the listener of a ChatLog, and makes the text of each message speakable."""

    def __init__(self, chat_log: ChatLog, listener: DeltaListener, language: str) -> None:
        """Speak `language`, that of the speaker's pipeline."""
        self._chat_log = chat_log
        self._listener = listener
        self._language = language
        self._filter: SpeechFilter | None = None
        self._ends_amid_words = False
        """Whether a listener would expect the last sentence to continue."""
        self.speaks = asyncio.Event()
        """Set when any of the answer is spoken."""

    def __call__(self, chat_log: ChatLog, delta: dict[str, object]) -> None:
        """Pass on a delta with the text that can be spoken by now."""
        if "role" in delta or "tool_calls" in delta:
            self._end_message()
        content = delta.get("content")
        if delta.get("role") == "tool_result" or not isinstance(content, str):
            self._listener(chat_log, delta)
            return
        if self._filter is None:
            self._filter = SpeechFilter(self._language, tool_names(chat_log))
        rest = {key: value for key, value in delta.items() if key != "content"}
        self._pass_on(rest, self._filter.feed(content))

    def finish(self) -> None:
        """Speak the held text of the message that ends here."""
        speech_filter, self._filter = self._filter, None
        if speech_filter is not None:
            self._pass_on({}, speech_filter.finish())

    def say(self, text: str) -> None:
        """Speak text unchanged that is not part of the current message."""
        self._listener(self._chat_log, {"role": "assistant", "content": text})

    def fill(self, filler: str) -> None:
        """Speak a filler, after the end of a sentence or between two words: a word is never passed on in parts."""
        # It is long enough for the pipeline to start to speak, and its end is one for voices that speak by sentence.
        filler += "\n" * max(2, _BEGINS_TO_SPEAK - len(filler))
        self.say(f"{_ENDS_SENTENCE}{filler}" if self._ends_amid_words else filler)
        self._ends_amid_words = False

    def break_off(self, text: str) -> None:
        """Speak a last sentence; the held text of the message is dropped."""
        self._filter = None
        self.say(text)

    def _end_message(self) -> None:
        """End a message before another one or an action; a full stop may be missing."""
        self.finish()
        if self._ends_amid_words:
            self._pass_on({}, _ENDS_SENTENCE)

    def _pass_on(self, rest: dict[str, object], spoken: str) -> None:
        if spoken:
            self._ends_amid_words = not spoken[-1].isspace()
        if spoken.strip():
            self.speaks.set()
        if rest or spoken:
            self._listener(self._chat_log, {**rest, "content": spoken} if spoken else rest)


def tool_names(chat_log: ChatLog) -> tuple[str, ...]:
    """Return the names of the tools of a turn, with the agent's own."""
    offered = chat_log.llm_api.tools if chat_log.llm_api else ()
    return (*(tool.name for tool in offered), *(tool.definition.name for tool in own_tools(chat_log.hass)))


@contextmanager
def speaking(chat_log: ChatLog, language: str) -> Generator[SpokenDeltas | None]:
    """Give the listener of the ChatLog speakable text, for one turn; None without a listener."""
    listener = chat_log.delta_listener
    if listener is None:
        yield None
        return
    spoken = SpokenDeltas(chat_log, listener, language)
    chat_log.delta_listener = spoken
    try:
        yield spoken
        spoken.finish()
    finally:
        chat_log.delta_listener = listener


@contextmanager
def filling_silence[T](
    hass: HomeAssistant, entry: ConfigEntry[T], spoken: SpokenDeltas | None, fillers: Sequence[str], after: float
) -> Generator[None]:
    """Speak one of `fillers`, in turn, whenever nothing else is spoken for `after` seconds; 0 disables it.

    `entry` owns the timer, which ends with the block, or when the entry is unloaded.
    """
    if spoken is None or after <= 0:
        yield
        return
    waiting = entry.async_create_background_task(hass, _fill(spoken, fillers, after), "chatterbox filler")
    try:
        yield
    finally:
        waiting.cancel()


async def _fill(spoken: SpokenDeltas, fillers: Sequence[str], after: float) -> None:
    """Speak a filler after each silence of some seconds: a satellite may hang in a stream that is silent for longer."""
    for filler in cycle(fillers):
        with suppress(TimeoutError):
            while True:
                spoken.speaks.clear()
                async with asyncio.timeout(after):
                    await spoken.speaks.wait()
        spoken.fill(filler)
