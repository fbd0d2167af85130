"""Rules as rows of a form: whatever a form holds is refused with a reason, or stored as exactly what was meant."""

from collections.abc import Iterator, Mapping
from datetime import time
from typing import Final

import pytest
from homeassistant.util import dt as dt_util
from hypothesis import example, given, settings, strategies as st
from pydantic import JsonValue

from custom_components.chatterbox.flows.approval_form import (
    approvals_as_form,
    read_approvals,
)
from custom_components.chatterbox.flows.rule_form import (
    CONDITIONS,
    FIELDS,
    MORE,
    read_rules,
)
from custom_components.chatterbox.runtime.rule_labels import Labels, RuleLabels
from custom_components.chatterbox.settings.options import Problem
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    Policy,
    Rule,
    TimeWindow,
    Verdict,
    home_rules_of,
    home_rules_to_json,
    with_pin_uses,
)
from tests.repository.test_translations import placeholders, texts_of
from tests.support.thorough import some_examples

_ERRORS: Final = "config_subentries.conversation.error"
_VERDICTS: Final[Mapping[str, str]] = {
    Verdict.ASK: "Ask first",
    Verdict.PIN: "PIN",
    Verdict.ALLOW: "Allow",
    Verdict.DENY: "Never",
}
PIN: Final = PinHash.of("7391", HashCost(2, 1))
WORDS: Final = RuleLabels(
    verdicts=Labels.of({**_VERDICTS}),
    of_conditions={
        "domains": Labels.of({"lock": "Lock", "cover": "Lock", "light": "cover"}),
        "device_classes": Labels.of({"garage": "Garage", "door": "Door"}),
        "actions": Labels.of(
            {"lock.unlock": "Unlock lock", "cover.open_cover": "Open"}
        ),
        "tools": Labels.of(
            {"search": "search", "intent__HassTurnOn": "intent__HassTurnOn"}
        ),
        "users": Labels.of({"1": "Anna", "2": "Anna", "Anna": "3"}),
    },
    sentences={},
    fields={name: name for name in FIELDS},
)

_TEXTS = st.sampled_from(
    [
        "",
        " ",
        "Lock",
        "cover",
        "lock",
        "Anna",
        "Anna (1)",
        "x.y",
        "light.lamp",
        "22:00",
        "é",
    ]
)
_TIMES = st.one_of(
    st.none(),
    st.sampled_from(["", "22:00:00", "22:00", "06:30:00", "late", "25:00", "7"]),
    _TEXTS,
)
_JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(_TEXTS, inner, max_size=2)
    ),
    max_leaves=4,
)
_VALUES: Mapping[str, st.SearchStrategy[list[str]]] = {
    name: st.lists(
        st.sampled_from(
            [*WORDS.of_conditions[name].ids, *WORDS.of_conditions[name].ids.values()]
        )
        if name in WORDS.of_conditions
        else st.sampled_from(
            ["light.lamp", "lock.door", "hall"]
            if name != "entities"
            else ["light.lamp", "lock.door"]
        ),
        max_size=2,
    )
    for name in CONDITIONS
}
_OPTIONAL: Mapping[str, st.SearchStrategy[object]] = {
    **_VALUES,
    "after": _TIMES,
    "before": _TIMES,
}
_NO_MORE: tuple[object, ...] = ("", None, {})
_MORE: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(_NO_MORE),
    st.fixed_dictionaries({}, optional={name: _OPTIONAL[name] for name in MORE}),
)
_ROWS = st.fixed_dictionaries(
    {"verdict": st.sampled_from([*_VERDICTS.values(), *_VERDICTS])},
    optional={**_OPTIONAL, "more": _MORE},
)
_STRANGE_ROWS = st.one_of(
    _JUNK,
    st.dictionaries(
        st.sampled_from(["verdict", "after", "before", "moat", "more", *CONDITIONS]),
        _JUNK,
        max_size=4,
    ),
)


@settings(max_examples=some_examples(400))
@given(st.one_of(st.lists(st.one_of(_ROWS, _STRANGE_ROWS), max_size=3), _JUNK))
@example([{"verdict": "Never", "domains": ["cover"]}])
@example([{"verdict": "Never", "after": "22:00", "before": "22:00:00"}])
def test_what_is_typed_is_refused_with_a_known_error_or_stored_as_it_was_meant(
    rows: JsonValue,
) -> None:
    stored = read_approvals(
        {"rules": rows, "who_speaks": {}, "pin_for": ["disarm"]}, WORDS, PIN, {}
    )

    if isinstance(stored, list):
        for problem in stored:
            text = texts_of("en")[f"{_ERRORS}.{problem.key}"]
            assert problem.place == "rules"
            assert placeholders(text) == set(problem.placeholders)
        return
    listed = (
        rows if isinstance(rows, list) else [rows] if rows not in (None, "") else []
    )
    meant = tuple(map(_meant, listed))
    assert stored.policy == Policy(with_pin_uses(meant, ["disarm"]))
    assert home_rules_of(home_rules_to_json(stored)) == stored
    form = approvals_as_form(stored, WORDS)
    assert form["pin_for"] == ["disarm"]
    assert read_rules(form["rules"], WORDS) == Policy(meant)


def _meant(row: JsonValue) -> Rule:
    """Read a row that was accepted, in the plainest way."""
    assert isinstance(row, dict)
    more = row.get("more")
    row = {**row, **more} if isinstance(more, dict) else row
    verdict = row["verdict"]
    assert isinstance(verdict, str)
    ends = [end for name in ("after", "before") if (end := _meant_time(row.get(name)))]
    return Rule(
        verdict=Verdict(WORDS.verdicts.id_of(verdict.strip())),
        window=TimeWindow(ends[0], ends[1]) if ends else None,
        **{name: frozenset(_meant_values(row, name)) for name in CONDITIONS},
    )


def _meant_time(value: JsonValue) -> time | None:
    return (
        dt_util.parse_time(value) if isinstance(value, str) and value.strip() else None
    )


def _meant_values(row: Mapping[str, JsonValue], name: str) -> Iterator[str]:
    values = row.get(name)
    ids = WORDS.of_conditions[name].ids if name in WORDS.of_conditions else {}
    for value in values if isinstance(values, list) else [values]:
        if isinstance(value, str) and value.strip():
            yield ids.get(value.strip(), value.strip())


@pytest.mark.parametrize(
    "more",
    [
        ["Anna"],
        "Anna",
        1,
        {"moat": "x"},
        {"verdict": "Allow"},
        {"entities": ["light.lamp"]},
        {"users": [], "labels": []},
    ],
)
def test_more_conditions_that_are_none_or_are_there_twice_are_refused(
    more: JsonValue,
) -> None:
    problems = read_rules(
        [{"verdict": "Never", "labels": ["risky"], "more": more}], WORDS
    )

    assert problems == [Problem("rules", "rule_unreadable", {"rule": "1"})]


def test_a_word_is_not_taken_for_an_id_that_looks_like_it() -> None:
    policy = read_rules([{"verdict": "Never", "users": ["Anna", "Anna (1)"]}], WORDS)

    assert isinstance(policy, Policy)
    assert policy.rules[0].users == {"Anna", "1"}
