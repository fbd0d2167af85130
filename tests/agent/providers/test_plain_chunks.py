"""What comes with every token is read in a short way, and exactly as the strict way would have read it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.errors import ProviderError
from custom_components.chatterbox.agent.events import ProviderEvent
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue, Usage
from custom_components.chatterbox.agent.providers.anthropic_messages import AnthropicMessagesReply
from custom_components.chatterbox.agent.providers.ollama_chat import OllamaChatReply
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatReply
from custom_components.chatterbox.agent.providers.openai_responses import OpenAIResponsesReply
from custom_components.chatterbox.agent.providers.reply_reader import FailureReported, ReplyReader
from custom_components.chatterbox.agent.wire import (
    anthropic_messages_reply,
    anthropic_messages_schema,
    ollama_chat,
    ollama_chat_schema,
    openai_chat_reply,
    openai_chat_schema,
    openai_responses_reply,
    openai_responses_schema,
)
from custom_components.chatterbox.agent.wire.call_assembly import CallFragment

_MADE_UP: Final = re.compile(r"\b[0-9a-f]{9}\b")

type Strategy = st.SearchStrategy[JsonValue]
type Object = st.SearchStrategy[JsonObject]


def objects(always: Mapping[str, Strategy] | None = None, **fields: Strategy) -> Object:
    """Give objects with the fields of `always`, and often one of the others."""
    usual: Object = st.fixed_dictionaries(dict(always or {}))
    others: list[Object] = [st.fixed_dictionaries({name: value}) for name, value in fields.items()]
    return st.builds(lambda base, more: base | more, usual, st.just({}) | st.one_of(others)) if others else usual


def _one_of(*values: JsonValue) -> Strategy:
    return st.sampled_from(values)


ODD: Strategy = st.sampled_from(
    [None, "", "früh", "\ud800", 0, 1, -1, 2.0, True, False, [], ["a"], {}, {"a": 1}, 2**70, "error"]
)
TEXT = _one_of("One ", " two", "", "früh") | ODD
INDEX = _one_of(0, 1) | ODD

COUNTS: Strategy = objects(
    {"prompt_tokens": ODD, "completion_tokens": ODD},
    prompt_tokens_details=objects(cached_tokens=ODD) | ODD,
    completion_tokens_details=objects(reasoning_tokens=ODD) | ODD,
    prompt_cache_hit_tokens=ODD,
)
FUNCTION: Strategy = objects(name=_one_of("on", "off") | ODD, arguments=_one_of('{"a":', "1}", "{}") | ODD) | ODD
CALL: Strategy = objects({"index": INDEX, "function": FUNCTION}, id=_one_of("a", "b") | ODD, extra_content=ODD) | ODD
CALLS: Strategy = st.lists(CALL, max_size=2)
CHAT_DELTA: Strategy = (
    objects({"content": TEXT}, role=ODD, refusal=ODD, reasoning=ODD, tool_calls=CALLS | ODD)
    | objects({"tool_calls": CALLS}, content=ODD)
    | ODD
)
CHAT_CHOICE: Strategy = objects(
    {"delta": CHAT_DELTA}, index=ODD, message=CHAT_DELTA, finish_reason=_one_of("stop") | ODD
)
CHOICES: Strategy = st.lists(CHAT_CHOICE, max_size=2)
CHAT = objects({"choices": CHOICES}, usage=COUNTS | ODD, error=ODD, object=ODD) | objects(choices=ODD)

BLOCK: Strategy = objects({"type": _one_of("text", "thinking")}, text=TEXT)
MESSAGES_DELTA: Strategy = objects({"text": TEXT}, type=ODD, thinking=ODD, signature=ODD, partial_json=ODD) | ODD
MESSAGES = (
    objects({"type": _one_of("content_block_start"), "index": INDEX, "content_block": BLOCK})
    | objects(
        {"type": _one_of("content_block_delta"), "delta": MESSAGES_DELTA},
        index=INDEX,
        error=ODD,
        content_block=BLOCK | ODD,
    )
    | objects({"type": _one_of("content_block_delta")}, delta=MESSAGES_DELTA)
    | objects({"type": _one_of("message_delta"), "delta": _one_of({"stop_reason": "end_turn"})})
)

ITEM_ID = _one_of("m1", "m2") | ODD
ITEM: Strategy = objects({"type": _one_of("message"), "id": ITEM_ID}, content=TEXT)
ITEM_EVENTS = _one_of("response.output_item.added", "response.output_item.done")
PIECE = {"type": _one_of("response.output_text.delta"), "item_id": ITEM_ID, "delta": TEXT}
RESPONSES = (
    objects({"type": ITEM_EVENTS, "item": ITEM}, output_index=INDEX)
    | objects(PIECE, output_index=INDEX)
    | objects(PIECE, output_index=INDEX, error=ODD, item=ITEM | ODD, response=ODD)
    | objects({"type": _one_of("response.completed"), "response": _one_of({"status": "completed"})})
)

OLLAMA_MESSAGE: Strategy = objects({"content": TEXT}, role=ODD, thinking=ODD, tool_calls=ODD, images=ODD) | ODD
OLLAMA = objects({"message": OLLAMA_MESSAGE, "done": st.just(value=False) | ODD}, error=ODD, done_reason=ODD)


def _chat(chunks: Iterable[str]) -> Iterator[ProviderEvent]:
    reader = openai_chat_reply.ReplyReader(())
    for sent in chunks:
        chunk = openai_chat_schema.parse_chunk(sent)
        if chunk.reported_error is not None:
            raise FailureReported(chunk.reported_error)
        yield from reader.read(chunk)
    yield from reader.end()


def _messages(events: Iterable[str]) -> Iterator[ProviderEvent]:
    reader = anthropic_messages_reply.ReplyReader(())
    for sent in events:
        event = anthropic_messages_schema.parse_event(sent)
        if event.error is not None:
            raise FailureReported(event.error)
        yield from reader.read(event)
    yield from reader.end()


def _responses(events: Iterable[str]) -> Iterator[ProviderEvent]:
    reader = openai_responses_reply.ReplyReader((), "m")
    for sent in events:
        if reader.finished:
            break
        event = openai_responses_schema.parse_event(sent)
        if event.reported_error is not None:
            raise FailureReported(event.reported_error)
        yield from reader.read(event)
    yield from reader.end()


def _ollama(lines: Iterable[str]) -> Iterator[ProviderEvent]:
    reader = ollama_chat.ReplyReader(())
    for sent in lines:
        if reader.finished:
            break
        chunk = ollama_chat_schema.parse_chunk(sent)
        if chunk.error:
            raise FailureReported(chunk.error)
        yield from reader.read(chunk)
    yield from reader.end()


@dataclass(frozen=True, slots=True)
class Way:
    """A format: how its pieces are read strictly, and by the reader that may take the short way."""

    pieces: Object
    strictly: Callable[[Iterable[str]], Iterator[ProviderEvent]]
    reader: Callable[[], ReplyReader]
    framed: str = "data: {}\n\n"


WAYS: Final = {
    "chat": Way(CHAT, _chat, lambda: OpenAIChatReply(())),
    "messages": Way(MESSAGES, _messages, lambda: AnthropicMessagesReply(())),
    "responses": Way(RESPONSES, _responses, lambda: OpenAIResponsesReply((), "m")),
    "ollama": Way(OLLAMA, _ollama, lambda: OllamaChatReply(()), "{}\n"),
}


def _fed(reader: ReplyReader, stream: str) -> Iterator[ProviderEvent]:
    yield from reader.feed(stream.encode())
    yield from reader.end()


def _outcome(events: Iterator[ProviderEvent]) -> Sequence[object]:
    """Return what was read, as text without the ids that were made up, and how it failed."""
    read: list[object] = []
    try:
        read.extend(_MADE_UP.sub("new", repr(event)) for event in events)
    except FailureReported as failure:
        read.append(("reported", failure.report))
    except ProviderError as error:
        read.append((type(error), str(error)))
    return read


@pytest.mark.parametrize("name", WAYS)
@given(data=st.data())
def test_the_short_way_reads_what_the_strict_one_reads(name: str, data: st.DataObject) -> None:
    way = WAYS[name]
    pieces = [json.dumps(piece) for piece in data.draw(st.lists(way.pieces, max_size=5))]

    fed = _outcome(_fed(way.reader(), "".join(way.framed.format(piece) for piece in pieces)))

    assert fed == _outcome(way.strictly(pieces))


@pytest.mark.parametrize(
    ("read", "sent", "brings"),
    [
        (openai_chat_schema.read_plain, {"choices": [{"index": 0, "delta": {"content": "früh"}}]}, "früh"),
        (
            openai_chat_schema.read_plain,
            {"choices": [{"delta": {"role": "assistant", "content": "", "refusal": None}, "finish_reason": None}]},
            "",
        ),
        (
            openai_chat_schema.read_plain,
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            openai_chat_schema.PlainEnd("stop", None),
        ),
        (
            openai_chat_schema.read_plain,
            {
                "choices": [],
                "usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}},
            },
            openai_chat_schema.PlainEnd("", Usage(7, 2, 3)),
        ),
        (
            openai_chat_schema.read_plain,
            {
                "choices": [
                    {
                        "delta": {
                            "content": None,
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": "a",
                                    "type": "function",
                                    "function": {"name": "on", "arguments": ""},
                                },
                                {"index": 1, "function": {"arguments": "{}"}},
                            ],
                        }
                    }
                ]
            },
            [CallFragment(0, "a", "on", ""), CallFragment(1, "", "", "{}")],
        ),
        (
            anthropic_messages_schema.plain_text,
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "früh"}},
            "früh",
        ),
        (
            openai_responses_schema.plain_piece,
            {"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "delta": "früh"},
            ("m1", "früh"),
        ),
        (ollama_chat_schema.plain_text, {"message": {"role": "assistant", "content": "früh"}, "done": False}, "früh"),
    ],
)
def test_what_comes_with_every_token_takes_the_short_way(
    read: Callable[[bytes], object], sent: JsonObject, brings: object
) -> None:
    assert read(json.dumps(sent).encode()) == brings


@pytest.mark.parametrize("sent", [b"[DONE]", b"[]", b"{", b'{"delta": "\\ud800"}'])
def test_what_is_not_usual_is_left_to_the_strict_way(sent: bytes) -> None:
    assert openai_chat_schema.read_plain(sent) is None
    assert openai_responses_schema.plain_piece(sent) is None
    assert anthropic_messages_schema.plain_text(sent) == ""
    assert ollama_chat_schema.plain_text(sent) == ""


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [], "usage": {}},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": -1}},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "completion_tokens_details": "x"}},
        {"choices": [{"delta": {"content": "One"}, "index": 1}]},
        {"choices": [{"delta": {"content": "One"}, "finish_reason": "stop"}]},
        {"choices": [{"delta": {"content": "One"}, "finish_reason": 1}]},
        {"choices": [{"delta": {"content": "One"}, "message": {"content": "One"}}]},
        {"choices": [{"delta": {"content": "One", "refusal": "No"}}]},
        {"choices": [{"delta": {"content": "One", "reasoning": "Hm."}}]},
        {"choices": [{"delta": {"content": "One", "tool_calls": [{"index": 0, "function": {}}]}}]},
        {
            "choices": [
                {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}, "finish_reason": "stop"}
            ]
        },
        {"choices": [{"delta": {"tool_calls": ["on"]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": "on", "arguments": "{}"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": 1, "function": {"arguments": "{}"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": {"a": 1}}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": 1}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {}, "extra_content": {"signed": "s"}}]}}]},
        {"choices": [], "error": "gone"},
    ],
)
def test_a_chunk_with_more_in_it_is_left_to_the_strict_way(chunk: JsonObject) -> None:
    assert openai_chat_schema.read_plain(json.dumps(chunk).encode()) is None
