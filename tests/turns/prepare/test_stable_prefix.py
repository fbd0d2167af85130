"""The prompt before a person's first words has the same bytes for everybody and for ever, so that servers keep it."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND
from tests.support.llm_apis import satellite
from tests.support.prefixes import HELLO, prefix_of
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import ScriptedModelServer
from tests.support.talk import AGENT, Serve, add_agent, move_into_the_demo_home, say
from tests.support.tasks import SERVERS

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.fixture(params=list(SERVERS))
async def server(
    hass: HomeAssistant, request: pytest.FixtureRequest
) -> AsyncGenerator[ScriptedModelServer]:
    """Set up an agent in the demo home for each wire format."""
    await move_into_the_demo_home(hass)
    scripted = SERVERS[request.param](HELLO)
    async with serving(scripted.application(), scripted.base_path) as address:
        service: dict[str, object] = {CONF_KIND: request.param, CONF_BASE_URL: address}
        await add_agent(
            hass, service, {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        )
        yield scripted


async def test_everybody_everywhere_at_any_time_begins_alike(
    hass: HomeAssistant, server: ScriptedModelServer, freezer: FrozenDateTimeFactory
) -> None:
    areas = {area.name: area.id for area in ar.async_get(hass).async_list_areas()}
    kitchen, bedroom = (
        satellite(hass, areas["Kitchen"]),
        satellite(hass, areas["Bedroom"]),
    )
    async_register_timer_handler(hass, bedroom, lambda *_: None)
    anna, ben = [
        (await hass.auth.async_create_user(name)).id for name in ("Anna", "Ben")
    ]
    speakers = [
        (None, "en", None),
        (kitchen, "en", None),
        (bedroom, "de-AT", None),
        (None, "en", anna),
        (kitchen, "pl", ben),
        (kitchen, "en", None),
    ]
    for day, (device_id, language, user_id) in enumerate(speakers, start=10):
        freezer.move_to(f"2026-11-{day} 0{day % 10}:07:00+00:00")
        talk, context = f"{device_id} {user_id}", Context(user_id=user_id)
        await conversation.async_converse(
            hass, "hello", talk, context, language, AGENT, device_id
        )

    prefixes = [prefix_of(request.body) for request in server.requests]
    assert len(prefixes) == 6
    assert len(set(prefixes)) == 1
    assert "Ceiling Light" in prefixes[0]
    assert "start_minutes" in prefixes[0]  # of timers


@pytest.mark.thorough
@pytest.mark.usefixtures("whole_home")
async def test_another_start_of_home_assistant_begins_alike(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    scripted = await serve(HELLO)
    await say(hass, "hello")
    here = prefix_of(scripted.requests[-1].body)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.support.prefixes", str(tmp_path)),
        env={**os.environ, "PYTHONHASHSEED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    elsewhere, _ = await process.communicate()

    assert process.returncode == 0
    assert '"HassTurnOn"' in here
    assert elsewhere.decode() == here
