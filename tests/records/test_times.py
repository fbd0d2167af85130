"""How a turn went, as people see it who look into their voice assistant."""

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.records.turn_record import (
    HandoverFacts,
    InferenceFacts,
    ToolFacts,
    TurnFacts,
    times_of,
)

EMPTY = TurnFacts(
    began_at=0,
    duration=0.5,
    first_words=None,
    stop_reason=None,
    phases=(),
    inferences=(InferenceFacts(began=0.1),),
    tools=(),
    handovers=0,
)


def test_a_turn_is_told_line_by_line() -> None:
    facts = TurnFacts(
        began_at=5_000,
        duration=3.25,
        first_words=2.5,
        stop_reason=StopReason.PROVIDER_FAILED,
        error="ProviderBusy",
        phases=(),
        inferences=(
            InferenceFacts(began=0.25, first_token=0.5, duration=1.2504, usage=Usage(100, 10, 50, 5), answered_by="a"),
        ),
        tools=(
            ToolFacts(name="light", began=1.5, duration=0.5, is_error=False),
            ToolFacts(name="lock", began=1.5, duration=0.25, is_error=True),
            ToolFacts(name="cover", is_error=True),
        ),
        handovers=1,
        handed_over=(HandoverFacts(at=0.3, to="Helper", reason="Talker: ConnectTimeout"),),
    )

    assert times_of(facts).splitlines() == [
        "turn: 3250 ms, first words after 2500 ms",
        "request 1: 1250 ms, began at 250 ms, first token after 500 ms, 100 tokens read, 50 cached, 10 written",
        "tool light: 500 ms, began at 1500 ms",
        "tool lock: 250 ms, began at 1500 ms, error",
        "tool cover: did not run",
        "taken over by Helper at 300 ms: Talker: ConnectTimeout",
        "end: provider_failed ProviderBusy",
    ]


def test_a_turn_that_was_cut_off_is_told_as_far_as_it_came() -> None:
    assert times_of(EMPTY).splitlines() == [
        "turn: 500 ms, first words after -",
        "request 1: -, began at 100 ms, first token after -, no answer",
        "end: interrupted",
    ]
