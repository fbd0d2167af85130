"""How a turn went, by a clock that is set by hand."""

import json
from collections.abc import Iterable

from custom_components.chatterbox.agent.errors import ProviderBusy
from custom_components.chatterbox.agent.events import (
    Phase,
    PhaseEntered,
    PhaseTime,
    ProviderSwitched,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnFinished,
    UsageReported,
)
from custom_components.chatterbox.agent.messages import ToolCall, ToolResult, Usage
from custom_components.chatterbox.records.turn_record import (
    HandoverFacts,
    InferenceFacts,
    ToolFacts,
    TurnFacts,
    TurnRecord,
)

LIGHT = ToolCall("1", "light", "{}")
LOCK = ToolCall("2", "lock", "{}")


class Clock:
    """Seconds, as a test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def facts_of(
    events: Iterable[tuple[float, TurnEvent]], *, until: float | None = None
) -> TurnFacts:
    """Return the facts of a turn whose events come at these seconds, looked at `until` then."""
    clock = Clock()
    record = TurnRecord("Light!", clock=clock, wall_clock=lambda: 5_000.0)
    for at, event in events:
        clock.now = 100.0 + at
        record.add(event)
    if until is not None:
        clock.now = 100.0 + until
    return record.facts


TURN: list[tuple[float, TurnEvent]] = [
    (0.25, PhaseEntered(Phase.LLM_INFERENCE)),
    (0.5, ProviderSwitched("Other", "Talker: ConnectTimeout")),
    (0.75, ReasoningDelta("Hm")),
    (1.0, ToolCallReady(LIGHT)),
    (1.0, ToolCallReady(LOCK)),
    (1.5, UsageReported(Usage(100, 10, 50, 5), "other-agent")),
    (1.5, PhaseEntered(Phase.TOOL_EXECUTION)),
    (1.5, ToolStarted(LIGHT)),
    (2.0, ToolFinished(ToolResult("1", "light", "{}"))),
    (2.0, ToolFinished(ToolResult("2", "lock", "no", is_error=True, synthetic=True))),
    (2.25, PhaseEntered(Phase.LLM_INFERENCE)),
    (2.5, TextDelta("It is ")),
    (2.75, TextDelta("on.")),
    (3.0, UsageReported(Usage(200, 20, 150, 0), "agent")),
    (3.25, TurnFinished(StopReason.COMPLETED, "It is on.", Usage(300, 30, 200, 5), 2)),
]


def test_every_request_and_every_tool_has_its_times() -> None:
    facts = facts_of(TURN, until=60)

    assert facts == TurnFacts(
        began_at=5_000.0,
        duration=3.25,
        first_words=2.5,
        stop_reason=StopReason.COMPLETED,
        phases=(
            PhaseTime(Phase.LLM_INFERENCE, 0.25),
            PhaseTime(Phase.TOOL_EXECUTION, 1.5),
            PhaseTime(Phase.LLM_INFERENCE, 2.25),
        ),
        inferences=(
            InferenceFacts(
                began=0.25,
                first_token=0.5,
                duration=1.25,
                usage=Usage(100, 10, 50, 5),
                answered_by="other-agent",
            ),
            InferenceFacts(
                began=2.25,
                first_token=0.25,
                duration=0.75,
                usage=Usage(200, 20, 150, 0),
                answered_by="agent",
            ),
        ),
        tools=(
            ToolFacts(name="light", began=1.5, duration=0.5, is_error=False),
            ToolFacts(name="lock", is_error=True),
        ),
        handovers=(HandoverFacts(at=0.5, to="Other", reason="Talker: ConnectTimeout"),),
        iterations=2,
    )
    assert facts.usage == Usage(300, 30, 200, 5)


def test_a_failed_request_has_a_duration_and_no_usage() -> None:
    facts = facts_of(
        [
            (1.0, PhaseEntered(Phase.LLM_INFERENCE)),
            (4.0, PhaseEntered(Phase.TOOL_DECISION)),
        ]
    )

    assert facts.inferences == (InferenceFacts(began=1.0, duration=3.0),)
    assert facts.usage == Usage()


def test_the_facts_of_a_failed_turn_name_the_class_of_its_error_alone() -> None:
    failed = TurnFinished(
        StopReason.PROVIDER_FAILED,
        "Sorry.",
        Usage(),
        1,
        error=ProviderBusy("key abc is used up"),
    )
    facts = facts_of([(1.0, failed)])

    assert (facts.error, facts.iterations) == ("ProviderBusy", 1)
    assert "abc" not in json.dumps(facts.as_json())


def test_an_interrupted_turn_has_facts_up_to_its_end() -> None:
    facts = facts_of(TURN[:8], until=2.0)

    assert (facts.duration, facts.stop_reason, facts.first_words) == (2.0, None, None)
    assert facts.tools == (ToolFacts(name="light", began=1.5), ToolFacts(name="lock"))


def test_facts_are_json_in_milliseconds_without_words() -> None:
    data = facts_of(TURN).as_json()

    assert json.loads(json.dumps(data)) == data
    assert data["duration"] == 3250.0
    assert data["inferences"] == [
        {
            "began": 250.0,
            "first_token": 500.0,
            "duration": 1250.0,
            "usage": {
                "input_tokens": 100,
                "output_tokens": 10,
                "cached_tokens": 50,
                "reasoning_tokens": 5,
                "is_estimated": False,
            },
            "answered_by": "other-agent",
        },
        {
            "began": 2250.0,
            "first_token": 250.0,
            "duration": 750.0,
            "usage": {
                "input_tokens": 200,
                "output_tokens": 20,
                "cached_tokens": 150,
                "reasoning_tokens": 0,
                "is_estimated": False,
            },
            "answered_by": "agent",
        },
    ]
    assert data["handovers"] == [
        {"at": 500.0, "to": "Other", "reason": "Talker: ConnectTimeout"}
    ]
    assert "It is" not in json.dumps(data)


def test_a_reported_usage_counts_as_the_first_token_of_a_silent_model() -> None:
    facts = facts_of(
        [
            (0.25, PhaseEntered(Phase.LLM_INFERENCE)),
            (1.0, UsageReported(Usage(100), "agent")),
        ],
        until=2,
    )

    [inference] = facts.inferences
    assert (inference.first_token, inference.duration) == (0.75, 0.75)
    assert facts.first_words is None
