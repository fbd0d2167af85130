"""A person adds a server, finds an AI task beside its agent, and adds another one."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script

pytestmark = pytest.mark.thorough

_ERRORS = "config_subentries.ai_task_data.error"
_SCRIPT = Script(models=("small-model", "large-model"))


@pytest.mark.parametrize("look", [Look.DESKTOP_DARK])
async def test_an_ai_task_comes_with_a_model_and_another_one_is_added(
    frontend: Frontend, camera: Camera, tmp_path: Path
) -> None:
    async with scripted_server(_SCRIPT, tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url, "small-model", ai_task=True)
        await frontend.open_service("Chatterbox")
        await expect(
            frontend.page.get_by_text("AI task with small-model").first
        ).to_be_visible()

        dialog = await frontend.begin_task()
        await camera.take_dialog(dialog, "ai-task")
        await dialog.get_by_role("textbox", name="Name").fill("Painter")
        await frontend.choose_model(dialog, "large-model")
        await frontend.submit(dialog)
        await frontend.finish(dialog)

        dialog = await frontend.change_task("Painter", "Advanced")
        await frontend.unfold(dialog, "Limits")
        deadline = dialog.get_by_role("spinbutton", name="Time for an answer")
        await deadline.fill("1")
        await frontend.submit(dialog)
        problem = sentence(f"{_ERRORS}.too_low", value="1", least="5", most="600")
        await expect(dialog.locator("ha-alert").first).to_contain_text(
            f"Limits → Time for an answer: {problem}"
        )
        await frontend.see_that_it_fits(dialog)
        await frontend.unfold(dialog, "Limits")
        await deadline.fill("300")
        await frontend.submit(dialog)
        await frontend.close_when_changed(dialog)

        dialog = await frontend.change_task("Painter", "Advanced")
        await frontend.unfold(dialog, "Limits")
        await expect(
            dialog.get_by_role("spinbutton", name="Time for an answer")
        ).to_have_value("300")
