"""Items → transcript → items → transcript: the second transcript is the first, and nothing of it is lost."""

from collections.abc import Callable
from itertools import count

from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ProviderItem,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.agent.responses.items.carriers import sealed_provider_items, sealed_summary
from custom_components.chatterbox.agent.responses.items.reading import Translated, to_transcript
from custom_components.chatterbox.agent.responses.items.schema import complete_item
from custom_components.chatterbox.agent.responses.items.sealed_content import Seal
from custom_components.chatterbox.agent.responses.items.writing import to_items
from custom_components.chatterbox.agent.transcript import repair

SEAL = Seal(b"a key")
LABELS = {"turn_on": "assist", "play": "music"}
WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
PICTURE: JsonObject = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
DOCUMENT: JsonObject = {"type": "input_file", "file_data": "JVBERi0xLjc="}
DETAILS: list[JsonObject] = [PICTURE, DOCUMENT, {**DOCUMENT, "filename": "a.pdf"}]


def new_ids() -> Callable[[str], str]:
    numbers = count()
    return lambda prefix: f"{prefix}_{next(numbers)}"


def parts(kind: str) -> st.SearchStrategy[JsonValue]:
    """Return a text, or parts."""
    words: st.SearchStrategy[JsonObject] = st.builds(lambda text: {"type": kind, "text": text}, WORDS)
    others = st.sampled_from(DETAILS) if kind == "input_text" else words
    return WORDS | st.lists(words | others, max_size=3).map(lambda gathered: [*gathered])


def messages() -> st.SearchStrategy[list[JsonObject]]:
    users: st.SearchStrategy[JsonObject] = parts("input_text").map(lambda content: {"role": "user", "content": content})
    told: st.SearchStrategy[JsonObject] = WORDS.map(lambda text: {"role": "developer", "content": text})
    phases = st.sampled_from([None, "commentary", "final_answer"])
    assistants: st.SearchStrategy[JsonObject] = st.builds(
        lambda content, phase: {"role": "assistant", "content": content, "phase": phase}, parts("output_text"), phases
    )
    return (users | told | assistants).map(lambda item: [item])


def reasoning() -> st.SearchStrategy[list[JsonObject]]:
    carried = WORDS.map(lambda text: sealed_provider_items((ProviderItem("anthropic", {"text": text}),), SEAL))
    summary: st.SearchStrategy[JsonValue] = st.lists(WORDS, max_size=2).map(
        lambda texts: [{"type": "summary_text", "text": text} for text in texts]
    )
    return st.builds(
        lambda thought, sealed: [{"type": "reasoning", "summary": thought, "encrypted_content": sealed}],
        summary,
        st.none() | carried | st.just("gAAAA"),
    )


def calls() -> st.SearchStrategy[list[JsonObject]]:
    """Return calls of functions, each with an id of its own and its output, and calls of the house."""
    functions: st.SearchStrategy[list[JsonObject]] = st.builds(
        lambda number, name, arguments, output: [
            {"type": "function_call", "call_id": f"call_{number}", "name": name, "arguments": arguments},
            {"type": "function_call_output", "call_id": f"call_{number}", "output": output},
        ],
        st.integers(0, 10**9),
        st.sampled_from(["weather", "clock"]),
        WORDS,
        parts("input_text"),
    )
    outcomes = st.sampled_from(["output", "error"])
    house: st.SearchStrategy[list[JsonObject]] = st.builds(
        lambda number, name, arguments, outcome, said: [
            {"type": "mcp_call", "id": f"mcp_{number}", "server_label": LABELS[name], "name": name}
            | {"arguments": arguments, outcome: said}
        ],
        st.integers(0, 10**9),
        st.sampled_from(list(LABELS)),
        WORDS,
        outcomes,
        WORDS,
    )
    return functions | house


def compactions() -> st.SearchStrategy[list[JsonObject]]:
    sealed = st.builds(
        lambda text, outside: sealed_summary(text, has_outside_content=outside, seal=SEAL), WORDS, st.booleans()
    )
    return sealed.map(lambda content: [{"type": "compaction", "encrypted_content": content}])


