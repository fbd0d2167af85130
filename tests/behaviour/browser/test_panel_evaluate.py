"""A person tries agents on the page, and sees which answers are right."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.behaviour.browser.test_panel import text
from tests.repository.test_translations import LANGUAGES
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer

pytestmark = pytest.mark.thorough

_SLOW = Script(
    models=("small-model",),
    answers=(ScriptedAnswer(content="No.", delay_seconds=5),),
    after_last="start again",
)
_SECONDS = 60_000
"""A busy machine takes as many milliseconds for 40 answers."""


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT, Look.SMALL_PHONE_DARK])
async def test_an_agent_is_tried(frontend: Frontend, tmp_path: Path) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.go("/chatterbox")
    panel = frontend.page.locator("chatterbox-panel")
    await panel.get_by_role("link", name=text("evaluate.title")).click()

    requests = panel.get_by_role("spinbutton", name=text("evaluate.requests"))
    await requests.fill("38")
    await requests.press("Tab")
    start = panel.get_by_role("button", name=text("evaluate.start", requests="38"))
    await start.click()
    await expect(panel.get_by_text(text("grade.right")).first).to_be_visible(
        timeout=_SECONDS
    )
    verdict = panel.get_by_text(re.compile("ood enough for this home: Chatterbox"))
    await expect(verdict).to_be_in_viewport(ratio=1)
    await expect(panel.get_by_text(text("turn.price"), exact=True)).to_have_count(0)
    await expect(start).to_be_enabled()
    await expect(requests).to_have_value("38")
    await panel.get_by_role("button", name=text("evaluate.answers")).first.click()

    await expect(
        panel.get_by_text("turn on the lava lamp in the observatory").first
    ).to_be_visible()
    async with frontend.page.expect_download() as download:
        await panel.get_by_role("link", name=text("evaluate.export")).click()
    await (await download.value).save_as(tmp_path / "result.json")
    assert '"grade": "right"' in (tmp_path / "result.json").read_text(encoding="utf-8")
    await frontend.see_that_it_fits(panel)
    await frontend.see_that_all_can_use_it(panel)


async def test_the_page_says_that_a_trial_was_stopped(
    frontend: Frontend, tmp_path: Path
) -> None:
    async with scripted_server(_SLOW, tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        await frontend.go("/chatterbox/evaluate")
        panel = frontend.page.locator("chatterbox-panel")
        await panel.get_by_role(
            "button", name=text("evaluate.start", requests="40")
        ).click()
        await panel.get_by_role("button", name=text("evaluate.stop")).click()
        await expect(panel.get_by_text(text("trial_end.stopped"))).to_be_visible()
        await panel.get_by_role("button", name=text("evaluate.answers")).click()
        await expect(
            panel.get_by_role("link", name=text("evaluate.export"))
        ).to_be_visible()
        await expect(
            panel.get_by_text("turn on the lava lamp in the observatory")
        ).to_have_count(0)


@pytest.mark.parametrize("look", [Look.SMALL_PHONE_LIGHT])
async def test_nothing_is_cut_in_any_language(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.go("/chatterbox/evaluate")
    panel = frontend.page.locator("chatterbox-panel")
    await expect(panel.get_by_role("checkbox").first).to_be_visible()
    misfits: list[str] = []
    try:
        for language in LANGUAGES:
            await frontend.choose_language(language)
            title = sentence("config_panel.evaluate.title", language)
            await expect(panel.get_by_role("heading", name=title)).to_be_visible()
            misfits += [f"{language}: {one}" for one in await frontend.misfits(panel)]
    finally:
        await home.command(
            "frontend/set_user_data", type(None), key="language", value=None
        )
    assert misfits == [], "\n".join(misfits)
