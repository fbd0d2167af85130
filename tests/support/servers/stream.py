"""One scripted answer as a Chat Completions stream, the way that real servers send it.

Knows the chunk format (platform.openai.com/docs/api-reference/chat-streaming) and
nothing of sockets.
"""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from tests.support.servers.script import ScriptedAnswer, ScriptedUsage

type Chunk = dict[str, JsonValue]

DONE = b"data: [DONE]\n\n"


def chunks_of(
    answer: ScriptedAnswer, model: str, *, include_usage: bool
) -> Iterator[bytes]:
    """Yield the stream of `answer`, event by event, `[DONE]` last."""
    for delta in _deltas(answer):
        yield _chunk(model, [{"index": 0, "delta": delta, "finish_reason": None}])
    reason = answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")
    yield _chunk(model, [{"index": 0, "delta": {}, "finish_reason": reason}])
    if include_usage:
        counts = _usage(answer.usage or ScriptedUsage())
        if answer.searches:  # as OpenRouter counts them
            searches: Chunk = {"web_search_requests": len(answer.searches)}
            counts["server_tool_use"] = searches
        yield _chunk(model, [], usage=counts)
    yield DONE


def _deltas(answer: ScriptedAnswer) -> Iterator[Chunk]:
    yield {"role": "assistant", "content": None}
    for piece in _pieces(answer.reasoning_content or "", answer.piece_characters):
        yield {"reasoning_content": piece}
    for piece in _pieces(answer.content or "", answer.piece_characters):
        yield {"content": piece}
    cited: list[JsonValue] = [
        {"type": "url_citation", "url_citation": {"url": url, "title": title}}
        for search in answer.searches
        for url, title in search.pages.items()
    ]
    if cited:
        yield {"annotations": cited}
    for index, call in enumerate(answer.tool_calls):
        call_id = f"call_{index}" if call.id is None else call.id
        opening: Chunk = {
            "index": index,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }
        yield {"tool_calls": [{"id": call_id, **opening} if call_id else opening]}
        arguments = (
            call.arguments
            if isinstance(call.arguments, str)
            else json.dumps(call.arguments)
        )
        for piece in _pieces(arguments, answer.piece_characters):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _chunk(model: str, choices: list[JsonValue], usage: Chunk | None = None) -> bytes:
    chunk: Chunk = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": model,
        "choices": choices,
    }
    if usage is not None:
        chunk["usage"] = usage
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _usage(usage: ScriptedUsage) -> Chunk:
    counts: Chunk = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    if usage.cached_tokens:
        counts["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens:
        counts["completion_tokens_details"] = {
            "reasoning_tokens": usage.reasoning_tokens
        }
    return counts
