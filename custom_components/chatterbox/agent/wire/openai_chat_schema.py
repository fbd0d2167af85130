"""What Chat Completions servers send: the parts that we read, and how much of them we trust.

Knows the JSON of chunks, whole completions and model lists; nothing of events. Strict
where an answer could be lost (text, calls), lenient where a server may be odd without harm
(counts, indexes, reasoning): a lenient value that does not fit reads as not sent.
Sources: OpenAI API reference, "Chat Completions" and "Models"; the dialects are named where they are read.
"""

from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue, NonNegativeInt, TypeAdapter

from ..messages import Usage
from .call_assembly import CallFragment
from .openai_chat_items import details_text
from .received import Lenient, Received, parse_plain, parse_received


class FunctionFragment(Received):
    """Name and arguments of a call, or a piece of them."""

    name: Lenient[str] = None
    arguments: JsonValue = None
    """JSON text; some servers send the object itself."""


class ToolCallFragment(Received):
    """A piece of a call in a stream, or a call of a whole message, which has no index."""

    index: Lenient[int] = None
    id: Lenient[str] = None
    function: Lenient[FunctionFragment] = None
    extra_content: Lenient[dict[str, JsonValue]] = None
    """Gemini's signature of the call."""


class ContentPart(Received):
    """A part of a text, as Mistral sends reasoning models' answers; plain texts may stand between such parts."""

    text: Lenient[str] = None
    thinking: Lenient[list[ContentPart]] = None


class Delta(Received):
    """What a chunk adds to the message, or the message itself."""

    content: str | list[str | ContentPart] | None = None
    refusal: Lenient[str] = None
    """The model's no, in words for the person."""
    reasoning_content: Lenient[str] = None
    """DeepSeek, llama.cpp, vLLM."""
    reasoning: Lenient[str] = None
    """OpenRouter, Ollama, vLLM; some servers send both."""
    reasoning_details: Lenient[list[dict[str, JsonValue]]] = None
    """OpenRouter and MiniMax: the same once more, in parts that may be signed or sealed."""
    tool_calls: list[ToolCallFragment] | None = None

    def text(self) -> str:
        """Return what the person is to read or hear."""
        if isinstance(self.content, list):
            return "".join(part if isinstance(part, str) else part.text or "" for part in self.content)
        return self.content or self.refusal or ""

    def thoughts(self) -> str:
        """Return what the model thought."""
        thoughts = ""
        if isinstance(self.content, list):
            parts = [part for part in self.content if isinstance(part, ContentPart)]
            thoughts = "".join(thought.text or "" for part in parts for thought in part.thinking or [])
        thoughts = thoughts or self.reasoning_content or self.reasoning or ""
        return thoughts or (details_text(self.reasoning_details) if self.reasoning_details else "")


class Choice(Received):
    """One of the answers; we ask for one, which has index 0."""

    index: Lenient[int] = None
    delta: Delta | None = None
    message: Delta | None = None
    """In place of `delta` where the server does not stream; some repeat the whole message at the end of a stream."""
    finish_reason: Lenient[str] = None


class _InputDetails(Received):
    cached_tokens: Lenient[NonNegativeInt] = None


class _OutputDetails(Received):
    reasoning_tokens: Lenient[NonNegativeInt] = None


class UsageReport(Received):
    """Token counts."""

    prompt_tokens: Lenient[NonNegativeInt] = None
    completion_tokens: Lenient[NonNegativeInt] = None
    prompt_tokens_details: Lenient[_InputDetails] = None
    completion_tokens_details: Lenient[_OutputDetails] = None
    prompt_cache_hit_tokens: Lenient[NonNegativeInt] = None
    """DeepSeek's name for the cached ones."""

    def usage(self) -> Usage:
        """Return the counts in our words."""
        cached = self.prompt_tokens_details.cached_tokens if self.prompt_tokens_details else None
        reasoning = self.completion_tokens_details.reasoning_tokens if self.completion_tokens_details else None
        return Usage(
            input_tokens=self.prompt_tokens or 0,
            output_tokens=self.completion_tokens or 0,
            cached_tokens=cached or self.prompt_cache_hit_tokens or 0,
            reasoning_tokens=reasoning or 0,
        )


