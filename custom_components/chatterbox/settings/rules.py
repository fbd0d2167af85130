"""The rules for calls that run without approval, the trust in sources of tools, and their JSON.

`approvals/policy.py` applies them. Stored rules are read strictly, because a misread rule could allow too much.
Decision 34.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from homeassistant.core import valid_entity_id
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.util import dt as dt_util
from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from ..agent.messages import JsonObject, JsonValue


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
    parsed = dt_util.parse_time(value) if isinstance(value, str) else None
    if parsed is None:
        raise ValueError("expected a time such as 22:30")
    return parsed


def _valid(is_valid: Callable[[str], bool]) -> AfterValidator:
    def check(value: str) -> str:
        if not is_valid(value):
            raise ValueError("not valid")
        return value

    return AfterValidator(check)


_Time = Annotated[time, PlainValidator(_time), PlainSerializer(lambda end: end.isoformat("seconds"))]
_Name = Annotated[str, _valid(lambda name: bool(name) and name == name.strip())]
_Domain = Annotated[str, _valid(lambda domain: valid_entity_id(f"{domain}.any"))]
_EntityId = Annotated[str, _valid(valid_entity_id)]
_TargetId = Annotated[
    _EntityId, _valid(lambda entity_id: not entity_id.startswith(("automation.", "scene.", "script.")))
]
type _Some[Value] = Annotated[frozenset[Value], Field(min_length=1), PlainSerializer(sorted)]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A part of every day in local time; it spans midnight when it ends earlier than it begins."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    after: _Time
    """Included."""
    before: _Time
    """Not included."""

    def __post_init__(self) -> None:
        """Reject a window that ends when it begins."""
        if self.after == self.before:
            raise ValueError("both times are the same; without a window, a rule holds all day")

    def holds(self, now: time) -> bool:
        """Return whether a time is inside."""
        if self.after < self.before:
            return self.after <= now < self.before
        return now >= self.after or now < self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A verdict, and the conditions under which it applies: all given conditions, each by any of its values."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

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
        return bool(self.domains or self.device_classes or self.areas or self.labels or self.entities or self.actions)

    @property
    def for_everybody(self) -> Rule:
        """Return the rule without its conditions on the speaker, the place and the time."""
        return replace(self, users=frozenset(), devices=frozenset(), window=None)


class TrustLevel(StrEnum):
    """How far a source of tools is trusted."""

    FREE = "free"
    """Its calls need no approval, unless a rule about what they act on demands it."""
    ASK = "ask"
    """Each call that changes something needs approval."""
    READ = "read"
    """Its tools that change something are not offered."""


@dataclass(frozen=True, slots=True)
class ToolSource:
    """The owner's trust in a source of tools."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    level: TrustLevel | None = None
    affects: _Some[_TargetId] = frozenset()
    """For what cannot be foreseen of a script, a scene or an automation: the entities that it may change, if given."""


_VERDICTS: Final = {TrustLevel.FREE: Verdict.ALLOW, TrustLevel.ASK: Verdict.ASK, TrustLevel.READ: Verdict.DENY}


@dataclass(frozen=True, slots=True)
class Policy:
    """The permissions of agents: the first rule that matches decides; `DEFAULT_RULES` come after those of the home."""

    rules: tuple[Rule, ...] = ()
    sources: Mapping[str, ToolSource] = field(default_factory=dict)
    """By id of an LLM API, or by entity id of a script, a scene or an automation."""
    only_reads: bool = False
    """Whether nothing may be changed, as the rules are not known."""

    def level_of(self, tool: str, api_id: str) -> TrustLevel | None:
        """Return the level for a tool of an API; a script that is a tool may have one of its own."""
        if self.only_reads:
            return TrustLevel.READ
        script = self.sources.get(tool.replace("__", ".", 1)) if api_id == LLM_API_ASSIST else None
        source = script if script and script.level else self.sources.get(api_id)
        return source.level if source else None

    def only_reading(self, tools: Iterable[str], api_id: str) -> frozenset[str]:
        """Return those of the tools of an API that may change nothing."""
        return frozenset([tool for tool in tools if self.level_of(tool, api_id) is TrustLevel.READ])

    def rules_for(self, level: TrustLevel | None) -> Iterator[Rule]:
        """Yield all rules in order, for a call that changes something with a tool of this level."""
        yield from self.rules
        for source, trust in self.sources.items():
            if trust.level and valid_entity_id(source):
                yield Rule(verdict=_VERDICTS[trust.level], entities=frozenset({source}))
        if level in (TrustLevel.ASK, TrustLevel.READ):
            yield Rule(verdict=_VERDICTS[level])
        yield from DEFAULT_RULES
        if level is TrustLevel.FREE:
            yield Rule(verdict=Verdict.ALLOW)


