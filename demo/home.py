"""A home to talk to, made in a fresh Home Assistant: the demo house, Chatterbox and an Assist pipeline.

Knows which settings of Home Assistant make an assistant; must not know how Home
Assistant runs or what is said.
"""

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, JsonValue, RootModel

from demo.config_flow_client import (
    CreatedEntry,
    Step,
    answer,
    choose,
    entry_of,
    offered_values,
    open_flow,
)
from demo.errors import DemoError
from demo.translated import HOME_FILE
from demo.web_api import HomeAssistantClient

CHATTERBOX = "chatterbox"
RUNNING_TIMEOUT_SECONDS = 60.0
_VOICE_SETTINGS = (
    "stt_engine",
    "stt_language",
    "tts_engine",
    "tts_language",
    "tts_voice",
    "wake_word_entity",
    "wake_word_id",
)
"""The parts that a pipeline for typed text does not need."""

_ON_A_COMMAND_LINE = {
    "error.api_key_malformed": "This is not a complete API key: it contains characters that no key has. "
    "Give the whole key, with CHATTERBOX_API_KEY or --api-key.",
    "error.provider_rejected_key": "The server does not accept this API key, or asks for one. "
    "Give a key of this server, with CHATTERBOX_API_KEY or --api-key.",
    "error.url_with_secrets": "Leave user name, password and keys out of --base-url. "
    "The key goes into CHATTERBOX_API_KEY or --api-key.",
    "error.invalid_url": "What --base-url names is not a complete web address; it looks like http://127.0.0.1:8080/v1.",
    "error.model_missing": "Choose a --model.",
    "error.model_not_found": "The server has no such model. Choose another --model, or get it on the server first.",
}
"""The sentences of the dialogs about their fields, for somebody who sees none."""


@dataclass(frozen=True, slots=True)
class ChatCompletionsServer:
    """The server whose model answers, when it is not the offline provider."""

    base_url: str
    model: str | None = None
    api_key: str | None = None


class _Ignored(RootModel[JsonValue]):
    """An answer that says nothing but that it was done."""


class _Area(BaseModel):
    area_id: str


class _CoreConfiguration(BaseModel):
    state: str
    version: str


class _Entity(BaseModel):
    entity_id: str
    config_entry_id: str | None


class _Pipeline(BaseModel):
    id: str


class State(BaseModel):
    """The state of an entity."""

    entity_id: str
    state: str
    attributes: dict[str, JsonValue]


async def wait_until_running(client: HomeAssistantClient) -> str:
    """Return Home Assistant's version once everything that it starts with has started."""
    started = await client.subscribe(
        "subscribe_events", event_type="homeassistant_started"
    )
    configuration = await client.command("get_config", _CoreConfiguration)
    if configuration.state != "RUNNING":
        try:
            await started.next(dict[str, JsonValue], RUNNING_TIMEOUT_SECONDS)
        except TimeoutError as error:
            raise DemoError(
                f"Home Assistant was not ready after {RUNNING_TIMEOUT_SECONDS:.0f} s."
            ) from error
    return configuration.version


async def set_up_home(client: HomeAssistantClient, home_file: Path = HOME_FILE) -> None:
    """Build the demo house in place of the three rooms that every new Home Assistant has."""
    version = await wait_until_running(client)
    for area in await client.command("config/area_registry/list", list[_Area]):
        await client.command(
            "config/area_registry/delete", _Ignored, area_id=area.area_id
        )
    form = await open_flow(client, "demo_house")
    await entry_of(
        client, "demo_house", await answer(client, form, {"home_file": str(home_file)})
    )
    # What finishing the onboarding in a browser leaves behind; without it every page
    # starts with an announcement.
    await client.command(
        "frontend/set_system_data",
        _Ignored,
        key="core",
        value={"onboarded_version": version},
    )


async def set_up_assistant(
    client: HomeAssistantClient,
    server: ChatCompletionsServer | None,
    name: str = "Chatterbox",
    language: str = "en",
) -> str:
    """Add an agent, offline or with a server, and make it the assistant of the home; return the pipeline's id."""
    entry = await (
        _add_offline_service(client, name)
        if server is None
        else _add_server(client, server, name)
    )
    return await _add_pipeline(client, name, entry.entry_id, language)


