"""The Responses API of a house: there as soon as an owner wants it, gone as soon as nobody does."""

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import CONF_RESPONSES_API
from tests.servers.script import Script, ScriptedAnswer
from tests.talk import AGENT, Serve

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_programs_are_served_while_an_owner_lets_them_in(
    hass: HomeAssistant, serve: Serve, hass_client: ClientSessionGenerator
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello!"),)))
    program = await hass_client()
    assert (await program.get("/api/chatterbox/v1/models")).status == 404

    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    hass.config_entries.async_update_entry(entry, options={CONF_RESPONSES_API: True})
    meanwhile = await program.get("/api/chatterbox/v1/models")
    assert meanwhile.status in {404, 503}
    assert "error" in await meanwhile.json()
    await hass.async_block_till_done(wait_background_tasks=True)

    models = await (await program.get("/api/chatterbox/v1/models")).json()
    assert [model["id"] for model in models["data"]] == [AGENT]
    answer = await program.post("/api/chatterbox/v1/responses", json={"model": AGENT, "input": "Hi"})
    response = await answer.json()
    assert (answer.status, response["status"]) == (200, "completed")
    assert response["output"][0]["content"][0]["text"] == "Hello!"

    hass.config_entries.async_update_entry(entry, options={CONF_RESPONSES_API: False})
    await hass.async_block_till_done(wait_background_tasks=True)

    gone = await program.get("/api/chatterbox/v1/models")
    assert (gone.status, (await gone.json())["error"]["type"]) == (404, "not_found")