@st.composite
def conversations(draw: st.DrawFn) -> list[JsonObject]:
    """Return the complete items of a conversation; calls and outputs may stand apart."""
    groups = draw(st.lists(messages() | reasoning() | calls() | compactions(), max_size=8))
    later: list[JsonObject] = []
    items: list[JsonObject] = []
    for first, *rest in groups:
        items += [first] if first.get("call_id") not in {item.get("call_id") for item in items} - {None} else []
        later += rest if items[-1:] == [first] else []
        if draw(st.booleans()):
            items, later = items + later, []
    new_id = new_ids()
    return [complete_item(item, new_id) for item in _with_own_ids(items + later)]


def _with_own_ids(items: list[JsonObject]) -> list[JsonObject]:
    """Give calls of the house ids of their own."""
    return [
        {**item, "id": f"{item['id']}_{index}"} if item["type" if "type" in item else "role"] == "mcp_call" else item
        for index, item in enumerate(items)
    ]


def again(read: Translated) -> Translated:
    """Return what is read of what is written of what was read."""
    return to_transcript(to_items(read.messages, LABELS.get, new_ids(), SEAL), SEAL)


@given(conversations())
def test_the_way_back_leads_to_the_same(items: list[JsonObject]) -> None:
    read = to_transcript(items, SEAL)

    assert again(read).messages == read.messages


@given(conversations())
def test_written_items_are_complete(items: list[JsonObject]) -> None:
    """Invariants 5, 43."""
    written = to_items(to_transcript(items, SEAL).messages, LABELS.get, new_ids(), SEAL)

    assert [complete_item(item, new_ids()) for item in written] == written
    assert len({item["id"] for item in written}) == len(written)
    assert all(item["id"] != item.get("call_id") for item in written)


@given(conversations())
def test_transcripts_are_valid(items: list[JsonObject]) -> None:
    read = to_transcript(items, SEAL)

    assert repair(read.messages) == read.messages


@given(conversations())
def test_nothing_is_lost(items: list[JsonObject]) -> None:
    """Invariants 3, 5, 28, 33, 34."""
    read = to_transcript(items, SEAL)

    said = read.instructions + "".join(
        f"{message.prompt if isinstance(message, UserMessage) else message.text}" + "\n\n"
        for message in read.messages
        if not isinstance(message, ToolResult)
    )
    calls = [call for message in read.messages if isinstance(message, AssistantMessage) for call in message.tool_calls]
    for item in items:
        match item:
            case {"type": "message", "content": list(content)}:
                assert all(str(part.get("text", "")) in said for part in content if isinstance(part, dict))
            case {"type": "function_call"}:
                assert ToolCall(str(item["call_id"]), str(item["name"]), str(item["arguments"])) in calls
            case {"type": "mcp_call"}:
                assert ToolCall(str(item["id"]), str(item["name"]), str(item["arguments"])) in calls
            case _:
                pass


@given(conversations())
def test_the_order_stays(items: list[JsonObject]) -> None:
    read = to_transcript(items, SEAL)

    sent = [str(item.get("call_id", item["id"])) for item in items if item["type"] in {"function_call", "mcp_call"}]
    called = [
        call.id
        for message in read.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
        if not call.id.startswith("cmp_")
    ]
    assert called == sent


def test_calls_of_voice_get_ids_of_items() -> None:
    """What was never an item is written as one, and from then on stays the same."""
    call = ToolCall("a", "turn_on", "{}")
    messages_ = (
        UserMessage("On!"),
        AssistantMessage(tool_calls=(call,)),
        ToolResult("a", "turn_on", "", is_error=True),
    )

    items = to_items(messages_, LABELS.get, new_ids(), SEAL)

    assert [item["id"] for item in items] == ["msg_0", "mcp_a"]
    assert (items[1]["status"], items[1]["output"]) == ("failed", None)
    assert again(to_transcript(items, SEAL)) == to_transcript(items, SEAL)


def test_a_call_without_a_result_is_shown_as_failed() -> None:
    (item,) = to_items([AssistantMessage(tool_calls=(ToolCall("a", "play", "{}"),))], LABELS.get, new_ids(), SEAL)

    assert item["status"] == "failed"
