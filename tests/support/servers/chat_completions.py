"""A scripted server that speaks Chat Completions (`/v1/models`, `/v1/chat/completions`), streaming only."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import override

from pydantic import BaseModel, JsonValue

from tests.support.servers.model_server import (
    ModelRequest,
    ScriptedModelServer,
    is_from_user,
    run,
    tries_tool,
)
from tests.support.servers.script import ScriptedAnswer
from tests.support.servers.stream import chunks_of


class _StreamOptions(BaseModel):
    include_usage: bool = False


class _Request(BaseModel):
    model: str
    messages: list[dict[str, JsonValue]]
    tools: list[JsonValue] = []
    stream: bool = False
    stream_options: _StreamOptions = _StreamOptions()


class ScriptedChatCompletions(ScriptedModelServer):
    """A server as most are. It needs nothing of ours, so that it soon runs as a process of its own."""

    base_path = "/v1"
    models_path = "/v1/models"
    answer_path = "/v1/chat/completions"

    @override
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        request = _Request.model_validate(body)
        is_trial = not request.tools and [
            is_from_user(message) for message in request.messages
        ] == [True]
        return ModelRequest(
            request.model,
            is_trial,
            request.stream,
            request.stream_options.include_usage,
            tries_tool(request.tools, request.messages),
        )

    @override
    def stream(self, answer: ScriptedAnswer, parsed: ModelRequest) -> Iterable[bytes]:
        return chunks_of(answer, parsed.model, include_usage=parsed.wants_usage)

    @override
    def list_of(self, models: tuple[str, ...]) -> JsonValue:
        window = self._script.context_window
        size: dict[str, JsonValue] = {"max_model_len": window} if window else {}
        data: list[JsonValue] = [
            {"id": name, "object": "model", "owned_by": self._script.owner, **size}
            for name in models
        ]
        return {"object": "list", "data": data}

    @override
    def error(self, status: HTTPStatus, message: str) -> JsonValue:
        return {
            "error": {"message": message, "type": "invalid_request_error", "code": None}
        }


if __name__ == "__main__":
    run(ScriptedChatCompletions)
