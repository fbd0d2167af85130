"""Rules as the rows of a form, and back: what is typed there becomes rules, or one problem that a person can mend.

Knows what a row holds. Must not know selectors, or how rules are applied. A row that is not understood is never read
as something broader than it may have meant: then the whole form waits until it is mended.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_RULES
from ..settings.options import Problem
from ..settings.rules import Policy, PolicyError, Rule, Verdict, policy_from_json
from .rule_words import RuleWords

FIELD_VERDICT: Final = "verdict"
FIELD_AFTER: Final = "after"
FIELD_BEFORE: Final = "before"
FIELDS: Final = (
    FIELD_VERDICT,
    *("entities", "areas", "domains", "device_classes", "labels", "actions"),
    *(FIELD_AFTER, FIELD_BEFORE),
    *("users", "devices", "tools"),
)
"""What a row has, in this order."""
CONDITIONS: Final = tuple(name for name in FIELDS if name not in {FIELD_VERDICT, FIELD_AFTER, FIELD_BEFORE})
"""Those that are lists, under the names that a rule has for them."""


class RowError(ValueError):
    """A row that cannot be read as a rule."""

    def __init__(self, key: str, **placeholders: str) -> None:
        """Say why by the key of a sentence, and what it names."""
        super().__init__(key)
        self.key = key
        self.placeholders = placeholders


def rows_of(policy: Policy, words: RuleWords) -> list[dict[str, Any]]:
    """Return the rules of a household as a form shows them."""
    return [_row(rule, words) for rule in policy.rules]


def _row(rule: Rule, words: RuleWords) -> dict[str, Any]:
    row: dict[str, Any] = {FIELD_VERDICT: words.verdicts.word(rule.verdict)}
    for name in CONDITIONS:
        values: frozenset[str] = getattr(rule, name)
        if values:
            known = words.of_conditions.get(name)
            row[name] = sorted(known.word(value) if known else value for value in values)
    if rule.window:
        row[FIELD_AFTER] = rule.window.after.isoformat("seconds")
        row[FIELD_BEFORE] = rule.window.before.isoformat("seconds")
    return row


def read_rules(rows: JsonValue, words: RuleWords) -> Policy | Problem:
    """Read the rows of a form, or say what is wrong with the first one that is no rule."""
    if rows in (None, ""):
        return Policy()
    rules: list[Rule] = []
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        try:
            rules.append(_rule(row, words))
        except RowError as error:
            return Problem(CONF_RULES, error.key, {"rule": str(number), **error.placeholders})
    return _problem_of_order(rules) or Policy(tuple(rules))


def _problem_of_order(rules: Sequence[Rule]) -> Problem | None:
    """Return a problem for a rule that fits everything, unless it is the last: those after it would never matter."""
    for number, rule in enumerate(rules[:-1], start=1):
        if rule == Rule(verdict=rule.verdict):
            return Problem(CONF_RULES, "rule_hides_others", {"rule": str(number)})
    return None


def _rule(row: JsonValue, words: RuleWords) -> Rule:
    if not isinstance(row, dict) or not row.keys() <= set(FIELDS):
        raise RowError("rule_unreadable")
    verdict = _text(row.get(FIELD_VERDICT))
    if not verdict:
        raise RowError("rule_without_verdict")
    stored: JsonObject = {"verdict": words.verdicts.meant(verdict)}
    for name in CONDITIONS:
        known = words.of_conditions.get(name)
        if values := _texts(row.get(name)):
            stored[name] = [known.meant(value) if known else value for value in values]
    if window := _window(row):
        stored["window"] = window
    _check_each(stored, words)
    return policy_from_json([stored]).rules[0]


def _check_each(stored: Mapping[str, JsonValue], words: RuleWords) -> None:
    """Raise for the first value that means nothing, so that it can be named."""
    verdict = str(stored["verdict"])
    if verdict not in set(Verdict):
        raise RowError("rule_value_unknown", value=verdict)
    for name in CONDITIONS:
        values = stored.get(name)
        for value in values if isinstance(values, list) else []:
            try:
                policy_from_json([{"verdict": verdict, name: [value]}])
            except PolicyError:
                known = words.of_conditions.get(name)
                shown = known.word(str(value)) if known else str(value)
                raise RowError("rule_value_unknown", value=shown) from None


def _window(row: JsonObject) -> JsonObject | None:
    after, before = (_text(row.get(name)) for name in (FIELD_AFTER, FIELD_BEFORE))
    if not after and not before:
        return None
    if not (after and before):
        raise RowError("rule_half_a_time")
    ends = [dt_util.parse_time(text) for text in (after, before)]
    for text, end in zip((after, before), ends, strict=True):
        if end is None:
            raise RowError("rule_value_unknown", value=text)
    if ends[0] == ends[1]:
        raise RowError("rule_without_time")
    return {"after": after, "before": before}


def _text(value: JsonValue) -> str:
    """Return a text without the spaces around it, empty for nothing; raises `RowError` for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError("rule_unreadable")
    return value.strip()


def _texts(value: JsonValue) -> list[str]:
    """Return the texts of a list, or of one text, without empty ones."""
    values = value if isinstance(value, list) else [value]
    return [text for text in map(_text, values) if text]
