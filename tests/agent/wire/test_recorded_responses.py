"""What a real llama.cpp server sent as Responses gives the same events however it is cut."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, TextDelta
from custom_components.chatterbox.agent.messages import FinishReason, Usage
from custom_components.chatterbox.agent.providers.openai_responses import OpenAIResponsesReply

RECORDED = (Path(__file__).parents[2] / "fixtures" / "llama.cpp-0.7.0" / "responses-text.sse").read_bytes()


def events_of(*pieces: bytes) -> list[ProviderEvent]:
    reply = OpenAIResponsesReply((), "tiny.gguf")
    return [event for piece in pieces for event in reply.feed(piece)] + [*reply.end()]


def test_the_recorded_text_arrives_once_with_its_usage() -> None:
    *deltas, result = events_of(RECORDED)

    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == (
        "The kitchen light is on. **Done**, 21 °C inside — enjoy! 💡"
    )
    assert result == CompletionResult(FinishReason.STOP, Usage(21, 65, 20))


def test_byte_by_byte_gives_the_same_events() -> None:
    assert events_of(*(bytes([byte]) for byte in RECORDED)) == events_of(RECORDED)


@given(st.lists(st.integers(1, len(RECORDED) - 1), max_size=6))
def test_any_cuts_give_the_same_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(RECORDED)]

    assert events_of(*(RECORDED[start:end] for start, end in pairwise(places))) == events_of(RECORDED)
