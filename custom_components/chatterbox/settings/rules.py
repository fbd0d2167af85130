"""The rules of the home, which every agent, task and API client obeys, their JSON, and the store that keeps them.

`approvals/policy.py` applies the rules for calls that run without approval. Stored
rules are read strictly, because a misread rule could allow too much. If they cannot be
read, or an agent still holds some of its own, nothing may be changed until they are
entered again. Decision 34, decision 40.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, time
from enum import StrEnum
from typing import Annotated, Any, Final, TypedDict, cast

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigSubentry,
)
from homeassistant.core import HassJob, HomeAssistant, callback, valid_entity_id
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.dispatcher import (
    async_dispatcher_connect,
    async_dispatcher_send,
)
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType
from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    with_config,
)

from ..agent.messages import JsonObject, JsonValue
from ..const import DOMAIN, home_singleton
from ..repairs import async_report_rules_of_agents
from .agent import readable_entries
from .pin_hash import PinHash
from .stored_file import RETRY_SECONDS, Obstacle, StoredFile, Unreadable
from .tool_names import TOOLS_FOR_GUESTS


class Verdict(StrEnum):
    """The consequence for a call."""

    ALLOW = "allow"
    ASK = "ask"
    """It needs approval."""
    PIN = "pin"
    """It needs approval with the PIN."""
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """A higher number is stricter."""
        return _STRICTNESS[self]


_STRICTNESS: Final = {verdict: place for place, verdict in enumerate(Verdict)}


def _time(value: object) -> time:
    parsed = dt_util.parse_time(str(value))
    if parsed is None:
        raise ValueError("expected a time such as 22:30")
    return parsed


def _valid(is_valid: Callable[[str], bool]) -> AfterValidator:
    def check(value: str) -> str:
        if not is_valid(value):
            raise ValueError("not valid")
        return value

    return AfterValidator(check)


_Time = Annotated[
    time, PlainValidator(_time), PlainSerializer(lambda end: end.isoformat("seconds"))
]
_Name = Annotated[str, _valid(lambda name: bool(name) and name == name.strip())]
_Domain = Annotated[str, _valid(lambda domain: valid_entity_id(f"{domain}.any"))]
_EntityId = Annotated[str, _valid(valid_entity_id)]
_TargetId = Annotated[
    _EntityId,
    _valid(
        lambda entity_id: not entity_id.startswith(("automation.", "scene.", "script."))
    ),
]
type _Some[Value] = Annotated[
    frozenset[Value], Field(min_length=1), PlainSerializer(sorted)
]


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A part of every day in local time; it spans midnight when it ends earlier than it begins."""

    after: _Time
    """Included."""
    before: _Time
    """Not included."""

    def __post_init__(self) -> None:
        """Reject a window that ends when it begins."""
        if self.after == self.before:
            raise ValueError(
                "both times are the same; without a window, a rule holds all day"
            )

    def holds(self, now: time) -> bool:
        """Return whether a time is inside."""
        if self.after < self.before:
            return self.after <= now < self.before
        return now >= self.after or now < self.before


@with_config(extra="forbid")
@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class Rule:
    """A verdict, and the conditions under which it applies: all given conditions, each by any of its values."""

    verdict: Verdict
    domains: _Some[_Domain] = frozenset()
    device_classes: _Some[_Name] = frozenset()
    areas: _Some[_Name] = frozenset()
    """Ids."""
    labels: _Some[_Name] = frozenset()
    """Ids; of an entity, its device or its area."""
    entities: _Some[_EntityId] = frozenset()
    actions: _Some[_EntityId] = frozenset()
    """Such as `lock.unlock`."""
    tools: _Some[_Name] = frozenset()
    """Names under which they are offered."""
    users: _Some[_Name] = frozenset()
    """Ids of the users of Home Assistant who speak."""
    devices: _Some[_Name] = frozenset()
    """Ids of satellite devices; the device that a signed-in user names does not count."""
    window: TimeWindow | None = None

    @property
    def is_about_entities(self) -> bool:
        """Return whether it has a condition on entities or actions."""
        return bool(
            self.domains
            or self.device_classes
            or self.areas
            or self.labels
            or self.entities
            or self.actions
        )

    @property
    def is_for_the_rest(self) -> bool:
        """Return whether it has no condition, so that no rule after it is ever applied."""
        return self == Rule(verdict=self.verdict)

    @property
    def for_everybody(self) -> Rule:
        """Return the rule without its conditions on the speaker, the place and the time."""
        return replace(
            self,
            users=frozenset(),
            devices=frozenset(),
            window=None,
        )