def _ask(domain: str, *services: str, device_classes: frozenset[str] = frozenset()) -> Rule:
    actions = frozenset(f"{domain}.{service}" for service in services)
    return Rule(verdict=Verdict.ASK, domains=frozenset({domain}), device_classes=device_classes, actions=actions)


DEFAULT_RULES: Final = (
    _ask("lock", "unlock", "open"),
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
    _ask("valve", "open_valve", "set_valve_position", "toggle"),
)
"""Opening what lets people in, or water out, needs an approval. Toggling may open, and so may a position."""


class PinUse(StrEnum):
    """Uses that may need the PIN: the kinds of `DEFAULT_RULES`."""

    UNLOCK = "unlock"
    OPEN = "open"
    DISARM = "disarm"


_USES: Final = {"lock": PinUse.UNLOCK, "alarm_control_panel": PinUse.DISARM, "cover": PinUse.OPEN, "valve": PinUse.OPEN}


def pin_rules(uses: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules by which some uses need the PIN."""
    needed = (rule for rule in DEFAULT_RULES for domain in rule.domains if _USES[domain] in uses)
    return tuple(replace(rule, verdict=Verdict.PIN) for rule in needed)


def pin_uses(rules: Collection[Rule]) -> list[PinUse]:
    """Return the uses that need the PIN by the rules of `pin_rules`."""
    return [use for use in PinUse if all(rule in rules for rule in pin_rules([use]))]


def with_pin_uses(rules: Sequence[Rule], uses: Collection[str]) -> tuple[Rule, ...]:
    """Return rules by which some uses need the PIN, unless an earlier one is about them."""
    # One that refuses everything is not to be loosened.
    count = len(rules) - bool(rules and _is_for_the_rest(rules[-1]) and rules[-1].verdict is not Verdict.DENY)
    return (*rules[:count], *pin_rules(uses), *rules[count:])


def without_effect(rules: Sequence[Rule], uses: Collection[str]) -> int | None:
    """Return the number of a rule that lets a use of the PIN be done without it, at any time and for anybody."""
    for number, rule in enumerate(rules, start=1):
        is_strict = rule.verdict in (Verdict.PIN, Verdict.DENY) or (number == len(rules) and _is_for_the_rest(rule))
        if not is_strict and any(_covers(rule, other) for other in pin_rules(uses)):
            return number
    return None


def _is_for_the_rest(rule: Rule) -> bool:
    """Return whether a rule has no condition: those of the PIN come before it if it is the last one."""
    return rule == Rule(verdict=rule.verdict)


def _covers(rule: Rule, other: Rule) -> bool:
    """Return whether a rule, only on kinds of entity, is about all those of another, and about any of its actions."""
    domains, classes, actions = rule.domains, rule.device_classes, rule.actions
    is_of_kinds = rule == Rule(verdict=rule.verdict, domains=domains, device_classes=classes, actions=actions)
    is_same_action = not actions.isdisjoint(other.actions) or not (actions and other.actions)
    kinds = ((domains, other.domains), (classes, other.device_classes))
    return is_of_kinds and is_same_action and all(not mine or (theirs and mine >= theirs) for mine, theirs in kinds)


_RULES: Final = TypeAdapter(tuple[Rule, ...])
_SOURCES: Final = TypeAdapter(dict[str, ToolSource])


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
        refused = PolicyError("; ".join(f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}" for flaw in flaws))
        refused.condition, refused.value = str((*flaws[0]["loc"], "", "")[1]), str(flaws[0]["input"])
        raise refused from None


def sources_from_json(stored: JsonValue) -> Mapping[str, ToolSource]:
    """Read what the owner has said about sources of tools. Raises `PolicyError` for anything else."""
    try:
        return _SOURCES.validate_python(stored)
    except ValidationError as error:
        raise PolicyError(str(error.errors(include_url=False, include_input=False))) from None


def sources_to_json(sources: Mapping[str, ToolSource]) -> JsonObject:
    """Write what the owner has said about sources of tools, without those of which nothing is said."""
    written: JsonObject = _SOURCES.dump_python(dict(sources), mode="json", exclude_defaults=True)
    return {source: data for source, data in written.items() if data}


def policy_to_json(policy: Policy) -> list[JsonValue]:
    """Write the rules of a household, without absent conditions."""
    written: list[JsonValue] = _RULES.dump_python(policy.rules, mode="json", exclude_defaults=True)
    return written
