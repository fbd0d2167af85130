"""A user who is no administrator sees nothing of the page, or their own turns once it is open to all."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from pydantic import BaseModel, JsonValue

from demo.owner import Owner
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import Frontend
from tests.behaviour.browser.looks import Look
from tests.behaviour.browser.test_panel import text

pytestmark = pytest.mark.thorough

_BEN = Owner("Ben", "ben", "a-password-of-ben")
_COMMANDS = (
    "page",
    "now/subscribe",
    "turns/list",
    "permissions/get",
    "evaluate/subscribe",
)
_ASK = """async ([type, fields]) => {
  const { hass } = document.querySelector("home-assistant");
  return hass.callWS({ type, ...fields }).then(() => "", (error) => error.code);
}"""


class _User(BaseModel):
    id: str


class _Created(BaseModel):
    user: _User


@dataclass(frozen=True, slots=True)
class _Signed:
    """A browser in which Ben has signed in."""

    frontend: Frontend

    @property
    def page(self) -> Page:
        return self.frontend.page

    async def ask(self, command: str, **fields: JsonValue) -> str:
        """Send a command, and return the code of its error; empty if it was carried out."""
        code: str = await self.page.evaluate(_ASK, [command, fields])
        return code


@pytest_asyncio.fixture(loop_scope="session")
async def ben(
    frontend: Frontend, home: HomeAssistantClient, browser: Browser, look: Look
) -> AsyncIterator[_Signed]:
    """Ben, in a home with an agent."""
    await frontend.open_devices_and_services()
    await frontend.add_offline()
    created = await home.command(
        "config/auth/create", _Created, name=_BEN.name, group_ids=["system-users"]
    )
    user_id, provider = created.user.id, "config/auth_provider/homeassistant/create"
    await home.command(
        provider,
        type(None),
        user_id=user_id,
        username=_BEN.username,
        password=_BEN.password,
    )
    context = await browser.new_context(
        viewport=look.size, color_scheme=look.scheme, locale="en-GB"
    )
    signed = _Signed(Frontend(await context.new_page(), frontend.url))
    await signed.frontend.sign_in(_BEN)
    yield signed
    await context.close()
    await home.command("chatterbox/page/share", type(None), everyone=False)
    await home.command("config/auth/delete", type(None), user_id=user_id)


@pytest.mark.parametrize("look", [Look.SMALL_PHONE_DARK])
async def test_a_user_without_rights_gets_nothing(ben: _Signed) -> None:
    await ben.page.goto(f"{ben.frontend.url}/chatterbox")

    await expect(ben.page.locator("ha-sidebar")).to_be_attached()
    await expect(ben.page.get_by_role("link", name="Chatterbox")).to_have_count(0)
    await expect(ben.page.locator("chatterbox-panel")).to_have_count(0)
    assert {
        command: await ben.ask(f"chatterbox/{command}") for command in _COMMANDS
    } == dict.fromkeys(_COMMANDS, "unauthorized")


@pytest.mark.parametrize("look", [Look.SMALL_PHONE_DARK])
async def test_a_user_sees_their_own_turns_once_the_page_is_open_to_all(
    frontend: Frontend, home: HomeAssistantClient, ben: _Signed
) -> None:
    request: dict[str, JsonValue] = {"agent_id": "conversation.chatterbox"}
    await home.command(
        "conversation/process",
        dict[str, JsonValue],
        text="turn on the floor lamp",
        **request,
    )
    assert (
        await ben.ask("conversation/process", text="turn off the floor lamp", **request)
        == ""
    )
    await frontend.go("/chatterbox")
    await frontend.page.get_by_role("checkbox", name=text("now.everyone")).click()
    panel = ben.page.locator("chatterbox-panel")

    await ben.frontend.open_panel("Chatterbox")
    await expect(panel.get_by_role("heading", name=text("now.agents"))).to_be_visible()
    await expect(
        panel.get_by_role("link", name=text("page.permissions"))
    ).to_have_count(0)
    await expect(panel.get_by_role("checkbox")).to_have_count(0)
    await panel.get_by_role("link", name=text("page.turns")).click()
    await expect(panel.get_by_text(text("turns.total", count="1"))).to_be_visible()
    await expect(panel.get_by_role("listitem")).to_contain_text(
        "turn off the floor lamp"
    )
    await ben.frontend.see_that_it_fits(panel)
    await ben.frontend.see_that_all_can_use_it(panel)
    assert await ben.ask("chatterbox/permissions/get", language="en") == "unauthorized"
