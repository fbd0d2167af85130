"""Alarms that ring until somebody stops them, and the words that do: "stop", "snooze", "ten more minutes".

A satellite whose device has timers rings by a timer that ends at once, as it does for
every timer, and is stopped there. Any other one repeats its announcement; after ten
minutes the alarm is left to the phone of its person.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Final, override

from homeassistant.components.conversation import ConversationInput
from homeassistant.components.intent import async_device_supports_timers
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent
from homeassistant.util import dt as dt_util

from ..agent.text import base_language, read_language_files
from ..approvals.notifications import CLEAR
from ..const import DOMAIN, LOGGER, home_singleton
from ..effects.recognition import RecognizedRequest, tool_request
from ..effects.silent_home import is_silent
from ..settings.tool_names import LATER_TOOL
from ..speech.text.phrases import (
    PhraseTree,
    number_phrases,
    phrase_tree,
    text_tokens,
)
from .plans import FuturePlan, News
from .telling import async_announce, async_notify

RINGS_FOR: Final = timedelta(minutes=10)
"""The longest time for which an alarm rings."""
SNOOZE: Final = timedelta(minutes=10)
_PAUSE: Final = 8.0
"""Seconds between two announcements, in which the satellite can be talked to."""
_MOST_WORDS: Final = 12
_MOST_MINUTES: Final = 120
_ANY_NUMBER: Final = "n"
"""Stands for a number in the phrases."""


@dataclass(slots=True, eq=False)
class _Ring:
    """An alarm that rings."""

    plan: FuturePlan
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody stops it."""


class Ringing:
    """The alarms that ring at home."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Let nothing ring."""
        self._hass = hass
        self._rings: list[_Ring] = []

    @property
    def latest(self) -> FuturePlan | None:
        """The alarm that began last of those that ring."""
        if self._rings:
            return self._rings[-1].plan
        return None

    def stop(self, text: str | None = None) -> int:
        """Stop the alarms that ring, or those with a text, and return their number."""
        stopped = self._with(text)
        for one in stopped:
            one.stopped.set()
        return len(stopped)

    def _with(self, text: str | None) -> Sequence[_Ring]:
        return [one for one in self._rings if text in {None, one.plan.text}]

    async def async_ring(self, news: News) -> bool:
        """Ring where an alarm was set, and return whether somebody stopped it, or can stop it there.

        One that is ten minutes late is said once.
        """
        plan = news.plan
        asker = news.asker
        due = plan.due if plan else None
        if plan is None or (due and dt_util.utcnow() - due > RINGS_FOR):
            return await async_announce(self._hass, news)
        if await self._async_start_timer(asker.device_id, news):
            return True
        ring = _Ring(plan)
        began = dt_util.utcnow()
        self._rings.append(ring)
        try:
            is_heard = await async_announce(self._hass, news)
            if is_heard:
                await async_notify(
                    self._hass,
                    news,
                    has_buttons=True,
                )
            while is_heard and not ring.stopped.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PAUSE):
                        await ring.stopped.wait()
                if ring.stopped.is_set() or dt_util.utcnow() - began >= RINGS_FOR:
                    break
                is_heard = await async_announce(self._hass, news)
        finally:
            self._rings.remove(ring)
        if ring.stopped.is_set():
            await async_notify(
                self._hass,
                replace(news, text=CLEAR),
            )
        return ring.stopped.is_set()

    async def _async_start_timer(
        self,
        device_id: str | None,
        news: News,
    ) -> bool:
        """Have a device with timers ring, and return whether it does."""
        if not device_id or not async_device_supports_timers(self._hass, device_id):
            return False
        slots = {
            "seconds": {"value": 1},
            "name": {"value": news.text},
        }
        try:
            await intent.async_handle(
                self._hass,
                DOMAIN,
                intent.INTENT_START_TIMER,
                slots,
                language=news.language,
                device_id=device_id,
            )
        except (intent.IntentError, HomeAssistantError) as error:
            LOGGER.warning(
                "The device %s does not ring: %s",
                device_id,
                error,
            )
            return False
        return True


class _TriedRinging(Ringing):
    """The alarms that ring at home, none of which is stopped."""

    def __init__(self, ringing: Ringing) -> None:
        vars(self).update(vars(ringing))

    @override
    def stop(self, text: str | None = None) -> int:
        return len(self._with(text))


_ringing: Final = home_singleton("ringing", Ringing)


def async_get_ringing(hass: HomeAssistant) -> Ringing:
    """Return the alarms that ring; in a silent home, such as one in which a sentence is tried, none can be stopped."""
    if is_silent(hass):
        return _TriedRinging(_ringing(hass))
    return _ringing(hass)


_LANGUAGES: Final = read_language_files("ringing", dict[str, str])
"""Phrases by what they mean: `stop`, `snooze`, and `minutes`, which put an alarm off for `n` minutes."""


@cache
def _phrases(language: str) -> PhraseTree[str] | None:
    """Return the words to an alarm in a language, if there are any; the values are the keys of its file."""
    words = _LANGUAGES.get(base_language(language))
    return phrase_tree(words) if words else None


def recognize_while_ringing(
    hass: HomeAssistant, user_input: ConversationInput
) -> RecognizedRequest | None:
    """Return the request that stops or puts off the alarm that rings; None for any other request."""
    plan = async_get_ringing(hass).latest
    phrases = _phrases(user_input.language)
    if plan is None or phrases is None:
        return None
    heard = [one.word for one in text_tokens(user_input.text) if one.word.isalnum()]
    if len(heard) > _MOST_WORDS:
        return None
    if "stop" in _meanings(heard, phrases):
        return tool_request(LATER_TOOL, {"kind": "stop"})
    delay = _delay(
        heard,
        phrases,
        user_input.language,
    )
    if delay is None:
        return None
    when = (dt_util.now() + delay).isoformat()
    return tool_request(
        LATER_TOOL,
        {
            "kind": "move",
            "text": plan.id,
            "when": when,
        },
    )


def _meanings(
    heard: Sequence[str],
    phrases: PhraseTree[str],
) -> Iterator[str]:
    """Yield the keys of the phrases that words are as a whole."""
    for end, meaning in phrases.found(heard, 0):
        if end == len(heard):
            yield meaning


def _delay(
    heard: Sequence[str], phrases: PhraseTree[str], language: str
) -> timedelta | None:
    """Return the time by which words put an alarm off; None for words that do not."""
    if "snooze" in _meanings(heard, phrases):
        return SNOOZE
    for start, end, number in _numbers(heard, language):
        general = [
            *heard[:start],
            _ANY_NUMBER,
            *heard[end:],
        ]
        is_within = 0 < number <= _MOST_MINUTES
        if is_within and "minutes" in _meanings(general, phrases):
            return timedelta(minutes=number)
    return None


def _numbers(
    heard: Sequence[str],
    language: str,
) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers among some words, with their bounds, the longest first."""
    numbers = number_phrases(base_language(language))
    for start, word in enumerate(heard):
        if word.isdecimal():
            yield start, start + 1, int(word)
        for end, number in reversed([*numbers.found(heard, start)]):
            yield start, end, number