async def set_up_shown_assistant(client: HomeAssistantClient, entry_id: str) -> str:
    """Make the agent of an entry that is there the assistant of the home, beside one without a model; return its id."""
    offline = await _add_offline_service(client, "Chatterbox")
    await _add_pipeline(client, "Offline", offline.entry_id)
    return await _add_pipeline(client, "Butler", entry_id)


async def _add_pipeline(
    client: HomeAssistantClient, name: str, entry_id: str, language: str = "en"
) -> str:
    """Make the agent of an entry the assistant of the home; return the pipeline's id."""
    pipeline_id = await create_pipeline(
        client, name, await _agent_of(client, entry_id), language=language
    )
    await client.command(
        "assist_pipeline/pipeline/set_preferred", _Ignored, pipeline_id=pipeline_id
    )
    return pipeline_id


async def create_pipeline(
    client: HomeAssistantClient,
    name: str,
    agent: str,
    *,
    prefer_local_intents: bool = False,
    language: str = "en",
) -> str:
    """Create an assistant that answers with an agent; return the pipeline's id."""
    pipeline = await client.command(
        "assist_pipeline/pipeline/create",
        _Pipeline,
        name=name,
        language=language,
        conversation_engine=agent,
        conversation_language=language,
        prefer_local_intents=prefer_local_intents,
        **dict.fromkeys(_VOICE_SETTINGS),
    )
    return pipeline.id


async def _add_offline_service(client: HomeAssistantClient, name: str) -> CreatedEntry:
    menu = await open_flow(client, CHATTERBOX)
    return await _finish(client, await choose(client, menu, "offline"), name)


async def _add_server(
    client: HomeAssistantClient, server: ChatCompletionsServer, name: str
) -> CreatedEntry:
    menu = await open_flow(client, CHATTERBOX)
    step = await choose(client, menu, "in_my_home")
    form = await choose(client, step, "own_server") if step.type == "menu" else step
    address: dict[str, JsonValue] = {"base_url": server.base_url}
    step = await answer(client, form, address)
    if server.api_key is not None and "api_key" in (step.errors or {}):
        step = await answer(client, step, address | {"api_key": server.api_key})
    if step.step_id == "model" and not step.errors:
        step = await answer(
            client, step, {"model": server.model or _only_model(server, step)}
        )
    if step.step_id == "no_tools":
        step = await choose(client, step, "first_agent")
    return await _finish(client, step, name)


async def _finish(client: HomeAssistantClient, step: Step, name: str) -> CreatedEntry:
    """Send the last form, where the dialog has come to it."""
    if step.step_id == "first_agent":
        step = await answer(client, step, {"name": name})
    return await entry_of(client, CHATTERBOX, step, _ON_A_COMMAND_LINE)


def _only_model(server: ChatCompletionsServer, step: Step) -> str:
    """Return the one model that the dialog offers; `DemoError` when there is a choice to make."""
    models = offered_values(step, "model")
    if len(models) == 1:
        return models[0]
    raise DemoError(
        f"Choose a --model; the server at {server.base_url} has: {', '.join(models) or 'none it tells of'}"
    )


async def _agent_of(client: HomeAssistantClient, entry_id: str) -> str:
    """Return the entity id of the conversation agent that came with an entry."""
    for entity in await client.command("config/entity_registry/list", list[_Entity]):
        if entity.config_entry_id == entry_id and entity.entity_id.startswith(
            "conversation."
        ):
            return entity.entity_id
    raise DemoError("Chatterbox was added, but brought no conversation agent.")


class _Plan(BaseModel):
    due: str | None = None

    def is_due_within(self, seconds: float) -> bool:
        due = datetime.fromisoformat(self.due) if self.due else None
        return (
            due is not None
            and due.tzinfo is not None
            and due <= datetime.now(UTC) + timedelta(seconds=seconds)
        )


class _Plans(BaseModel):
    items: list[_Plan]


async def states(client: HomeAssistantClient) -> dict[str, State]:
    """Return every state of the home, by entity id."""
    return {
        state.entity_id: state
        for state in await client.command("get_states", list[State])
    }


async def wait_for_plans(client: HomeAssistantClient, seconds: float) -> None:
    """Wait until no plan of the home is due within so many seconds, or nothing changes for twice as long."""
    changes = await client.subscribe("todo/item/subscribe", entity_id="todo.later")
    with contextlib.suppress(TimeoutError):
        while any(
            item.is_due_within(seconds)
            for item in (await changes.next(_Plans, 2 * seconds)).items
        ):
            pass
