"""A person is told of an assistant that acts before its agent can ask, and switches that off."""

import pytest
from playwright.async_api import expect
from pydantic import JsonValue

from demo.home import create_pipeline
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence

pytestmark = pytest.mark.thorough

_PROBLEM = "Assistant Butler can unlock Front Door without asking"
_TWO_LINES = 40
"""Pixels."""


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_an_assistant_that_acts_without_asking_is_repaired(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    butler = await create_pipeline(
        home, "Butler", "conversation.chatterbox", prefer_local_intents=True
    )

    await frontend.go("/config/repairs")
    await frontend.page.get_by_text(_PROBLEM).click()
    dialog = frontend.page.locator("dialog-data-entry-flow")
    await dialog.get_by_text(
        "the assistant Butler prefers to handle commands locally"
    ).wait_for()
    title = await dialog.get_by_text(
        sentence("issues.unguarded.fix_flow.step.confirm.title")
    ).bounding_box()
    assert title is not None
    assert title["height"] < _TWO_LINES, (
        "Home Assistant writes over the second line of a title"
    )
    await frontend.see_that_it_fits(dialog)
    await frontend.submit(dialog)
    await dialog.get_by_role("button", name="Close").last.click()
    await expect(frontend.page.get_by_text(_PROBLEM)).to_have_count(0)
    assistant = await home.command(
        "assist_pipeline/pipeline/get", dict[str, JsonValue], pipeline_id=butler
    )
    assert assistant["prefer_local_intents"] is False
