"""A person with a phone reads the dialogs of set-up, agents and repairs in each language: nothing is cut or scrolls."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from demo.home import create_pipeline
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.repository.test_translations import LANGUAGES
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer

pytestmark = pytest.mark.thorough

_ONLY_TALKS = ScriptedAnswer(content="I have turned on the kitchen light.")
_NOBODY_LISTENS_HERE = "http://127.0.0.1:9/v1"
_API_KEY = "a-key"
_AGENT = "config_subentries.conversation"


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_no_dialog_of_an_agent_is_cut_in_any_language(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    async with scripted_server(Script(models=("small-model",)), tmp_path) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        await create_pipeline(
            home, "Butler", "conversation.chatterbox", prefer_local_intents=True
        )
        await _see_that_it_fits_in_each(
            frontend, home, partial(_read_dialogs, frontend)
        )


@pytest.mark.parametrize("look", [Look.PHONE_LIGHT])
async def test_no_dialog_that_adds_chatterbox_is_cut_in_any_language(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path, port_nearby: int
) -> None:
    script = Script(
        models=("small-model", "qwen3-30b-a3b-instruct-2507-q4_k_m"),
        tool_trial_answer=_ONLY_TALKS,
    )
    locked = tmp_path / "locked"
    locked.mkdir()
    async with (
        scripted_server(script, tmp_path, port=port_nearby),
        scripted_server(
            script.model_copy(update={"api_key": _API_KEY}), locked
        ) as server,
    ):
        await _see_that_it_fits_in_each(
            frontend, home, partial(_read_set_up, frontend, server.base_url)
        )


async def _see_that_it_fits_in_each(
    frontend: Frontend,
    home: HomeAssistantClient,
    read_dialogs: Callable[[str], Awaitable[list[str]]],
) -> None:
    """Read dialogs in each language, and check that nothing of what they show was cut."""
    misfits: list[str] = []
    try:
        for language in LANGUAGES:
            await frontend.choose_language(language)
            # The frontend loads the texts of an integration once for each page.
            await frontend.page.reload()
            misfits += [f"{language}, {one}" for one in await read_dialogs(language)]
    finally:
        await home.command(
            "frontend/set_user_data", type(None), key="language", value=None
        )
    assert misfits == [], "\n".join(misfits)


async def _read_dialogs(frontend: Frontend, language: str) -> list[str]:
    """Open each dialog of the only agent; return what does not fit."""
    text, page, misfits = (
        partial(sentence, language=language),
        frontend.page,
        list[str](),
    )
    dialog = page.locator("dialog-data-entry-flow")
    await frontend.go("/config/integrations/integration/chatterbox")
    misfits += await _read_reconfiguration(frontend, language)
    for form in ("settings", "advanced", "tools", "approvals"):
        await page.get_by_role(
            "button", name=text(f"{_AGENT}.initiate_flow.reconfigure")
        ).click()
        choice = dialog.get_by_text(
            text(f"{_AGENT}.step.reconfigure.menu_options.{form}"), exact=True
        )
        await expect(choice).to_be_visible()
        misfits += await frontend.misfits(dialog) if form == "settings" else []
        await choice.click()
        await expect(
            dialog.get_by_text(text(f"{_AGENT}.step.{form}.title")).first
        ).to_be_visible()
        await expect(dialog.locator("ha-form").first).to_be_visible()
        misfits += [f"{form}: {one}" for one in await frontend.misfits(dialog)]
        if form != "approvals":
            await dialog.locator("[slot=headerNavigationIcon]").first.click()
            await expect(dialog.locator("ha-form").first).to_be_hidden()
    await dialog.get_by_role(
        "button", name=text(f"{_AGENT}.step.approvals.submit")
    ).click()
    await expect(dialog.get_by_role("table").last).to_be_visible()
    misfits += [f"home: {one}" for one in await frontend.misfits(dialog)]
    await dialog.locator("[slot=headerNavigationIcon]").first.click()
    await frontend.go("/config/repairs")
    await page.locator("ha-config-repairs ha-list-item-button").first.click()
    await expect(
        dialog.get_by_text(text("issues.unguarded.fix_flow.step.confirm.title")).first
    ).to_be_visible()
    misfits += [f"repair: {one}" for one in await frontend.misfits(dialog)]
    await dialog.locator("[slot=headerNavigationIcon]").first.click()
    return misfits


async def _read_reconfiguration(frontend: Frontend, language: str) -> list[str]:
    """Open each dialog that changes the only service, and have one refuse an address; return what does not fit."""
    text, page, misfits = (
        partial(sentence, language=language),
        frontend.page,
        list[str](),
    )
    dialog, row = (
        page.locator("dialog-data-entry-flow"),
        page.locator("ha-config-entry-row"),
    )
    for step in ("server", "options"):
        await row.locator("ha-icon-button[slot=trigger]").first.click()
        await row.locator("ha-dropdown-item[value=reconfigure]").click()
        choice = dialog.get_by_text(
            text(f"config.step.reconfigure.menu_options.{step}"), exact=True
        )
        await expect(choice).to_be_visible()
        misfits += [
            f"reconfigure: {one}"
            for one in await frontend.misfits(dialog)
            if step == "server"
        ]
        await choice.click()
        await expect(
            dialog.get_by_text(text(f"config.step.{step}.title")).first
        ).to_be_visible()
        await expect(dialog.locator("ha-form").first).to_be_visible()
        misfits += [f"{step}: {one}" for one in await frontend.misfits(dialog)]
        if step == "server":
            address = dialog.locator(
                "ha-form input[type=url], ha-form input[type=text]"
            ).first
            await address.fill(_NOBODY_LISTENS_HERE)
            await address.press("Enter")
            refused = text(
                "config.error.provider_unreachable", url=_NOBODY_LISTENS_HERE
            )
            await expect(dialog.get_by_text(refused)).to_be_visible()
            misfits += [
                f"refused {step}: {one}" for one in await frontend.misfits(dialog)
            ]
        await dialog.locator("[slot=headerNavigationIcon]").first.click()
        await expect(dialog.locator("ha-form").first).to_be_hidden()
    return misfits


async def _read_set_up(frontend: Frontend, locked_url: str, language: str) -> list[str]:
    """Go through each way to add a service, up to its last form; return what does not fit."""
    text, page, misfits = (
        partial(sentence, language=language),
        frontend.page,
        list[str](),
    )
    dialog, path = (
        page.locator("dialog-data-entry-flow"),
        "/config/integrations/dashboard/add?domain=chatterbox",
    )
    close = dialog.locator("[slot=headerNavigationIcon]").first

    async def choose(menu: str, option: str) -> None:
        await dialog.get_by_text(
            text(f"config.step.{menu}.menu_options.{option}"), exact=True
        ).click()

    async def look_at(step: str, seen: Locator) -> None:
        await expect(seen.first).to_be_visible()
        misfits.extend(f"{step}: {one}" for one in await frontend.misfits(dialog))

    async def begin() -> None:
        await frontend.leave_dialog(close)
        await frontend.go("/config/repairs")
        await page.locator("ha-config-repairs-dashboard").wait_for(state="attached")
        await frontend.go(path)
        await page.locator("dialog-box ha-button[slot=primaryAction]").click()
        await expect(
            dialog.get_by_text(
                text("config.step.user.menu_options.offline"), exact=True
            )
        ).to_be_visible()

    await begin()
    await look_at("user", dialog.get_by_text(text("config.step.user.title")))
    await choose("user", "internet")
    await look_at("internet", dialog.locator("ha-form"))
    await begin()
    await choose("user", "in_my_home")
    await look_at("in_my_home", dialog.get_by_text("small-model"))
    await dialog.get_by_text("small-model").click()
    await look_at(
        "no_tools",
        dialog.get_by_text(
            text("config.step.no_tools.menu_options.first_agent"), exact=True
        ),
    )
    await choose("no_tools", "first_agent")
    await look_at("first_agent", dialog.locator("ha-form"))
    await begin()
    await choose("user", "in_my_home")
    await dialog.get_by_text(text("common.other_address")).click()
    address = dialog.locator("ha-form input[type=url], ha-form input[type=text]").first
    await address.fill(_NOBODY_LISTENS_HERE)
    await address.press("Enter")
    await look_at(
        "own_server",
        dialog.get_by_text(
            text("config.error.provider_unreachable", url=_NOBODY_LISTENS_HERE)
        ),
    )
    await address.fill(locked_url)
    await address.press("Enter")
    await look_at(
        "own_server without a key", dialog.get_by_text("Incorrect API key provided.")
    )
    key = dialog.locator("ha-form input[type=password]").first
    await key.fill(_API_KEY)
    await key.press("Enter")
    await look_at("model", dialog.get_by_text(text("config.step.model.title")))
    return misfits
