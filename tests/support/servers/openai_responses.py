"""A scripted server that speaks the Responses API (`/v1/models`, `/v1/responses`), streaming only."""

from typing import override

from pydantic import BaseModel, JsonValue

from tests.agent.providers.contract.openai_responses import OpenAIResponsesDialect
from tests.support.servers.dialect_server import ScriptedDialectServer
from tests.support.servers.model_server import ModelRequest, is_from_user, run


class _Request(BaseModel):
    model: str
    input: list[dict[str, JsonValue]]
    instructions: str = ""
    tools: list[JsonValue] = []
    stream: bool = False


class ScriptedResponses(ScriptedDialectServer):
    """A service as OpenAI's."""

    dialect = OpenAIResponsesDialect()
    base_path = "/v1"
    models_path = "/v1/models"
    answer_path = "/v1/responses"

    @override
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        request = _Request.model_validate(body)
        is_trial = not request.tools and not request.instructions and [is_from_user(i) for i in request.input] == [True]
        return ModelRequest(request.model, is_trial, request.stream)


if __name__ == "__main__":
    run(ScriptedResponses)
