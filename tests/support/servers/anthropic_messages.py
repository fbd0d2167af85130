"""A scripted server that speaks the Messages API (`/v1/models`, `/v1/messages`), streaming only."""

from typing import override

from pydantic import BaseModel, JsonValue

from tests.agent.providers.contract.anthropic_messages import AnthropicMessagesDialect
from tests.support.servers.dialect_server import ScriptedDialectServer
from tests.support.servers.model_server import ModelRequest, is_from_user, run


class _Request(BaseModel):
    model: str
    max_tokens: int
    messages: list[dict[str, JsonValue]]
    system: JsonValue = None
    tools: list[JsonValue] = []
    stream: bool = False


class ScriptedMessages(ScriptedDialectServer):
    """A service as Anthropic's."""

    dialect = AnthropicMessagesDialect()
    base_path = ""
    models_path = "/v1/models"
    answer_path = "/v1/messages"
    key_header = "x-api-key"
    key_prefix = ""

    @override
    def read(self, body: dict[str, JsonValue]) -> ModelRequest:
        request = _Request.model_validate(body)
        is_trial = not request.tools and not request.system and [is_from_user(m) for m in request.messages] == [True]
        return ModelRequest(request.model, is_trial, request.stream)


if __name__ == "__main__":
    run(ScriptedMessages)
