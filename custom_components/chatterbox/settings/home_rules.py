"""The rules of the home: what every agent, task and API client obeys, stored once.

If they cannot be read, or an agent still holds some of its own, nothing may be changed until they are entered again.
Decision 40.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, TypedDict

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect, async_dispatcher_send
from homeassistant.helpers.storage import Store
from homeassistant.util.json import load_json_object
from homeassistant.util.signal_type import SignalType
from pydantic import TypeAdapter, ValidationError, with_config

from .. import const
from ..agent.messages import JsonObject, JsonValue
from ..data import singleton
from ..repairs import async_report_home_rules
from .pin_hash import PinHash
from .rules import Policy, policy_from_json, policy_to_json, sources_from_json, sources_to_json

SIGNAL_HOME_RULES: Final[SignalType[()]] = SignalType(f"{const.DOMAIN}_home_rules")
"""Sent when the rules of the home have changed."""

_VERSION: Final = 1
_KEY: Final = f"{const.DOMAIN}.home_rules"


class OutsideCare(StrEnum):
    """Which calls need approval after outside content."""

    RISKY = "risky"
    """Calls that are risky or unforeseeable; see `approvals.policy.is_risky`."""
    EVERY_CHANGE = "every_change"
    NOTHING = "nothing"
    """None beyond the rules."""


@dataclass(frozen=True, slots=True)
class HomeRules:
    """The rules of the home. The defaults are those of a home that has stored none."""

    policy: Policy = field(default_factory=Policy)
    """The rules for calls that run without approval."""
    pin: PinHash | None = None
    """Without a PIN, calls that require one are denied."""
    ask_after_outside_content: OutsideCare = OutsideCare.RISKY
    notify: tuple[str, ...] = ()
    """Entity ids of notify entities, usually phones, that receive questions."""
    trusted_callers: frozenset[str] = frozenset()
    """Entity ids of automations and scripts that need no approval."""
    people_at_satellites: Mapping[str, str] = field(default_factory=dict)
    """Entity ids of the persons who speak, by the ids of satellite devices."""


_LOCKED: Final = HomeRules(Policy(only_reads=True))


class _PersonAtSatellite(TypedDict):
    device: str
    person: str


@with_config(extra="forbid")
class _Stored(TypedDict, total=False):
    rules: JsonValue
    tool_sources: JsonValue
    pin: JsonValue
    ask_after_outside_content: OutsideCare
    notify: list[str]
    trusted_callers: list[str]
    people_at_satellites: list[_PersonAtSatellite]


_STORED: Final = TypeAdapter(_Stored)
HOME_RULE_KEYS: Final = frozenset(_Stored.__annotations__)
"""The names of what is stored."""


def home_rules_of(data: Mapping[str, JsonValue]) -> HomeRules:
    """Read stored rules of the home strictly: raises ValueError, which quotes no PIN, for anything else."""
    try:
        stored = _STORED.validate_python(data)
    except ValidationError as error:
        raise ValueError(str(error.errors(include_url=False, include_input=False))) from None
    policy = policy_from_json(stored.get("rules", []))
    return HomeRules(
        policy=replace(policy, sources=sources_from_json(stored.get("tool_sources", {}))),
        pin=PinHash.from_json(stored["pin"]) if "pin" in stored else None,
        ask_after_outside_content=stored.get("ask_after_outside_content", OutsideCare.RISKY),
        notify=tuple(stored.get("notify", ())),
        trusted_callers=frozenset(stored.get("trusted_callers", ())),
        people_at_satellites={row["device"]: row["person"] for row in stored.get("people_at_satellites", ())},
    )


def home_rules_to_json(rules: HomeRules) -> JsonObject:
    """Write rules of the home, without defaults."""
    people = rules.people_at_satellites.items()
    care = rules.ask_after_outside_content
    written: JsonObject = {
        const.CONF_RULES: policy_to_json(rules.policy),
        const.CONF_TOOL_SOURCES: sources_to_json(rules.policy.sources),
        const.CONF_PIN: rules.pin.as_json() if rules.pin else None,
        const.CONF_ASK_AFTER_OUTSIDE_CONTENT: None if care is OutsideCare.RISKY else care.value,
        const.CONF_NOTIFY: [*rules.notify],
        const.CONF_TRUSTED_CALLERS: [*sorted(rules.trusted_callers)],
        const.CONF_PEOPLE_AT_SATELLITES: [{"device": device, "person": person} for device, person in people],
    }
    return {key: value for key, value in written.items() if value}


class HomeRulesStore:
    """The rules of the home, as they are stored and as they are obeyed."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store, which is read before the first agent comes up."""
        self._hass = hass
        self._store = Store[JsonObject](hass, _VERSION, _KEY, private=True, atomic_writes=True)
        self._is_loaded, self._is_unreadable = False, False
        self._loading = asyncio.Lock()
        self.stored = HomeRules()

    @property
    def current(self) -> HomeRules:
        """The rules of the home that are obeyed now."""
        return _LOCKED if self._is_unreadable or self._with_own_rules() else self.stored

    async def async_load(self) -> None:
        """Read what is stored, once."""
        async with self._loading:
            if self._is_loaded:
                return
            self._is_loaded = True
            try:
                # A store puts a damaged file aside, and has none from then on: the next start would find no rules.
                await self._hass.async_add_executor_job(_check_file, Path(self._store.path))
                self.stored = home_rules_of(await self._store.async_load() or {})
            except Exception as error:  # noqa: BLE001  # whatever is in the file, no agent may act without rules
                const.LOGGER.error("The rules of the home cannot be read, so no agent changes anything: %s", error)
                self._is_unreadable = True
            async_dispatcher_connect(self._hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries)
            self._report()

    async def async_enter(self, rules: HomeRules) -> None:
        """Take what a person has entered, at once. Rules that an agent holds are thereby replaced."""
        self._set(rules)
        for entry, agent in self._with_own_rules():
            data = {key: value for key, value in agent.data.items() if key not in HOME_RULE_KEYS}
            self._hass.config_entries.async_update_subentry(entry, agent, data=data)
        self._report()
        await self._store.async_save(home_rules_to_json(rules))

    def async_change(self, change: Callable[[HomeRules], HomeRules]) -> None:
        """Change what is stored, unless it cannot be read."""
        if not self._is_unreadable and (rules := change(self.stored)) != self.stored:
            self._set(rules)
            saving = self._store.async_save(home_rules_to_json(rules))
            _ = self._hass.async_create_task(saving, "chatterbox rules of the home")  # Home Assistant keeps it

    async def async_remove(self) -> None:
        """Forget everything."""
        self._set(HomeRules())
        self._report()
        await self._store.async_remove()

    def _set(self, rules: HomeRules) -> None:
        self.stored, self._is_unreadable = rules, False
        async_dispatcher_send(self._hass, SIGNAL_HOME_RULES)

    def _with_own_rules(self) -> list[tuple[ConfigEntry, ConfigSubentry]]:
        """Return the agents that hold rules of their own, as those of a development version did."""
        entries = self._hass.config_entries.async_entries(const.DOMAIN)
        agents = ((entry, agent) for entry in entries for agent in entry.subentries.values())
        return [(entry, agent) for entry, agent in agents if not HOME_RULE_KEYS.isdisjoint(agent.data)]

    @callback
    def _async_follow_entries(self, _change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry.domain == const.DOMAIN:
            self._report()

    def _report(self) -> None:
        agents = [agent.title for _, agent in self._with_own_rules()]
        async_report_home_rules(self._hass, agents, is_unreadable=self._is_unreadable)


def _check_file(path: Path) -> None:
    """Raise an error if a file exists that holds nothing."""
    if path.exists() and "data" not in load_json_object(path):
        raise ValueError("nothing is stored")


async_get_home_rules: Final = singleton(HomeRulesStore)
"""Returns the rules of the home."""
