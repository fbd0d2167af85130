"""A person lets an agent remember, has something remembered by talking, and finds and changes it in a list."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from demo.owner import Owner
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

pytestmark = pytest.mark.thorough

_SETTINGS = "config_subentries.conversation.step.settings"
_FACT = "Takes tea without milk."
_REMEMBER = ScriptedCall(name="chatterbox__remember", arguments={"fact": _FACT})
_SCRIPT = Script(
    models=("small-model",),
    answers=(ScriptedAnswer(tool_calls=(_REMEMBER,)), ScriptedAnswer(content="")),
)


async def test_what_an_agent_is_asked_to_remember_is_in_a_list(
    frontend: Frontend, camera: Camera, tmp_path: Path
) -> None:
    async with scripted_server(_SCRIPT, tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        await frontend.open_service("Chatterbox")
        dialog = await frontend.change_agent("Chatterbox")
        row = dialog.locator("ha-selector-boolean").filter(
            has_text=sentence(f"{_SETTINGS}.data.remember_facts")
        )
        await row.locator("ha-switch").click()
        await frontend.submit(dialog)
        await frontend.close_when_changed(dialog)

        await frontend.open_overview()
        assist = await frontend.open_assist()
        assert await assist.ask("Remember how I take my tea") == "I'll remember that."
        await assist.close()

    remembered = await frontend.open_list(
        f"todo.chatterbox_memories_of_{Owner().name.lower()}"
    )
    await expect(remembered.get_by_text(_FACT)).to_be_visible()
    await remembered.get_by_placeholder("Add item").fill("Gets up at six.")
    await frontend.page.keyboard.press("Enter")
    await expect(remembered.get_by_text("Gets up at six.")).to_be_visible()
    await camera.take_page(frontend.page, "memories")
