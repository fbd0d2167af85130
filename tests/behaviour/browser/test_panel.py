"""A person opens the page of the side bar: what is now, what was said, and how one turn went (Decision 54)."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Locator, WebSocketRoute, expect
from pydantic import JsonValue

from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.repository.test_translations import LANGUAGES
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

_UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
_LIGHTS_ON = ScriptedCall(
    name="intent__HassTurnOn",
    arguments={"name": "Kitchen Pendant", "domain": ["light"]},
)
_ANSWERS = (
    ScriptedAnswer(tool_calls=(_LIGHTS_ON,)),
    ScriptedAnswer(content="The kitchen is bright."),
    ScriptedAnswer(tool_calls=(_UNLOCK,)),
)
_SCRIPT = Script(models=("small-model",), answers=_ANSWERS)
_VIEWS = {
    "page.now": "panel/#now",
    "page.turns": "panel/#conversations",
    "page.permissions": "panel/#what-it-may-do",
    "permissions.rules": "permissions/#confirmations",
    "permissions.try": "panel/#what-it-may-do",
}
"""The section of the docs that each view links, by the name of the view."""
_SITE = "https://chatterbox-voice.github.io/chatterbox/"
_A_DAY = timedelta(days=1)


def text(key: str, **values: str) -> str:
    """Return a text of the page."""
    return sentence(f"config_panel.{key}", **values)


@pytest.mark.parametrize(
    "look",
    [
        Look.DESKTOP_LIGHT,
        pytest.param(Look.SMALL_PHONE_DARK, marks=pytest.mark.thorough),
    ],
)
async def test_a_question_is_answered_on_the_page(
    frontend: Frontend, home: HomeAssistantClient, camera: Camera, tmp_path: Path
) -> None:
    panel = await _open_after_talking(frontend, home, tmp_path)
    question = panel.get_by_role("listitem").filter(has_text="Let the postman in")
    await expect(question.get_by_role("heading")).to_contain_text("Front Door")
    await expect(question.get_by_role("timer")).to_be_visible()
    of_docs = panel.get_by_role("link", name=text("page.help"), exact=True)
    await expect(of_docs).to_have_attribute("href", f"{_SITE}{_VIEWS['page.now']}")
    await expect(of_docs).to_have_attribute("target", "_blank")
    await expect(of_docs).to_have_attribute("rel", "noreferrer")
    await see_that_all_can_use_it(frontend, panel)
    await camera.take_page(frontend.page, "page-now")
    await question.get_by_role("button", name=text("now.no"), exact=True).click()
    await expect(question).to_be_hidden()


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.SMALL_PHONE_LIGHT])
async def test_a_plan_is_changed_and_cancelled(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    request = {
        "text": "remind me tomorrow at 6 pm to call Mum",
        "agent_id": "conversation.chatterbox",
    }
    await home.command("conversation/process", dict[str, JsonValue], **request)
    await frontend.go("/chatterbox")
    panel = frontend.page.locator("chatterbox-panel")

    await panel.get_by_role("button", name=f"{text('now.edit')}: call Mum").click()
    dialog = panel.get_by_role("dialog")
    due = dialog.get_by_label(text("now.due"))
    await expect(due).to_have_value(re.compile("T18:00$"))
    tomorrow = await due.input_value()
    await due.fill(f"2001{tomorrow[4:]}")
    await dialog.get_by_role("button", name=text("page.save")).click()
    await expect(dialog.get_by_role("alert")).to_have_text(
        sentence("exceptions.later_no_time.message")
    )
    await due.fill(tomorrow.replace("T18:00", "T19:30"))
    await dialog.get_by_label(text("now.text")).fill("call Anna")
    await see_that_all_can_use_it(frontend, panel)
    await dialog.get_by_role("button", name=text("page.save")).click()
    plan = panel.get_by_role("listitem").filter(has_text="call Anna")
    await expect(plan).to_contain_text(re.compile("19:30|7:30"))

    await plan.get_by_role("button", name=f"{text('now.cancel')}: call Anna").click()
    await dialog.get_by_role("button", name=text("now.cancel")).click()
    await expect(plan).to_be_hidden()


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.DESKTOP_LIGHT])
async def test_a_routine_becomes_an_automation(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    request: dict[str, JsonValue] = {"agent_id": "conversation.chatterbox"}
    for words in ("when the kitchen window opens, turn on the desk lamp", "yes"):
        answer = await home.command(
            *("conversation/process", dict[str, JsonValue]), **request, text=words
        )
        request["conversation_id"] = answer["conversation_id"]
    await frontend.go("/chatterbox")
    panel = frontend.page.locator("chatterbox-panel")
    plan = panel.get_by_role("listitem").filter(has_text="Desk Lamp")
    await expect(plan).to_contain_text("Kitchen Window: Open")
    await see_that_all_can_use_it(frontend, panel)

    await plan.get_by_role("button", name=text("now.automate")).click()
    dialog = panel.get_by_role("dialog")
    await dialog.get_by_role("button", name=text("now.automate")).click()

    await expect(frontend.page).to_have_url(re.compile("/config/automation/edit/"))
    editor = frontend.page.locator("ha-automation-editor")
    await expect(editor.get_by_text(re.compile("Kitchen Window")).first).to_be_visible()
    await frontend.go("/chatterbox")
    await expect(panel.get_by_text(text("now.no_plans"))).to_be_visible()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "look",
    [
        Look.DESKTOP_LIGHT,
        Look.SMALL_PHONE_DARK,
    ],
)
async def test_a_turn_is_found_looked_at_and_deleted(
    frontend: Frontend, home: HomeAssistantClient, camera: Camera, tmp_path: Path
) -> None:
    panel = await _open_after_talking(frontend, home, tmp_path)
    await panel.get_by_role("link", name=text("page.turns")).click()
    row = panel.get_by_role("listitem").filter(
        has_text="I cannot see what I am cooking"
    )
    await expect(row).to_contain_text("The kitchen is bright.")
    await expect(row).to_contain_text("Kitchen Pendant")
    await see_that_all_can_use_it(frontend, panel)
    await camera.take_page(frontend.page, "page-conversations")
    search = panel.get_by_role("searchbox")
    await search.fill("postman")
    await expect(row).to_be_hidden()
    await search.fill("cooking")
    await expect(row).to_be_visible()
    if frontend.is_narrow:
        await panel.get_by_role("button", name=text("turns.filter")).click()
    await panel.get_by_label(text("turns.to"), exact=True).fill(
        f"{datetime.now(UTC) - 2 * _A_DAY:%Y-%m-%d}"
    )
    await expect(row).to_be_hidden()
    await panel.get_by_label(text("turns.to"), exact=True).fill("")
    await panel.get_by_label(text("turns.from"), exact=True).fill(
        f"{datetime.now(UTC) - _A_DAY:%Y-%m-%d}"
    )
    await see_that_all_can_use_it(frontend, panel)
    await row.get_by_role("link").press("Enter")

    await expect(
        panel.get_by_role("heading", name="I cannot see what I am cooking")
    ).to_be_visible()
    await expect(panel.get_by_role("heading", name=text("turn.times"))).to_be_visible()
    time_of_call = panel.get_by_role("listitem").filter(
        has=frontend.page.locator("svg.tool")
    )
    await expect(time_of_call).to_contain_text("turned on Kitchen Pendant")
    raw_call = panel.get_by_text(text("turn.raw")).first
    await raw_call.click()
    await expect(panel.get_by_text('"Kitchen Pendant"').first).to_be_visible()
    await raw_call.click()
    await see_that_all_can_use_it(frontend, panel)
    await camera.take_page(frontend.page, "page-turn")
    await panel.get_by_role("link", name=text("turn.again")).click()
    sentence_to_try = panel.get_by_role("textbox", name=text("permissions.sentence"))
    await expect(sentence_to_try).to_have_value("I cannot see what I am cooking")
    await expect(sentence_to_try).to_be_in_viewport(ratio=1)
    await expect(sentence_to_try).to_be_focused()
    await frontend.page.go_back()
    await panel.get_by_role("button", name=text("turn.copy")).click()
    await expect(
        panel.get_by_role("status").filter(has_text=text("turn.copied"))
    ).to_be_visible()
    await panel.get_by_role("button", name=text("page.back")).click()
    await row.get_by_role("link").press("Enter")
    await panel.get_by_role("button", name=text("turn.delete"), exact=True).click()
    await (
        panel.get_by_role("dialog")
        .get_by_role("button", name=text("turn.delete"))
        .click()
    )
    await frontend.page.wait_for_url(re.compile(r"/chatterbox/turns$"))
    await expect(panel.get_by_text(text("turns.total", count="1"))).to_be_visible()


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.SMALL_PHONE_LIGHT])
async def test_a_history_whose_turns_are_missing_is_named(frontend: Frontend) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(
            lambda message: route.send(
                str(message).replace('"unreachable":[]', '"unreachable":["x.db"]')
            )
        )

    page = await frontend.page.context.new_page()
    await page.route_web_socket(re.compile(r"/api/websocket$"), connect)
    await page.goto(f"{frontend.url}/chatterbox/turns")
    panel = page.locator("chatterbox-panel")
    await expect(panel.get_by_role("alert")).to_have_text(
        text("turns.unreachable", names="x.db")
    )
    await see_that_all_can_use_it(frontend, panel)
    await page.close()


@pytest.mark.thorough
@pytest.mark.parametrize("look", [Look.SMALL_PHONE_LIGHT])
async def test_no_view_is_cut_in_any_language(
    frontend: Frontend, home: HomeAssistantClient
) -> None:
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    await frontend.go("/chatterbox")
    has_texts = "([panel, language]) => panel.page?.texts.language === language"
    panel = frontend.page.locator("chatterbox-panel")
    handle = await panel.element_handle()
    misfits: list[str] = []
    try:
        for language in LANGUAGES:
            await frontend.choose_language(language)
            await frontend.page.wait_for_function(has_texts, arg=[handle, language])
            of_docs = panel.get_by_role(
                "link", name=sentence("config_panel.page.help", language), exact=True
            )
            for view, section in _VIEWS.items():
                name = sentence(f"config_panel.{view}", language)
                tab = panel.get_by_role("link", name=name, exact=True)
                await tab.click()
                await expect(tab).to_have_attribute("aria-current", "page")
                await expect(of_docs).to_have_attribute("href", _SITE + section)
                await expect(panel.locator("[aria-busy=true]")).to_have_count(0)
                misfits += [
                    f"{language}, {view}: {one}"
                    for one in await frontend.misfits(panel)
                ]
    finally:
        await home.command(
            "frontend/set_user_data", type(None), key="language", value=None
        )
    assert misfits == [], "\n".join(misfits)


async def _open_after_talking(
    frontend: Frontend, home: HomeAssistantClient, folder: Path
) -> Locator:
    """Turn on a light, ask for a door, which is asked about, and open the page; return it."""
    async with scripted_server(_SCRIPT, folder) as server:
        await frontend.open_devices_and_services()
        await frontend.add_model(server.base_url)
        for words in ("I cannot see what I am cooking", "Let the postman in"):
            request = {"text": words, "agent_id": "conversation.chatterbox"}
            await home.command("conversation/process", dict[str, JsonValue], **request)
    await frontend.go("/chatterbox")
    return frontend.page.locator("chatterbox-panel")


async def see_that_all_can_use_it(frontend: Frontend, panel: Locator) -> None:
    """Check that nothing is cut in the view that is open, and that people with any abilities can use it."""
    await frontend.see_that_it_fits(panel)
    await frontend.see_that_all_can_use_it(panel)
