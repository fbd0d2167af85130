"""Home Assistant's frontend as a person uses it: what they read, click and type, step by step.

Knows the words on the screen; must not know what any test wants. Every wait is for
something that a person would see, and ends with an error after `TIMEOUT_SECONDS`.
"""

import asyncio
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playwright.async_api import (
    Locator,
    Page,
    TimeoutError as PlaywrightTimeout,
    expect,
)

from demo.owner import Owner
from tests.support.sentences import sentence

TIMEOUT_SECONDS = 60.0
_WIDE = 870
"""Pixels, from which on the side bar is always there."""
COUNT_CLICKS = Path(__file__).with_name("clicks.js").read_text()
_MISFITS = Path(__file__).with_name("misfits.js").read_text()
_FAULTS = Path(__file__).with_name("faults.js").read_text()
_REPOSITORY = Path(__file__).parents[3]
_INSTALLATION_SECONDS = 300
_CLOSING_MS = 10_000


@cache
def axe() -> str:
    """Return the source of axe-core, which is installed for building the page of the side bar."""
    command = [str(_REPOSITORY / "script" / "frontend"), "--axe"]
    path = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_INSTALLATION_SECONDS,
    ).stdout
    return Path(path.strip()).read_text()


@dataclass(frozen=True, slots=True)
class Frontend:
    """One browser page that shows the Home Assistant at `url`."""

    page: Page
    url: str

    async def sign_in(self, owner: Owner) -> None:
        """Open the page and sign in on the login form."""
        await self.page.goto(self.url)
        await self.page.get_by_label("Username").fill(owner.username)
        await self.page.get_by_label("Password", exact=True).fill(owner.password)
        await self.page.get_by_role("button", name="Log in").click()
        await self.page.get_by_text(f"Welcome {owner.name}").wait_for()

    async def open_first(self) -> None:
        """Open the page of a home for which the browser is signed in."""
        await self.page.goto(self.url)
        await self.page.get_by_text(re.compile("Welcome|Willkommen")).first.wait_for()

    @property
    def is_narrow(self) -> bool:
        """Whether the page is as narrow as on a phone, where the side bar has to be opened first."""
        size = self.page.viewport_size
        return size is not None and size["width"] < _WIDE

    @property
    def most_clicks(self) -> int:
        """How many clicks adding Chatterbox may take; on a phone, opening the side bar is one more."""
        return 9 if self.is_narrow else 8

    async def open_panel(self, name: str) -> None:
        """Go to what the side bar names."""
        if self.is_narrow:
            await self.page.get_by_role("button", name="Sidebar toggle").click()
        await self.page.get_by_role("link", name=name).click()

    async def go(self, path: str) -> None:
        """Go to a page by its path, without loading the frontend again, once no dialog is left to be closed."""
        await self.page.wait_for_function(
            "() => !history.state?.dialog"
        )  # which closing one goes back from
        script = "(path) => { history.pushState(null, '', path); dispatchEvent(new CustomEvent('location-changed')); }"
        await self.page.evaluate(script, path)

    async def leave_dialog(self, close: Locator) -> None:
        """Close the dialog that is open, if one is; load the frontend again if its animation swallows two clicks."""
        for _ in range(2):
            with suppress(PlaywrightTimeout):
                if await close.is_visible():
                    await close.click(timeout=_CLOSING_MS)
                await self.page.wait_for_function(
                    "() => !history.state?.dialog", timeout=_CLOSING_MS
                )
                return
        await self.page.goto(self.url)

    async def choose_language(self, language: str) -> None:
        """Change the language of the person, as their profile does, without loading the frontend again."""
        choose = "(home, detail) => home.dispatchEvent(new CustomEvent('hass-language-select', { detail }))"
        await self.page.locator("home-assistant").evaluate(choose, language)
        await expect(self.page.locator("html")).to_have_attribute("lang", language)

    async def see_that_it_fits(self, content: Locator) -> None:
        """Check that a page or a dialog cuts no text, and has nothing for which one has to scroll sideways."""
        misfits = await self.misfits(content)
        assert misfits == [], "\n".join(misfits)

    async def misfits(self, content: Locator) -> list[str]:
        """Return the texts that are cut, and what one has to scroll sideways for."""
        found: list[str] = await content.evaluate(_MISFITS)
        return found

    async def see_that_all_can_use_it(self, content: Locator) -> None:
        """Check a page for what keeps people from using it by keyboard, by screen reader or with weak eyes."""
        faults: list[str] = await content.evaluate(
            _FAULTS, await asyncio.to_thread(axe)
        )
        assert faults == [], "\n".join(faults)

    async def clicks(self) -> int:
        """Return how often somebody has clicked since the last time that this was asked."""
        count: int = await self.page.evaluate(
            "Number(sessionStorage.getItem('clicks'))"
        )
        await self.page.evaluate("sessionStorage.removeItem('clicks')")
        return count

    async def open_devices_and_services(self) -> None:
        """Go to the list of integrations from anywhere."""
        await self.open_panel("Settings")
        await self.page.get_by_text("Devices & services").first.click()
        await self.page.get_by_role("button", name="Add integration").wait_for()

    async def pick_integration(self, name: str) -> Locator:
        """Find an integration in the list of all brands and start adding it; return its dialog."""
        await self.page.get_by_role("button", name="Add integration").click()
        await self.page.get_by_placeholder("Search for a brand name").fill(name)
        await (
            self.page.locator("ha-integration-list-item").filter(has_text=name).click()
        )
        dialog = self.page.locator("dialog-data-entry-flow")
        await dialog.get_by_text(f"Add {name}").wait_for()
        return dialog

    async def choose_option(self, dialog: Locator, field: str, option: str) -> None:
        """Choose one of the options of a field that is a list to unfold."""
        await dialog.get_by_label(field, exact=True).click()
        await dialog.get_by_role("menuitem", name=option).click()

    async def choose_model(self, dialog: Locator, model: str) -> None:
        """Choose one of the models that the server has."""
        await dialog.get_by_label("Model", exact=True).click()
        await self.page.get_by_text(model).click()

    async def type_model(self, dialog: Locator, model: str) -> None:
        """Enter the name of a model that the server does not list."""
        await dialog.get_by_label("Model", exact=True).click()
        search = dialog.get_by_placeholder("Add custom item")
        await search.fill(model)
        await search.press("Enter")

    async def add_stand_in(self, dialog: Locator, agent: str) -> None:
        """Choose the first agent that answers when the model fails."""
        picker = dialog.locator("ha-entities-picker")
        await picker.get_by_text("Select an entity").click()
        await expect(
            picker.get_by_placeholder("Search")
        ).to_be_focused()  # before that, the list takes no click
        await picker.get_by_text(agent).first.click()
        await dialog.get_by_role("button", name="Add entity").wait_for()

    async def pick_in_rule(self, row: Locator, field: str, what: str) -> None:
        """Choose something in a field of a rule that lists what can be searched for."""
        chips = row.get_by_role("toolbar", name=field, exact=True)  # since 2026.11
        opener = (
            chips.get_by_role("button", name="Add")
            if await chips.count()
            else row.get_by_text(field, exact=True)
        )
        await opener.first.click()
        search = row.get_by_placeholder("Search")
        await expect(search).to_be_focused()  # before that, the list takes no click
        await search.fill(what)
        await row.get_by_text(what, exact=True).last.click()
        await expect(search).to_be_hidden()

    async def unfold(self, dialog: Locator, section: str) -> None:
        """Open a section of a form, or close it."""
        await (
            dialog.locator("ha-expansion-panel")
            .get_by_role("button", name=section, exact=True)
            .click()
        )

    async def submit(self, dialog: Locator) -> None:
        """Send the form that a dialog shows."""
        await dialog.get_by_role("button", name="Submit").click()

    async def begin_agent(self) -> Locator:
        """Begin to add an agent to the only service, on the page of the integration; return the dialog."""
        return await self._begin("Add conversation agent")

    async def begin_task(self) -> Locator:
        """Begin to add an AI task to the only service, on the page of the integration; return the dialog."""
        return await self._begin("Add AI task")

    async def _begin(self, button: str) -> Locator:
        await self.page.get_by_role("button", name=button).click()
        dialog = self.page.locator("dialog-data-entry-flow")
        await dialog.get_by_text("Instructions", exact=True).first.wait_for()
        return dialog

    async def change_task(self, name: str, form: str = "Settings") -> Locator:
        """Begin to change an AI task in one of its forms, on the page of the integration; return the dialog."""
        row = self.page.locator("ha-config-sub-entry-row").filter(has_text=name)
        await row.get_by_role("button", name="Change AI task").click()
        return await self._choose_form(
            self.page.locator("dialog-data-entry-flow"), form
        )

    async def change_agent(self, name: str, form: str = "Settings") -> Locator:
        """Begin to change an agent in one of its forms, on the page of the integration; return the dialog."""
        return await self._choose_form(await self.open_agent_menu(name), form)

    async def _choose_form(self, dialog: Locator, form: str) -> Locator:
        await dialog.get_by_text(form, exact=True).click()
        await dialog.get_by_role("button", name="Submit").wait_for()
        return dialog

    async def open_agent_menu(self, name: str) -> Locator:
        """Begin to change an agent, on the page of the integration; return the dialog that asks what of it."""
        row = self.page.locator("ha-config-sub-entry-row").filter(has_text=name)
        await row.get_by_role("button", name="Change agent").click()
        dialog = self.page.locator("dialog-data-entry-flow")
        await dialog.get_by_text("Confirmations").wait_for()
        return dialog

    async def finish(self, dialog: Locator) -> None:
        """Close the dialog that says what was added; it may ask in which room, which stays open.

        Where that was a service, Home Assistant goes to the page of its device by
        itself, or to that of the integration if there are several, or none yet.
        """
        finish = dialog.get_by_role("button", name=re.compile("finish", re.IGNORECASE))
        await finish.click()
        await expect(finish).to_be_hidden()
        await self.page.wait_for_url(
            re.compile(r"/config/(devices/device|integrations/integration)/")
        )

    async def close_when_changed(self, dialog: Locator) -> None:
        """Close the dialog that says that something was changed."""
        saved = sentence("config_subentries.conversation.abort.home_rules_saved")
        done = dialog.get_by_text("Reconfiguration was successful").or_(
            dialog.get_by_text(saved)
        )
        await done.wait_for()
        await dialog.get_by_role("button", name="Close").last.click()
        await expect(done).to_be_hidden()

    async def add_model(
        self, base_url: str, model: str = "", *, ai_task: bool = False
    ) -> None:
        """Add a model of a server at an address, from the list of integrations.

        `model` is needed where the server has several.
        """
        dialog = await self.begin_model(base_url, model)
        await self.complete(dialog, ai_task=ai_task)
        await self.finish(dialog)

    async def begin_model(self, base_url: str, model: str = "") -> Locator:
        """Add a model up to the last form; return its dialog."""
        dialog = await self.pick_integration("Chatterbox")
        await dialog.get_by_text("In my home", exact=True).click()
        await dialog.get_by_role("textbox", name="Address").fill(base_url)
        await self.submit(dialog)
        if model:
            await self.choose_model(dialog, model)
        await dialog.get_by_text("Choose a model").wait_for()
        await self.submit(dialog)
        await dialog.get_by_text("Almost done").wait_for()
        return dialog

    async def add_offline(self) -> None:
        """Add the service without a model, from the list of integrations."""
        dialog = await self.pick_integration("Chatterbox")
        await dialog.get_by_text("No model", exact=True).click()
        await self.complete(dialog)
        await self.finish(dialog)

    async def complete(self, dialog: Locator, *, ai_task: bool = False) -> None:
        """Send the last form of adding a service as it is shown, or with an AI task."""
        await dialog.get_by_text("Almost done").wait_for()
        if ai_task:
            await dialog.locator("ha-switch").click()
        await self.submit(dialog)

    async def try_it(self, dialog: Locator) -> Assist:
        """Click what the dialog offers at its end: to talk to the new agent."""
        await dialog.get_by_role("link", name="Try it now").click()
        return await Assist.seen_on(self.page)

    async def open_service(self, name: str) -> None:
        """Go to the page of an integration from anywhere."""
        await self.go(f"/config/integrations/integration/{name.lower()}")
        await self.page.get_by_role("button", name="Add service").wait_for()

    async def delete_service(self) -> None:
        """Delete the only service, on the page of the integration."""
        row = self.page.locator("ha-config-entry-row")
        await row.get_by_role("button", name="Menu").first.click()
        await row.get_by_role("menuitem", name="Delete").click()
        await self.page.get_by_role("button", name="Delete").last.click()
        await expect(row).to_have_count(0)

    async def open_assistants(self) -> None:
        """Go to the list of voice assistants from anywhere."""
        await self.go("/config/voice-assistants/assistants")
        await self.page.get_by_role("button", name="Add assistant").wait_for()

    async def open_options(self) -> Locator:
        """Open the options of the only service, on the page of the integration; return the dialog."""
        row = self.page.locator("ha-config-entry-row")
        await expect(
            row.get_by_role("button", name="Configure", exact=True)
        ).to_have_count(0)
        await row.get_by_role("button", name="Menu").first.click()
        await row.get_by_role("menuitem", name="Reconfigure").click()
        dialog = self.page.locator("dialog-data-entry-flow")
        await dialog.get_by_role("button", name="Submit").wait_for()
        return dialog

    async def access_token(self) -> str:
        """Return the token by which the page itself calls Home Assistant."""
        token: str = await self.page.evaluate(
            "window.hassConnection.then(({ auth }) => auth.accessToken)"
        )
        return token

    async def open_overview(self) -> None:
        """Go to the page of the home from anywhere."""
        await self.open_panel("Overview")
        await self.page.get_by_text("Welcome").first.wait_for()

    async def open_list(self, entity_id: str) -> Locator:
        """Go to a to-do list from anywhere; return what shows it."""
        await self.page.goto(f"{self.url}/todo?entity_id={entity_id}")
        form = self.page.locator("hui-todo-list-card")
        await form.get_by_placeholder("Add item").wait_for()
        return form

    async def open_assist(self) -> Assist:
        """Open the Assist dialog from the overview."""
        await self.page.get_by_role("button", name="Assist (A)").click()
        return await Assist.seen_on(self.page)

    async def open_area(self, name: str) -> None:
        """Go to the page of a room from the overview."""
        await self.page.get_by_role("button", name=name, exact=True).click()
        await self.page.wait_for_url(re.compile(r"/home/areas-"))

    async def see_light(self, name: str, *, on: bool) -> None:
        """Wait until the tile of a light, which may be named with its room, says that it is on or off."""
        state = r"(On|\d+%)" if on else "Off"
        await self.page.get_by_role(
            "button", name=re.compile(f"(^| ){name} {state}$")
        ).wait_for()

    async def see_activity(self, entry: str) -> None:
        """Wait until the Activity page has an entry with these words."""
        if "/logbook" not in self.page.url:
            await self.open_panel("Activity")
        await expect(self.page.locator("ha-logbook").get_by_text(entry)).to_be_visible()


