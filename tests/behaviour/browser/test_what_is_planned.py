"""A person sees what is planned in a to-do list, sets another time, completes an item and deletes one."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect
from pydantic import BaseModel, JsonValue

from demo.config_flow_client import answer, entry_of, open_flow
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.support.sentences import sentence

pytestmark = pytest.mark.thorough


class _Entity(BaseModel):
    entity_id: str
    platform: str
    translation_key: str | None


class _Item(BaseModel):
    summary: str
    due: datetime


class _Items(BaseModel):
    items: tuple[_Item, ...]


async def _list_id(home: HomeAssistantClient) -> str:
    """Return the id of the list, which is in the language in which the home had it first."""
    entities = await home.command("config/entity_registry/list", tuple[_Entity, ...])
    return next(
        one.entity_id
        for one in entities
        if (one.platform, one.translation_key) == ("chatterbox", "later")
    )


async def _items(home: HomeAssistantClient) -> dict[str, datetime]:
    found = await home.command("todo/item/list", _Items, entity_id=await _list_id(home))
    return {item.summary: item.due for item in found.items}


@pytest.mark.parametrize(
    ("locale", "look", "save", "delete"),
    [
        ("en-GB", Look.DESKTOP_LIGHT, "Save item", "Delete item"),
        ("de-DE", Look.PHONE_DARK, "Eintrag speichern", "Eintrag löschen"),
    ],
)
async def test_plans_are_changed_in_their_list(
    frontend: Frontend, home: HomeAssistantClient, locale: str, save: str, delete: str
) -> None:
    language, page = locale[:2], frontend.page
    await home.command("config/core/update", type(None), language=language)
    form = await answer(
        home, await open_flow(home, "chatterbox"), {"next_step_id": "offline"}
    )
    await entry_of(home, "chatterbox", await answer(home, form, {"name": "Butler"}))
    for message in ("Call Mum", "Water the plants", "The bins"):
        plan: dict[str, JsonValue] = {"message": message, "when": "tomorrow at T10:00"}
        await home.post("/api/services/chatterbox/plan", plan, list[JsonValue])
    (before,) = {*(await _items(home)).values()}

    await frontend.go(f"/todo?entity_id={await _list_id(home)}")
    await expect(
        page.get_by_text(sentence("entity.todo.later.name", language=language)).first
    ).to_be_visible()
    await frontend.see_that_it_fits(page.locator("hui-todo-list-card"))
    await page.get_by_text("Call Mum").click()
    dialog = page.locator("dialog-todo-item-editor")
    await dialog.locator("ha-time-input input").first.fill("11")
    await dialog.locator("ha-input input, ha-textfield input, textarea").first.fill(
        "Call Dad"
    )
    await dialog.get_by_role("button", name=save).click()
    await expect(page.get_by_text("Call Dad")).to_be_visible()
    assert (await _items(home))["Call Dad"] == before + timedelta(hours=1)

    await page.locator("ha-checkbox").first.click()
    await expect(page.get_by_text("Water the plants")).to_have_count(0)
    await page.get_by_text("The bins").click()
    await dialog.get_by_role("button", name=delete).click()
    await page.locator("dialog-box").get_by_role("button").last.click()
    await expect(page.get_by_text("The bins")).to_have_count(0)
    assert [*await _items(home)] == ["Call Dad"]
