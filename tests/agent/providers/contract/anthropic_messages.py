"""The Messages format, from the service's side.

Source: Claude API reference, "Create a message" and "List models"; the guides
"Streaming messages", "Handle tool calls", "Thinking", "Prompt caching", "Vision", "PDF
support"; "Errors".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ProviderItem,
    Transcript,
    Usage,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.anthropic_messages import (
    AnthropicMessagesProvider,
)
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.wire.anthropic_messages import (
    AnthropicReplyReader,
    request_to_payload,
)

from .dialect import KEY, MODEL, Answer, Refusal

SIGNATURE = "EqoBCkgIARABGAIiQL2UoU0b1OHYi+yCHpBY7U6FQW8/FcoLewocJQPa2HnmLM+NECy50y44F/kD4SULFXi57buI9fAvyBwtyjlOiO0="
CACHE: JsonObject = {"type": "ephemeral"}

STOP_REASONS = {
    FinishReason.STOP: "end_turn",
    FinishReason.TOOL_CALLS: "tool_use",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.CONTENT_FILTER: "refusal",
}


class AnthropicMessagesDialect:
    """Anthropic's own service."""

    name: ClassVar[str] = "anthropic_messages"
    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    completion_target: ClassVar[str] = "/v1/messages"
    models_target: ClassVar[str] = "/v1/models?limit=1000"
    carries_call_ids: ClassVar[bool] = True
    has_json_arguments: ClassVar[bool] = False
    can_forbid_calls: ClassVar[bool] = True
    finish_reasons: ClassVar[frozenset[FinishReason]] = frozenset(STOP_REASONS)
    refusal: ClassVar[Refusal] = Refusal(
        ModelOptions(temperature=0.5),
        ("temperature",),
        b'{"type":"error","error":{"type":"invalid_request_error",'
        b'"message":"`temperature` is deprecated for this model."},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}',
    )

    length: ClassVar[tuple[str, ...]] = ("max_tokens",)
    medium_effort: ClassVar[JsonObject] = {
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "medium"},
    }
    low_verbosity: ClassVar[JsonObject] = {}
    single_calls: ClassVar[JsonObject] = {
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}
    }
    output_beside_tools: ClassVar[bool] = True
    output_refusal: ClassVar[str] = (
        "output_config.format: structured outputs are not supported by this model"
    )

    provider_class: ClassVar[type[HTTPProvider]] = AnthropicMessagesProvider

    def reader(self, transcript: Transcript) -> AnthropicReplyReader:
        return AnthropicReplyReader(transcript)

    def payload(self, request: CompletionRequest) -> JsonObject:
        return request_to_payload(request, MODEL, 300)

    def render(self, answer: Answer) -> bytes:
        usage: JsonObject = {
            "input_tokens": answer.usage.input_tokens - answer.usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.usage.cached_tokens,
            "output_tokens": min(answer.usage.output_tokens, 1),
        }
        message: JsonObject = {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        end: JsonObject = {
            "stop_reason": STOP_REASONS[answer.finish],
            "stop_sequence": None,
        }
        final_usage: JsonObject = {
            "output_tokens": answer.usage.output_tokens,
            "output_tokens_details": {"thinking_tokens": answer.usage.reasoning_tokens},
        }
        return b"".join(
            [
                _event("message_start", message=message),
                _event("ping"),
                *_blocks(answer),
                _event("message_delta", delta=end, usage=final_usage),
                _event("message_stop"),
            ]
        )

    def finished_after(self, stream: bytes) -> int:
        return stream.index(b"\n\n", stream.index(b'"type": "message_delta"')) + 2

    def render_failure(self, message: str) -> bytes:
        return _event("error", error={"type": "overloaded_error", "message": message})

    def render_error(self, status: int, message: str) -> bytes:
        kind = {
            404: "not_found_error",
            429: "rate_limit_error",
            529: "overloaded_error",
        }.get(status, "api_error")
        return json.dumps(
            {
                "type": "error",
                "error": {"type": kind, "message": message},
                "request_id": "req_1",
            }
        ).encode()

    def model_list(self, names: Sequence[str]) -> bytes:
        models = [
            {
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": "2026-09-22T00:00:00Z",
            }
            for name in names
        ]
        page = {
            "data": models,
            "has_more": False,
            "first_id": names[0],
            "last_id": names[-1],
        }
        return json.dumps(page).encode()

    def reported(self, usage: Usage) -> Usage:
        return usage

    def key_header(self) -> tuple[str, str]:
        return "x-api-key", KEY

    def instructions(self, payload: JsonObject) -> str:
        match payload.get("system"):
            case [{"type": "text", "text": str(instructions)}]:
                return instructions
            case _:
                return ""

    def history(self, payload: JsonObject) -> list[JsonValue]:
        """Return the blocks, each with the role of its message: one message may hold what was said in several."""
        return [[role, block] for role, block in _roles_and_blocks(payload["messages"])]

    def items(self) -> tuple[ProviderItem, ...]:
        block: JsonObject = {
            "type": "thinking",
            "thinking": "Two things are wanted.",
            "signature": SIGNATURE,
        }
        return (
            ProviderItem(
                "anthropic_messages", {"block": block, "text": 0, "calls": 0, "skip": 0}
            ),
        )

    def strict_output(self) -> JsonObject:
        schema: JsonObject = {
            "type": "object",
            "properties": {"lamps": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["lamps"],
            "additionalProperties": False,
        }
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def free_output(self) -> JsonObject:
        return {}

    def expected_conversation(self) -> JsonObject:
        """Return the payload. Thinking of an earlier turn may be left out, and is: what stood before it may be gone."""
        light: JsonObject = {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        }
        nothing: JsonObject = {"type": "object", "properties": {}}
        return {
            "model": MODEL,
            "max_tokens": 8192,
            "tools": [
                {
                    "name": "turn_on",
                    "description": "Turns things on.",
                    "input_schema": light,
                },
                {
                    "name": "weather",
                    "description": "Tells the weather.",
                    "input_schema": nothing,
                    "cache_control": CACHE,
                },
            ],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": CACHE}],
            "messages": [
                {
                    "role": "user",
                    "content": [_text("Turn on the light, and what's the weather?")],
                },
                {
                    "role": "assistant",
                    "content": [
                        _text("One moment."),
                        {
                            "type": "tool_use",
                            "id": "call00001",
                            "name": "turn_on",
                            "input": {"name": "Früh 💡"},
                        },
                        {
                            "type": "tool_use",
                            "id": "call00002",
                            "name": "weather",
                            "input": {},
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call00001",
                            "content": '{"done":true}',
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "call00002",
                            "content": "the weather is not known",
                            "is_error": True,
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_use",
                            "id": "call00003",
                            "name": "weather",
                            "input": {},
                        }
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call00003",
                            "content": "sunny",
                            "cache_control": CACHE,
                        }
                    ],
                },
                {"role": "assistant", "content": [_text("It is on.")]},
                {
                    "role": "user",
                    "content": [
                        {**_text("Thanks"), "cache_control": CACHE},
                        _text("Answer now."),
                    ],
                },
            ],
            "stream": True,
        }

    def expected_round_trip(self) -> list[JsonValue]:
        thinking: JsonObject = {
            "type": "thinking",
            "thinking": "Two things are wanted.",
            "signature": SIGNATURE,
        }
        return [
            ["user", _text("Hi")],
            ["assistant", thinking],
            ["assistant", _text("One moment.")],
            [
                "assistant",
                {
                    "type": "tool_use",
                    "id": "call00001",
                    "name": "turn_on",
                    "input": {"name": "hall"},
                },
            ],
            [
                "assistant",
                {"type": "tool_use", "id": "call00002", "name": "weather", "input": {}},
            ],
            [
                "user",
                {
                    "type": "tool_result",
                    "tool_use_id": "call00001",
                    "content": '{"done":true}',
                },
            ],
            [
                "user",
                {"type": "tool_result", "tool_use_id": "call00002", "content": "sunny"},
            ],
        ]

    def expected_attachments(self) -> JsonValue:
        return ["user", _text("What is this?")]

    def expected_options(self) -> JsonObject:
        return {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 300,
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "low"},
            "custom": {"a": [1]},
        }


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _event(kind: str, **fields: JsonValue) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def _blocks(answer: Answer) -> Iterator[bytes]:
    blocks = [
        *_thinking(answer.reasoning),
        *_searches(answer.searches),
        *_text_events(answer.text),
    ]
    for call in answer.calls:
        begun: JsonObject = {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": {},
        }
        arguments = "" if call.arguments == "{}" else call.arguments
        pieces = [
            "",
            *(arguments[place : place + 5] for place in range(0, len(arguments), 5)),
        ]
        blocks.append(
            (
                begun,
                [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in pieces
                ],
            )
        )
    for index, (begun, deltas) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=begun)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)