@dataclass(frozen=True, slots=True)
class Assist:
    """The dialog in which a person talks to the assistant by typing."""

    dialog: Locator

    @classmethod
    async def seen_on(cls, page: Page) -> Assist:
        """Return the dialog once it is open and waits for words."""
        dialog = page.locator("ha-voice-command-dialog")
        await dialog.get_by_role("textbox").wait_for()
        return cls(dialog)

    @property
    def bubbles(self) -> Locator:
        """All that was said so far, by the person and to them, errors included."""
        return self.dialog.locator(".message")

    async def ask(self, sentence: str) -> str:
        """Type a sentence and send it; return the answer once it is complete."""
        answers = self.dialog.locator(".message.hass ha-markdown-element")
        earlier = await answers.count()
        request = self.dialog.get_by_role("textbox")
        await request.fill(sentence)
        await request.press("Enter")
        answer = answers.nth(earlier)
        # An answer that is still coming ends with dots.
        await expect(answer).to_have_text(re.compile(r"[^…\s]\s*$"))
        return (await answer.inner_text()).strip()

    async def show_details(self) -> None:
        """Unfold what the assistant did for its last answer."""
        await self.dialog.get_by_text("Show details").last.click()

    async def see_the_end(self) -> None:
        """Scroll to what was said last."""
        await self.dialog.locator(".message").last.scroll_into_view_if_needed()

    async def see_that_it_can_control_the_home(self) -> None:
        """Check that the dialog does not warn of an assistant that can only talk."""
        await expect(self.dialog.get_by_text("cannot control your home")).to_have_count(
            0
        )

    async def close(self) -> None:
        """Close the dialog."""
        await self.dialog.get_by_role(
            "button", name=re.compile("Close|Schließen")
        ).click()
        await expect(self.dialog.get_by_role("textbox")).to_be_hidden()
