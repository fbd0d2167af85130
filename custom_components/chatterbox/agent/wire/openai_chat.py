"""OpenAI's Chat Completions format: requests to JSON, and replies, streamed or whole, to events.

Sources: OpenAI API reference, "Create chat completion", "The chat completion chunk
object" and "Models". Signed reasoning: OpenRouter, "Preserving Reasoning Blocks"
(`reasoning_details` of a message); Gemini API, "Thought signatures" (`extra_content` of
a call). Other dialects are named where they are read.

A request is deterministic and has nothing volatile before its last message, so the
prefix of a conversation stays cached.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Final, assert_never, override

from pydantic import JsonValue as AnyJson, NonNegativeInt, TypeAdapter

from ..events import PromptProgress, ProviderEvent, ReasoningDelta
from ..json.text import objects_in, sendable_arguments
from ..messages import (
    IMAGE_TYPES,
    MOST_SEARCHES,
    AssistantMessage,
    Attachment,
    JsonObject,
    JsonValue,
    Message,
    NamedTool,
    ProviderItem,
    ToolCall,
    ToolChoiceMode,
    ToolResult,
    Transcript,
    UserMessage,
    described_tools,
    paragraphs,
)
from ..protocols import CompletionRequest
from ..text import attachment_note, sendable_call_id, sendable_name
from .call_assembly import MAX_CALLS, CallFragment, new_call_id
from .chat_dialect import DEFAULT_DIALECT, ChatDialect, in_turns
from .output_schema import openai_output
from .reply_reader import (
    Count,
    Events,
    FoundPage,
    Lenient,
    ReplyReader,
    ReportedFailure,
    TokenCounts,
    WireModel,
    arguments_text,
    at,
    parse_as,
)

FORMAT: Final = "openai_chat"
"""Name of the format in provider items."""

_TEXTS: Final = ("text", "summary")
"""Fields of a reasoning detail that are streamed in pieces."""


def _details_text(details: Iterable[JsonObject]) -> str:
    """Return the readable text of details."""
    texts = (detail.get(name) for detail in details for name in _TEXTS)
    return "".join(text for text in texts if isinstance(text, str))


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    same = all(last.get(name) == piece.get(name) for name in ("type", "index"))
    one_id = last.get("id") == piece.get("id") or None in {
        last.get("id"),
        piece.get("id"),
    }
    return (
        same
        and one_id
        and any(
            isinstance(piece.get(name), str) or "signature" in piece for name in _TEXTS
        )
    )


def _joined(last: JsonObject, piece: JsonObject) -> JsonObject:
    joined = {
        **last,
        **{name: value for name, value in piece.items() if value is not None},
    }
    for name in _TEXTS:
        one = last.get(name)
        other = piece.get(name)
        if isinstance(one, str) and isinstance(other, str):
            joined[name] = one + other
    return joined


def request_to_payload(  # noqa: PLR0913  # each of these alone changes the body
    request: CompletionRequest,
    model: str,
    dialect: ChatDialect = DEFAULT_DIALECT,
    accepted: Collection[str] = IMAGE_TYPES,
    *,
    output_beside_tools: bool = False,
    search_tool: str = "",
) -> JsonObject:
    """Return the body of `POST /chat/completions`. Attachments of other MIME types than `accepted` become a note.

    `output_beside_tools` allows tools and a structured output in one request.
    `search_tool` is the type of OpenRouter's own tool that searches the web.
    """
    payload: JsonObject = {
        "model": model,
        "messages": _messages(
            request,
            dialect,
            accepted,
        ),
    }
    tools: list[JsonValue] = [
        {"type": "function", "function": tool}
        for tool in described_tools(request.tools)
    ]
    if tools:
        if (
            request.tool_choice is not ToolChoiceMode.AUTO
        ):  # some servers refuse the default
            payload["tool_choice"] = _tool_choice(request, dialect)
        payload["parallel_tool_calls"] = (
            request.options.parallel_tool_calls
        )  # llama.cpp defaults to false
    if request.searches and search_tool:
        tools.append({"type": search_tool})
        payload["max_tool_calls"] = request.searches  # of the service's own tools
    if tools:
        payload["tools"] = tools
    if request.output and (
        output := request.enforced_output(beside_tools=output_beside_tools)
    ):
        payload["response_format"] = {
            "type": "json_schema",
            "json_schema": openai_output(output),
        }
    payload["stream"] = True
    payload["stream_options"] = {"include_usage": True}
    return payload


def _messages(
    request: CompletionRequest, dialect: ChatDialect, accepted: Collection[str]
) -> list[JsonValue]:
    messages: list[JsonObject] = []
    if request.instructions:
        messages.append({"role": "system", "content": request.instructions})
    messages += [
        sent
        for message in request.transcript
        if (sent := _message(message, dialect, accepted)) is not None
    ]
    if request.directive:
        messages.append({"role": "user", "content": request.directive})
    return [*(in_turns(messages) if dialect.alternates else messages)]


def _message(
    message: Message, dialect: ChatDialect, accepted: Collection[str]
) -> JsonObject | None:
    """Return a message; None for an assistant message without text and calls."""
    match message:
        case UserMessage(attachments=attachments, prompt=prompt):
            return {
                "role": "user",
                "content": _content(
                    prompt,
                    attachments,
                    accepted,
                ),
            }
        case AssistantMessage(text=text, tool_calls=()):
            if text:
                return {
                    "role": "assistant",
                    "content": text,
                }
            return None
        case AssistantMessage():
            return _message_with_calls(message, dialect)
        case ToolResult(call_id=call_id, content=content):
            sent_id = sendable_call_id(call_id, dialect.call_ids)
            return {
                "role": "tool",
                "tool_call_id": sent_id,
                "content": content,
            }
        case _:
            assert_never(message)


def _content(
    text: str, attachments: Collection[Attachment], accepted: Collection[str]
) -> JsonValue:
    """Return text and attachments; plain text if no attachment can be sent, because every server accepts that."""
    if not attachments:
        return text
    if not any(attachment.mime_type in accepted for attachment in attachments):
        return paragraphs(text, *map(attachment_note, attachments))
    parts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
    return parts + [_part(attachment, accepted) for attachment in attachments]


def _part(
    attachment: Attachment,
    accepted: Collection[str],
) -> JsonValue:
    if attachment.mime_type not in accepted:
        return {
            "type": "text",
            "text": attachment_note(attachment),
        }
    if attachment.mime_type in IMAGE_TYPES:
        return {
            "type": "image_url",
            "image_url": {"url": attachment.data_url},
        }
    return {
        "type": "file",
        "file": {
            "filename": attachment.name or "attachment",
            "file_data": attachment.data_url,
        },
    }


def _message_with_calls(message: AssistantMessage, dialect: ChatDialect) -> JsonObject:
    """Return a message with calls, and the reasoning before them if the server wants it back.

    `content: null` is accepted: servers send it with calls themselves.
    """
    items = [item.data for item in message.provider_items if item.format == FORMAT]
    if not dialect.returns_items:
        items = []
    details = [
        detail for item in items for detail in objects_in(item.get("reasoning_details"))
    ]
    extras: JsonObject = {}
    for signed in objects_in([item.get("extra_content") for item in items]):
        extras |= signed
    written: JsonObject = {
        "role": "assistant",
        "content": message.text or None,
    }
    if details:
        written["reasoning_details"] = [*details]
    elif dialect.reasoning_field and (message.reasoning or dialect.needs_reasoning):
        written[dialect.reasoning_field] = message.reasoning
    written["tool_calls"] = [
        _call(
            call,
            dialect,
            extras.get(call.id),
        )
        for call in message.tool_calls
    ]
    return written


def _call(
    call: ToolCall,
    dialect: ChatDialect,
    extra: JsonValue,
) -> JsonObject:
    """Return a call, sanitized where services would refuse what the model wrote."""
    function: JsonValue = {
        "name": sendable_name(call.name),
        "arguments": sendable_arguments(call.arguments),
    }
    written: JsonObject = {
        "id": sendable_call_id(call.id, dialect.call_ids),
        "type": "function",
        "function": function,
    }
    if isinstance(extra, dict):
        written["extra_content"] = extra
    return written


def _tool_choice(request: CompletionRequest, dialect: ChatDialect) -> JsonValue:
    match request.tool_choice:
        case NamedTool(name) if dialect.forces_by_name:
            return {
                "type": "function",
                "function": {"name": name},
            }
        case NamedTool():
            return ToolChoiceMode.REQUIRED.value
        case ToolChoiceMode() as mode:
            return mode.value
        case choice:
            assert_never(choice)


class _ToolCallFragment(WireModel):
    """A fragment of a call in a stream, or a call of a whole message, which has no index."""

    index: Lenient[int] = None
    id: Lenient[str] = None
    name: Annotated[Lenient[str], at("function.name", "name")] = None
    arguments: Annotated[AnyJson, at("function.arguments", "arguments")] = None
    """JSON text; some servers send the object itself."""
    extra_content: Lenient[dict[str, AnyJson]] = None
    """Gemini's signature of the call."""


