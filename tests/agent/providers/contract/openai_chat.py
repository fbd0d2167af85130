"""Chat Completions, from the service's side.

Source: OpenAI API reference, "Create chat completion", "The chat completion chunk
object", "List models".
"""

import json
from collections.abc import Iterator, Sequence
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
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.wire.openai_chat import (
    ChatReplyReader,
    request_to_payload,
)

from .conversation import FREE, STRICT_LAMPS
from .dialect import KEY, MODEL, Answer, Refusal, SystemMessageFirst

SIGNED: JsonObject = {
    "type": "reasoning.encrypted",
    "data": "c2lnbmVk",
    "id": "r1",
    "index": 0,
}


class OpenAIChatDialect(SystemMessageFirst):
    """Any server that speaks Chat Completions."""

    name: ClassVar[str] = "openai_chat"
    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    completion_target: ClassVar[str] = "/v1/chat/completions"
    models_target: ClassVar[str] = "/v1/models"
    carries_call_ids: ClassVar[bool] = True
    has_json_arguments: ClassVar[bool] = False
    can_forbid_calls: ClassVar[bool] = True
    finish_reasons: ClassVar[frozenset[FinishReason]] = frozenset(FinishReason) - {
        FinishReason.UNKNOWN,
        FinishReason.REPETITION,
    }
    refusal: ClassVar[Refusal] = Refusal(
        ModelOptions(temperature=0.5, top_p=0.5),
        ("temperature",),
        b'{"error":{"message":"Unsupported value: \'temperature\' does not support 0.5 with this model. '
        b'Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature",'
        b'"code":"unsupported_value"}}',
    )

    length: ClassVar[tuple[str, ...]] = ("max_tokens",)
    medium_effort: ClassVar[JsonObject] = {"reasoning_effort": "medium"}
    low_verbosity: ClassVar[JsonObject] = {"verbosity": "low"}
    single_calls: ClassVar[JsonObject] = {"parallel_tool_calls": False}
    output_beside_tools: ClassVar[bool] = False
    output_refusal: ClassVar[str] = (
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    )

    provider_class: ClassVar[type[HTTPProvider]] = OpenAIChatProvider

    def reader(self, transcript: Transcript) -> ChatReplyReader:
        return ChatReplyReader(transcript)

    def payload(self, request: CompletionRequest) -> JsonObject:
        return request_to_payload(request, MODEL)

    def render(self, answer: Answer) -> bytes:
        chunks = [_chunk(delta) for delta in _deltas(answer)]
        usage: JsonObject = {
            "prompt_tokens": answer.usage.input_tokens,
            "completion_tokens": answer.usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": answer.usage.cached_tokens},
            "completion_tokens_details": {
                "reasoning_tokens": answer.usage.reasoning_tokens
            },
        }
        chunks += [
            _chunk({}, finish=answer.finish.value),
            {**_chunk({}), "choices": [], "usage": usage},
        ]
        events = [json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
        return b"".join(f"data: {event}\n\n".encode() for event in [*events, "[DONE]"])

    def finished_after(self, stream: bytes) -> int:
        return stream.index(b"\n\n", stream.index(b'"finish_reason": "'))

    def render_failure(self, message: str) -> bytes:
        error = {"error": {"message": message, "type": "server_error", "code": None}}
        return f"data: {json.dumps(error)}\n\n".encode()

    def render_error(self, status: int, message: str) -> bytes:
        return json.dumps(
            {
                "error": {
                    "message": message,
                    "type": "error",
                    "param": None,
                    "code": status,
                }
            }
        ).encode()

    def model_list(self, names: Sequence[str]) -> bytes:
        models = [
            {"id": name, "object": "model", "created": 1, "owned_by": "me"}
            for name in names
        ]
        return json.dumps({"object": "list", "data": models}).encode()

    def reported(self, usage: Usage) -> Usage:
        return usage

    def key_header(self) -> tuple[str, str]:
        return "authorization", f"Bearer {KEY}"

    def items(self) -> tuple[ProviderItem, ...]:
        return (ProviderItem("openai_chat", {"reasoning_details": [SIGNED]}),)

    def strict_output(self) -> JsonObject:
        schema: JsonObject = {"name": "lamps", "schema": STRICT_LAMPS, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def free_output(self) -> JsonObject:
        schema: JsonObject = {"name": "lamps", "schema": FREE, "strict": False}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def expected_conversation(self) -> JsonObject:
        weather: JsonObject = {"name": "weather", "arguments": "{}"}
        calls: list[JsonValue] = [
            {
                "id": "call00001",
                "type": "function",
                "function": {"name": "turn_on", "arguments": '{"name":"Früh 💡"}'},
            },
            {"id": "call00002", "type": "function", "function": weather},
        ]
        light: JsonObject = {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        }
        nothing: JsonObject = {"type": "object", "properties": {}}
        return {
            "model": MODEL,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": "Turn on the light, and what's the weather?",
                },
                {
                    "role": "assistant",
                    "content": "One moment.",
                    "reasoning_details": [SIGNED],
                    "tool_calls": calls,
                },
                {
                    "role": "tool",
                    "tool_call_id": "call00001",
                    "content": '{"done":true}',
                },
                {
                    "role": "tool",
                    "tool_call_id": "call00002",
                    "content": "the weather is not known",
                },
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call00003", "type": "function", "function": weather}
                    ],
                },
                {"role": "tool", "tool_call_id": "call00003", "content": "sunny"},
                {"role": "assistant", "content": "It is on."},
                {"role": "user", "content": "Thanks"},
                {"role": "user", "content": "Answer now."},
            ],
            "tools": [
                _function(
                    {
                        "name": "turn_on",
                        "description": "Turns things on.",
                        "parameters": light,
                    }
                ),
                _function(
                    {
                        "name": "weather",
                        "description": "Tells the weather.",
                        "parameters": nothing,
                    }
                ),
            ],
            "parallel_tool_calls": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def expected_round_trip(self) -> list[JsonValue]:
        hall: JsonObject = {"name": "turn_on", "arguments": '{"name":"hall"}'}
        weather: JsonObject = {"name": "weather", "arguments": "{}"}
        return [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "One moment.",
                "tool_calls": [
                    {"id": "call00001", "type": "function", "function": hall},
                    {"id": "call00002", "type": "function", "function": weather},
                ],
            },
            {"role": "tool", "tool_call_id": "call00001", "content": '{"done":true}'},
            {"role": "tool", "tool_call_id": "call00002", "content": "sunny"},
        ]

    def expected_attachments(self) -> JsonValue:
        hidden = "was attached here. You cannot see it: say so if it matters.]"
        pdf = f"[A file of type application/pdf named bill.pdf {hidden}"
        noise = f"[A file of type audio/wav named noise.wav {hidden}"
        return {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64,iVBORw=="},
                },
                {"type": "text", "text": pdf},
                {"type": "text", "text": noise},
            ],
        }

    def expected_options(self) -> JsonObject:
        return {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 300,
            "reasoning_effort": "low",
            "custom": {"a": [1]},
        }


def _function(function: JsonObject) -> JsonObject:
    return {"type": "function", "function": function}


def _deltas(answer: Answer) -> Iterator[JsonObject]:
    yield {"role": "assistant", "content": None}
    for piece in answer.reasoning:
        yield {"reasoning_content": piece}
    for piece in answer.text:
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        opening: JsonObject = {"name": call.name, "arguments": ""}
        yield {
            "tool_calls": [
                {"index": index, "id": call.id, "type": "function", "function": opening}
            ]
        }
        for start in range(0, len(call.arguments), 5):
            more: JsonObject = {"arguments": call.arguments[start : start + 5]}
            yield {"tool_calls": [{"index": index, "function": more}]}


def _chunk(delta: JsonObject, finish: str | None = None) -> JsonObject:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
