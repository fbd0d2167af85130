"""The rules of a household, and their plain JSON."""

from datetime import time

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.settings.rules import (
    Policy,
    PolicyError,
    Rule,
    TimeWindow,
    Verdict,
    policy_from_json,
    policy_to_json,
)

NAMES = st.frozensets(st.from_regex(r"[a-z][a-z0-9]{0,7}", fullmatch=True), max_size=3)
ENTITIES = st.frozensets(st.sampled_from(["lock.front", "light.a", "cover.garage_1"]), max_size=3)
TIMES = st.times().map(lambda moment: moment.replace(microsecond=0, fold=0))
WINDOWS = st.none() | st.lists(TIMES, min_size=2, max_size=2, unique=True).map(lambda ends: TimeWindow(*ends))
RULES = st.builds(
    Rule,
    verdict=st.sampled_from(Verdict),
    domains=NAMES,
    device_classes=NAMES,
    areas=NAMES,
    labels=NAMES,
    entities=ENTITIES,
    actions=ENTITIES,
    tools=NAMES,
    users=NAMES,
    devices=NAMES,
    window=WINDOWS,
)


@given(st.lists(RULES, max_size=4))
def test_what_is_written_is_read_as_it_was(rules: list[Rule]) -> None:
    policy = Policy(tuple(rules))

    assert policy_from_json(policy_to_json(policy)) == policy


def test_a_rule_is_written_without_what_is_not_given() -> None:
    rule = Rule(
        verdict=Verdict.PIN, domains=frozenset({"lock", "cover"}), window=TimeWindow(time(22, 30), time(6, 0, 5))
    )

    assert policy_to_json(Policy((rule,))) == [
        {"verdict": "pin", "domains": ["cover", "lock"], "window": {"after": "22:30:00", "before": "06:00:05"}}
    ]


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        ({}, "expected a list of rules, not an object"),
        (None, "expected a list of rules, not nothing"),
        (3, "expected a list of rules, not int"),
        (["ask"], "rule 1: expected an object, not a text"),
        ([{"verdict": "ask"}, {}], "rule 2: the verdict is one of allow, ask, pin, deny, not None"),
        ([{"verdict": "Ask"}], "rule 1: the verdict is one of allow, ask, pin, deny, not 'Ask'"),
        (
            [{"verdict": "ask", "entity": ["lock.a"]}],
            (
                "rule 1: a rule has no 'entity'; it has verdict, domains, device_classes, areas, labels, entities, "
                "actions, tools, users, devices, window"
            ),
        ),
        (
            [{"verdict": "allow", "entities": []}],
            "rule 1, entities: expected a list with at least one text, or nothing at all, not []",
        ),
        (
            [{"verdict": "allow", "entities": "lock.a"}],
            "rule 1, entities: expected a list with at least one text, or nothing at all, not 'lock.a'",
        ),
        ([{"verdict": "allow", "entities": ["lock"]}], "rule 1, entities: 'lock' is not one"),
        ([{"verdict": "allow", "actions": ["unlock"]}], "rule 1, actions: 'unlock' is not one"),
        ([{"verdict": "allow", "domains": ["lock."]}], "rule 1, domains: 'lock.' is not one"),
        ([{"verdict": "allow", "areas": [" "]}], "rule 1, areas: ' ' is not one"),
        ([{"verdict": "allow", "users": [5]}], "rule 1, users: 5 is not one"),
        ([{"verdict": "ask", "window": "night"}], "rule 1, window: expected 'after' and 'before', not 'night'"),
        (
            [{"verdict": "ask", "window": {"after": "22:00"}}],
            "rule 1, window: expected 'after' and 'before', not {'after': '22:00'}",
        ),
        (
            [{"verdict": "ask", "window": {"after": "22:00", "before": "25:00"}}],
            "rule 1, window, before: expected a time such as 22:30, not '25:00'",
        ),
        (
            [{"verdict": "ask", "window": {"after": 22, "before": "25:00"}}],
            "rule 1, window, after: expected a time such as 22:30, not 22",
        ),
        (
            [{"verdict": "ask", "window": {"after": "22:00", "before": "22:00:00"}}],
            "rule 1, window: it begins when it ends, at 22:00:00; leave it out for all day",
        ),
    ],
)
def test_what_is_no_rule_is_refused_with_what_would_be_right(stored: JsonValue, error: str) -> None:
    with pytest.raises(PolicyError) as raised:
        policy_from_json(stored)

    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        (TimeWindow(time(8), time(20)), [time(8), time(19, 59)], [time(7, 59), time(20)]),
        (TimeWindow(time(22), time(6)), [time(22), time(0), time(5, 59)], [time(6), time(21, 59)]),
    ],
)
def test_a_window_may_go_over_midnight(window: TimeWindow, inside: list[time], outside: list[time]) -> None:
    assert all(window.holds(moment) for moment in inside)
    assert not any(window.holds(moment) for moment in outside)