class _ContentPart(WireModel):
    """A part of the content as Mistral's reasoning models send it; plain texts may stand between such parts."""

    text: Lenient[str] = None
    thinking: Lenient[list[_ContentPart]] = None


class _Annotation(WireModel):
    """A page that the answer rests on."""

    page: Annotated[Lenient[FoundPage], at("url_citation")] = None


class _Delta(WireModel):
    """An addition to the message, or the message itself."""

    content: str | list[str | _ContentPart] | None = None
    refusal: Lenient[str] = None
    """The model declines, in words for the user."""
    reasoning_content: Lenient[str] = None
    """DeepSeek, llama.cpp, vLLM."""
    reasoning: Lenient[str] = None
    """OpenRouter, Ollama, vLLM; some servers send both."""
    reasoning_details: Lenient[list[dict[str, AnyJson]]] = None
    """OpenRouter and MiniMax: the same again, in parts that may be signed or encrypted."""
    annotations: Lenient[list[_Annotation]] = None
    """OpenRouter: the pages that a search has found."""
    tool_calls: list[_ToolCallFragment] | None = None
    function_call: Lenient[_ToolCallFragment] = None
    """The only call of a message, from servers of the format before `tool_calls`; some send both."""

    def calls(self) -> list[_ToolCallFragment]:
        """Return the fragments of calls."""
        return self.tool_calls or ([self.function_call] if self.function_call else [])

    def text(self) -> str:
        """Return the answer."""
        if isinstance(self.content, list):
            return "".join(
                part if isinstance(part, str) else part.text or ""
                for part in self.content
            )
        return self.content or self.refusal or ""

    def reasoning_text(self) -> str:
        """Return the reasoning."""
        text = ""
        if isinstance(self.content, list):
            parts = [part for part in self.content if isinstance(part, _ContentPart)]
            text = "".join(
                thought.text or "" for part in parts for thought in part.thinking or []
            )
        text = text or self.reasoning_content or self.reasoning or ""
        return text or (
            _details_text(self.reasoning_details) if self.reasoning_details else ""
        )


