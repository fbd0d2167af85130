"""The commands about stored turns: the list of them, one turn, its deletion, and its report."""

import asyncio
import heapq
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, Final

import voluptuous as vol
from homeassistant.const import __version__ as ha_version
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.json import json_bytes
from homeassistant.loader import async_get_integration
from homeassistant.util.json import json_loads_object

from ..agent.events import StopReason
from ..agent.text import HAN
from ..approvals.audit import async_get_change_texts
from ..const import DOMAIN
from ..history.store.query import FoundTurn, ListedTurn, TurnList
from ..history.store.records import StoreUnavailable
from ..history.stores import async_get_histories, async_keeps_turns
from ..records.turn_record import FAILURES, SIGNAL_TURN, TurnRecord
from ..runtime.agents import async_forget_summaries
from ..runtime.recent_turns import async_get_recent_turns
from .commands import (
    ID_FIELD,
    IN_LANGUAGE,
    NO_FIELDS,
    NOT_FOUND,
    CommandData,
    CommandRefused,
    Viewer,
    async_register_command,
    text_field,
)
from .turn_view import TurnRow, TurnViews

if TYPE_CHECKING:  # it needs SQLAlchemy, which is imported in a thread
    from ..history.store.history_store import HistoryStore

_MOST_ROWS: Final = 200
_PAGE: Final = 50
_LONGEST_WORDS: Final = 200
_ROWS_AT_ONCE: Final = 25
"""Rows that are made before others get the event loop."""
_SLOW: Final = 5.0
"""Seconds without a word from which on a turn is slow."""
_NOTHING_TAKEN: Final = 10**18 - 1
"""Comes after each `seq`."""
_ENDS: Final = {
    "failed": FAILURES,
    "asked": frozenset({StopReason.APPROVAL_REQUIRED}),
}
"""Stop reasons of the turns with a mark."""

_PARTICLE: Final = 2
"""Letters of a part of a name that tells nothing, such as "de"."""
_PRIVATE: Final = frozenset(
    {
        "person",
        "place",
        "conversation_id",
        "agent_id",
        "previous",
        "next",
    }
)
"""Fields that a report leaves out."""
_TIME: Final = vol.All(
    vol.Any(int, float),
    vol.Range(min=0, max=1e11),
)
_LIST: Final = vol.Schema(
    {
        **IN_LANGUAGE,
        vol.Optional("cursor"): vol.All(
            str, vol.Match(r"^[0-9]{1,18}(\.[0-9]{1,18}){0,99}$")
        ),
        vol.Optional("limit", default=_PAGE): vol.All(
            int, vol.Range(min=1, max=_MOST_ROWS)
        ),
        vol.Optional("words", default=""): text_field(_LONGEST_WORDS),
        vol.Optional("person_id"): ID_FIELD,
        vol.Optional("device_id"): ID_FIELD,
        vol.Optional("agent"): ID_FIELD,
        vol.Optional("marks", default=list): [vol.In([*_ENDS, "slow"])],
        vol.Optional("since_at"): _TIME,
        vol.Optional("until_at"): _TIME,
    }
)
_ONE: Final = vol.Schema({**IN_LANGUAGE, vol.Required("turn_id"): ID_FIELD})


def async_register_turns(hass: HomeAssistant) -> None:
    """Register the commands."""
    register = partial(async_register_command, hass, for_users=True)
    register("turns/list", _LIST, _async_list)
    register("turns/get", _ONE, _async_get)
    register("turns/report", _ONE, _async_report)
    register("turns/delete", _ONE, _async_delete)
    register("turns/subscribe", NO_FIELDS, _async_subscribe)


@dataclass(frozen=True, slots=True)
class TurnPage:
    """A page of a list of turns."""

    turns: Sequence[TurnRow]
    next: str | None
    """The cursor of the next page."""
    total: int | None
    """Turns of all pages; only with the first one."""
    unreachable: Sequence[str]
    """Names of the databases that could not be read, and of services whose database is wrong."""


async def _async_stores(hass: HomeAssistant) -> tuple[list[HistoryStore], list[str]]:
    """Return the open stores of all services, and the names of services that have none."""
    opened = await async_get_histories(hass).async_open_all()
    stores = [store for _, store in opened if store is not None]
    return stores, [name for name, store in opened if store is None]


async def _async_list(viewer: Viewer, data: CommandData) -> TurnPage:
    (stores, unreachable) = await _async_stores(viewer.hass)
    most = data["limit"]
    before = _positions(data, len(stores))
    query = _query(viewer, data)
    reading = (
        store.listed_turns(replace(query, before=at))
        for store, at in zip(
            stores,
            before,
            strict=True,
        )
    )
    answers = await asyncio.gather(*reading, return_exceptions=True)
    pages = list[Sequence[ListedTurn]]()
    totals = list[int]()
    trouble: StoreUnavailable | None = None
    for store, answer in zip(stores, answers, strict=True):
        match answer:
            case StoreUnavailable():
                trouble = answer
                unreachable.append(store.where)
                pages.append(())
            case BaseException():
                raise answer
            case page, matching:
                pages.append(page)
                totals.append(matching or 0)
    if trouble and not totals:
        raise trouble
    taken = [*islice(_merged(pages), most)]
    views = await _async_views(viewer, data)
    last = [*map(_or_newest, before)]
    rows: list[TurnRow] = []
    for number, one in taken:
        last[number] = one.seq
        rows.append(views.row(one.turn, one.changes))
        if len(rows) % _ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
    lengths = [*map(len, pages)]
    is_more = len(taken) == most and (sum(lengths) > most or most in lengths)
    return TurnPage(
        rows,
        ".".join(map(str, last)) if is_more else None,
        None if "cursor" in data else sum(totals),
        unreachable,
    )


