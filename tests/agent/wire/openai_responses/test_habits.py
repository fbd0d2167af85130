"""Whatever a server's habits are, one answer gives the same words and the same calls, each once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import assume, given, settings, strategies as st

from custom_components.chatterbox.agent.events import (
    ProviderEvent,
    TextDelta,
    ToolCallReady,
)
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall
from custom_components.chatterbox.agent.wire.openai_responses import (
    ResponsesReplyReader,
)
from tests.agent.wire.encoding import sse
from tests.support.thorough import some_examples

type Part = str | ToolCall


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a server, and its omissions."""

    begins: bool
    """Says that an item begins."""
    pieces: bool
    """Sends an item in pieces."""
    whole_arguments: bool
    """Says when arguments are whole."""
    ends: str
    """When it says that an item ends: `at once`, `late` or `never`."""
    lists: bool
    """Repeats all items at the end."""
    indexes: bool
    ids: bool

    @property
    def tells_messages(self) -> bool:
        return self.pieces or self.ends != "never" or self.lists

    @property
    def tells_calls(self) -> bool:
        return (
            (self.begins and (self.pieces or self.whole_arguments))
            or self.ends != "never"
            or self.lists
        )


HABITS = st.builds(
    Habits,
    begins=st.booleans(),
    pieces=st.booleans(),
    whole_arguments=st.booleans(),
    ends=st.sampled_from(["at once", "late", "never"]),
    lists=st.booleans(),
    indexes=st.booleans(),
    ids=st.booleans(),
)
WORDS = st.text("ab .", min_size=1, max_size=6)
ARGUMENTS = st.sampled_from(["{}", '{"x":1}', '{"name":"hall"}'])
CALLS = st.tuples(st.sampled_from(["on", "off"]), ARGUMENTS)


@st.composite
def answers(draw: st.DrawFn) -> list[Part]:
    """Draw a message, or two, and calls after it, with ids of their own."""
    texts: list[Part] = [*draw(st.lists(WORDS, max_size=2))]
    calls = draw(st.lists(CALLS, max_size=3))
    return [
        *texts,
        *(ToolCall(f"call{number}", *call) for number, call in enumerate(calls)),
    ]


def events_of(answer: Sequence[Part], habits: Habits) -> Iterator[JsonObject]:
    """Yield the stream of a server with these habits."""
    items = [_item(part, number) for number, part in enumerate(answer)]
    for number, (part, item) in enumerate(zip(answer, items, strict=True)):
        if habits.begins:
            yield {
                "type": "response.output_item.added",
                **_named(_begun(item), number, habits),
            }
        yield from _pieces(part, number, habits)
        if habits.ends == "at once":
            yield {"type": "response.output_item.done", **_named(item, number, habits)}
    if habits.ends == "late":
        for number, item in enumerate(items):
            yield {"type": "response.output_item.done", **_named(item, number, habits)}
    output = [_named(item, number, habits)["item"] for number, item in enumerate(items)]
    yield {
        "type": "response.completed",
        "response": {"status": "completed", "output": output if habits.lists else []},
    }


def _item(part: Part, number: int) -> JsonObject:
    if isinstance(part, str):
        return {
            "type": "message",
            "id": f"item{number}",
            "content": [{"type": "output_text", "text": part}],
        }
    names: JsonObject = {
        "call_id": part.id,
        "name": part.name,
        "arguments": part.arguments,
    }
    return {"type": "function_call", "id": f"item{number}", **names}


def _begun(item: JsonObject) -> JsonObject:
    return {
        **item,
        **({"content": []} if item["type"] == "message" else {"arguments": ""}),
    }


def _named(item: JsonObject, number: int, habits: Habits) -> JsonObject:
    return {"item": item, **({"output_index": number} if habits.indexes else {})}


def _pieces(part: Part, number: int, habits: Habits) -> Iterator[JsonObject]:
    place: JsonObject = {"output_index": number} if habits.indexes else {}
    if habits.ids:
        place["item_id"] = f"item{number}"
    text, kind = (
        (part, "output_text")
        if isinstance(part, str)
        else (part.arguments, "function_call_arguments")
    )
    for character in text if habits.pieces else "":
        yield {"type": f"response.{kind}.delta", **place, "delta": character}
    if isinstance(part, ToolCall) and habits.whole_arguments:
        yield {
            "type": "response.function_call_arguments.done",
            **place,
            "arguments": text,
        }


def read(events: Iterator[JsonObject]) -> list[ProviderEvent]:
    reader = ResponsesReplyReader((), "m", lambda: "new")
    ours = [one for event in events for one in reader.feed(sse(event))]
    return [*ours, *reader.end()]


@given(answer=answers(), habits=HABITS)
@settings(max_examples=some_examples(300))
def test_one_answer_is_one_answer(answer: list[Part], habits: Habits) -> None:
    texts = [part for part in answer if isinstance(part, str)]
    calls = [part for part in answer if isinstance(part, ToolCall)]
    assume(habits.tells_messages or not texts)
    assume(habits.tells_calls or not calls)

    events = read(events_of(answer, habits))

    sentence = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert sentence.replace("\n\n", "") == "".join(texts)
    assert [event.call for event in events if isinstance(event, ToolCallReady)] == calls
