"""One short sentence into the silence before an answer whose first words are late.

Knows what makes Home Assistant's pipeline begin to speak while an answer still streams. Must not know why it is late,
or what a turn is. Only who listens to the deltas hears the sentence: it is no part of the ChatLog or of the result.

A pipeline whose text-to-speech takes no stream speaks the result alone, so it is silent until then, filler or not.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from .spoken_deltas import SpokenDeltas

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
    await asyncio.sleep(after)
    if not spoken.has_begun:
        spoken.say(_heard_at_once(sentence))


def _heard_at_once(sentence: str) -> str:
    """Add line breaks, which nobody hears, until the pipeline begins to speak.

    A blank line is also what ends a sentence for who synthesises sentence by sentence, before the next one is known
    (`sentence_stream`, which Home Assistant Cloud, ElevenLabs and Piper use).
    """
    return sentence + "\n" * max(2, _BEGINS_TO_SPEAK - len(sentence))