def _positions(
    data: CommandData,
    stores: int,
) -> Sequence[int | None]:
    """Return up to which turn each store has been listed; None for one of which nothing has."""
    if "cursor" not in data:
        return [None] * stores
    positions = [int(one) for one in data["cursor"].split(".")]
    if len(positions) != stores:
        raise CommandRefused(NOT_FOUND)  # a database was added or removed meanwhile
    return positions


async def _async_views(
    viewer: Viewer,
    data: CommandData,
) -> TurnViews:
    """Return what makes views in the language of the viewer."""
    language = await viewer.async_language(data)
    if language == viewer.hass.config.language:
        texts = None
    else:
        texts = await async_get_change_texts(viewer.hass, language)
    return TurnViews(
        viewer.hass,
        language,
        texts,
    )


def _merged(
    pages: Sequence[Sequence[ListedTurn]],
) -> Iterator[tuple[int, ListedTurn]]:
    """Yield the turns of all stores, the newest first, each with the number of its store."""
    numbered = (zip(repeat(number), page) for number, page in enumerate(pages))
    return heapq.merge(
        *numbered,
        key=lambda found: -found[1].turn.ended_at,
    )


def _or_newest(seq: int | None) -> int:
    return _NOTHING_TAKEN if seq is None else seq


def _query(
    viewer: Viewer,
    data: CommandData,
) -> TurnList:
    """Return what a list has to match. A user's own turns stay the only ones, whoever is looked for."""
    people = viewer.people
    wanted = data.get("person_id")
    if wanted is not None:
        if people is None:
            people = frozenset({wanted})
        else:
            people = people & {wanted}
    ends = [_ENDS[mark] for mark in data["marks"] if mark in _ENDS]
    return TurnList(
        people=people,
        device_id=data.get("device_id"),
        agent=data.get("agent"),
        words=data["words"],
        since=data.get("since_at"),
        until=data.get("until_at"),
        ends=frozenset[StopReason | None]().union(*ends),
        or_failed="failed" in data["marks"],
        slower_than=_SLOW if "slow" in data["marks"] else None,
        most=data["limit"],
    )


async def _async_found(
    viewer: Viewer,
    turn_id: str,
) -> tuple[HistoryStore, FoundTurn]:
    """Return a turn and its store. Raises `CommandRefused` for one that is unknown, or not for the user's eyes."""
    trouble: StoreUnavailable | None = None
    for store in (await _async_stores(viewer.hass))[0]:
        try:
            found = await store.turn(turn_id, viewer.people)
            if found:
                return store, found
        except StoreUnavailable as error:  # it may be in another one
            trouble = error
    raise trouble or CommandRefused(NOT_FOUND)


async def _async_get(
    viewer: Viewer,
    data: CommandData,
) -> object:
    _, found = await _async_found(viewer, data["turn_id"])
    return await (await _async_views(viewer, data)).async_turn(found)


async def _async_report(
    viewer: Viewer,
    data: CommandData,
) -> object:
    """Return a turn as Markdown to be published: without names of people and places, and without ids of theirs."""
    hass = viewer.hass
    (_, found) = await _async_found(
        viewer,
        data["turn_id"],
    )
    view = await TurnViews(hass).async_turn(found)
    written = {
        name: value
        for name, value in json_loads_object(json_bytes(view)).items()
        if name not in _PRIVATE
    }
    text = json.dumps(
        written,
        ensure_ascii=False,
        indent=1,
    )
    users = [
        user.name or ""
        for user in await hass.auth.async_get_users()
        if not user.system_generated
    ]
    names = {one.name for one in hass.states.async_all("person")} | {
        view.person or "",
        *users,
    }
    parts = names | {
        part for name in names for part in name.split() if len(part) > _PARTICLE
    }
    for part in sorted(filter(None, parts), key=len, reverse=True):
        name = re.escape(json.dumps(part, ensure_ascii=False)[1:-1])
        letter = rf"[^\W{HAN}]"
        text = re.sub(
            rf"(?<!{letter}){name}s?(?!{letter})",
            "(a person)",
            text,
            flags=re.IGNORECASE,
        )
    version = (await async_get_integration(hass, DOMAIN)).version
    return {
        "report": f"Chatterbox {version}, Home Assistant {ha_version}\n\n```json\n{text}\n```\n"
    }


async def _async_delete(
    viewer: Viewer,
    data: CommandData,
) -> object:
    """Delete a turn, and all that Home Assistant or a model may still know of it."""
    store, found = await _async_found(viewer, data["turn_id"])
    deleted = await store.delete_turn(found.turn)
    async_get_recent_turns(viewer.hass).forget_words()
    async_forget_summaries(viewer.hass)
    return {"deleted": deleted}


async def _async_subscribe(
    viewer: Viewer,
    _data: CommandData,
) -> None:
    """Tell of each turn that is stored and that the user sees."""

    @callback
    def tell(record: TurnRecord) -> None:
        person_id = record.origin.get("person_id")
        is_stored = record.is_stored and async_keeps_turns(viewer.hass, record.agent)
        if (
            is_stored
            and viewer.is_allowed
            and viewer.sees(person_id if isinstance(person_id, str) else None)
        ):
            viewer.send({"turn_id": record.origin["turn_id"]})

    viewer.follow(async_dispatcher_connect(viewer.hass, SIGNAL_TURN, tell))
