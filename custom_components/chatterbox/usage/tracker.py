"""Keeps what agents have read, done and cost, over restarts: counts each turn once, stores it, then tells it.

Knows the news of turns and of what models took outside of them. Must not know the form of the file, or who shows the
sums. What is told is stored before, so that no sum is ever smaller after a restart. They are stored together some
seconds after the first was counted, which spares the disk, and at once when a service or Home Assistant ends. On a disk
that is full they go on until the next start. Nobody waits for any of this.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.dispatcher import async_dispatcher_connect, async_dispatcher_send
from homeassistant.helpers.event import async_call_later, async_track_time_change
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.signal_type import SignalType

from ..agent.messages import Usage
from ..const import DOMAIN, LOGGER
from ..records.facts import TurnFacts
from ..records.news import SIGNAL_TURN, TurnNews
from .prices import ModelPrice
from .reports import SIGNAL_USAGE, ModelUsage, UsagePurpose
from .storage import TallyFile
from .totals import Tallies, Tally

_FILE: Final = f"{DOMAIN}.tallies.jsonl"
"""In the folder in which Home Assistant keeps what is stored."""
_DELAY: Final = 10.0
"""Seconds from the first thing that is counted until it is stored. A crash forgets no more than that."""
_BEFORE_MIDNIGHT: Final = 1.0
"""Seconds to store and tell what was counted at the end of a day."""
_LAST_HOUR: Final = 23
_NO_USAGE: Final = Usage()

SIGNAL_TALLIES: Final[SignalType[Collection[str] | None]] = SignalType(f"{DOMAIN}_tallies")
"""Sent when sums of these agents have changed; None for those of all, when a day has begun."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """How the last turn of an agent went. It is not kept over a restart."""

    duration: float
    """Seconds."""
    first_token: float | None = None
    """Seconds until its model began to answer; None when no model did."""


def today() -> date:
    """Return the day in the time zone of the house."""
    return dt_util.now().date()


def _delay() -> float:
    """Return how long what is counted now may wait: what is told tomorrow is no part of what was spent today."""
    now = dt_util.now()
    if now.hour < _LAST_HOUR:
        return _DELAY
    left = (dt_util.start_of_local_day(now.date() + timedelta(days=1)) - now).total_seconds()
    return min(_DELAY, max(left - _BEFORE_MIDNIGHT, 0))


class TallyKeeper:
    """The sums of all agents of a house. For one event loop."""

    def __init__(self, hass: HomeAssistant, file: TallyFile) -> None:
        """Count nothing before `async_start`; the sums are kept in `file`."""
        self._hass = hass
        self._file = file
        self._counted = self._told = Tallies()
        self._changed: set[str] = set()
        """Agents of which something was counted that is not told yet."""
        self._prices: dict[str, ModelPrice | None] = {}
        self._last_turns: dict[str, LastTurn] = {}
        self._last_usages: dict[str, Usage] = {}
        self._saving: asyncio.Task[None] | None = None
        self._cancel_timer: CALLBACK_TYPE | None = None
        """Of what is to be stored later."""
        self._has_failed = False

    async def async_start(self) -> None:
        """Read what is stored, and follow turns until Home Assistant stops."""
        self._counted = self._told = await self._async_stored()
        async_dispatcher_connect(self._hass, SIGNAL_TURN, self._async_count_turn)
        async_dispatcher_connect(self._hass, SIGNAL_USAGE, self._async_count_usage)
        async_dispatcher_connect(self._hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries)
        stop = async_track_time_change(self._hass, self._async_begin_day, hour=0, minute=0, second=0)

        @callback
        def async_stop(_event: Event) -> None:
            stop()

        self._hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, async_stop)
        self._hass.bus.async_listen(EVENT_HOMEASSISTANT_FINAL_WRITE, self._async_save_now)

    @callback
    def async_price(self, agent: str, price: ModelPrice | None) -> None:
        """Take what the model of an agent costs from now on; None where nobody knows."""
        self._prices[agent] = price

    def tally(self, agent: str) -> Tally:
        """Return the sums of an agent, as they are stored."""
        return self._told.of(agent)

    def counted(self, agent: str) -> Tally:
        """Return the sums of an agent with what is not stored yet."""
        return self._counted.of(agent)

    def last_turn(self, agent: str) -> LastTurn | None:
        """Return how the last turn of an agent went, since the start."""
        return self._last_turns.get(agent)

    def last_usage(self, agent: str) -> Usage | None:
        """Return what the model of an agent took in the last turn in which it answered, since the start."""
        return self._last_usages.get(agent)

    @callback
    def _async_count_turn(self, news: TurnNews) -> None:
        facts, turn_id = news.facts, str(news.origin["turn_id"])
        counted = self._counted.with_turn(news.agent, turn_id, facts, self._prices.get, today())
        if counted is self._counted:
            return
        self._last_turns[news.agent] = _last_turn(facts, self._last_turns.get(news.agent))
        usages = _usages(facts)
        self._last_usages |= usages
        self._async_keep(counted, {news.agent, *usages})

    @callback
    def _async_count_usage(self, news: ModelUsage) -> None:
        price = None if news.purpose is UsagePurpose.PICTURE else self._prices.get(news.agent)
        self._async_keep(self._counted.with_usage(news.agent, news.usage, price, today()), {news.agent})

    @callback
    def _async_follow_entries(self, change: ConfigEntryChange, entry: ConfigEntry) -> None:
        """Store what was counted of a service that may be going, and forget agents that are gone."""
        if entry.domain == DOMAIN and change is not ConfigEntryChange.ADDED:
            self._async_keep(self._counted, ())
            self._async_save_now()

    @callback
    def _async_begin_day(self, _now: datetime) -> None:
        async_dispatcher_send(self._hass, SIGNAL_TALLIES, None)

    @callback
    def _async_keep(self, counted: Tallies, changed: Collection[str]) -> None:
        entries = self._hass.config_entries.async_entries(DOMAIN)
        self._counted = counted.only_of({agent for entry in entries for agent in entry.subentries})
        self._changed.update(changed)
        if self._hass.is_stopping:
            self._async_save_now()
        elif self._cancel_timer is None and self._counted is not self._told:
            self._cancel_timer = async_call_later(self._hass, _delay(), self._async_save_now)

    @callback
    def _async_save_now(self, _when: object = None) -> None:
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        if self._counted is not self._told and (self._saving is None or self._saving.done()):
            self._saving = self._hass.async_create_task(self._async_save(), f"{DOMAIN} tallies")

    async def _async_save(self) -> None:
        while self._counted is not self._told and self._cancel_timer is None:
            counted, changed = self._counted, frozenset(self._changed)
            self._changed.clear()
            await self._async_store(counted)
            self._told = counted
            async_dispatcher_send(self._hass, SIGNAL_TALLIES, changed)

    async def _async_store(self, tallies: Tallies) -> None:
        try:
            await self._hass.async_add_executor_job(self._file.append, tallies)
        except (OSError, HomeAssistantError, TypeError) as error:  # the last for counts that JSON cannot hold
            if not self._has_failed:
                LOGGER.error("What agents have read and cost cannot be stored: %s", error)
            self._has_failed = True
        else:
            self._has_failed = False

    async def _async_stored(self) -> Tallies:
        """Read what is stored. What cannot be read is as if nothing was: agents have to come up."""
        try:
            return await self._hass.async_add_executor_job(self._file.read)
        except Exception as error:  # noqa: BLE001  # whatever stands in the file, people want to be answered
            LOGGER.error("What agents have read and cost cannot be read, and is counted anew: %s", type(error).__name__)
            return Tallies()


def _last_turn(facts: TurnFacts, before: LastTurn | None) -> LastTurn:
    began = (one.first_token for one in facts.inferences if one.first_token is not None)
    return LastTurn(facts.duration, next(began, before.first_token if before else None))


def _usages(facts: TurnFacts) -> Mapping[str, Usage]:
    """Return what each model took that has answered in a turn."""
    usages: dict[str, Usage] = {}
    for one in facts.inferences:
        if one.usage is not None and one.answered_by:
            usages[one.answered_by] = usages.get(one.answered_by, _NO_USAGE) + one.usage
    return usages


_KEEPER: HassKey[TallyKeeper] = HassKey(f"{DOMAIN}_tallies")


@singleton(_KEEPER, async_=True)
async def async_get_tally_keeper(hass: HomeAssistant) -> TallyKeeper:
    """Return the keeper of a house, which has begun to count."""
    keeper = TallyKeeper(hass, TallyFile(Path(hass.config.path(STORAGE_DIR, _FILE))))
    await keeper.async_start()
    return keeper
