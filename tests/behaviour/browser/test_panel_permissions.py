"""A person says on the page what agents may do: for one device, in rules, with a PIN, and tries a sentence."""

import pytest
from playwright.async_api import Locator, expect
from pydantic import JsonValue

from custom_components.chatterbox.settings.tool_names import SENTENCE_TOOL
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.behaviour.browser.test_panel import text

pytestmark = pytest.mark.thorough

_PIN = "739105"
_LOCKS = "Never use anything of type Lock."


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT, Look.SMALL_PHONE_DARK])
async def test_a_device_is_forbidden_and_a_sentence_tells_so(
    frontend: Frontend, camera: Camera
) -> None:
    panel = await _open(frontend)
    await panel.get_by_role("searchbox").fill("front door")
    door = panel.get_by_role("row").filter(has_text="Front Door")
    await expect(door).to_contain_text(text("may.ask"))
    await expect(door).to_contain_text(text("why.default"))

    await door.get_by_role("combobox").select_option(text("may.deny"))
    await expect(door).to_contain_text(text("permissions.rule", number="1"))
    await panel.get_by_role("searchbox").fill("")
    await expect(panel.get_by_role("row").nth(1)).to_contain_text("Front Door")
    await door.get_by_role("link", name=text("permissions.rule", number="1")).click()
    await expect(
        panel.get_by_role("listitem").filter(has_text="Never use the Front Door.")
    ).to_be_focused()

    await panel.get_by_role("link", name=text("permissions.try")).click()
    await panel.get_by_role("textbox", name=text("permissions.sentence")).fill(
        "unlock the front door"
    )
    await panel.get_by_role(
        "button", name=text("permissions.try_button"), exact=True
    ).click()
    tried = panel.get_by_role("listitem").filter(has_text="Unlock the Front Door")
    await expect(tried).to_contain_text(text("tried.refused"))
    await expect(tried).to_be_in_viewport(ratio=1)
    await _see(frontend, panel)
    await panel.get_by_role("link", name=text("permissions.devices")).click()
    await expect(door).to_contain_text(text("may.deny"))
    await camera.take_page(frontend.page, "page-permissions")


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT, Look.SMALL_PHONE_DARK])
async def test_what_is_done_at_once_is_folded_by_room_until_somebody_looks(
    frontend: Frontend,
) -> None:
    panel = await _open(frontend)
    rows = panel.get_by_role("row").filter(has=frontend.page.get_by_role("combobox"))
    held = await rows.count()
    for number in range(held):
        await expect(rows.nth(number)).not_to_contain_text(
            text("may.allow") + text("permissions.as_rules_say")
        )
    lamp = panel.get_by_role("row").filter(has_text="Floor Lamp")
    await expect(lamp).to_have_count(0)
    await panel.get_by_text("Living Room", exact=False).last.click()
    await expect(lamp).to_contain_text(text("may.allow"))
    await _see(frontend, panel)
    await lamp.get_by_role("combobox").select_option(text("may.ask"))

    await expect(lamp).to_contain_text("Living Room")
    await expect(rows.nth(held)).to_be_visible()