class Chunk(Received):
    """One event of a stream, or a whole completion."""

    object: Lenient[str] = None
    choices: list[Choice] | None = None
    usage: Lenient[UsageReport] = None
    error: JsonValue = None

    message: JsonValue = None
    type: JsonValue = None
    code: JsonValue = None

    @property
    def reported_error(self) -> JsonValue:
        """The service's report of a failure, when this is one and no part of an answer; else None.

        vLLM has no `error` around it.
        """
        if self.object == "error":
            return {"message": self.message, "type": self.type, "code": self.code}
        return self.error or None


@dataclass(frozen=True, slots=True)
class PlainEnd:
    """What the usual chunks at the end of a message bring."""

    finish_reason: str
    usage: Usage | None


def read_plain(sent: bytes) -> str | list[CallFragment] | PlainEnd | None:
    """Return what a chunk of the usual kind brings: words, which may be empty, pieces of calls, or a message's end.

    None for any other, which `parse_chunk` reads. It would read this one alike, and take longer.
    """
    chunk = parse_plain(sent)
    choices = chunk.get("choices")
    if not isinstance(choices, list) or len(choices) > 1 or chunk.get("error") or chunk.get("object") == "error":
        return None
    brought: str | list[CallFragment] | None = ""
    finish, usage = "", None
    if (counts := chunk.get("usage")) is not None and (usage := _plain_usage(counts)) is None:
        return None
    for choice in choices:
        if not isinstance(choice, dict) or choice.get("index") or choice.get("message") is not None:
            return None
        brought, reason = _plain_delta(choice.get("delta")), choice.get("finish_reason") or ""
        if brought is None or not isinstance(reason, str):
            return None
        finish = reason
    if not finish and usage is None:
        return brought
    return None if brought else PlainEnd(finish, usage)


def _plain_delta(delta: JsonValue) -> str | list[CallFragment] | None:
    """Return the words or the pieces of calls that a delta brings; None where it brings both, or anything else."""
    if not isinstance(delta, dict):
        return None
    text, fragments = "", list[CallFragment]()
    for name, value in delta.items():
        if name == "content" and isinstance(value, str):
            text = value
        elif name == "tool_calls" and isinstance(value, list):
            for call in value:
                if (fragment := _plain_fragment(call)) is None:
                    return None
                fragments.append(fragment)
        elif name != "role" and value is not None:
            return None
    if not fragments:
        return text
    return None if text else fragments


def _plain_fragment(call: JsonValue) -> CallFragment | None:
    """Return a piece of a call as every service sends it; None for any other."""
    if not isinstance(call, dict) or call.get("extra_content") is not None:
        return None
    index, call_id, function = call.get("index"), call.get("id"), call.get("function")
    if type(index) is not int or not isinstance(call_id, str | None) or not isinstance(function, dict):
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str | None) or not isinstance(arguments, str | None):
        return None
    return CallFragment(index, call_id or "", name or "", arguments or "")


def _plain_usage(counts: JsonValue) -> Usage | None:
    """Return token counts as every service sends them; None for any others."""
    match counts:
        case {"prompt_tokens": prompt, "completion_tokens": completion, **rest}:
            read = rest.get("prompt_tokens_details") or {}
            written = rest.get("completion_tokens_details") or {}
        case _:
            return None
    if not isinstance(read, dict) or not isinstance(written, dict):
        return None
    cached = read.get("cached_tokens") or rest.get("prompt_cache_hit_tokens")
    sent = [count or 0 for count in (prompt, completion, cached, written.get("reasoning_tokens"))]
    known = [count for count in sent if type(count) is int and count >= 0]
    return Usage(*known) if len(known) == len(sent) else None


class _Model(Received):
    id: str


class _ModelList(Received):
    data: list[_Model]


_CHUNK: Final = TypeAdapter(Chunk)
_MODEL_LIST: Final = TypeAdapter(_ModelList)


def parse_chunk(sent: str | bytes) -> Chunk:
    """Read one event's data, or the body of a whole completion.

    Raises `ProviderReplyInvalid`, which says where the text is wrong and quotes none of it.
    """
    return parse_received(_CHUNK, sent, "an answer")


def parse_model_list(text: str) -> list[str]:
    """Read the answer to `GET /models`: the names, sorted, each once.

    Raises `ProviderReplyInvalid` for anything but a list of models.
    """
    listed = parse_received(_MODEL_LIST, text, "a list of models")
    return sorted({model.id for model in listed.data}, key=lambda name: (name.casefold(), name))
