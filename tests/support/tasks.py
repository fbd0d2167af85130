"""Doing tasks in the demo home, as automations have them done."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, override

from homeassistant.components.camera import Camera
from homeassistant.components.camera.const import DATA_COMPONENT as CAMERAS
from homeassistant.components.image import ImageEntity
from homeassistant.components.image.const import DATA_COMPONENT as IMAGES
from homeassistant.const import CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from tests.support.home_rules import set_home_rules, split
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.dialects import (
    ScriptedMessages,
    ScriptedOllama,
    ScriptedResponses,
)
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.servers.script import Script
from tests.support.talk import move_into_the_demo_home

TASKS = "ai_task.worker"
SERVERS: Mapping[ServiceKind, type[ScriptedModelServer]] = {
    ServiceKind.OPENAI_CHAT: ScriptedChatCompletions,
    ServiceKind.OPENAI_RESPONSES: ScriptedResponses,
    ServiceKind.ANTHROPIC_MESSAGES: ScriptedMessages,
    ServiceKind.OLLAMA_CHAT: ScriptedOllama,
}


def task_entry(
    base_url: str,
    kind: ServiceKind = ServiceKind.OPENAI_CHAT,
    server: str = "other",
    title: str = "Worker",
    **options: object,
) -> MockConfigEntry:
    """Return an entry for a model server, with one agent to talk to and one model for tasks."""
    worker = {CONF_MODEL: "scripted-model", **options}
    return MockConfigEntry(
        domain=DOMAIN,
        title="The server",
        data={CONF_KIND: kind.value, CONF_BASE_URL: base_url, CONF_SERVER: server},
        subentries_data=[
            {"subentry_type": kind_of, "title": name, "unique_id": None, "data": data}
            for kind_of, name, data in (
                (SUBENTRY_CONVERSATION, "Talker", {CONF_MODEL: "scripted-model"}),
                (SUBENTRY_AI_TASK, title, worker),
            )
        ],
    )


@asynccontextmanager
async def working(
    hass: HomeAssistant,
    script: Script,
    kind: ServiceKind = ServiceKind.OPENAI_CHAT,
    server: str = "other",
    title: str = "Worker",
    **options: object,
) -> AsyncGenerator[ScriptedModelServer]:
    """Set up a model for tasks on a server that plays a script, in the demo home; yields the server.

    `options` may hold rules of the home.
    """
    await move_into_the_demo_home(hass)
    scripted = SERVERS[kind](script)
    async with serving(scripted.application(), scripted.base_path) as address:
        rules, own = split(options)
        await set_home_rules(hass, **rules)
        entry = task_entry(address, kind, server, title, **own)
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)
        yield scripted
        await hass.config_entries.async_unload(entry.entry_id)


async def have_done(
    hass: HomeAssistant, context: Context | None = None, **task: object
) -> Any:
    """Have a task done by the action that automations use, and return what comes back."""
    data = {
        "task_name": "count lamps",
        "entity_id": TASKS,
        "instructions": "How many lamps are on?",
        **task,
    }
    answer = await hass.services.async_call(
        "ai_task",
        "generate_data",
        data,
        blocking=True,
        return_response=True,
        context=context or Context(),
    )
    assert answer is not None
    return answer["data"]


PICTURE = b"\xff\xd8\xff\xe0"


class StillCamera(Camera):
    """A camera that always sees the same."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._attr_name = self._attr_unique_id = name
        self.picture: bytes | None = PICTURE

    @override
    async def async_camera_image(
        self, width: int | None = None, height: int | None = None
    ) -> bytes | None:
        return self.picture

    def switch(self, *, is_on: bool) -> None:
        """Turn it on or off."""
        self._attr_is_on = is_on
        self.async_write_ha_state()


class StillImage(ImageEntity):
    """An image that was taken some time ago."""

    _attr_content_type = "image/jpeg"

    def __init__(self, hass: HomeAssistant, name: str) -> None:
        super().__init__(hass)
        self._attr_name = self._attr_unique_id = name

    @override
    async def async_image(self) -> bytes:
        return PICTURE

    def take(self, taken: datetime | None) -> None:
        """Take a picture at a time."""
        self._attr_image_last_updated = taken
        self.async_write_ha_state()


async def add_camera(hass: HomeAssistant, name: str) -> StillCamera:
    """Put a camera up."""
    assert await async_setup_component(hass, "camera", {})
    await hass.data[CAMERAS].async_add_entities([camera := StillCamera(name)])
    return camera


async def add_image(hass: HomeAssistant, name: str) -> StillImage:
    """Put up what has taken no picture yet."""
    assert await async_setup_component(hass, "image", {})
    await hass.data[IMAGES].async_add_entities([image := StillImage(hass, name)])
    return image
