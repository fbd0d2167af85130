"""The last turns of each agent, for people who look for what went wrong: how they went, and no word of what was said.

Listens for as long as Home Assistant runs, because somebody who looks for a fault reloads the service first of all.
Kept in memory only, and for agents that there are. Words are kept of turns that were taken while the owner of a service
had asked for them, and forgotten when they do not any more.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_DIAGNOSE_WORDS, DOMAIN
from ..data import singleton
from ..records.turn_record import SIGNAL_TURN, InferenceFacts, TurnFacts, TurnRecord

MOST_TURNS: Final = 20
"""Of each agent; those that came last."""
_HOUSE: Final = "Home Assistant"
_WORDS: Final = ("input", "speech", "withheld", "tool_calls", "more_tool_calls")
"""What of a report was said or written, by a person, a model or a tool."""


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn that is over."""

    origin: Mapping[str, JsonValue]
    """See `turn_events.turn_origin`."""
    facts: TurnFacts
    words: JsonObject | None = None
    """Parts of `TurnRecord.as_event_data`, so cut where they are long; None where nobody has asked for them."""

    def as_json(self, models: Mapping[str, str]) -> JsonObject:
        """Return it for a reader. `models` are the titles of agents by subentry id.

        Moments and durations are milliseconds, as in `TurnFacts.as_json`. Who spoke is not told, only how.
        """
        data = self.facts.as_json()
        inferences = zip(self.facts.inferences, _objects(data["inferences"]), strict=True)
        data["inferences"] = [{**shown, **_answer(one, models)} for one, shown in inferences]
        data["began_at"] = dt_util.utc_from_timestamp(self.facts.began_at).isoformat(timespec="milliseconds")
        origin: JsonObject = {name: self.origin[name] for name in ("turn_id", "conversation_id", "language")}
        origin["by_satellite"] = self.origin["satellite_id"] is not None
        origin["by_automation"] = self.origin["caller"] is not None
        words: JsonObject = {} if self.words is None else {"words": self.words}
        return origin | data | words


class RecentTurns:
    """The last turns of all agents of a house."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen from now on."""
        self._hass = hass
        self._turns: dict[str, deque[RecentTurn]] = {}
        """By subentry id."""
        async_dispatcher_connect(hass, SIGNAL_TURN, self._on_turn)
        async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._on_entry)

    @callback
    def of(self, agent: str) -> tuple[RecentTurn, ...]:
        """Return the last turns of the agent of a subentry, the newest last."""
        return tuple(self._turns.get(agent, ()))

    @callback
    def forget_words(self) -> None:
        """Forget what was said in all of them."""
        for turns in self._turns.values():
            _drop_words(turns)

    @callback
    def _on_turn(self, record: TurnRecord) -> None:
        entries = self._hass.config_entries.async_entries(DOMAIN)
        if not (found := [entry for entry in entries if record.agent in entry.subentries]):
            return  # its agent was removed while it ran
        words: JsonObject | None = None
        if record.is_stored and _shows_words(found[0]):
            data = record.as_event_data()
            words = {name: data[name] for name in _WORDS}
        turns = self._turns.setdefault(record.agent, deque(maxlen=MOST_TURNS))
        turns.append(RecentTurn(record.origin, record.facts, words))

    @callback
    def _on_entry(self, _change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry.domain != DOMAIN:
            return
        agents = {agent for one in self._hass.config_entries.async_entries(DOMAIN) for agent in one.subentries}
        self._turns = {agent: turns for agent, turns in self._turns.items() if agent in agents}
        if not _shows_words(entry):
            for agent in entry.subentries:
                _drop_words(self._turns.get(agent, deque()))


def _shows_words(entry: ConfigEntry) -> bool:
    return bool(entry.options.get(CONF_DIAGNOSE_WORDS, False))


def _drop_words(turns: deque[RecentTurn]) -> None:
    for position, turn in enumerate(turns):
        turns[position] = replace(turn, words=None)


def _answer(inference: InferenceFacts, models: Mapping[str, str]) -> JsonObject:
    """Return who has answered a request, and how much of it the server had read before; None where nobody has told."""
    usage, by = inference.usage, inference.answered_by
    return {
        "answered_by": None if usage is None else models.get(by, by or _HOUSE),
        "cache_hit_percent": round(100 * usage.cached_tokens / usage.input_tokens)
        if usage and usage.input_tokens
        else None,
    }


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


@callback
@singleton
def async_get_recent_turns(hass: HomeAssistant) -> RecentTurns:
    """Return the last turns of a house, which are kept from the first call on."""
    return RecentTurns(hass)
