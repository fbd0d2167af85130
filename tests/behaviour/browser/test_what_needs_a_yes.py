"""A person says what needs a yes: adds rules, mends one, chooses a PIN, and sees what it means for the home."""

from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from demo.home import states
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

pytestmark = pytest.mark.thorough

_STEP = "config_subentries.conversation.step"
_ERRORS = "config_subentries.conversation.error"
_PIN = "739105"
_PIN_USES = ("unlock", "open", "disarm")


@pytest.mark.parametrize(
    "look",
    [Look.DESKTOP_LIGHT, Look.PHONE_DARK],
)
async def test_rules_are_made_mended_looked_at_and_found_again(
    frontend: Frontend, camera: Camera
) -> None:
    if not frontend.is_narrow:
        await frontend.page.set_viewport_size({"width": 1200, "height": 1700})
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.open_service("Chatterbox")
    dialog = await _open_approvals(frontend)
    await expect(dialog.get_by_text("Exposed to Assist: ")).to_be_visible()

    await _add_rules(frontend, dialog)
    await dialog.get_by_role("button", name="Next").click()
    await expect(
        dialog.get_by_text(sentence(f"{_ERRORS}.pin_needed", rule="1"), exact=True)
    ).to_be_visible()
    await frontend.see_that_it_fits(dialog)
    await _change_verdict(frontend, dialog, 1, "Never")
    await dialog.get_by_role("textbox", name="PIN").fill(_PIN)
    await dialog.get_by_role("button", name="Next").click()

    requests, entities = (
        dialog.get_by_role("table").first,
        dialog.get_by_role("table").last,
    )
    await expect(
        requests.get_by_role("row").filter(has_text="Unlock Front Door").first
    ).to_contain_text("Ask for the PIN")
    await expect(
        requests.get_by_role("row").filter(has_text="Open Garage Door")
    ).to_contain_text("Never")
    await expect(entities.get_by_role("row").nth(1)).to_contain_text("Garage Door")
    await expect(entities.get_by_role("row").nth(1)).to_contain_text("Never")
    await expect(
        entities.get_by_role("row").filter(has_text="Front Door")
    ).to_contain_text("Ask for the PIN")
    await camera.take_dialog(dialog, "home")
    await frontend.see_that_it_fits(dialog)
    await dialog.get_by_text(sentence(f"{_STEP}.home.menu_options.approvals")).click()
    await expect(dialog.get_by_text("Ask for the PIN · Lock")).to_be_visible()
    await camera.take_dialog(dialog, "approvals")
    await frontend.see_that_it_fits(dialog)
    await dialog.get_by_role("button", name="Next").click()
    await dialog.get_by_text(
        sentence(f"{_STEP}.home.menu_options.save_approvals"), exact=True
    ).click()
    await frontend.close_when_changed(dialog)

    dialog = await _open_approvals(frontend)
    await expect(dialog.get_by_text("Never · Garage Door")).to_be_visible()
    await expect(dialog.get_by_role("textbox", name="PIN")).to_have_value("•" * 8)


async def test_a_pin_of_one_agent_is_asked_for_by_another(
    frontend: Frontend, home: HomeAssistantClient, tmp_path: Path
) -> None:
    await frontend.page.set_viewport_size({"width": 1200, "height": 1000})
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.open_service("Chatterbox")
    dialog = await _open_approvals(frontend)
    await dialog.get_by_role("textbox", name="PIN").fill(_PIN)
    uses = [
        dialog.get_by_role("checkbox", name=sentence(f"selector.pin_for.options.{use}"))
        for use in _PIN_USES
    ]
    for use in uses:
        await expect(use).to_be_checked()
    await frontend.see_that_it_fits(dialog)
    for use in uses:
        await use.locator("xpath=..").click()  # the label: a mark covers the box itself
    await dialog.get_by_role("button", name="Next").click()
    await expect(
        dialog.get_by_text(sentence(f"{_ERRORS}.pin_for_nothing"), exact=True)
    ).to_be_visible()
    await frontend.see_that_it_fits(dialog)
    await uses[0].locator("xpath=..").click()
    await dialog.get_by_role("button", name="Next").click()
    await dialog.get_by_text(
        sentence(f"{_STEP}.home.menu_options.save_approvals"), exact=True
    ).click()
    await frontend.close_when_changed(dialog)

    unlock = ScriptedCall(
        name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
    )
    answers = (
        ScriptedAnswer(tool_calls=(unlock,)),
        ScriptedAnswer(content="Welcome home!"),
    )
    async with scripted_server(
        Script(models=("small-model",), answers=answers), tmp_path
    ) as server:
        await frontend.open_devices_and_services()
        dialog = await frontend.begin_model(server.base_url)
        await dialog.get_by_text(
            "Home Assistant (takes it over from Chatterbox)"
        ).click()
        await frontend.complete(dialog)
        assist = await frontend.try_it(dialog)
        question = (
            f"Unlock the Front Door in the Hallway? {sentence('common.spoken_say_pin')}"
        )
        assert await assist.ask("I forgot my key, let me in") == question
        assert await assist.ask("yes") == sentence("common.spoken_pin_missing")
        assert (await states(home))["lock.front_door"].state == "locked"
        assert await assist.ask(_PIN) == "Welcome home!"
        assert (await states(home))["lock.front_door"].state == "unlocked"


async def _open_approvals(frontend: Frontend) -> Locator:
    dialog = await frontend.open_agent_menu("Chatterbox")
    await dialog.get_by_text(
        sentence(f"{_STEP}.reconfigure.menu_options.approvals")
    ).click()
    await dialog.get_by_role("textbox", name="PIN").wait_for()
    return dialog


async def _add_rules(frontend: Frontend, dialog: Locator) -> None:
    """Add one rule for locks, and one for the garage door."""
    row = await _begin_rule(frontend, dialog, "Ask for the PIN")
    await frontend.pick_in_rule(row, "Device types", "Lock")
    await expect(row.get_by_text("Asked from")).to_have_count(0)
    await row.locator("ha-selector-object").get_by_role("button", name="Add").click()
    await expect(row.get_by_text("Asked from").first).to_be_visible()
    await frontend.see_that_it_fits(row)
    await row.get_by_role("button", name="Cancel").click()
    await expect(
        row.get_by_text(sentence("selector.rules.fields.more.name"))
    ).to_be_visible()
    await frontend.see_that_it_fits(row)
    await _finish_rule(row, "Add")
    row = await _begin_rule(frontend, dialog, "Ask first")
    await frontend.pick_in_rule(row, "Select an entity", "Garage Door")
    await _finish_rule(row, "Add")


async def _begin_rule(frontend: Frontend, dialog: Locator, verdict: str) -> Locator:
    await dialog.get_by_role("button", name="Add", exact=True).first.click()
    return await _choose_verdict(frontend, verdict)


async def _change_verdict(
    frontend: Frontend, dialog: Locator, place: int, verdict: str
) -> None:
    await dialog.get_by_role("button", name="Edit", exact=True).nth(place).click()
    await _finish_rule(await _choose_verdict(frontend, verdict), "Save")


async def _choose_verdict(frontend: Frontend, verdict: str) -> Locator:
    """Choose what happens, in the open dialog of a rule; return the dialog."""
    row = frontend.page.locator("dialog-form")
    await row.get_by_label("Result").click()
    await row.get_by_role("menuitem", name=verdict).click()
    return row


async def _finish_rule(row: Locator, button: str) -> None:
    await row.get_by_role("button", name=button, exact=True).last.click()
    await expect(row.get_by_role("button", name="Cancel")).to_be_hidden()