class _Choice(WireModel):
    """One of the answers; requests ask for one, which has index 0."""

    index: Lenient[int] = None
    delta: _Delta | None = None
    message: _Delta | None = None
    """Replaces `delta` in a whole completion; some servers repeat the message at the end of a stream."""
    finish_reason: Lenient[str] = None
    error: AnyJson = None
    """OpenRouter: the failure of the service behind it, beside the finish reason `error`."""


class _UsageReport(TokenCounts):
    input_tokens: Annotated[Count, at("prompt_tokens")] = None
    output_tokens: Annotated[Count, at("completion_tokens")] = None
    cached_tokens: Annotated[
        Count, at("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens")
    ] = None
    """The second is DeepSeek's name."""
    reasoning_tokens: Annotated[
        Count, at("completion_tokens_details.reasoning_tokens")
    ] = None
    searches: Annotated[Count, at("server_tool_use.web_search_requests")] = None
    """Of the web, by OpenRouter."""


class _Progress(WireModel):
    """llama.cpp's `return_progress`: tokens of the prompt."""

    processed: NonNegativeInt
    total: NonNegativeInt


class _Chunk(WireModel):
    """One event of a stream, or a whole completion."""

    object: Lenient[str] = None
    choices: list[_Choice] | None = None
    usage: Lenient[_UsageReport] = None
    prompt_progress: Lenient[_Progress] = None
    error: AnyJson = None

    message: Annotated[AnyJson, at("message", "error_message")] = None
    type: Annotated[AnyJson, at("type", "error_type")] = None
    code: AnyJson = None
    error_message: AnyJson = None

    @property
    def reported_error(self) -> JsonValue:
        """The failure that the service reports, else None. vLLM and gateways send it without `error` around it."""
        is_bare = self.code not in (None, "", 0, 200) and isinstance(
            self.message,
            str,
        )
        is_error = (
            self.object == "error"
            or self.error_message
            or (is_bare and self.choices is None)
        )
        if is_error and not self.error:
            return {
                "message": self.message,
                "type": self.type,
                "code": self.code,
            }
        return self.error or next(
            (choice.error for choice in self.choices or [] if choice.error), None
        )


