"""The rules of a household for what may be done without an approval, and their JSON.

`approvals/policy.py` applies them. Stored rules are read strictly, because a misread rule could allow too much.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Final

from homeassistant.core import valid_entity_id
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, JsonValue


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


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A part of every day in local time; it spans midnight when it ends earlier than it begins."""

    after: time
    """Included."""
    before: time
    """Not included."""

    def holds(self, now: time) -> bool:
        """Return whether a time is inside."""
        if self.after < self.before:
            return self.after <= now < self.before
        return now >= self.after or now < self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A verdict, and the conditions under which it applies: all that are given, each by any of its values."""

    verdict: Verdict
    domains: frozenset[str] = frozenset()
    device_classes: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    """Ids."""
    labels: frozenset[str] = frozenset()
    """Ids; of an entity, its device or its area."""
    entities: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    """Such as `lock.unlock`."""
    tools: frozenset[str] = frozenset()
    """Names under which they are offered."""
    users: frozenset[str] = frozenset()
    """Ids of users of Home Assistant who ask."""
    devices: frozenset[str] = frozenset()
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


class PolicyError(ValueError):
    """Stored rules that cannot be read; the message says which, why, and what is valid."""


def policy_from_json(stored: JsonValue) -> Policy:
    """Read the rules of a household. Raises `PolicyError` for anything that is not exactly a list of rules."""
    if not isinstance(stored, list):
        raise PolicyError(f"expected a list of rules, not {_kind(stored)}")
    return Policy(tuple(_rule(f"rule {number}", rule) for number, rule in enumerate(stored, start=1)))


def policy_to_json(policy: Policy) -> list[JsonValue]:
    """Write the rules of a household, without absent conditions."""
    return [_rule_to_json(rule) for rule in policy.rules]


def _rule_to_json(rule: Rule) -> JsonObject:
    written: JsonObject = {"verdict": rule.verdict.value}
    for name in _CONDITIONS:
        values: frozenset[str] = getattr(rule, name)
        if values:
            written[name] = [*sorted(values)]
    if rule.window:
        ends = {"after": rule.window.after, "before": rule.window.before}
        written["window"] = {name: end.isoformat("seconds") for name, end in ends.items()}
    return written


def _rule(place: str, stored: JsonValue) -> Rule:
    if not isinstance(stored, dict):
        raise PolicyError(f"{place}: expected an object, not {_kind(stored)}")
    known = ["verdict", *_CONDITIONS, "window"]
    if unknown := sorted(stored.keys() - set(known)):
        raise PolicyError(f"{place}: a rule has no {unknown[0]!r}; it has {', '.join(known)}")
    conditions = {
        name: _values(f"{place}, {name}", stored[name], _CONDITIONS[name]) for name in _CONDITIONS if name in stored
    }
    window = _window(f"{place}, window", stored["window"]) if "window" in stored else None
    return Rule(verdict=_verdict(place, stored.get("verdict")), window=window, **conditions)


def _verdict(place: str, stored: JsonValue) -> Verdict:
    try:
        return Verdict(str(stored))
    except ValueError:
        expected = ", ".join(verdict.value for verdict in Verdict)
        raise PolicyError(f"{place}: the verdict is one of {expected}, not {stored!r}") from None


def _values(place: str, stored: JsonValue, is_valid: Callable[[str], bool]) -> frozenset[str]:
    if not isinstance(stored, list) or not stored:
        raise PolicyError(f"{place}: expected a list with at least one text, or nothing at all, not {stored!r}")
    values: set[str] = set()
    for value in stored:
        if not isinstance(value, str) or not is_valid(value):
            raise PolicyError(f"{place}: {value!r} is not one")
        values.add(value)
    return frozenset(values)


def _window(place: str, stored: JsonValue) -> TimeWindow:
    if not isinstance(stored, dict) or stored.keys() != {"after", "before"}:
        raise PolicyError(f"{place}: expected 'after' and 'before', not {stored!r}")
    after, before = (_time(f"{place}, {name}", stored[name]) for name in ("after", "before"))
    if after == before:
        raise PolicyError(f"{place}: it begins when it ends, at {after.isoformat()}; leave it out for all day")
    return TimeWindow(after, before)


def _time(place: str, stored: JsonValue) -> time:
    parsed = dt_util.parse_time(stored) if isinstance(stored, str) else None
    if parsed is None:
        raise PolicyError(f"{place}: expected a time such as 22:30, not {stored!r}")
    return parsed


def _kind(stored: JsonValue) -> str:
    return {dict: "an object", str: "a text", type(None): "nothing"}.get(type(stored), type(stored).__name__)


def _is_name(value: str) -> bool:
    return bool(value) and value == value.strip()


def _is_domain(value: str) -> bool:
    return valid_entity_id(f"{value}.any")


_CONDITIONS: Final[Mapping[str, Callable[[str], bool]]] = {
    "domains": _is_domain,
    "device_classes": _is_name,
    "areas": _is_name,
    "labels": _is_name,
    "entities": valid_entity_id,
    "actions": valid_entity_id,
    "tools": _is_name,
    "users": _is_name,
    "devices": _is_name,
}
"""The conditions of a rule that are sets of strings, and what makes a string valid."""
