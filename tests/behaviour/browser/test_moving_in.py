"""A person copies the agent of another integration, and talks to the copy."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from demo.config_flow_client import answer, entry_of, open_flow
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer

pytestmark = pytest.mark.thorough

_SCRIPT = Script(
    models=("small-model",),
    api_key="its-key",
    answers=(ScriptedAnswer(content="Very good, sir."),),
)


@pytest.mark.parametrize("look", [Look.DESKTOP_DARK])
async def test_an_agent_of_another_integration_is_copied(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    async with scripted_server(_SCRIPT, tmp_path) as server:
        form = await open_flow(home, "llama_cpp")
        typed = {"base_url": server.base_url, "api_key": "its-key"}
        await entry_of(home, "llama_cpp", await answer(home, form, typed))

        await frontend.open_devices_and_services()
        dialog = await frontend.pick_integration("Chatterbox")
        await dialog.get_by_text("Copy an agent", exact=True).click()
        await dialog.get_by_text(f"Jeeves (llama.cpp: {server.base_url})").click()
        await frontend.see_that_it_fits(dialog)
        await frontend.submit(dialog)
        await dialog.get_by_text("Copy Jeeves").wait_for()
        await expect(dialog.get_by_text("Not carried over: streaming.")).to_be_visible()
        await frontend.submit(dialog)
        await expect(dialog.get_by_text("Incorrect API key provided.")).to_be_visible()
        await frontend.see_that_it_fits(dialog)
        await dialog.locator("ha-switch").click()
        await frontend.submit(dialog)
        await frontend.finish(dialog)

        await frontend.open_service("Chatterbox")
        dialog = await frontend.change_agent("Jeeves")
        await expect(dialog.get_by_text("Speak like a butler.")).to_be_visible()
