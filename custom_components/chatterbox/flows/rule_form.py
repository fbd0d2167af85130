"""Rules as rows of a form, in both directions.

The frontend shows a list of rules with the values of their choices, not with the labels
of these. So the values in our forms are the labels themselves, and each label means
exactly one ID. A row that cannot be read is an error: it is never read as a broader
rule.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from homeassistant.components.lock import DOMAIN as LOCK_DOMAIN
from homeassistant.const import SERVICE_UNLOCK
from homeassistant.util import dt as dt_util

from ..agent.json.text import as_list
from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_PIN, CONF_RULES
from ..runtime.rule_labels import RuleLabels
from ..settings.options import Problem
from ..settings.rules import (
    Policy,
    PolicyError,
    Rule,
    RuleRefused,
    TimeWindow,
    Verdict,
    policy_from_json,
)

FIELD_VERDICT: Final = "verdict"
FIELD_AFTER: Final = "after"
FIELD_BEFORE: Final = "before"
FIELD_MORE: Final = "more"
MORE: Final = (
    "device_classes",
    "labels",
    FIELD_AFTER,
    FIELD_BEFORE,
    "users",
    "devices",
    "tools",
)
"""The fields of the row within a row that is closed at first, in order. The frontend has no sections within rows."""
FIELDS: Final = (
    FIELD_VERDICT,
    "entities",
    "areas",
    "domains",
    "actions",
    *MORE,
)
"""All fields of a row, in order."""
CONDITIONS: Final = tuple(
    name for name in FIELDS if name not in {FIELD_VERDICT, FIELD_AFTER, FIELD_BEFORE}
)
"""The fields that are lists, by the names of the attributes of `Rule`."""

_UNLOCKING: Final = frozenset(
    {f"{LOCK_DOMAIN}.{SERVICE_UNLOCK}", f"{LOCK_DOMAIN}.open"}
)


def row_of(
    rule: Rule,
    labels: RuleLabels,
) -> dict[str, Any]:
    """Return a rule as a row."""
    row: dict[str, Any] = {FIELD_VERDICT: labels.verdicts.label(rule.verdict)}
    for name in CONDITIONS:
        values: frozenset[str] = getattr(rule, name)
        if values:
            known = labels.of_conditions.get(name)
            row[name] = sorted(
                known.label(value) if known else value for value in values
            )
    row |= times_of(rule.window)
    more = {name: row.pop(name) for name in MORE if name in row}
    return row | ({FIELD_MORE: more} if more else {})


def times_of(window: TimeWindow | None) -> dict[str, str]:
    """Return the fields of a part of the day."""
    if window is None:
        return {}
    return {
        FIELD_AFTER: window.after.isoformat("seconds"),
        FIELD_BEFORE: window.before.isoformat("seconds"),
    }


def read_rules(
    rows: JsonValue,
    labels: RuleLabels,
    *,
    has_pin: bool = True,
) -> Policy | list[Problem]:
    """Return the rules of rows, or the problems of all invalid rows; without a PIN, no rule can ask for it."""
    if rows in (None, ""):
        return Policy()
    rules = dict[int, Rule]()
    problems = list[Problem]()
    for number, row in enumerate(as_list(rows), start=1):
        try:
            rules[number] = _rule(row, labels)
        except RuleRefused as error:
            problems.append(
                Problem(
                    CONF_RULES, error.key, {"rule": str(number), **error.placeholders}
                )
            )
    problem = _problem_of_order(rules)
    if problem:
        problems.append(problem)
    asking = [
        number
        for number, rule in rules.items()
        if rule.verdict is Verdict.PIN and not has_pin
    ]
    problems += [
        Problem(
            CONF_PIN,
            "pin_needed",
            {"rule": str(number)},
        )
        for number in asking[:1]
    ]
    return problems or Policy(tuple(rules.values()))


def rules_on_locking(policy: Policy) -> tuple[int, ...]:
    """Return the numbers of rules on locks that also hold their locking, which no household needs to be asked about."""
    return tuple(
        number
        for number, rule in enumerate(policy.rules, start=1)
        if _is_on_any_use_of_locks(rule)
    )


def only_on_unlocking(policy: Policy) -> Policy:
    """Return rules that leave locking alone, otherwise unchanged."""
    rules = (
        replace(
            rule,
            actions=_UNLOCKING,
        )
        if _is_on_any_use_of_locks(rule)
        else rule
        for rule in policy.rules
    )
    return replace(policy, rules=tuple(rules))


def _is_on_any_use_of_locks(rule: Rule) -> bool:
    domains = rule.domains or {
        entity_id.partition(".")[0] for entity_id in rule.entities
    }
    return (
        rule.verdict is not Verdict.ALLOW
        and domains == {LOCK_DOMAIN}
        and not rule.actions
        and not rule.tools
    )


def _problem_of_order(rules: Mapping[int, Rule]) -> Problem | None:
    """Return a problem if a rule without conditions is not the last one: those after it would never apply."""
    for number, rule in [*rules.items()][:-1]:
        if rule.is_for_the_rest:
            return Problem(
                CONF_RULES,
                "rule_hides_others",
                {"rule": str(number)},
            )
    return None


def _rule(
    row: JsonValue,
    labels: RuleLabels,
) -> Rule:
    row = _flat(row)
    verdict = _text(row.get(FIELD_VERDICT))
    if not verdict:
        raise RuleRefused("rule_without_verdict")
    stored: JsonObject = {"verdict": labels.verdicts.id_of(verdict)}
    for name in CONDITIONS:
        known = labels.of_conditions.get(name)
        values = _texts(row.get(name))
        if values:
            stored[name] = [known.id_of(value) if known else value for value in values]
    window = _window(row)
    if window:
        stored["window"] = window
    try:
        return policy_from_json([stored]).rules[0]
    except PolicyError as error:
        known = labels.of_conditions.get(error.condition)
        raise RuleRefused(
            "rule_value_unknown",
            value=known.label(error.value) if known else error.value,
        ) from None


def _flat(row: JsonValue) -> JsonObject:
    """Return a row with the fields of the row within it. Raises `RuleRefused` for one that holds anything else."""
    if not isinstance(row, dict):
        raise RuleRefused("rule_unreadable")
    others = {name: value for name, value in row.items() if name != FIELD_MORE}
    more = row.get(FIELD_MORE) or {}
    if (
        not isinstance(more, dict)
        or not others.keys() <= {*FIELDS} - more.keys()
        or not more.keys() <= {*MORE}
    ):
        raise RuleRefused("rule_unreadable")
    return others | more


def _window(row: JsonObject) -> JsonObject | None:
    after, before = (_text(row.get(name)) for name in (FIELD_AFTER, FIELD_BEFORE))
    if not after and not before:
        return None
    if not (after and before):
        raise RuleRefused("rule_half_a_time")
    ends = {dt_util.parse_time(after), dt_util.parse_time(before)}
    if len(ends) == 1 and None not in ends:
        raise RuleRefused("rule_without_time")
    return {
        "after": after,
        "before": before,
    }


def _text(value: JsonValue) -> str:
    """Return a stripped text, empty for None. Raises `RuleRefused` for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RuleRefused("rule_unreadable")
    return value.strip()


def _texts(value: JsonValue) -> list[str]:
    """Return the texts of a list, or a single text as a list, without empty ones."""
    return [text for text in map(_text, as_list(value)) if text]
