"""The answers of a scripted Chat Completions server: the JSON file that a test writes.

Knows the file's format alone; must not know HTTP. A script with every key:

    {"models": ["small-1"], "api_key": "secret", "answers": [
      {"tool_calls": [{"name": "intent__HassTurnOn", "arguments": {"area": "Kitchen"}}]},
      {"content": "The kitchen is lit.", "usage": {"prompt_tokens": 90, "completion_tokens": 6}},
      {"content": "Never read to its end.", "cut_after_bytes": 200},
      {"status": 429, "headers": {"Retry-After": "3"}, "body": {"error": {"message": "slow down"}}},
      {"status": 200, "body": "<html>not what you asked for</html>"}]}
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_STRICT = ConfigDict(frozen=True, extra="forbid")


class ScriptedUsage(BaseModel):
    """Token counts as Chat Completions reports them; the two detail counts are sent when they are not zero."""

    model_config = _STRICT

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class ScriptedCall(BaseModel):
    """A tool call of the model; arguments that are a string are sent as they are, valid JSON or not."""

    model_config = _STRICT

    name: str
    arguments: dict[str, JsonValue] | str = {}
    id: str | None = None
    """Made up from the position when it is not given; an empty one is sent as none at all."""


class ScriptedSearch(BaseModel):
    """A search of the web that the service runs by itself before it answers."""

    model_config = _STRICT

    query: str
    pages: dict[str, str] = {}
    """Titles by address."""


class ScriptedAnswer(BaseModel):
    """One assistant message, streamed."""

    model_config = _STRICT

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    searches: tuple[ScriptedSearch, ...] = ()
    finish_reason: str | None = None
    """`tool_calls` or `stop` when it is not given."""
    usage: ScriptedUsage | None = None
    piece_characters: int = Field(default=8, ge=1)
    """Text and arguments are sent in pieces of this many characters."""
    delay_seconds: float = Field(default=0, ge=0)
    """How long nothing is sent at all."""
    piece_delay_seconds: float = Field(default=0, ge=0)
    """How long nothing is sent after each piece."""
    write_bytes: int | None = Field(default=None, ge=1)
    """The stream is written in pieces of this many bytes, wherever that cuts it; by events when it is not given."""
    cut_after_bytes: int | None = Field(default=None, ge=0)
    """The connection breaks after this many bytes of the stream."""


class ScriptedFailure(BaseModel):
    """A whole answer that is no stream; a body that is a string is sent as HTML, anything else as JSON."""

    model_config = _STRICT

    status: int
    body: JsonValue = None
    headers: dict[str, str] = {}


class Script(BaseModel):
    """Everything a server says, in order; a request beyond the last answer gets HTTP 500 that says so."""

    model_config = _STRICT

    models: tuple[str, ...] = ("scripted-model",)
    api_key: str | None = None
    """When given, a request without it gets HTTP 401."""
    answers: tuple[ScriptedAnswer | ScriptedFailure, ...] = ()
    trial_answer: ScriptedAnswer | ScriptedFailure | None = ScriptedAnswer(
        content="Hello!"
    )
    """The answer to clients that try out a model: one user message, no instructions or tools. None: the next answer."""
    tool_trial_answer: ScriptedAnswer | ScriptedFailure | None = ScriptedAnswer(
        tool_calls=(ScriptedCall(name="turn_on", arguments={"name": "kitchen light"}),)
    )
    """The answer to clients that try out whether a model uses a tool. None: as for others that try it out."""
    owner: str = "script"
    """The owner of the models in their list, by which servers are told apart."""
    context_window: int | None = None
    """The tokens that its models read, where the list of models says so."""
    without_tools: tuple[str, ...] = ()
    """Models that cannot use tools, where the server says so."""
    after_last: Literal["fail", "start again"] = "fail"
