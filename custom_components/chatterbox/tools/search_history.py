"""Runs the tool by which an agent looks for what the person who speaks has said to it before.

Knows the history, speakers, and how a time is written. Must not know how a history is searched. Nobody finds what
somebody else has said, or what was said to another agent. What comes from a conversation that held something from
outside may have been written outside, so it is marked.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..agent.history.search import Found, SearchQuery
from ..agent.history.store_trouble import StoreUnavailable
from ..agent.messages import JsonObject, JsonValue
from ..const import DOMAIN
from ..history.stores import async_get_histories
from ..people.speakers import Speaker
from .own_tools import DAYS, SINCE, UNTIL, WORDS, ToolAnswer, person_served, refused

_MOST_DAYS: Final = 36_500
_AN_INSTANT: Final = 0.001
"""Seconds, of which the end of a turn tells."""
_UNAVAILABLE: Final = "Earlier conversations cannot be searched at the moment. Say so."
_NOTHING: Final = "Nothing like that was found. Other words, or another time, may find it."
_NOT_KEPT: Final = "Conversations with you are not kept any more: that is switched off in your settings."


class _TimeUnclear(Exception):
    """A time cannot be read; the text says how it is written."""


@dataclass(frozen=True, slots=True)
class HistoryTool:
    """The history of who speaks, in one turn of one agent."""

    hass: HomeAssistant
    agent: str
    """Subentry id."""
    speaker: Speaker
    is_kept: bool = True
    """Whether what is said to the agent is stored."""
    patience: float = 2.0
    """Seconds: somebody stands in a room and waits."""

    async def async_run(self, arguments: JsonObject) -> ToolAnswer:
        """Search."""
        person = person_served(self.speaker)
        if isinstance(person, ToolAnswer):
            return person
        try:
            query = self._query(person, arguments)
        except _TimeUnclear as error:
            return refused(str(error))
        found = await self._async_search(query)
        return refused(_UNAVAILABLE) if found is None else self._answer(found)

    async def _async_search(self, query: SearchQuery) -> tuple[Found, ...] | None:
        """Return what is found; None when the store is down, or too slow."""
        entries = self.hass.config_entries.async_entries(DOMAIN)
        entry = next((entry for entry in entries if self.agent in entry.subentries), None)
        store = async_get_histories(self.hass).of(entry) if entry else None
        if store is None:
            return None
        try:
            async with asyncio.timeout(self.patience):
                return await store.search(query)
        except TimeoutError, StoreUnavailable:
            return None

    def _query(self, person: str, arguments: JsonObject) -> SearchQuery:
        since = [_moment(arguments.get(SINCE), ends=False), _days_ago(arguments.get(DAYS))]
        return SearchQuery(
            words=str(arguments.get(WORDS) or ""),
            person_id=person,
            agent=self.agent,
            since=max((moment for moment in since if moment is not None), default=None),
            until=_moment(arguments.get(UNTIL), ends=True),
        )

    def _answer(self, found: Sequence[Found]) -> ToolAnswer:
        turns: list[JsonValue] = [
            {
                "when": dt_util.as_local(dt_util.utc_from_timestamp(one.at)).strftime("%A, %Y-%m-%d %H:%M"),
                "person_said": one.said,
                "you_answered": one.answered,
            }
            for one in found
        ]
        note = " ".join(filter(None, ("" if turns else _NOTHING, "" if self.is_kept else _NOT_KEPT)))
        is_marked = any(one.has_outside_content for one in found)
        return ToolAnswer({"found": turns, **({"note": note} if note else {})}, open_world=is_marked)


def _days_ago(days: JsonValue) -> float | None:
    """Return the beginning of the first of the last so many days, in seconds since the epoch."""
    if days is None:
        return None
    if not isinstance(days, int) or not 1 <= days <= _MOST_DAYS:
        raise _TimeUnclear(f"{DAYS} is a whole number from 1 to {_MOST_DAYS}.")
    return dt_util.start_of_local_day(dt_util.now() - timedelta(days=days - 1)).timestamp()


def _moment(written: JsonValue, *, ends: bool) -> float | None:
    """Return a local moment in seconds since the epoch; of a day its beginning, or the last moment before its end."""
    text = str(written or "").strip()
    if not text:
        return None
    try:
        if (day := dt_util.parse_date(text)) is not None:
            after = dt_util.start_of_local_day(day + timedelta(days=1)).timestamp() - _AN_INSTANT
            return after if ends else dt_util.start_of_local_day(day).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=dt_util.get_default_time_zone())).timestamp()
    except (ValueError, OverflowError) as error:
        raise _TimeUnclear(f"{SINCE} and {UNTIL} are written like 2026-11-22 or 2026-11-22T18:00.") from error
