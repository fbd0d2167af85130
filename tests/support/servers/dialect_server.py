"""A scripted model server that answers as the provider contract says that services of its format do.

Knows how a scripted answer becomes one of `tests/agent/providers/contract`, which alone knows how a format is written.
Arguments that are no JSON can only be sent over formats in which they are text: not over Ollama's.
"""

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import ClassVar, override

from pydantic import JsonValue

from custom_components.chatterbox.agent.messages import FinishReason, ToolCall, Usage
from tests.agent.providers.contract.dialect import Answer, Dialect
from tests.support.servers.model_server import ModelRequest, ScriptedModelServer
from tests.support.servers.script import ScriptedAnswer, ScriptedUsage


class ScriptedDialectServer(ScriptedModelServer):
    """A server of the format that `dialect` plays."""

    dialect: ClassVar[Dialect]
    end_of_event: ClassVar[bytes] = b"\n\n"

    @override
    def stream(self, answer: ScriptedAnswer, asked: ModelRequest) -> Iterable[bytes]:
        events = self.dialect.render(_answer_of(answer)).split(self.end_of_event)
        return [event + self.end_of_event for event in events if event]

    @override
    def list_of(self, models: tuple[str, ...]) -> JsonValue:
        return _json(self.dialect.model_list(models))

    @override
    def error(self, status: HTTPStatus, message: str) -> JsonValue:
        return _json(self.dialect.render_error(status, message))


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
                call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
            )
            for index, call in enumerate(answer.tool_calls)
        ],
        finish=FinishReason(answer.finish_reason) if answer.finish_reason else natural,
        usage=Usage(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens),
    )


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _json(body: bytes) -> JsonValue:
    value: JsonValue = json.loads(body)
    return value