def _thinking(pieces: Sequence[str]) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    if pieces:
        deltas: list[JsonObject] = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces
        ]
        yield (
            {"type": "thinking", "thinking": "", "signature": ""},
            [*deltas, {"type": "signature_delta", "signature": SIGNATURE}],
        )


def _searches(
    searches: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    for number, (query, pages) in enumerate(searches.items()):
        use_id = f"srvtoolu_{number}"
        found: JsonValue = [
            {
                "type": "web_search_result",
                "url": url,
                "title": title,
                "encrypted_content": "EqgfCioIARgBIiQ",
                "page_age": None,
            }
            for url, title in pages.items()
        ]
        yield (
            {
                "type": "server_tool_use",
                "id": use_id,
                "name": "web_search",
                "input": {},
            },
            [
                {
                    "type": "input_json_delta",
                    "partial_json": json.dumps({"query": query}),
                }
            ],
        )
        yield (
            {
                "type": "web_search_tool_result",
                "tool_use_id": use_id,
                "content": found,
            },
            [],
        )


def _text_events(
    pieces: Sequence[str],
) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    if pieces:
        yield _text(""), [{"type": "text_delta", "text": piece} for piece in pieces]


def _roles_and_blocks(messages: JsonValue) -> Iterator[tuple[JsonValue, JsonValue]]:
    assert isinstance(messages, list)
    for message in messages:
        match message:
            case {"role": role, "content": [*blocks]}:
                for block in blocks:
                    assert isinstance(block, dict)
                    yield (
                        role,
                        {
                            name: value
                            for name, value in block.items()
                            if name != "cache_control"
                        },
                    )
            case _:
                raise AssertionError(message)
