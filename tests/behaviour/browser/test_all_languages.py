"""A person with a phone reads the dialogs of an agent in each language: no text is cut, nothing scrolls sideways."""

from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import expect

from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.repository.test_translations import LANGUAGES
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script

_AGENT = "config_subentries.conversation"


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_no_dialog_of_an_agent_is_cut_in_any_language(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    async with scripted_server(Script(models=("small-model",)), tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        misfits: list[str] = []
        try:
            for language in LANGUAGES:
                await home.command("frontend/set_user_data", type(None), key="language", value={"language": language})
                misfits += [f"{language}, {one}" for one in await _read_dialogs(frontend, language)]
        finally:
            await home.command("frontend/set_user_data", type(None), key="language", value=None)
    assert misfits == [], "\n".join(misfits)


async def _read_dialogs(frontend: Frontend, language: str) -> list[str]:
    """Open each dialog of the only agent; return what does not fit."""
    text, page, misfits = partial(sentence, language=language), frontend.page, list[str]()
    dialog = page.locator("dialog-data-entry-flow")
    await page.goto(f"{frontend.url}/config/integrations/integration/chatterbox")
    for form in ("settings", "advanced", "tools", "approvals"):
        await page.get_by_role("button", name=text(f"{_AGENT}.initiate_flow.reconfigure")).click()
        choice = dialog.get_by_text(text(f"{_AGENT}.step.reconfigure.menu_options.{form}"), exact=True)
        await expect(choice).to_be_visible()
        misfits += await frontend.misfits(dialog) if form == "settings" else []
        await choice.click()
        await expect(dialog.get_by_text(text(f"{_AGENT}.step.{form}.title")).first).to_be_visible()
        await expect(dialog.locator("ha-form").first).to_be_visible()
        misfits += [f"{form}: {one}" for one in await frontend.misfits(dialog)]
        if form != "approvals":
            await dialog.locator("[slot=headerNavigationIcon]").first.click()
            await expect(dialog.locator("ha-form").first).to_be_hidden()
    await dialog.get_by_role("button", name=text(f"{_AGENT}.step.approvals.submit")).click()
    await expect(dialog.get_by_role("table").last).to_be_visible()
    return misfits + [f"home: {one}" for one in await frontend.misfits(dialog)]
