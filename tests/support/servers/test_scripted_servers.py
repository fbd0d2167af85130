"""The scripted servers say what their script says, over each wire format, to the providers that speak it."""

import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp.test_utils import TestServer

from custom_components.chatterbox.agent.errors import (
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderReplyInvalid,
)
from custom_components.chatterbox.agent.events import CompletionResult, ProviderEvent, TextDelta, ToolCallReady
from custom_components.chatterbox.agent.messages import FinishReason, ToolDefinition, UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.anthropic_messages import AnthropicMessagesProvider
from custom_components.chatterbox.agent.providers.ollama_chat import OllamaChatProvider
from custom_components.chatterbox.agent.providers.openai_responses import OpenAIResponsesProvider
from tests.agent.providers.contract.dialect import ModelProvider
from tests.support.servers.anthropic_messages import ScriptedMessages
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.servers.ollama_chat import ScriptedOllama
from tests.support.servers.openai_responses import ScriptedResponses
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall, ScriptedFailure, ScriptedUsage

pytestmark = pytest.mark.usefixtures("socket_enabled")

ASKED = CompletionRequest("Be brief.", (UserMessage("Light!"),), (ToolDefinition("turn_on", "", {"type": "object"}),))
SCRIPT = Script(
    models=("small-1", "large-1"),
    api_key="right-key",
    answers=(
        ScriptedAnswer(content="One moment.", tool_calls=(ScriptedCall(name="turn_on", arguments={"name": "hall"}),)),
        ScriptedAnswer(content="It is on.", usage=ScriptedUsage(prompt_tokens=90, completion_tokens=6)),
        ScriptedAnswer(content="Never read to its end.", cut_after_bytes=200),
        ScriptedFailure(status=429, body={"error": {"message": "slow down"}}),
    ),
)

type MakeProvider = Callable[[aiohttp.ClientSession, str, str, str], ModelProvider]


@dataclass(frozen=True, slots=True)
class Format:
    """A scripted server, and the provider for it."""

    server: type[ScriptedModelServer]
    provider: MakeProvider


FORMATS = (
    Format(ScriptedResponses, OpenAIResponsesProvider),
    Format(ScriptedMessages, AnthropicMessagesProvider),
    Format(ScriptedOllama, OllamaChatProvider),
)


async def answer(provider: ModelProvider) -> list[ProviderEvent]:
    """Return all events of the next answer."""
    async with aclosing(provider.stream(ASKED)) as events:
        return [event async for event in events]


@pytest.mark.parametrize("spoken", FORMATS, ids=lambda spoken: spoken.server.__name__)
async def test_a_script_is_told_from_its_beginning_to_its_end(spoken: Format) -> None:
    scripted = spoken.server(SCRIPT)
    async with TestServer(scripted.application(), host="127.0.0.1") as server, aiohttp.ClientSession() as session:
        address = str(server.make_url(scripted.base_path or "/"))
        provider = spoken.provider(session, address, "small-1", "right-key")
        assert await provider.list_models() == ["large-1", "small-1"]
        await provider.check()  # takes no answer of the script

        *called, first = await answer(provider)
        assert isinstance(first, CompletionResult)
        assert first.finish_reason is FinishReason.TOOL_CALLS
        [call] = [event.call for event in called if isinstance(event, ToolCallReady)]
        assert (call.id, call.name, json.loads(call.arguments)) == ("call_0", "turn_on", {"name": "hall"})
        *said, second = await answer(provider)
        assert "".join(event.text for event in said if isinstance(event, TextDelta)) == "It is on."
        assert isinstance(second, CompletionResult)
        assert (second.usage.input_tokens, second.usage.output_tokens) == (90, 6)
        with pytest.raises(ProviderReplyInvalid):
            await answer(provider)
        with pytest.raises(ProviderBusy):
            await answer(provider)
        with pytest.raises(ProviderError):
            await answer(provider)

    assert len(scripted.requests) == 6
    assert scripted.requests[0].authorization == f"{scripted.key_prefix}right-key"


@pytest.mark.parametrize("spoken", FORMATS, ids=lambda spoken: spoken.server.__name__)
async def test_a_stranger_and_a_model_that_is_not_there_are_refused(spoken: Format) -> None:
    scripted = spoken.server(SCRIPT)
    async with TestServer(scripted.application(), host="127.0.0.1") as server, aiohttp.ClientSession() as session:
        address = str(server.make_url(scripted.base_path or "/"))
        with pytest.raises(ProviderRejectedKey):
            await spoken.provider(session, address, "small-1", "wrong-key").list_models()
        with pytest.raises(ModelNotFound):
            await spoken.provider(session, address, "gone-1", "right-key").check()
