"""However a recorded stream is cut, the same is said, thought and called.

Every stream under `tests/fixtures` is found by itself: its name begins with that of its
wire format, as in `chat-text.sse`. Where nobody has recorded a format, or calls in it,
the contract's dialects play the service.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from custom_components.chatterbox.agent.events import (
    CompletionResult,
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
)
from custom_components.chatterbox.agent.messages import FinishReason, ToolCall
from custom_components.chatterbox.speech.text import SpeechFilter
from tests.agent.providers.contract.dialect import Answer, Dialect
from tests.agent.providers.contract.dialects import DIALECTS
from tests.agent.repair.hearing import Heard, cuts, hear
from tests.agent.repair.written_examples import TURN_ON

FIXTURES = Path(__file__).parents[3] / "fixtures"
ENDINGS = {".sse", ".ndjson"}
FORMATS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "messages": "anthropic_messages",
    "ollama": "ollama_chat",
}
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}

RECORDED = sorted(
    path.relative_to(FIXTURES) for path in FIXTURES.rglob("*") if path.suffix in ENDINGS
)
EVERYTHING = Answer(
    text=("Grüß 💡 **dich**. ", '<tool_call>{"name":', ' "dance"}</tool_call>Fertig.'),
    reasoning=("Hm, ", "früh."),
    calls=(
        ToolCall("call00001", "turn_on", '{"name":"Küche 💡"}'),
        ToolCall("call00002", "weather", "{}"),
    ),
    finish=FinishReason.TOOL_CALLS,
)
PLAYED = [f"{dialect.name}, played" for dialect in DIALECTS]
ALL = [*map(str, RECORDED), *PLAYED]


def dialect_of(name: str) -> Dialect:
    if name in PLAYED:
        return DIALECTS[PLAYED.index(name)]
    return BY_NAME[FORMATS[Path(name).name.partition("-")[0]]]


def bytes_of(name: str) -> bytes:
    return (
        dialect_of(name).render(EVERYTHING)
        if name in PLAYED
        else (FIXTURES / name).read_bytes()
    )


def read(name: str, pieces: list[bytes]) -> list[ProviderEvent]:
    reader = dialect_of(name).reader(())
    return [*(event for piece in pieces for event in reader.feed(piece)), *reader.end()]


def cuts_in_two(stream: bytes) -> Iterator[list[bytes]]:
    """Yield pieces until each byte was the last of one, and no line is cut twice: a decoder keeps no more than one."""
    size = max(map(len, stream.split(b"\n"))) + 2
    for first in range(1, size + 1):
        yield [
            stream[:first],
            *(
                stream[start : start + size]
                for start in range(first, len(stream), size)
            ),
        ]


def test_every_recorded_stream_has_a_format() -> None:
    assert RECORDED
    for path in RECORDED:
        assert path.name.partition("-")[0] in FORMATS, (
            f"name {path} after its format: one of {', '.join(FORMATS)}"
        )
    assert {*FORMATS.values()} == BY_NAME.keys()


@pytest.mark.parametrize("name", ALL)
def test_every_cut_gives_the_same_events(
    name: str, pytestconfig: pytest.Config
) -> None:
    stream = bytes_of(name)
    whole = read(name, [stream])

    assert isinstance(whole[-1], CompletionResult)
    assert read(name, [bytes([byte]) for byte in stream]) == whole
    step = 1 if pytestconfig.getoption("thorough") else 11
    for pieces in islice(cuts_in_two(stream), None, None, step):
        assert b"".join(pieces) == stream
        assert read(name, pieces) == whole, len(pieces[0])


@pytest.mark.parametrize("name", ALL)
def test_every_cut_of_what_is_said_gives_the_same_speech_and_calls(name: str) -> None:
    events = read(name, [bytes_of(name)])
    whole = heard_and_spoken(events)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))

    for pieces in cuts(text):
        assert heard_and_spoken(with_text_in(pieces, events)) == whole, pieces[0]


def with_text_in(pieces: list[str], events: list[ProviderEvent]) -> list[ProviderEvent]:
    """Return the events with their text in other pieces, all after the reasoning and before the calls."""
    before = [event for event in events if isinstance(event, ReasoningDelta)]
    after = [
        event for event in events if not isinstance(event, ReasoningDelta | TextDelta)
    ]
    return [*before, *map(TextDelta, pieces), *after]


def heard_and_spoken(
    events: list[ProviderEvent],
) -> tuple[str, str, str, list[tuple[str, str]], FinishReason]:
    """Return what comes of events through the recogniser of calls, and what the speech filter says of it."""
    heard = hear(*events)
    speech = SpeechFilter("en")
    spoken = (
        "".join(speech.feed(character) for character in heard.text) + speech.finish()
    )
    return heard.text, spoken, heard.thought, heard.calls, heard.finish


@pytest.mark.parametrize("name", ["chat-think-tags.sse", "chat-reasoning-content.sse"])
def test_recorded_reasoning(name: str) -> None:
    heard = hear_recorded(name)

    assert (heard.text, heard.thought) == ("The light is on.", "The user wants light. ")
    assert heard.finish is FinishReason.STOP


def test_a_recorded_call_in_text() -> None:
    heard = hear_recorded("chat-tool-call-as-text.sse")

    assert (heard.text, heard.calls) == ("", [(TURN_ON, '{"name":"Kitchen Light"}')])
    assert heard.finish is FinishReason.TOOL_CALLS


@pytest.mark.parametrize(
    "name", ["chat-text.sse", "chat-length.sse", "responses-text.sse"]
)
def test_recorded_streams_without_markup_stay_as_they_are(name: str) -> None:
    as_sent = Heard()
    for event in recorded(name):
        as_sent.add(event)

    assert hear_recorded(name) == as_sent


def test_played_streams_become_calls_and_speech() -> None:
    for name in PLAYED:
        words, spoken, thought, calls, finish = heard_and_spoken(
            read(name, [bytes_of(name)])
        )

        assert (words, spoken, thought) == (
            "Grüß 💡 **dich**. Fertig.",
            "Grüß dich. Fertig.",
            "Hm, früh.",
        )
        assert calls == [
            ("dance", "{}"),
            ("turn_on", '{"name":"Küche 💡"}'),
            ("weather", "{}"),
        ]
        assert finish is FinishReason.TOOL_CALLS


def recorded(name: str) -> list[ProviderEvent]:
    path = f"llama.cpp-0.7.0/{name}"
    return read(path, [bytes_of(path)])


def hear_recorded(name: str) -> Heard:
    return hear(*recorded(name))
