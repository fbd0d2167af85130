"""Sums of what agents do: nothing is lost, counted twice or given to the wrong one, and a day is spent once."""

from datetime import date, timedelta

import pytest
from homeassistant.helpers.json import json_bytes
from homeassistant.util.json import json_loads
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import JsonValue, Usage
from custom_components.chatterbox.records.turn_record import (
    HandoverFacts,
    InferenceFacts,
    ToolFacts,
    TurnFacts,
)
from custom_components.chatterbox.usage.tracker import (
    AgentUsage,
    Budget,
    ModelPrice,
    Rates,
    UsageTotals,
)

DAY = date(2026, 11, 22)
PRICES = {
    "cheap": ModelPrice(Rates(1, 0.5, 2)),
    "dear": ModelPrice(Rates(10, 1, 50)),
    "unpriced": None,
}
AGENTS = sorted(PRICES)


def turn(
    *inferences: InferenceFacts,
    tools: tuple[ToolFacts, ...] = (),
    stop_reason: StopReason | None = StopReason.COMPLETED,
    handovers: tuple[HandoverFacts, ...] = (),
) -> TurnFacts:
    """Return how a turn went."""
    return TurnFacts(
        began_at=0,
        duration=1,
        stop_reason=stop_reason,
        inferences=inferences,
        tools=tools,
        handovers=handovers,
    )


def answered(usage: Usage | None, by: str) -> InferenceFacts:
    """Return a request to a model."""
    return InferenceFacts(began=0, usage=usage, answered_by=by)


def test_tokens_count_for_the_model_and_the_turn_for_its_agent() -> None:
    facts = turn(
        answered(Usage(100, 10, 40, 5), "cheap"),
        answered(Usage(200, 20, 100, 0), "dear"),
        answered(None, ""),
        answered(Usage(7, 7), ""),
        tools=(ToolFacts(name="light", began=1.0), ToolFacts(name="refused")),
        handovers=(HandoverFacts(at=0, to="Other", reason="ConnectTimeout"),),
    )

    totals = UsageTotals().with_turn("cheap", "turn-1", facts, PRICES.get, DAY)

    cheap, dear = totals.of("cheap"), totals.of("dear")
    assert (
        cheap.input_tokens,
        cheap.cached_tokens,
        cheap.output_tokens,
        cheap.reasoning_tokens,
    ) == (100, 40, 10, 5)
    assert (
        cheap.inferences,
        cheap.turns,
        cheap.tool_calls,
        cheap.failovers,
        cheap.failures,
    ) == (1, 1, 1, 1, 0)
    assert cheap.cost == pytest.approx((60 * 1 + 40 * 0.5 + 10 * 2) / 1e6)
    assert (dear.input_tokens, dear.inferences, dear.turns, dear.failovers) == (
        200,
        1,
        0,
        0,
    )
    assert (
        dear.cost
        == dear.spent_on(DAY)
        == pytest.approx((100 * 10 + 100 * 1 + 20 * 50) / 1e6)
    )
    assert set(totals.agents) == {"cheap", "dear"}


@pytest.mark.parametrize(
    ("stop_reason", "failures"),
    [
        (StopReason.COMPLETED, 0),
        (StopReason.APPROVAL_REQUIRED, 0),
        (StopReason.PROMPT_DENIED, 0),
        (None, 0),
        (StopReason.PROVIDER_FAILED, 1),
        (StopReason.DEADLINE, 1),
        (StopReason.OUTPUT_UNFIT, 1),
        (StopReason.MAX_ITERATIONS, 1),
    ],
)
def test_only_unintended_stop_reasons_count_as_failures(
    stop_reason: StopReason | None, failures: int
) -> None:
    usage = (
        UsageTotals()
        .with_turn("cheap", "a", turn(stop_reason=stop_reason), PRICES.get, DAY)
        .of("cheap")
    )

    assert (usage.turns, usage.failures) == (1, failures)


def test_a_turn_is_counted_once() -> None:
    facts = turn(answered(Usage(100, 10), "dear"))
    once = UsageTotals().with_turn("cheap", "a", facts, PRICES.get, DAY)
    stored = UsageTotals.from_json(json_loads(json_bytes(once)))

    assert once.with_turn("cheap", "a", facts, PRICES.get, DAY) is once
    assert stored.with_turn("cheap", "a", facts, PRICES.get, DAY) is stored


def test_the_ids_of_turns_do_not_grow_for_ever() -> None:
    totals = UsageTotals()
    for number in range(1000):
        totals = totals.with_turn("cheap", str(number), turn(), PRICES.get, DAY)

    assert totals.of("cheap").turns == 1000
    assert len(totals.turns) < 100


