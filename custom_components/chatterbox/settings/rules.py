"""The rules of a household for what may be done without an approval, and their JSON.

`approvals/policy.py` applies them. Stored rules are read strictly, because a misread rule could allow too much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from homeassistant.core import valid_entity_id
from homeassistant.util import dt as dt_util
from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from ..agent.messages import JsonValue


class Verdict(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    """Somebody has to approve it."""
    PIN = "pin"
    """Somebody has to approve it with the PIN."""
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
        """Refuse a window that ends when it begins."""
        if self.after == self.before:
            raise ValueError("both times are the same; without a window, a rule holds all day")

    def holds(self, now: time) -> bool:
        """Return whether a time is inside."""
        if self.after < self.before:
            return self.after <= now < self.before
        return now >= self.after or now < self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A verdict, and the conditions under which it applies: all that are given, each by any of its values."""

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
    """Ids of users of Home Assistant who ask."""
    devices: _Some[_Name] = frozenset()
    """Ids of devices that are asked from: satellites, not what a signed-in user says."""
    window: TimeWindow | None = None

    @property
    def is_about_entities(self) -> bool:
        """Return whether it has a condition on what is acted on."""
        return bool(self.domains or self.device_classes or self.areas or self.labels or self.entities or self.actions)


@dataclass(frozen=True, slots=True)
class Policy:
    """What an agent may do: the first rule that matches decides; `DEFAULT_RULES` come after those of the household."""

    rules: tuple[Rule, ...] = ()


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


_RULES: Final = TypeAdapter(tuple[Rule, ...])


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


def policy_to_json(policy: Policy) -> list[JsonValue]:
    """Write the rules of a household, without absent conditions."""
    written: list[JsonValue] = _RULES.dump_python(policy.rules, mode="json", exclude_defaults=True)
    return written
