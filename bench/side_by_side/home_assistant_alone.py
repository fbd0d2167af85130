"""The share of Home Assistant itself: an agent that hands on the words of a model, and does nothing else.

The second floor beside the bare client: no agent that hands each fragment to Home
Assistant's chat log can be cheaper. It sends the bytes that it is given, reads the
stream with aiohttp and has Home Assistant run the calls; it makes no prompt, keeps no
history, and offers tools that were asked for once. Must not know what is measured.
"""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Final, Literal, override

import aiohttp
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    DATA_COMPONENT,
    AssistantContentDeltaDict,
    ChatLog,
    ConversationEntity,
    ConversationInput,
    ConversationResult,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from bench.side_by_side import answers
from bench.side_by_side.agents import Agent
from bench.side_by_side.answers import Format
from bench.side_by_side.server_client import Server
from bench.side_by_side.targets import ALONE

_DATA: Final = b"data: {"
_SHORT: Final = b'{"messages": [{"role": "user", "content": "What is it like at home?"}], "stream": true}'


class HandingOn(ConversationEntity):
    """An agent that hands on what the model server says."""

    _attr_name = ALONE
    _attr_unique_id = "alone"
    _attr_supports_streaming = True
    _attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    def __init__(
        self, server: Server, session: aiohttp.ClientSession, tools: llm.APIInstance
    ) -> None:
        """Take the server, Home Assistant's own session, and the tools that calls are run with."""
        self._url = f"{server.url}{answers.paths(Format.CHAT)[1]}"
        self._session = session
        self._tools = tools
        self.bodies: Sequence[bytes] = (_SHORT,)
        """The bodies that are sent, request by request of a turn."""

    @property
    @override
    def supported_languages(self) -> Literal["*"]:
        return "*"

    @override
    async def _async_handle_message(
        self, user_input: ConversationInput, chat_log: ChatLog
    ) -> ConversationResult:
        chat_log.llm_api = self._tools
        for body in self.bodies:
            async for _ in chat_log.async_add_delta_content_stream(
                self.entity_id, self._deltas(body)
            ):
                pass
        return conversation.async_get_result_from_chat_log(user_input, chat_log)

    async def _deltas(self, body: bytes) -> AsyncIterator[AssistantContentDeltaDict]:
        yield {"role": "assistant"}
        calls: list[dict[str, str]] = []
        headers = {"Content-Type": "application/json"}
        async with self._session.post(self._url, data=body, headers=headers) as answer:
            async for line in answer.content:
                if not line.startswith(_DATA) or not (
                    choices := json.loads(line[6:])["choices"]
                ):
                    continue
                delta = choices[0]["delta"]
                if content := delta.get("content"):
                    yield {"content": content}
                for piece in delta.get("tool_calls") or ():
                    _add(calls, piece["index"], piece["function"])
        if calls:
            yield {"tool_calls": [_input(call) for call in calls]}


def _add(calls: list[dict[str, str]], index: int, function: dict[str, str]) -> None:
    """Add a piece of a call to what is there of it."""
    if index == len(calls):
        calls.append({"name": "", "arguments": ""})
    for key in calls[index]:
        calls[index][key] += function.get(key) or ""


def _input(call: dict[str, str]) -> llm.ToolInput:
    return llm.ToolInput(
        tool_name=call["name"], tool_args=json.loads(call["arguments"] or "{}")
    )


async def set_up_alone(
    hass: HomeAssistant, server: Server, session: aiohttp.ClientSession
) -> tuple[Agent, HandingOn]:
    """Add it to a home."""
    asker = llm.LLMContext(
        platform=conversation.DOMAIN,
        context=Context(),
        language="en",
        assistant=conversation.DOMAIN,
        device_id=None,
    )
    entity = HandingOn(
        server, session, await llm.async_get_api(hass, llm.LLM_API_ASSIST, asker)
    )
    await hass.data[DATA_COMPONENT].async_add_entities([entity])
    return Agent(ALONE, Format.CHAT, entity.entity_id), entity
