"""The tool that searches the earlier conversations of an agent with the speaker.

A person finds only their own words to this agent. An answer is marked as open-world if
a conversation contained outside content.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from homeassistant.util import dt as dt_util

from ...agent.messages import (
    JsonValue,
    ToolGroup,
    ToolPart,
)
from ...agent.text import read_data_file
from ...const import DOMAIN
from ...history.store.query import Found, HistoryQuery
from ...history.store.records import StoreUnavailable
from ...history.stores import async_get_histories
from .own_tool import (
    DEFINITIONS,
    NoAnswer,
    OwnCall,
    OwnTool,
    ToolAnswer,
    problem_of,
)
from .period import moment

_WORDS: Final = "words"
_SINCE: Final = "since"
_UNTIL: Final = "until"
_TIMEOUT: Final = 2.0
"""Seconds, while a person waits for the answer."""
_UNAVAILABLE: Final = "Earlier conversations cannot be searched at the moment. Say so."
_NOTHING: Final = (
    "Nothing like that was found. Other words, or another time, may find it."
)
_NOT_STORED: Final = "Conversations with you are not kept any more: that is switched off in your settings."


async def async_search_history(
    call: OwnCall,
    timeout: float = _TIMEOUT,  # noqa: ASYNC109  # a store that is slow is an answer, not an exception
) -> ToolAnswer:
    """Search the history of the agent."""
    hass = call.hass
    agent = call.agent
    problem = problem_of(call.speaker)
    if problem:
        raise NoAnswer(problem)
    query = _query(call)
    histories = async_get_histories(hass)
    entries = hass.config_entries.async_entries(DOMAIN)
    stores = (histories.of(entry) for entry in entries if agent in entry.subentries)
    store = next(stores, None)
    if store is None:
        raise NoAnswer(_UNAVAILABLE)
    try:
        async with asyncio.timeout(timeout):
            return _answer(
                await store.search(query), is_stored=call.settings.keep_history
            )
    except (TimeoutError, StoreUnavailable) as error:
        raise NoAnswer(_UNAVAILABLE) from error


def _query(call: OwnCall) -> HistoryQuery:
    since = moment(call.text(_SINCE), is_end=False)
    until = moment(call.text(_UNTIL), is_end=True)
    return HistoryQuery(
        words=call.text(_WORDS),
        person_id=call.speaker.person_id or "",
        agent=call.agent,
        since=since.timestamp() if since else None,
        until=until.timestamp() if until else None,
    )


def _answer(
    found: Sequence[Found],
    *,
    is_stored: bool,
) -> ToolAnswer:
    turns: list[JsonValue] = [
        {
            "when": dt_util.as_local(dt_util.utc_from_timestamp(turn.at)).strftime(
                "%A, %Y-%m-%d %H:%M"
            ),
            "person_said": turn.words,
            "you_answered": turn.answered,
        }
        for turn in found
    ]
    note = " ".join(
        filter(
            None,
            ("" if turns else _NOTHING, "" if is_stored else _NOT_STORED),
        )
    )
    has_outside_content = any(turn.has_outside_content for turn in found)
    return ToolAnswer(
        {
            "found": turns,
            **({"note": note} if note else {}),
        },
        open_world=has_outside_content,
    )


MEMORY: Final = read_data_file(__file__, ToolGroup)
"""The tools for what was said to an agent, which a model sees as one."""
SEARCH_HISTORY: Final = OwnTool(
    definition=replace(DEFINITIONS["search_history"], part=ToolPart(MEMORY, "search")),
    run=async_search_history,
    needs=attrgetter("settings.search_history"),
    is_private=True,
)
