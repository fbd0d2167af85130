"""What a voice hears of a turn, while the ChatLog keeps every character.

Knows the listener that Home Assistant's pipeline puts on a ChatLog, and the speech filter. Must not know how a turn is
driven, or what a message means.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from homeassistant.components.conversation import ChatLog

from .agent.speech import SpeechFilter

# The signature of `ChatLog.delta_listener` (homeassistant.components.conversation.chat_log).
type DeltaListener = Callable[[ChatLog, dict[str, object]], None]


class SpokenDeltas:
    """Stands before a listener and makes the text of each message speakable."""

    def __init__(self, listener: DeltaListener, language: str) -> None:
        """Speak `language`, the one of the speaker's pipeline."""
        self._listener = listener
        self._language = language
        self._filter: SpeechFilter | None = None

    def __call__(self, chat_log: ChatLog, delta: dict[str, object]) -> None:
        """Pass on a delta, its text as it can be spoken so far."""
        if "role" in delta or "tool_calls" in delta:
            self.finish(chat_log)
        content = delta.get("content")
        if delta.get("role") == "tool_result" or not isinstance(content, str):
            self._listener(chat_log, delta)
            return
        if self._filter is None:
            self._filter = SpeechFilter(self._language)
        rest = {key: value for key, value in delta.items() if key != "content"}
        spoken = self._filter.feed(content)
        if rest or spoken:
            self._listener(chat_log, {**rest, "content": spoken} if spoken else rest)

    def finish(self, chat_log: ChatLog) -> None:
        """Say what was still held back of the message that ends here."""
        speech_filter, self._filter = self._filter, None
        if speech_filter is not None and (left := speech_filter.finish()):
            self._listener(chat_log, {"content": left})


@contextmanager
def speaking(chat_log: ChatLog, language: str) -> Generator[None]:
    """Let whoever listens to the ChatLog hear speakable text, for one turn."""
    listener = chat_log.delta_listener
    if listener is None:
        yield
        return
    spoken = SpokenDeltas(listener, language)
    chat_log.delta_listener = spoken
    try:
        yield
        spoken.finish(chat_log)
    finally:
        chat_log.delta_listener = listener
