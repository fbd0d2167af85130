"""A scripted server that speaks Ollama's own format (`/api/tags`, `/api/show`, `/api/chat`), streaming only."""

from http import HTTPStatus
from typing import override

from aiohttp import web
from pydantic import BaseModel, JsonValue

from tests.agent.providers.contract.ollama_chat import OllamaChatDialect
from tests.support.servers.dialect_server import ScriptedDialectServer
from tests.support.servers.model_server import ModelRequest, is_from_user, run

_CONTEXT_WINDOW = 131_072


class _Request(BaseModel):
    model: str
    messages: list[dict[str, JsonValue]]
    tools: list[JsonValue] = []
    stream: bool = True


class _Question(BaseModel):
    model: str


class ScriptedOllama(ScriptedDialectServer):
    """A server as Ollama's."""

    dialect = OllamaChatDialect()
    end_of_event = b"\n"
    base_path = ""
    models_path = "/api/tags"
    answer_path = "/api/chat"
    content_type = "application/x-ndjson"

    @override
    def application(self) -> web.Application:
        application = super().application()
        application.router.add_post("/api/show", self._show)
        return application

    @override
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        request = _Request.model_validate(body)
        is_trial = not request.tools and [is_from_user(m) for m in request.messages] == [True]
        return ModelRequest(request.model, is_trial, request.stream)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        question = _Question.model_validate_json(await request.text())
        if question.model not in self._script.models:
            status = HTTPStatus.NOT_FOUND
            return web.json_response(self.error(status, f"model '{question.model}' not found"), status=status)
        info = {"general.architecture": "llama", "llama.context_length": _CONTEXT_WINDOW}
        return web.json_response({"capabilities": ["completion", "tools"], "model_info": info})


if __name__ == "__main__":
    run(ScriptedOllama)
