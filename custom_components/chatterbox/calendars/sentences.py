"""Understands sentences about calendars without a model: "what's on this weekend?", "when is the dentist?"."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, intent
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject
from ..const import DOMAIN
from ..effects.reading import async_lexicon
from ..effects.recognition import RecognizedRequest, tool_request
from ..nlu.calendars import CalendarRequest, calendar_request
from ..offline.local_commands import Talk
from ..settings.tool_names import LATER_TOOL
from ..speech.text.times import is_resolved, resolve_range, times_in
from .events import Calendars, EventRange, async_calendars
from .tools import ACTIONS

_ASKS: Final = frozenset({"at", "list", "next", "find", "find_event", "free"})
_MOST_CUT: Final = 2
"""Words before a time that may belong to the rest of a sentence: "what's on" before "this weekend"."""


class _Timed(NamedTuple):
    """A sentence without a time."""

    rest: str
    when: str = ""


async def async_recognize_calendar(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return the request about calendars, or else what was `found` before."""
    text = user_input.text
    language = user_input.language
    call = found.call if found and found.is_question else None
    is_about_plans = call is not None and call.name == LATER_TOOL
    if talk.agent is None or (found and not is_about_plans):
        return found
    words = await async_lexicon(hass, language)
    if words is None:
        return found
    calendars = await async_calendars(hass, user_input.as_llm_context(DOMAIN))
    for timed in _readings(text, language):
        request = calendar_request(
            timed.rest,
            words,
            _names(calendars),
        )
        if request and await _async_is_meant(calendars, request, timed):
            is_known = found is None or await _async_has_events(
                calendars, timed.when, language
            )
            if is_known:
                return _recognized(request, timed)
            return found
    return found


async def _async_has_events(
    calendars: Calendars,
    when: str,
    language: str,
) -> bool:
    """Return whether something is in a calendar at a time, or at all, as is told where it might as well be a plan."""
    if not when:
        return bool((await calendars.async_next(calendars.ids)).events)
    time = resolve_range(
        when,
        now=dt_util.now(),
        language=language,
    )
    if time is None:
        return False
    return bool((await calendars.async_events(calendars.ids, EventRange(*time))).events)


def _names(calendars: Calendars) -> Mapping[str, str]:
    """Return the ids of calendars by their names and aliases."""
    registry = er.async_get(calendars.hass)
    return {
        name: state.entity_id
        for state in calendars.states
        for name in intent.async_get_entity_aliases(
            calendars.hass, registry.async_get(state.entity_id), state=state
        )
    }


def _readings(
    text: str,
    language: str,
) -> Iterator[_Timed]:
    """Yield a sentence without each of the times in it, and as it is if there is none."""
    times = times_in(
        text,
        language,
        joined=True,
        has_days=True,
    )
    for time in times:
        yield _Timed(time.rest, time.words)
        start = text.find(time.words)
        words = time.words.split()
        for cut in range(1, min(_MOST_CUT, len(words) - 1) + 1):
            shorter = time.words[len(" ".join(words[:cut])) :].strip()
            at = text.find(shorter, start)
            if at >= 0 and is_resolved(shorter, language):
                yield _Timed(
                    text[:at] + text[at + len(shorter) :],
                    shorter,
                )
    if not times:
        yield _Timed(text)


async def _async_is_meant(
    calendars: Calendars, request: CalendarRequest, timed: _Timed
) -> bool:
    """Return whether a sentence is about calendars: "when is …" may be about anything that none of them has."""
    match request.action:
        case "at":
            return bool(timed.when)
        case "find":
            found = await calendars.async_next(
                calendars.called(request.calendar), request.title
            )
            return bool(found.events)
        case _:
            return True


def _recognized(request: CalendarRequest, timed: _Timed) -> RecognizedRequest:
    """Return a request with the call that does it."""
    is_question = request.action in _ASKS
    kind = "free" if request.action == "free" else "list"
    tool = ACTIONS[kind if is_question else request.action]
    given = {
        "text": request.title,
        "to" if request.action == "move" else "when": timed.when,
        "calendar": request.calendar,
    }
    arguments: JsonObject = {name: value for name, value in given.items() if value}
    if request.action in {"next", "find", "find_event"}:
        arguments["most"] = 1
    return tool_request(
        tool, arguments, is_question=is_question, is_last_resort=not is_question
    )