@pytest.mark.parametrize(
    "look",
    [
        Look.DESKTOP_LIGHT,
        Look.SMALL_PHONE_DARK,
    ],
)
async def test_rules_are_made_moved_and_deleted_and_a_pin_is_set(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    panel = await _open(frontend, "/rules")
    dialog = panel.get_by_role("dialog")
    await panel.get_by_role("button", name=text("permissions.set_pin")).click()
    await dialog.get_by_label(text("now.pin")).fill("12")
    await dialog.get_by_role("button", name=text("page.save"), exact=True).click()
    await expect(dialog.get_by_role("alert")).to_contain_text("too short")
    await _see(frontend, panel)
    await dialog.get_by_label(text("now.pin")).fill(_PIN)
    await dialog.get_by_role("button", name=text("page.save"), exact=True).click()
    uses = "; ".join(text(f"pin_use.{use}") for use in ("unlock", "open", "disarm"))
    await expect(
        panel.get_by_text(text("permissions.pin_rule", uses=uses))
    ).to_be_visible()
    rules = panel.get_by_role("listitem").filter(
        has=frontend.page.get_by_role("button", name=text("permissions.up"))
    )
    count = await rules.count()
    assert count == 1, "all that needs the PIN is one line"

    await panel.get_by_role("button", name=text("permissions.add")).click()
    await dialog.get_by_role("button", name=text("page.save")).click()
    await expect(dialog.get_by_role("alert")).to_have_text(
        text("permissions.no_condition")
    )
    await expect(dialog.get_by_label("Actions")).to_be_disabled()
    await dialog.get_by_label("Result").select_option("Never")
    await dialog.get_by_label("Device types").select_option("Lock")
    actions = (
        await dialog.get_by_label("Actions").get_by_role("option").all_inner_texts()
    )
    assert actions == [text("permissions.any"), "Lock lock", "Open lock", "Unlock lock"]
    await dialog.get_by_text("More conditions").click()
    await expect(
        dialog.get_by_label("Tools").get_by_role("option", name=SENTENCE_TOOL)
    ).to_have_count(1)
    await _see(frontend, panel)
    await dialog.get_by_role("button", name=text("page.save")).click()
    await expect(rules.nth(count)).to_contain_text(_LOCKS)

    await rules.nth(count).get_by_role("button", name=text("permissions.edit")).click()
    removing = dialog.get_by_role("button", name=text("permissions.remove"))
    while await removing.count():
        await removing.first.click()
    await dialog.get_by_role("button", name=text("page.save")).click()
    await expect(dialog.get_by_role("alert")).to_have_text(
        text("permissions.no_condition")
    )
    await dialog.get_by_role("button", name=text("page.back")).click()
    await expect(dialog).to_be_hidden()

    await rules.nth(count).get_by_role("button", name=text("permissions.up")).click()
    await expect(rules.nth(count - 1)).to_contain_text(_LOCKS)
    await (
        rules.nth(count - 1)
        .get_by_role("button", name=text("permissions.delete"))
        .click()
    )
    await (
        panel.get_by_role("dialog")
        .get_by_role("button", name=text("permissions.delete"))
        .click()
    )
    await expect(rules).to_have_count(count)

    listed = await home.command(
        "chatterbox/permissions/get", dict[str, JsonValue], language="en"
    )
    change: dict[str, JsonValue] = {
        "language": "en",
        "version": listed["version"],
    }  # in another browser
    await home.command(
        "chatterbox/permissions/set_pin",
        dict[str, JsonValue],
        **change,
        new_password=None,
        uses=[],
    )
    await expect(panel.get_by_text(text("permissions.no_pin"))).to_be_visible()


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT])
async def test_a_rule_that_was_made_elsewhere_is_not_lost_by_a_deletion(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    panel = await _open(frontend, "/rules")
    await _change(home, rules=[{"verdict": "ask", "domains": ["light"]}])
    lights = panel.get_by_role("listitem").filter(
        has_text="anything of type Light only"
    )
    await lights.get_by_role("button", name=text("permissions.delete")).click()
    await _change(
        home,
        rules=[
            {"verdict": "ask", "domains": ["light"]},
            {"verdict": "deny", "domains": ["lock"]},
        ],
    )
    locks = panel.locator("li").filter(has_text=_LOCKS)
    await expect(locks).to_have_count(1)

    await (
        panel.get_by_role("dialog")
        .get_by_role("button", name=text("permissions.delete"))
        .click()
    )

    await expect(panel.get_by_role("alert")).to_contain_text(text("error.changed"))
    await expect(locks).to_be_visible()


@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT])
async def test_a_page_that_was_hidden_for_long_goes_on(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    panel = await _open(frontend, "/rules")
    # After five minutes in the background, Home Assistant takes the panel out of the
    # page, and puts it back later.
    await panel.evaluate(
        "panel => { const parent = panel.parentNode; panel.remove(); parent.append(panel); }"
    )

    await _change(home, rules=[{"verdict": "deny", "domains": ["lock"]}])

    await expect(panel.get_by_role("listitem").filter(has_text=_LOCKS)).to_be_visible()


async def _change(home: HomeAssistantClient, **fields: JsonValue) -> None:
    """Change the rules in another browser."""
    listed = await home.command(
        "chatterbox/permissions/get", dict[str, JsonValue], language="en"
    )
    change: dict[str, JsonValue] = {
        "language": "en",
        "version": listed["version"],
        **fields,
    }
    await home.command(
        "chatterbox/permissions/set_rules", dict[str, JsonValue], **change
    )


async def _open(frontend: Frontend, screen: str = "") -> Locator:
    """Add an agent, and open a screen of the view; return the page."""
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.go(f"/chatterbox/permissions{screen}")
    panel = frontend.page.locator("chatterbox-panel")
    await panel.get_by_role("heading", level=2).wait_for()
    return panel


async def _see(frontend: Frontend, panel: Locator) -> None:
    """Check that all people can use the view."""
    await frontend.see_that_it_fits(panel)
    await frontend.see_that_all_can_use_it(panel)