class TrustLevel(StrEnum):
    """How far a source of tools is trusted."""

    FREE = "free"
    """Its calls need no approval, unless a rule about what they act on demands it."""
    ASK = "ask"
    """Each call that changes something needs approval."""
    READ = "read"
    """Its tools that change something are not offered."""


@with_config(extra="forbid")
@dataclass(frozen=True, slots=True)
class ToolSource:
    """The owner's trust in a source of tools."""

    level: TrustLevel | None = None
    affects: _Some[_TargetId] = frozenset()
    """For what cannot be foreseen of a script, a scene or an automation: the entities that it may change, if given."""


_VERDICTS: Final = {
    TrustLevel.FREE: Verdict.ALLOW,
    TrustLevel.ASK: Verdict.ASK,
    TrustLevel.READ: Verdict.DENY,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The permissions of agents: the first rule that matches decides; `DEFAULT_RULES` come after those of the home."""

    rules: tuple[Rule, ...] = ()
    sources: Mapping[str, ToolSource] = field(default_factory=dict)
    """By id of an LLM API, or by entity id of a script, a scene or an automation."""
    only_reads: bool = False
    """Whether nothing may be changed, as the rules are not known."""

    def level_of(
        self,
        tool: str,
        api_id: str,
    ) -> TrustLevel | None:
        """Return the level for a tool of an API; a script that is a tool may have one of its own."""
        if self.only_reads:
            return TrustLevel.READ
        script = (
            self.sources.get(tool.replace("__", ".", 1))
            if api_id == LLM_API_ASSIST
            else None
        )
        source = script if script and script.level else self.sources.get(api_id)
        return source.level if source else None

    def only_reading(
        self,
        tools: Iterable[str],
        api_id: str,
    ) -> frozenset[str]:
        """Return those of the tools of an API that may change nothing."""
        return frozenset(
            [tool for tool in tools if self.level_of(tool, api_id) is TrustLevel.READ]
        )

    def rules_for(self, level: TrustLevel | None) -> Iterator[Rule]:
        """Yield all rules in order, for a call that changes something with a tool of this level."""
        yield from self.rules
        for source, trust in self.sources.items():
            if trust.level and valid_entity_id(source):
                yield Rule(
                    verdict=_VERDICTS[trust.level],
                    entities=frozenset({source}),
                )
        if level in (TrustLevel.ASK, TrustLevel.READ):
            yield Rule(verdict=_VERDICTS[level])
        yield from DEFAULT_RULES
        if level is TrustLevel.FREE:
            yield Rule(verdict=Verdict.ALLOW)


def _ask(
    domain: str, *services: str, device_classes: frozenset[str] = frozenset()
) -> Rule:
    actions = frozenset(f"{domain}.{service}" for service in services)
    return Rule(
        verdict=Verdict.ASK,
        domains=frozenset({domain}),
        device_classes=device_classes,
        actions=actions,
    )


NEVER_WHERE_PEOPLE_WERE: Final = Rule(
    verdict=Verdict.DENY,
    domains=frozenset({"device_tracker", "person", "zone"}),
    actions=frozenset({"device_tracker.get_past", "person.get_past", "zone.get_past"}),
)
DEFAULT_RULES: Final = (
    _ask(
        "lock",
        "unlock",
        "open",
    ),
    _ask("alarm_control_panel", "alarm_disarm"),
    _ask(
        "cover",
        "open_cover",
        "open_cover_tilt",
        "set_cover_position",
        "set_cover_tilt_position",
        "toggle",
        "toggle_cover_tilt",
        device_classes=frozenset({"door", "garage", "gate"}),
    ),
    _ask(
        "valve",
        "open_valve",
        "set_valve_position",
        "toggle",
    ),
    NEVER_WHERE_PEOPLE_WERE,
)
"""Opening what lets people in, or water out, needs an approval. Toggling may open, and so may a position.

Where people were is told to nobody, unless a rule of the home allows it.
"""


class PinUse(StrEnum):
    """Uses that may need the PIN: the kinds of `DEFAULT_RULES`."""

    UNLOCK = "unlock"
    OPEN = "open"
    DISARM = "disarm"


_USES: Final = {
    "lock": PinUse.UNLOCK,
    "alarm_control_panel": PinUse.DISARM,
    "cover": PinUse.OPEN,
    "valve": PinUse.OPEN,
}


def pin_rules(uses: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules by which some uses need the PIN."""
    needed = (
        rule
        for rule in DEFAULT_RULES
        for domain in rule.domains
        if _USES.get(domain) in uses
    )
    return tuple(replace(rule, verdict=Verdict.PIN) for rule in needed)


def pin_uses(rules: Collection[Rule]) -> list[PinUse]:
    """Return the uses that need the PIN by the rules of `pin_rules`."""
    return [use for use in PinUse if all(rule in rules for rule in pin_rules([use]))]


def with_pin_uses(
    rules: Sequence[Rule],
    uses: Collection[str],
) -> tuple[Rule, ...]:
    """Return rules by which some uses need the PIN, unless an earlier one is about them."""
    # They come before a last rule without conditions. One that refuses everything is
    # not to be loosened.
    count = len(rules) - bool(
        rules and rules[-1].is_for_the_rest and rules[-1].verdict is not Verdict.DENY
    )
    return (
        *rules[:count],
        *pin_rules(uses),
        *rules[count:],
    )


def without_effect(
    rules: Sequence[Rule],
    uses: Collection[str],
) -> int | None:
    """Return the number of a rule that lets a use of the PIN be done without it, at any time and for anybody."""
    for number, rule in enumerate(rules, start=1):
        is_strict = rule.verdict in (Verdict.PIN, Verdict.DENY) or (
            number == len(rules) and rule.is_for_the_rest
        )
        if not is_strict and any(_covers(rule, other) for other in pin_rules(uses)):
            return number
    return None


def _covers(
    rule: Rule,
    other: Rule,
) -> bool:
    """Return whether a rule, only on kinds of entity, is about all those of another, and about any of its actions."""
    domains = rule.domains
    classes = rule.device_classes
    actions = rule.actions
    is_of_kinds = rule == Rule(
        verdict=rule.verdict, domains=domains, device_classes=classes, actions=actions
    )
    is_same_action = not actions.isdisjoint(other.actions) or not (
        actions and other.actions
    )
    kinds = ((domains, other.domains), (classes, other.device_classes))
    return (
        is_of_kinds
        and is_same_action
        and all(not mine or (theirs and mine >= theirs) for mine, theirs in kinds)
    )


_RULES: Final = TypeAdapter(tuple[Rule, ...])
_SOURCES: Final = TypeAdapter(dict[str, ToolSource])


class RuleRefused(Exception):
    """A rule, or a change of the rules, that is not taken."""

    def __init__(
        self,
        key: str,
        **placeholders: str,
    ) -> None:
        """Take the key of an error of the dialog "Confirmations", and its placeholders."""
        super().__init__(key)
        self.key = key
        self.placeholders = placeholders


class PolicyError(ValueError):
    """Stored rules that cannot be read; the message says where and why."""

    condition: str = ""
    """The condition of the first invalid value, or `verdict`."""
    value: str = ""


def policy_from_json(stored: JsonValue) -> Policy:
    """Read the rules of a household. Raises `PolicyError` for anything that is not exactly a list of rules."""
    try:
        return Policy(_RULES.validate_python(stored))
    except ValidationError as error:
        flaws = error.errors(include_url=False)
        texts = []
        for flaw in flaws:
            place = ".".join(map(str, flaw["loc"]))
            texts.append(f"{place}: {flaw['msg']}")
        refused = PolicyError("; ".join(texts))
        refused.condition = str((*flaws[0]["loc"], "", "")[1])
        refused.value = str(flaws[0]["input"])
        raise refused from None


def sources_from_json(stored: JsonValue) -> Mapping[str, ToolSource]:
    """Read what the owner has said about sources of tools. Raises `PolicyError` for anything else."""
    try:
        return _SOURCES.validate_python(stored)
    except ValidationError as error:
        raise PolicyError(
            str(error.errors(include_url=False, include_input=False))
        ) from None


def sources_to_json(sources: Mapping[str, ToolSource]) -> JsonObject:
    """Write what the owner has said about sources of tools, without those of which nothing is said."""
    written: JsonObject = _SOURCES.dump_python(
        dict(sources), mode="json", exclude_defaults=True
    )
    return {source: data for source, data in written.items() if data}


def policy_to_json(policy: Policy) -> list[JsonValue]:
    """Write the rules of a household, without absent conditions."""
    written: list[JsonValue] = _RULES.dump_python(
        policy.rules, mode="json", exclude_defaults=True
    )
    return written


SIGNAL_HOME_RULES: Final[SignalType[()]] = SignalType(f"{DOMAIN}_home_rules")
"""Sent when the rules of the home have changed."""

WITH_RULES: Final = 2
"""Minor version of config entries in a home whose rules are stored."""


class OutsideCare(StrEnum):
    """Which calls need approval after outside content."""

    RISKY = "risky"
    """Calls that are risky or unforeseeable; see `approvals.policy.is_risky`."""
    EVERY_CHANGE = "every_change"
    NOTHING = "nothing"
    """None beyond the rules."""


class HouseholdWriters(StrEnum):
    """People who may change the facts of the household."""

    EVERYONE = "everyone"
    KNOWN = "known"
    """People who are signed in, or at a satellite for which a person is chosen."""
    ADMINS = "admins"
    """Those of them who are administrators."""


USUAL_FOR_GUESTS: Final = frozenset({"light", "media_player"})


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
    shows_page_to_all: bool = False
    """Whether all users see the page of the side bar, and there their own turns."""
    household_writers: HouseholdWriters = HouseholdWriters.EVERYONE
    night: TimeWindow | None = None
    """When news of plans wait, unless they are urgent or come at a time that a person chose."""
    guest_domains: frozenset[str] = USUAL_FOR_GUESTS
    """The domains that guests may use and ask about; none if it is empty."""
    guest_areas: frozenset[str] = frozenset()
    """The ids of the areas where they may; empty for all."""
    guests_since: datetime | None = None
    """When guest mode was switched on; None while it is off."""

    @property
    def guest_rules(self) -> tuple[Rule, ...]:
        """The rules that calls of guests have to pass beside all others."""
        chosen = Rule(
            verdict=Verdict.ALLOW, domains=self.guest_domains, areas=self.guest_areas
        )
        return (
            Rule(verdict=Verdict.ALLOW, tools=TOOLS_FOR_GUESTS),
            *((chosen,) if self.guest_domains else ()),
            Rule(verdict=Verdict.DENY),
        )


NO_RULES: Final = (
    "The rules of this household are not known, so nothing can be changed. Say so, and that an administrator has to "
    "open Settings → Repairs in Home Assistant."
)
"""Told to models."""
_LOCKED: Final = HomeRules(
    Policy(only_reads=True),
    household_writers=HouseholdWriters.ADMINS,
    guests_since=dt_util.utc_from_timestamp(0),
)


class _PersonAtSatellite(TypedDict):
    device: str
    person: str


type _Sorted[Value] = Annotated[frozenset[Value], PlainSerializer(sorted)]


@with_config(extra="forbid")
class _Stored(TypedDict, total=False):
    """The fields of `HomeRules`, but for the policy and the people, which are stored otherwise."""

    rules: JsonValue
    tool_sources: JsonValue
    pin: Annotated[
        PinHash, PlainValidator(PinHash.from_json), PlainSerializer(PinHash.as_json)
    ]
    ask_after_outside_content: OutsideCare
    notify: tuple[str, ...]
    trusted_callers: _Sorted[str]
    people_at_satellites: list[_PersonAtSatellite]
    shows_page_to_all: bool
    household_writers: HouseholdWriters
    night: TimeWindow
    guest_domains: _Sorted[_Domain]
    guest_areas: _Sorted[_Name]
    guests_since: Annotated[AwareDatetime, PlainSerializer(datetime.isoformat)]


_STORED: Final = TypeAdapter(_Stored)
HOME_RULE_KEYS: Final = frozenset(_Stored.__annotations__)
"""The names of what is stored."""


def home_rules_of(data: object) -> HomeRules:
    """Read stored rules of the home strictly: raises ValueError, which quotes no PIN, for anything else."""
    try:
        stored: dict[str, Any] = {**_STORED.validate_python(data)}
    except ValidationError as error:
        raise ValueError(
            str(error.errors(include_url=False, include_input=False))
        ) from None
    policy = policy_from_json(stored.pop("rules", []))
    sources = sources_from_json(stored.pop("tool_sources", {}))
    rows = stored.pop("people_at_satellites", ())
    return HomeRules(
        policy=replace(policy, sources=sources),
        people_at_satellites={row["device"]: row["person"] for row in rows},
        **stored,
    )


def home_rules_to_json(rules: HomeRules) -> JsonObject:
    """Write rules of the home, without defaults."""
    usual = HomeRules()
    given = {
        one.name: getattr(rules, one.name)
        for one in fields(rules)
        if getattr(rules, one.name) != getattr(usual, one.name)
    }
    people = given.pop("people_at_satellites", {}).items()
    policy = given.pop("policy", usual.policy)
    others = {
        "rules": policy_to_json(policy),
        "tool_sources": sources_to_json(policy.sources),
        "people_at_satellites": [
            {
                "device": device,
                "person": person,
            }
            for device, person in people
        ],
    }
    given |= {key: value for key, value in others.items() if value}
    written: JsonObject = _STORED.dump_python(
        cast("_Stored", given),
        mode="json",
    )
    return written


class HomeRulesStore:
    """The rules of the home, as they are stored and as they are obeyed."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store, which is read before the first agent comes up."""
        self._hass = hass
        self._file = StoredFile(
            hass,
            "home_rules",
            home_rules_of,
        )
        self._is_loaded = False
        self._is_unreadable = False
        self._has_file = False
        self._loading = asyncio.Lock()
        self.stored = HomeRules()

    @property
    def current(self) -> HomeRules:
        """The rules of the home that are obeyed now."""
        if self._is_unreadable or self._with_own_rules():
            return _LOCKED
        return self.stored

    async def async_load(self) -> None:
        """Read what is stored, once."""
        async with self._loading:
            if not self._is_loaded:
                self._is_loaded = self._is_unreadable = (
                    True  # no agent acts before they are read
                )
                await self._async_read()
                async_dispatcher_connect(
                    self._hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entries
                )
                self._report()

    async def _async_read(self, _now: datetime | None = None) -> None:
        """Read what is stored. While that is impossible, it is tried each minute, until rules are entered."""
        if not self._is_unreadable:
            return
        try:
            found = await self._file.async_load()
            if found is None and any(
                entry.minor_version >= WITH_RULES for entry in self._entries
            ):
                self._file.report(self._file.path)
                raise Unreadable  # noqa: TRY301  # it is lost
        except Unreadable:
            again = HassJob(self._async_read, cancel_on_shutdown=True)
            async_call_later(
                self._hass,
                RETRY_SECONDS,
                again,
            )
            return
        if self._is_unreadable:
            self._set(found or HomeRules())
            self._has_file = found is not None
            self._note_file()

    async def async_enter(self, rules: HomeRules) -> None:
        """Take what a person has entered, at once. Rules that an agent holds are thereby replaced.

        Guest mode stays as it is. Raises `HomeAssistantError` if it cannot be stored,
        and so holds until Home Assistant restarts.
        """
        self._set(replace(rules, guests_since=self.stored.guests_since))
        for entry, agent in self._with_own_rules():
            data = {
                key: value
                for key, value in agent.data.items()
                if key not in HOME_RULE_KEYS
            }
            self._hass.config_entries.async_update_subentry(
                entry,
                agent,
                data=data,
            )
        self._report()
        obstacle = await self._async_store()
        if obstacle:
            raise HomeAssistantError(
                translation_domain=DOMAIN,
                translation_key=f"home_rules_{obstacle}",
            )

    def async_change(self, change: Callable[[HomeRules], HomeRules]) -> None:
        """Change what is stored, unless it cannot be read."""
        if not self._is_unreadable and (rules := change(self.stored)) != self.stored:
            self._set(rules)
            _ = self._hass.async_create_task(
                self._async_store(), "chatterbox rules of the home"
            )  # HA keeps it

    async def _async_store(self) -> Obstacle | None:
        self._file.report(None)
        self._has_file = True
        self._note_file()
        return await self._file.async_save(home_rules_to_json(self.stored))

    async def async_remove(self) -> None:
        """Forget everything."""
        self._set(HomeRules())
        self._has_file = False
        self._report()
        await self._file.async_remove()

    def _set(self, rules: HomeRules) -> None:
        self.stored = rules
        self._is_unreadable = False
        async_dispatcher_send(self._hass, SIGNAL_HOME_RULES)

    @property
    def _entries(self) -> list[ConfigEntry]:
        return readable_entries(self._hass)

    def _with_own_rules(self) -> list[tuple[ConfigEntry, ConfigSubentry]]:
        """Return the agents that hold rules of their own, as those of a development version did."""
        agents = (
            (entry, agent)
            for entry in self._entries
            for agent in entry.subentries.values()
        )
        return [
            (entry, agent)
            for entry, agent in agents
            if not HOME_RULE_KEYS.isdisjoint(agent.data)
        ]

    def _note_file(self) -> None:
        """Note at every entry that there is a file, so that a file that is lost is missed."""
        for entry in self._entries if self._has_file else ():
            if entry.minor_version < WITH_RULES:
                self._hass.config_entries.async_update_entry(
                    entry, minor_version=WITH_RULES
                )

    @callback
    def _async_follow_entries(
        self, _change: ConfigEntryChange, entry: ConfigEntry
    ) -> None:
        if entry.domain == DOMAIN:
            self._report()
            self._note_file()

    def _report(self) -> None:
        async_report_rules_of_agents(
            self._hass, [agent.title for _, agent in self._with_own_rules()]
        )


async_get_home_rules: Final = home_singleton("home_rules", HomeRulesStore)
"""Returns the rules of the home."""