_CHUNK: Final = TypeAdapter(_Chunk)


_WHOLE: Final = frozenset({"tool_calls", "stop"})
"""Finish reasons that give way to those of other choices, which may say that calls are cut."""


@dataclass(slots=True)
class _CallsBeside:
    """Another choice than the first, with calls."""

    parts: list[_Delta] = field(default_factory=list)
    length: int = 0
    """Characters of the arguments."""
    finish: str = ""


class ChatReplyReader(ReplyReader):
    """Reads the chunks of a stream, or a whole completion."""

    _MAY_OMIT_LAST_LINE = True

    def __init__(
        self,
        transcript: Transcript,
        new_id: Callable[[], str] = new_call_id,
        *,
        searches: bool = False,
    ) -> None:
        """Keep the ids of new calls apart from those of `transcript`.

        With `searches`, the service may have searched the web. Only the end of its reply
        tells so, and calls that a page has asked for must not run as if it had not:
        nothing is passed on before, except the reasoning.
        """
        super().__init__(transcript, new_id)
        self._waiting: list[ProviderEvent] | None = [] if searches else None
        """Text and calls until the end of the reply; None if they need not wait."""
        self._found: list[FoundPage] = []
        self._searches = 0
        self._streams = False
        """True once a `delta` brought something: a `message` after it repeats it."""
        self._own_finish = ""
        """That of the first choice."""
        self._beside: dict[int, _CallsBeside] = {}
        """By the index of their choice."""
        self._speaking = set[int]()
        """The indexes of other choices with words."""
        self._details: list[JsonObject] = []
        """Of the reasoning, joined."""

    @override
    def _read(self, sent: str | bytes) -> Events:
        chunk = parse_as(
            _CHUNK,
            sent,
            "an answer",
        )
        reported = chunk.reported_error
        if reported is not None:
            raise ReportedFailure(reported)
        if chunk.usage is not None:
            self._usage = chunk.usage.usage()
            self._searches = chunk.usage.searches or self._searches
        if chunk.prompt_progress is not None and not self._streams:
            yield PromptProgress(
                chunk.prompt_progress.processed, chunk.prompt_progress.total
            )
        yield from self._passed(self._read_choices(chunk))

    def _passed(self, events: Events) -> Events:
        """Pass events on, or have them wait, with a sign of life for each."""
        for event in events:
            if self._waiting is None or isinstance(event, ReasoningDelta):
                yield event
            else:
                self._waiting.append(event)
                yield PromptProgress(
                    len(self._waiting),
                    len(self._waiting),
                )

    def _read_choices(self, chunk: _Chunk) -> Events:
        for choice in chunk.choices or []:
            place = choice.index or 0
            if place:
                self._hold(place, choice)
            else:
                yield from self._read_first(choice)
            ends = [calls.finish for calls in self._beside.values()] or [
                self._own_finish
            ]
            if "" in ends:
                self._finish = ""
            else:
                self._finish = min(ends, key=_WHOLE.__contains__)

    def _read_first(self, choice: _Choice) -> Events:
        """Read the choice that was requested. Once it has calls, those of others are not a part of the answer."""
        if choice.message is not None and not self._streams:
            yield from self._read_delta(choice.message)
        elif choice.delta is not None:
            self._streams = self._streams or bool(choice.delta.calls())
            for event in self._read_delta(choice.delta):
                self._streams = True
                yield event
        if self._beside and self._calls.any:
            self._beside.clear()
        if choice.finish_reason:
            self._own_finish = choice.finish_reason
            yield from self._ready(self._calls.finish())

    def _hold(
        self,
        place: int,
        choice: _Choice,
    ) -> None:
        """Hold the calls of another choice until the reply ends, because the first one may still have its own.

        GitHub Copilot has the calls of Claude beside its words, one a choice. A choice
        that begins with words is an answer that was not requested.
        """
        part = choice.delta or choice.message
        if part is not None and place not in self._beside:
            if part.text():
                self._speaking.add(place)
            is_wanted = not (
                self._calls.any or self._own_finish == "stop" or place in self._speaking
            )
            if part.calls() and is_wanted:
                self._beside[place] = _CallsBeside()
        held = self._beside.get(place)
        if held:
            if part is not None:
                held.parts.append(part)
                held.length += sum(
                    len(arguments_text(call.arguments)) for call in part.calls()
                )
            held.finish = held.finish or choice.finish_reason or ""

    def _held(self) -> Events:
        beside = self._beside
        self._beside = {}
        for place in sorted(beside):
            for part in beside[place].parts:
                yield from self._read_delta(part, place)

    @property
    @override
    def call_length(self) -> int:
        return self._calls.length + sum(calls.length for calls in self._beside.values())

    @override
    def _end_marked(self) -> Events:
        if not self._finish:
            yield from self._passed(self._held())
        yield from self._passed(super()._end_marked())

    @override
    def _last_calls(self) -> Events:
        last = [*self._held(), *super()._last_calls()]
        if self._waiting is None:
            yield from last
            return
        found = self._found
        for _ in range(min(self._searches or bool(found), MOST_SEARCHES)):
            yield from self._searched(
                "",
                {},
                found,
            )
            found = []
        yield from (*self._waiting, *last)

    def _read_delta(
        self,
        delta: _Delta,
        place: int = 0,
    ) -> Events:
        """Read a part of the choice with the index `place`; each choice numbers its calls."""
        yield from self._reasoning(delta.reasoning_text())
        yield from self._text(delta.text())
        self._declines = self._declines or bool(delta.refusal)
        self._found += [one.page for one in delta.annotations or [] if one.page]
        for piece in delta.reasoning_details or []:
            if self._details and _continues(self._details[-1], piece):
                self._details[-1] = _joined(
                    self._details[-1],
                    piece,
                )
            else:
                self._details.append(piece)
        calls = delta.calls()
        if calls:
            yield from self._call(
                *(
                    CallFragment(
                        None if call.index is None else call.index + place * MAX_CALLS,
                        call.id or "",
                        call.name or "",
                        arguments_text(call.arguments),
                        call.extra_content,
                    )
                    for call in calls
                )
            )

    @override
    def _provider_items(self) -> Iterator[ProviderItem]:
        data: JsonObject = (
            {"reasoning_details": [*self._details]} if self._details else {}
        )
        if self._calls.extras:
            data["extra_content"] = {**self._calls.extras}
        if data:
            yield ProviderItem(FORMAT, data)
