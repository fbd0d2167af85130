"""Scripted model servers that answer as the provider contract says that services of their format do, streaming only.

Arguments that are no JSON can only be sent over formats in which they are text: not
over Ollama's.
"""

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import ClassVar, override

from aiohttp import web
from pydantic import BaseModel, JsonValue

from custom_components.chatterbox.agent.messages import FinishReason, ToolCall, Usage
from tests.agent.providers.contract.anthropic_messages import AnthropicMessagesDialect
from tests.agent.providers.contract.dialect import Answer, Dialect
from tests.agent.providers.contract.ollama_chat import OllamaChatDialect
from tests.agent.providers.contract.openai_responses import OpenAIResponsesDialect
from tests.support.servers.model_server import (
    ModelRequest,
    ScriptedModelServer,
    is_from_user,
    tries_tool,
)
from tests.support.servers.script import ScriptedAnswer, ScriptedUsage

_CONTEXT_WINDOW = 131_072


class _Request(BaseModel):
    """The common part of the formats; each has one of the two lists, and one of the two instructions."""

    model: str
    messages: list[dict[str, JsonValue]] = []
    input: list[dict[str, JsonValue]] = []
    system: JsonValue = None
    instructions: str = ""
    tools: list[JsonValue] = []
    stream: bool | None = None


class _ScriptedDialectServer(ScriptedModelServer):
    """A server of the format that `dialect` plays."""

    dialect: ClassVar[Dialect]
    end_of_event: ClassVar[bytes] = b"\n\n"
    streams_unasked: ClassVar[bool] = False

    @override
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        request = _Request.model_validate(body)
        is_bare = not (request.tools or request.system or request.instructions)
        is_trial = is_bare and [
            is_from_user(one) for one in request.messages or request.input
        ] == [True]
        streams = self.streams_unasked if request.stream is None else request.stream
        asks_for_tool = tries_tool(request.tools, request.messages or request.input)
        return ModelRequest(request.model, is_trial, streams, tries_tool=asks_for_tool)

    @override
    def stream(self, answer: ScriptedAnswer, parsed: ModelRequest) -> Iterable[bytes]:
        events = self.dialect.render(_answer_of(answer)).split(self.end_of_event)
        return [event + self.end_of_event for event in events if event]

    @override
    def list_of(self, models: tuple[str, ...]) -> JsonValue:
        return _json(self.dialect.model_list(models))

    @override
    def error(self, status: HTTPStatus, message: str) -> JsonValue:
        return _json(self.dialect.render_error(status, message))


class ScriptedMessages(_ScriptedDialectServer):
    """A service as Anthropic's, with the Messages API."""

    dialect = AnthropicMessagesDialect()
    base_path = ""
    models_path = "/v1/models"
    answer_path = "/v1/messages"
    key_header = "x-api-key"
    key_prefix = ""


class ScriptedResponses(_ScriptedDialectServer):
    """A service as OpenAI's, with the Responses API."""

    dialect = OpenAIResponsesDialect()
    base_path = "/v1"
    models_path = "/v1/models"
    answer_path = "/v1/responses"


class ScriptedOllama(_ScriptedDialectServer):
    """A server as Ollama's, with its own format."""

    dialect = OllamaChatDialect()
    end_of_event = b"\n"
    streams_unasked = True
    base_path = ""
    models_path = "/api/tags"
    answer_path = "/api/chat"
    content_type = "application/x-ndjson"

    @override
    def application(self) -> web.Application:
        application = super().application()
        application.router.add_post("/api/show", self._show)
        application.router.add_get("/api/version", self._tell_version)
        return application

    async def _tell_version(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"version": "0.14.0"})

    async def _show(self, request: web.Request) -> web.StreamResponse:
        model = (await request.json())["model"]
        if model not in self._script.models:
            return self._refuse(HTTPStatus.NOT_FOUND, f"model '{model}' not found")
        info = {
            "general.architecture": "llama",
            "llama.context_length": _CONTEXT_WINDOW,
        }
        tools = [] if model in self._script.without_tools else ["tools"]
        return web.json_response(
            {"capabilities": ["completion", *tools], "model_info": info}
        )


def _answer_of(answer: ScriptedAnswer) -> Answer:
    usage = answer.usage or ScriptedUsage()
    natural = FinishReason.TOOL_CALLS if answer.tool_calls else FinishReason.STOP
    return Answer(
        text=_pieces(answer.content or "", answer.piece_characters),
        reasoning=_pieces(answer.reasoning_content or "", answer.piece_characters),
        calls=[
            ToolCall(
                call.id or f"call_{index}",
                call.name,
                call.arguments
                if isinstance(call.arguments, str)
                else json.dumps(call.arguments),
            )
            for index, call in enumerate(answer.tool_calls)
        ],
        searches={search.query: search.pages for search in answer.searches},
        finish=FinishReason(answer.finish_reason) if answer.finish_reason else natural,
        usage=Usage(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        ),
    )


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _json(body: bytes) -> JsonValue:
    value: JsonValue = json.loads(body)
    return value