def test_the_days_do_not_grow_for_ever() -> None:
    usage = AgentUsage()
    for number in range(400):
        usage = usage.with_request(
            Usage(1_000_000), PRICES["cheap"], DAY + timedelta(days=number)
        )
    last = DAY + timedelta(days=399)

    assert len(usage.spent) < 50
    assert usage.spent_on(last) == 1
    assert usage.spent_in_month_of(last) == last.day
    assert usage.cost == 400


def test_a_clock_that_is_set_back_gives_no_day_a_second_time() -> None:
    usage = AgentUsage().with_request(Usage(3_000_000), PRICES["cheap"], DAY)
    tomorrow = DAY + timedelta(days=1)
    usage = usage.with_request(Usage(1_000_000), PRICES["cheap"], tomorrow)

    assert Budget(per_day=3).spent(usage, DAY) == ("day", 3)
    assert Budget(per_day=3).spent(usage, tomorrow) is None
    assert usage.with_request(Usage(1_000_000), PRICES["cheap"], DAY).spent_on(DAY) == 4


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(), None),
        (Budget(per_day=2), None),
        (Budget(per_day=1), ("day", 1)),
        (Budget(per_day=0), ("day", 0)),
        (Budget(per_month=3.5), None),
        (Budget(per_month=3), ("month", 3)),
        (Budget(per_day=1, per_month=3), ("month", 3)),
    ],
)
def test_a_budget_is_spent_when_its_limit_is_reached(
    budget: Budget, spent: tuple[str, float] | None
) -> None:
    """One dollar was spent on the day, and two on another one of its month."""
    usage = AgentUsage().with_request(
        Usage(2_000_000), PRICES["cheap"], DAY - timedelta(days=1)
    )
    usage = usage.with_request(Usage(1_000_000), PRICES["cheap"], DAY)

    assert budget.spent(usage, DAY) == spent


@pytest.mark.parametrize(
    "stored",
    [None, [], {"agents": 1, "turns": []}, {"agents": {"a": {"turns": "many"}}}],
)
def test_something_else_is_not_read(stored: JsonValue) -> None:
    with pytest.raises(ValueError, match="validation error"):
        UsageTotals.from_json(stored)


def test_unknown_fields_are_ignored() -> None:
    stored: JsonValue = {
        "agents": {"a": {"turns": 3, "smiles": 7}},
        "turns": ["x"],
        "more": True,
    }

    assert UsageTotals.from_json(stored) == UsageTotals(
        {"a": AgentUsage(turns=3)}, ("x",)
    )


def test_an_absurd_count_can_be_stored() -> None:
    usage = (
        AgentUsage()
        .with_request(Usage(2**64, 1), None, DAY)
        .with_request(Usage(2**64), None, DAY)
    )

    assert json_bytes(usage)
    assert usage.output_tokens == 1


counts = st.integers(0, 10**9)
usages = st.builds(
    lambda tokens_in, cached, wrote, thought: Usage(
        tokens_in, wrote, min(tokens_in, cached), min(wrote, thought)
    ),
    *[counts] * 4,
)
inferences = st.builds(answered, st.none() | usages, st.sampled_from([*AGENTS, ""]))
turns = st.tuples(
    st.sampled_from(AGENTS),
    st.integers(0, 5).map(str),
    st.lists(inferences, max_size=4),
)
days = st.integers(-40, 40).map(lambda days: DAY + timedelta(days=days))


@given(st.lists(st.tuples(turns, days), max_size=20))
def test_sums_are_those_of_their_parts_and_never_shrink(
    messages: list[tuple[tuple[str, str, list[InferenceFacts]], date]],
) -> None:
    totals, parts, seen = UsageTotals(), list[InferenceFacts](), set[str]()
    for (agent, turn_id, requests), day in messages:
        before = totals
        totals = before.with_turn(agent, turn_id, turn(*requests), PRICES.get, day)
        if turn_id not in seen:
            parts += requests
            seen.add(turn_id)
        for name, usage in before.agents.items():
            after = totals.of(name)
            assert after.cost >= usage.cost
            assert (after.input_tokens, after.turns) >= (
                usage.input_tokens,
                usage.turns,
            )
        # What was stored is what goes on.
        totals = UsageTotals.from_json(json_loads(json_bytes(totals)))

    assert sum(usage.turns for usage in totals.agents.values()) == len(seen)
    for name in AGENTS:
        own = [
            one.usage
            for one in parts
            if one.answered_by == name and one.usage is not None
        ]
        total, usage, price = sum(own, Usage()), totals.of(name), PRICES[name]
        assert total == Usage(
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        )
        assert usage.inferences == len(own)
        assert usage.cost == pytest.approx(
            sum(price.cost(one) for one in own) if price else 0
        )
        assert sum(
            money for span, money in usage.spent.items() if len(span) > 7
        ) <= usage.cost * (1 + 1e-9)
