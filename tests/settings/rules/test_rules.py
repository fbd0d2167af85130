"""The rules of a household, and their plain JSON."""

from dataclasses import fields
from datetime import time

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.settings.rules import (
    Policy,
    PolicyError,
    Rule,
    TimeWindow,
    ToolSource,
    TrustLevel,
    Verdict,
    home_rules_of,
    policy_from_json,
    policy_to_json,
    sources_from_json,
    sources_to_json,
)

NAMES = st.frozensets(st.from_regex(r"[a-z][a-z0-9]{0,7}", fullmatch=True), max_size=3)
ENTITIES = st.frozensets(
    st.sampled_from(["lock.front", "light.a", "cover.garage_1"]), max_size=3
)
TIMES = st.times().map(lambda moment: moment.replace(microsecond=0, fold=0))
WINDOWS = st.none() | st.lists(TIMES, min_size=2, max_size=2, unique=True).map(
    lambda ends: TimeWindow(*ends)
)
CONDITIONS = {field.name: NAMES for field in fields(Rule)[1:]} | {
    "entities": ENTITIES,
    "actions": ENTITIES,
    "window": WINDOWS,
}
RULES = st.builds(Rule, verdict=st.sampled_from(Verdict), **CONDITIONS)


@pytest.mark.parametrize("condition", sorted(CONDITIONS.keys() - {"tools"}))
def test_a_condition_is_about_entities_or_about_the_speaker_the_place_and_the_time(
    condition: str,
) -> None:
    given: JsonValue = ["any" if condition == "domains" else "any.value"]
    window: JsonValue = {"after": "08:00", "before": "20:00"}
    (rule,) = policy_from_json(
        [{"verdict": "deny", condition: window if condition == "window" else given}]
    ).rules

    assert rule.is_about_entities is not rule.for_everybody.is_for_the_rest


@given(st.lists(RULES, max_size=4))
def test_what_is_written_is_read_as_it_was(rules: list[Rule]) -> None:
    policy = Policy(tuple(rules))

    assert policy_from_json(policy_to_json(policy)) == policy


def test_what_is_said_of_sources_is_read_as_it_was_written() -> None:
    sources = {
        "assist": ToolSource(TrustLevel.ASK),
        "script.night": ToolSource(affects=frozenset({"light.a", "cover.b"})),
    }

    written = sources_to_json({**sources, "mcp-1": ToolSource()})

    assert written == {
        "assist": {"level": "ask"},
        "script.night": {"affects": ["cover.b", "light.a"]},
    }
    assert sources_from_json(written) == sources


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {"assist": "ask"},
        {"assist": {"level": "often"}},
        {"script.night": {"affects": ["script.door"]}},
        {"script.night": {"affects": []}},
        {"script.night": {"is_free": True}},
    ],
)
def test_what_is_said_of_sources_is_read_strictly(stored: JsonValue) -> None:
    with pytest.raises(PolicyError):
        sources_from_json(stored)
    with pytest.raises(ValueError, match=r"."):
        home_rules_of({"tool_sources": stored})


def test_a_rule_is_written_without_what_is_not_given() -> None:
    rule = Rule(
        verdict=Verdict.PIN,
        domains=frozenset({"lock", "cover"}),
        window=TimeWindow(time(22, 30), time(6, 0, 5)),
    )

    assert policy_to_json(Policy((rule,))) == [
        {
            "verdict": "pin",
            "domains": ["cover", "lock"],
            "window": {"after": "22:30:00", "before": "06:00:05"},
        }
    ]


@pytest.mark.parametrize(
    ("stored", "place"),
    [
        ({}, ""),
        (None, ""),
        (["ask"], "0"),
        ([{"verdict": "ask"}, {}], "1.verdict"),
        ([{"verdict": "Ask"}], "0.verdict"),
        ([{"verdict": "ask", "entity": ["lock.a"]}], "0.entity"),
        ([{"verdict": "allow", "entities": []}], "0.entities"),
        ([{"verdict": "allow", "entities": "lock.a"}], "0.entities"),
        ([{"verdict": "allow", "entities": ["lock"]}], "0.entities.0"),
        ([{"verdict": "allow", "actions": ["unlock"]}], "0.actions.0"),
        ([{"verdict": "allow", "domains": ["lock."]}], "0.domains.0"),
        ([{"verdict": "allow", "areas": [" "]}], "0.areas.0"),
        ([{"verdict": "allow", "users": [5]}], "0.users.0"),
        ([{"verdict": "ask", "window": "night"}], "0.window"),
        ([{"verdict": "ask", "window": {"after": "22:00"}}], "0.window.before"),
        (
            [{"verdict": "ask", "window": {"after": "22:00", "before": "25:00"}}],
            "0.window.before",
        ),
        (
            [{"verdict": "ask", "window": {"after": 22, "before": "06:00"}}],
            "0.window.after",
        ),
        (
            [{"verdict": "ask", "window": {"after": "22:00", "before": "22:00:00"}}],
            "0.window",
        ),
    ],
)
def test_an_invalid_rule_is_refused_by_its_place(stored: JsonValue, place: str) -> None:
    with pytest.raises(PolicyError, match=rf"^{place}: "):
        policy_from_json(stored)


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        (
            TimeWindow(time(8), time(20)),
            [time(8), time(19, 59)],
            [time(7, 59), time(20)],
        ),
        (
            TimeWindow(time(22), time(6)),
            [time(22), time(0), time(5, 59)],
            [time(6), time(21, 59)],
        ),
    ],
)
def test_a_window_may_go_over_midnight(
    window: TimeWindow, inside: list[time], outside: list[time]
) -> None:
    assert all(window.holds(moment) for moment in inside)
    assert not any(window.holds(moment) for moment in outside)
