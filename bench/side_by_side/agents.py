"""Everybody who takes part: our agent over each format, and those that ship with Home Assistant, as people set them up.

Knows what their entries hold; all settings are the defaults, but for the address of the
model server. Must not know what is said to them.
"""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
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
from bench.side_by_side.home import add_entry, new_entry
from bench.side_by_side.server_client import Server
from bench.side_by_side.targets import OURS, REFERENCE

_KEY: Final = "sk-benchmark"
_OPEN_ROUTER: Final = "openrouter.ai"
_KINDS: Final = {
    Format.CHAT: "openai_chat",
    Format.RESPONSES: "openai_responses",
    Format.MESSAGES: "anthropic_messages",
    Format.OLLAMA: "ollama_chat",
}
_ASSIST: Final[Mapping[str, object]] = {"llm_hass_api": [LLM_API_ASSIST]}
_PROMPTED: Final[Mapping[str, object]] = {
    **_ASSIST,
    "prompt": DEFAULT_INSTRUCTIONS_PROMPT,
}
_RECOMMENDED: Final[Mapping[str, object]] = {"recommended": True}


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent that can be set up."""

    domain: str
    spoken: Format
    data: dict[str, object]
    options: dict[str, object]
    version: tuple[int, int] = (1, 1)

    @property
    def is_ours(self) -> bool:
        """Whether it is our agent."""
        return self.domain == OURS

    @property
    def name(self) -> str:
        """The domain; for ours with the format, where it is not Chat Completions."""
        return (
            f"{self.domain}, {self.spoken}"
            if self.is_ours and self.spoken is not Format.CHAT
            else self.domain
        )


@dataclass(frozen=True, slots=True)
class Agent:
    """A participant in a home."""

    name: str
    spoken: Format
    entity_id: str


def participants(server: Server) -> tuple[Participant, ...]:
    """Return everybody, ours first."""
    return *_ours(server), *_of_home_assistant(server)


def _ours(server: Server) -> Iterator[Participant]:
    for spoken, kind in _KINDS.items():
        data: dict[str, object] = {
            "kind": kind,
            "base_url": server.base_url(spoken),
            "api_key": _KEY,
        }
        if spoken is Format.CHAT:
            data["server"] = REFERENCE  # the server that core's agent has
        yield Participant(
            OURS, spoken, data, {**_ASSIST, "model": MODEL, "local_commands": "never"}
        )


def _of_home_assistant(server: Server) -> Iterator[Participant]:
    chat, ollama = server.base_url(Format.CHAT), server.base_url(Format.OLLAMA)
    key: dict[str, object] = {"api_key": _KEY}
    model, chat_model = (
        {**_PROMPTED, "model": MODEL},
        {**_PROMPTED, **_RECOMMENDED, "chat_model": MODEL},
    )
    streaming: dict[str, object] = {"base_url": chat, "streaming": True}
    yield Participant(
        REFERENCE,
        Format.CHAT,
        streaming,
        {**_ASSIST, **_RECOMMENDED, "chat_model": MODEL},
    )
    yield Participant("litellm", Format.CHAT, {"url": chat, **key}, model)
    yield Participant(
        "open_router", Format.CHAT, key, {**model, **_RECOMMENDED}, (1, 4)
    )
    yield Participant("openai_conversation", Format.RESPONSES, key, chat_model, (2, 8))
    yield Participant("anthropic", Format.MESSAGES, key, chat_model, (2, 5))
    yield Participant("ollama", Format.OLLAMA, {"url": ollama}, model, (3, 3))


def lead_to(hass: HomeAssistant, server: Server) -> None:
    """Lead agents to the model server whose dialogs ask for no address: two by the environment, one by a hook."""
    os.environ["OPENAI_BASE_URL"] = server.base_url(Format.RESPONSES)
    os.environ["ANTHROPIC_BASE_URL"] = server.base_url(Format.MESSAGES)
    client = get_async_client(hass)
    client.event_hooks = {
        **client.event_hooks,
        "request": [_rewriting(httpx.URL(server.url))],
    }


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
    entry = new_entry(
        participant.domain, participant.data, (agent,), participant.version
    )
    await add_entry(hass, entry)
    entities = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    entity_id = next(
        entity.entity_id for entity in entities if entity.domain == "conversation"
    )
    return Agent(participant.name, participant.spoken, entity_id)
