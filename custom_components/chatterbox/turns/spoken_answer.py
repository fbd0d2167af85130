"""Spoken answers: the deltas for a voice, and a filler if the first words are late.

The filler is only spoken: it is not part of the ChatLog or of the result. A pipeline whose text-to-speech does not
stream speaks the result alone, and is silent until then.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..agent.speech import SpeechFilter
from ..tools.own.registry import own_tools

# The signature of `ChatLog.delta_listener` (homeassistant.components.conversation.chat_log).
type DeltaListener = Callable[[ChatLog, dict[str, object]], None]

_ENDS_SENTENCE: Final = "\n\n"
"""Inaudible. Voices that synthesise sentence by sentence (`sentence_stream`) need not wait for the next sentence."""


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
        self.has_begun = False
        """Whether any of the answer has been spoken."""

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

    @callback
    def say(self, text: str) -> None:
        """Speak text unchanged that is not part of the current message."""
        self._listener(self._chat_log, {"role": "assistant", "content": text})

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
        self.has_begun = self.has_begun or bool(spoken.strip())
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


_BEGINS_TO_SPEAK: Final = 61
"""Characters of an answer at which the pipeline starts to speak.

Source: more than `STREAM_RESPONSE_CHARS` (homeassistant.components.assist_pipeline.default_pipeline).
"""


@contextmanager
def filling_silence[T](
    hass: HomeAssistant, entry: ConfigEntry[T], spoken: SpokenDeltas | None, sentence: str, after: float
) -> Generator[None]:
    """Speak `sentence` once if nothing else is spoken within `after` seconds; 0 disables it.

    `entry` owns the timer, which ends with the block, or when the entry is unloaded.
    """
    if spoken is None or after <= 0:
        yield
        return
    waiting = entry.async_create_background_task(hass, _fill(spoken, sentence, after), "chatterbox filler")
    try:
        yield
    finally:
        waiting.cancel()


async def _fill(spoken: SpokenDeltas, sentence: str, after: float) -> None:
    """Speak a sentence after some seconds, with enough inaudible line breaks that the pipeline starts to speak.

    A blank line also ends the sentence for voices that synthesise sentence by sentence (`sentence_stream`).
    """
    await asyncio.sleep(after)
    if not spoken.has_begun:
        spoken.say(sentence + "\n" * max(2, _BEGINS_TO_SPEAK - len(sentence)))
