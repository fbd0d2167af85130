"""Spoken answers: the deltas that a voice says, and a filler when the first words are late.

The filler is spoken only: it is no part of the ChatLog or of the result. A pipeline whose text-to-speech takes no
stream speaks the result alone, so it is silent until then.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from homeassistant.components.conversation import ChatLog
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..agent.speech import SpeechFilter

# The signature of `ChatLog.delta_listener` (homeassistant.components.conversation.chat_log).
type DeltaListener = Callable[[ChatLog, dict[str, object]], None]

_ENDS_SENTENCE: Final = "\n\n"
"""Nobody hears it, and who synthesises sentence by sentence (`sentence_stream`) does not wait for what comes next."""


class SpokenDeltas:
    """Stands before the listener of a ChatLog and makes the text of each message speakable."""

    def __init__(self, chat_log: ChatLog, listener: DeltaListener, language: str) -> None:
        """Speak `language`, the one of the speaker's pipeline."""
        self._chat_log = chat_log
        self._listener = listener
        self._language = language
        self._filter: SpeechFilter | None = None
        self._ends_amid_words = False
        """Whether the last thing that was said may go on, for who hears it."""
        self.has_begun = False
        """Whether the answer has begun to be heard."""

    def __call__(self, chat_log: ChatLog, delta: dict[str, object]) -> None:
        """Pass on a delta, its text as it can be spoken so far."""
        if "role" in delta or "tool_calls" in delta:
            self._end_message()
        content = delta.get("content")
        if delta.get("role") == "tool_result" or not isinstance(content, str):
            self._listener(chat_log, delta)
            return
        if self._filter is None:
            self._filter = SpeechFilter(self._language)
        rest = {key: value for key, value in delta.items() if key != "content"}
        self._pass_on(rest, self._filter.feed(content))

    def finish(self) -> None:
        """Say what was still held back of the message that ends here."""
        speech_filter, self._filter = self._filter, None
        if speech_filter is not None:
            self._pass_on({}, speech_filter.finish())

    @callback
    def say(self, text: str) -> None:
        """Say something that is no part of the message under way, as it is."""
        self._listener(self._chat_log, {"role": "assistant", "content": text})

    def break_off(self, text: str) -> None:
        """Say a last sentence; what is still held back of a message is not said any more."""
        self._filter = None
        self.say(text)

    def _end_message(self) -> None:
        """Say the end of a message that another one, or an action, comes after; it need not be a full stop."""
        self.finish()
        if self._ends_amid_words:
            self._pass_on({}, _ENDS_SENTENCE)

    def _pass_on(self, rest: dict[str, object], spoken: str) -> None:
        if spoken:
            self._ends_amid_words = not spoken[-1].isspace()
        self.has_begun = self.has_begun or bool(spoken.strip())
        if rest or spoken:
            self._listener(self._chat_log, {**rest, "content": spoken} if spoken else rest)


@contextmanager
def speaking(chat_log: ChatLog, language: str) -> Generator[SpokenDeltas | None]:
    """Let whoever listens to the ChatLog hear speakable text, for one turn; None if nobody does."""
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
"""Characters of an answer at which the pipeline begins to speak.

Source: more than `STREAM_RESPONSE_CHARS` (homeassistant.components.assist_pipeline.default_pipeline).
"""


@contextmanager
def filling_silence[T](
    hass: HomeAssistant, entry: ConfigEntry[T], spoken: SpokenDeltas | None, sentence: str, after: float
) -> Generator[None]:
    """Say `sentence` once, if nothing else is said within `after` seconds from now; 0 is for never.

    `entry` owns the wait, which ends with the block, or when the entry is unloaded.
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
    """Say a sentence after some seconds, with so many line breaks, which nobody hears, that the pipeline speaks it.

    A blank line also ends the sentence for voices that synthesise sentence by sentence (`sentence_stream`).
    """
    await asyncio.sleep(after)
    if not spoken.has_begun:
        spoken.say(sentence + "\n" * max(2, _BEGINS_TO_SPEAK - len(sentence)))
