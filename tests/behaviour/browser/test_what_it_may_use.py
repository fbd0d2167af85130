"""A person says how far the sources of tools are trusted, and sees what that means for requests of the home."""

from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.llm_apis import ASSIST_NAME
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script

pytestmark = pytest.mark.thorough

_STEP = "config_subentries.conversation.step"


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT, Look.PHONE_LIGHT])
async def test_a_source_of_tools_is_restricted_and_found_again(
    frontend: Frontend, camera: Camera, tmp_path: Path
) -> None:
    if not frontend.is_narrow:
        await frontend.page.set_viewport_size({"width": 1200, "height": 1400})
    async with scripted_server(Script(models=("small-model",)), tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        await frontend.open_service("Chatterbox")
        dialog = await _open_tools(frontend)
        await expect(
            dialog.get_by_role("row").filter(has_text="Turn on")
        ).to_contain_text("Changes devices")
        reads = dialog.get_by_role("row").filter(has_text="Read current states")
        await expect(reads).to_contain_text("Says that it only reads")
        await camera.take_dialog(dialog, "tools")
        await frontend.see_that_it_fits(dialog)
        await frontend.choose_option(dialog, ASSIST_NAME, sentence("common.trust_ask"))
        await dialog.get_by_role("button", name="Next").click()

        lamp = dialog.get_by_role("row").filter(has_text="Turn on Bathroom Light")
        await expect(lamp).to_contain_text(sentence("common.verdict_ask"))
        await dialog.get_by_text(
            sentence(f"{_STEP}.home.menu_options.save_approvals"), exact=True
        ).click()
        await frontend.close_when_changed(dialog)

        dialog = await _open_tools(frontend)
        await expect(
            dialog.get_by_label(ASSIST_NAME).get_by_text(sentence("common.trust_ask"))
        ).to_be_visible()


async def _open_tools(frontend: Frontend) -> Locator:
    dialog = await frontend.open_agent_menu("Chatterbox")
    await dialog.get_by_text(
        sentence(f"{_STEP}.reconfigure.menu_options.tools")
    ).click()
    await dialog.get_by_role("button", name="Next").wait_for()
    return dialog
