"""Everybody who takes part: our agent over each format, and those that ship with Home Assistant, as people set them up.

Knows what their entries hold; all settings are the defaults, but for the address of the model server. Must not know
what is said to them.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import httpx
from homeassistant.config_entries import ConfigSubentryData
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.httpx_client import get_async_client
from homeassistant.helpers.llm import DEFAULT_INSTRUCTIONS_PROMPT, LLM_API_ASSIST

from bench.side_by_side import answers
from bench.side_by_side.answers import MODEL, Format
from bench.side_by_side.house import add_entry, new_entry
from bench.side_by_side.server_client import Server
from bench.side_by_side.targets import OURS, REFERENCE

_KEY: Final = "sk-benchmark"
_OPEN_ROUTER: Final = "openrouter.ai"


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent that can be set up."""

    name: str
    """The domain; for ours with the format, where it is not Chat Completions."""
    domain: str
    spoken: Format
    data: dict[str, object]
    options: dict[str, object]
    version: tuple[int, int] = (1, 1)

    @property
    def is_ours(self) -> bool:
        """Whether it is our agent."""
        return self.domain == OURS


@dataclass(frozen=True, slots=True)
class Agent:
    """A participant in a home."""

    name: str
    spoken: Format
    entity_id: str


def participants(server: Server) -> tuple[Participant, ...]:
    """Return everybody, ours first."""
    assist: dict[str, object] = {"llm_hass_api": [LLM_API_ASSIST]}
    recommended = {**assist, "recommended": True, "prompt": DEFAULT_INSTRUCTIONS_PROMPT}
    url = server.base_url
    ours: dict[str, object] = {**assist, "model": MODEL}
    kinds = {
        Format.CHAT: "openai_chat",
        Format.RESPONSES: "openai_responses",
        Format.MESSAGES: "anthropic_messages",
        Format.OLLAMA: "ollama_chat",
    }
    return (
        *(
            Participant(
                OURS if spoken is Format.CHAT else f"{OURS}, {spoken}",
                OURS,
                spoken,
                {"kind": kind, "base_url": url(spoken), "api_key": _KEY},
                ours,
            )
            for spoken, kind in kinds.items()
        ),
        Participant(
            REFERENCE,
            REFERENCE,
            Format.CHAT,
            {"base_url": url(Format.CHAT), "streaming": True},
            {**assist, "recommended": True, "chat_model": MODEL},
        ),
        Participant(
            "litellm",
            "litellm",
            Format.CHAT,
            {"url": url(Format.CHAT), "api_key": _KEY},
            {**assist, "prompt": DEFAULT_INSTRUCTIONS_PROMPT, "model": MODEL},
        ),
        Participant(
            "open_router", "open_router", Format.CHAT, {"api_key": _KEY}, {**recommended, "model": MODEL}, (1, 3)
        ),
        Participant(
            "openai_conversation",
            "openai_conversation",
            Format.RESPONSES,
            {"api_key": _KEY},
            {**recommended, "chat_model": MODEL},
            (2, 7),
        ),
        Participant(
            "anthropic",
            "anthropic",
            Format.MESSAGES,
            {"api_key": _KEY},
            {**recommended, "chat_model": MODEL},
            (2, 4),
        ),
        Participant(
            "ollama",
            "ollama",
            Format.OLLAMA,
            {"url": url(Format.OLLAMA)},
            {**assist, "prompt": DEFAULT_INSTRUCTIONS_PROMPT, "model": MODEL},
            (3, 3),
        ),
    )


def lead_to(hass: HomeAssistant, server: Server) -> None:
    """Lead agents to the model server whose dialogs ask for no address: two by the environment, one by a hook."""
    os.environ["OPENAI_BASE_URL"] = server.base_url(Format.RESPONSES)
    os.environ["ANTHROPIC_BASE_URL"] = server.base_url(Format.MESSAGES)
    client = get_async_client(hass)
    client.event_hooks = {**client.event_hooks, "request": [_rewriting(httpx.URL(server.url))]}


def _rewriting(url: httpx.URL) -> Callable[[httpx.Request], Awaitable[None]]:
    async def rewrite(request: httpx.Request) -> None:
        if request.url.host == _OPEN_ROUTER:
            path = request.url.path.replace("/api/v1", answers.base_path(Format.CHAT))
            request.url = url.copy_with(path=path)

    return rewrite


async def set_up(hass: HomeAssistant, participant: Participant) -> Agent:
    """Set a participant up in a home that is led to the model server."""
    agent: ConfigSubentryData = {
        "subentry_type": "conversation",
        "title": participant.name,
        "unique_id": None,
        "data": participant.options,
    }
    entry = new_entry(participant.domain, participant.data, (agent,), participant.version)
    await add_entry(hass, entry)
    entities = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    entity_id = next(entity.entity_id for entity in entities if entity.domain == "conversation")
    return Agent(participant.name, participant.spoken, entity_id)
