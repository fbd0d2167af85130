"""The last turns of each agent, for diagnostics: their figures, without words.

They stay in memory until Home Assistant stops, because people reload a failing service
before they look for the reason. Words are kept only for turns that ran while the owner
of the service had enabled that, and dropped when it is disabled.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..agent.json.text import objects_in
from ..agent.messages import JsonObject
from ..const import CONF_DIAGNOSE_WORDS, DOMAIN, home_singleton
from ..records.turn_record import (
    SIGNAL_TURN,
    InferenceFacts,
    Origin,
    TurnFacts,
    TurnRecord,
)
from ..settings.agent import existing_agents

MOST_TURNS: Final = 20
"""Turns that are kept for each agent."""
_WORDS: Final = (
    "input",
    "speech",
    "tool_calls",
    "more_tool_calls",
)
"""Fields of a turn's event with words of a person, a model or a tool."""


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn that is over."""

    origin: Origin
    facts: TurnFacts
    words: JsonObject | None = None
    """Parts of `TurnRecord.as_event_data`, shortened as there; None where the owner has not asked for them."""

    def as_json(self, models: Mapping[str, str]) -> JsonObject:
        """Return it for diagnostics; `models` are the titles of agents by subentry id.

        Times are in milliseconds, as in `TurnFacts.as_json`. The speaker is left out.
        """
        data = self.facts.as_json()
        inferences = zip(
            self.facts.inferences, objects_in(data["inferences"]), strict=True
        )
        data["inferences"] = [
            {
                **data_of_inference,
                **_answer(one, models),
            }
            for one, data_of_inference in inferences
        ]
        data["began_at"] = dt_util.utc_from_timestamp(self.facts.began_at).isoformat(
            timespec="milliseconds"
        )
        origin = {
            name: self.origin[name]
            for name in ("turn_id", "conversation_id", "language")
        }
        origin["by_satellite"] = self.origin["satellite_id"] is not None
        origin["by_automation"] = self.origin["caller"] is not None
        words = {} if self.words is None else {"words": self.words}
        return origin | data | words


class RecentTurns:
    """The last turns of all agents."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen from now on."""
        self._hass = hass
        self._turns: dict[str, deque[RecentTurn]] = {}
        """By subentry id."""
        async_dispatcher_connect(
            hass,
            SIGNAL_TURN,
            self._on_turn,
        )
        async_dispatcher_connect(
            hass,
            SIGNAL_CONFIG_ENTRY_CHANGED,
            self._on_entry,
        )

    def of(self, agent: str) -> tuple[RecentTurn, ...]:
        """Return the last turns of an agent, by its subentry id, the newest last."""
        return tuple(self._turns.get(agent, ()))

    def forget_words(self) -> None:
        """Drop the words of all turns."""
        for turns in self._turns.values():
            _drop_words(turns)

    @callback
    def _on_turn(self, record: TurnRecord) -> None:
        entries = self._hass.config_entries.async_entries(DOMAIN)
        found = [entry for entry in entries if record.agent in entry.subentries]
        if not found:
            return  # the agent was removed in the meantime
        words: JsonObject | None = None
        if record.is_stored and _shows_words(found[0]):
            data = record.as_event_data()
            words = {name: data[name] for name in _WORDS}
        turns = self._turns.setdefault(
            record.agent,
            deque(maxlen=MOST_TURNS),
        )
        turns.append(RecentTurn(record.origin, record.facts, words))

    @callback
    def _on_entry(
        self,
        _change: ConfigEntryChange,
        entry: ConfigEntry,
    ) -> None:
        if entry.domain != DOMAIN:
            return
        agents = existing_agents(self._hass)
        self._turns = {
            agent: turns for agent, turns in self._turns.items() if agent in agents
        }
        if not _shows_words(entry):
            for agent in entry.subentries:
                _drop_words(self._turns.get(agent, deque()))


def _shows_words(entry: ConfigEntry) -> bool:
    return bool(entry.options.get(CONF_DIAGNOSE_WORDS, False))


def _drop_words(turns: deque[RecentTurn]) -> None:
    for position, turn in enumerate(turns):
        turns[position] = replace(turn, words=None)


def _answer(
    inference: InferenceFacts,
    models: Mapping[str, str],
) -> JsonObject:
    """Return which agent's model answered a request, and the share of the prompt that was cached; None if unknown."""
    usage = inference.usage
    by = inference.answered_by
    if usage is None:
        return {
            "answered_by": None,
            "cache_hit_percent": None,
        }
    if usage.input_tokens:
        percent = round(100 * usage.cached_tokens / usage.input_tokens)
    else:
        percent = None
    return {
        "answered_by": models.get(by, by or "Home Assistant"),
        "cache_hit_percent": percent,
    }


async_get_recent_turns: Final = home_singleton("recent_turns", RecentTurns)
"""Returns the last turns, which are kept from the first call on."""
