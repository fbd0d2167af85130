"""A stranger follows the site alone: an empty home, the archive of a release, no demo, page after page to the removal.

The pages come in the order of the site: install and set up, later, the page,
permissions, the PIN, recipes, the Responses API, remove. After each step there is a
picture with the test's files, to be looked at.
"""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from pydantic import JsonValue, RootModel

from demo.configuration import Configuration, SignIn, write_configuration
from demo.home import states, wait_until_running
from demo.home_assistant import free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.frontend import TIMEOUT_SECONDS, Assist, Frontend
from tests.behaviour.browser.looks import Look
from tests.behaviour.browser.test_panel import text
from tests.support.page_tables import DOCS
from tests.support.sentences import sentence
from tests.support.servers.process import scripted_server
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall

_HERE = Path(__file__).parent
_RELEASE = _HERE.parents[2] / "script" / "release"
_PIN = "4711"
_MODEL = "qwen3-4b-instruct"
_AGENT = "conversation.qwen3_4b_instruct"
_EVERY_WINDOW = "Every window is shut."
_UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
_LETS_IN = (
    ScriptedAnswer(tool_calls=(_UNLOCK,)),
    ScriptedAnswer(content="Come in!"),
)
_SCRIPT = Script(
    models=(_MODEL, "nomic-embed-text"),
    owner="llamacpp",
    answers=(
        ScriptedAnswer(content="Good morning!"),
        *_LETS_IN,
        *_LETS_IN,
        ScriptedAnswer(content=_EVERY_WINDOW),
        ScriptedAnswer(content="It is lit."),
    ),
)
_HOME = """
automation: !include automations.yaml
script: !include scripts.yaml
template:
  - light:
      - name: Kitchen Light
        unique_id: kitchen_light
        optimistic: true
        turn_on: []
        turn_off: []
  - lock:
      - name: Front Door
        unique_id: front_door
        optimistic: true
        lock: []
        unlock: []
"""


class _Ignored(RootModel[JsonValue]):
    """An answer that says nothing but that it was done."""


@dataclass(frozen=True, slots=True)
class _Stranger:
    """A person with a browser, a terminal, and an album for pictures."""

    frontend: Frontend
    client: HomeAssistantClient
    token: str
    album: Path
    _taken: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.frontend.page

    @property
    def panel(self) -> Locator:
        return self.page.locator("chatterbox-panel")

    @property
    def dialog(self) -> Locator:
        return self.page.locator("dialog-data-entry-flow")

    async def picture(self, name: str) -> None:
        """Keep what is on the screen."""
        self._taken.append(name)
        path = self.album / f"{len(self._taken):02}-{name}.png"
        path.write_bytes(await self.page.screenshot(animations="disabled"))

    async def come_home(self) -> Assist:
        """Load the frontend anew, and open Assist."""
        await self.page.goto(self.frontend.url)
        await self.page.get_by_text("Welcome").first.wait_for()
        return await self.frontend.open_assist()

    async def note(self, words: str) -> None:
        """Read a notification, from the overview."""
        await self.page.get_by_text("Notifications").first.click()
        await expect(self.page.get_by_text(words)).to_be_visible()


@pytest.mark.thorough
@pytest.mark.timeout(600)
async def test_a_stranger_gets_from_the_archive_to_the_removal(
    browser: Browser, port_nearby: int, tmp_path: Path
) -> None:
    folder, log, port = tmp_path / "home", tmp_path / "home-assistant.log", free_port()
    configuration = _build_home(folder, port)
    before = configuration.read_text()
    configuration.write_text(
        f"{before}servers_nearby:\n  - http://127.0.0.1:{port_nearby}\n"
    )
    _install(folder)
    async with (
        running_home_assistant(folder, port, log) as home_assistant,
        scripted_server(_SCRIPT, tmp_path) as server,
        HomeAssistantClient.connected(
            home_assistant.url, await create_owner(home_assistant.url, Owner())
        ) as client,
        _opened(browser, tmp_path) as page,
    ):
        stranger = await _sign_in(page, home_assistant.url, client, tmp_path)
        await _expose_the_door(stranger)
        await _set_up_without_a_model(stranger)
        await _set_up_a_model_at_home(stranger, server.base_url.removesuffix("/v1"))
        await _look_at_the_page(stranger)
        await _add_a_rule(stranger)
        await _set_a_pin(stranger)
        await _use_examples(stranger)
        await _let_a_client_in(stranger)
        await _remove(stranger)
    left = [*folder.glob("chatterbox.db*"), *folder.glob(".storage/chatterbox.*")]
    assert not any(b"call Mum" in file.read_bytes() for file in left)
    for file in left:
        file.unlink()
    shutil.rmtree(folder / "custom_components")
    configuration.write_text(before)
    earlier = len(log.read_bytes())
    async with (
        running_home_assistant(folder, port, log) as home_assistant,
        HomeAssistantClient.signed_in(home_assistant.url, stranger.token) as client,
    ):
        await wait_until_running(client)
        names = await states(client)
    assert "light.kitchen_light" in names
    assert [name for name in names if "chatterbox" in name or "qwen" in name] == []
    assert b"chatterbox" not in log.read_bytes()[earlier:]
    assert [*folder.rglob("chatterbox*")] == []


@contextlib.asynccontextmanager
async def _opened(browser: Browser, album: Path) -> AsyncIterator[Page]:
    """Open a page; what it shows at the end is kept."""
    page = await browser.new_page(
        viewport=Look.DESKTOP_LIGHT.size, locale="en-GB", reduced_motion="reduce"
    )
    page.set_default_timeout(TIMEOUT_SECONDS * 1000)
    try:
        yield page
    finally:
        (album / "at-the-end.png").write_bytes(await page.screenshot())
        await page.close()


def _build_home(folder: Path, port: int) -> Path:
    """Make a home with a light and a lock; return its configuration."""
    folder.mkdir()
    write_configuration(folder, Configuration(port, SignIn.PASSWORD, ()))
    (folder / "automations.yaml").write_text("[]\n")
    (folder / "scripts.yaml").write_text("{}\n")
    configuration = folder / "configuration.yaml"
    configuration.write_text(configuration.read_text() + _HOME)
    return configuration


def _install(folder: Path) -> None:
    """Install and set up: unpack the archive by hand; beside it, what keeps it from looking for servers elsewhere."""
    archive, custom = folder.parent / "chatterbox.zip", folder / "custom_components"
    subprocess.run([_RELEASE, "--archive", archive], check=True, timeout=300)
    with zipfile.ZipFile(archive) as release:
        release.extractall(custom / "chatterbox")
    nearby = _HERE / "components" / "servers_nearby"
    shutil.copytree(nearby, custom / nearby.name)


async def _sign_in(
    page: Page, url: str, client: HomeAssistantClient, album: Path
) -> _Stranger:
    version = await wait_until_running(client)
    await client.command(
        "frontend/set_system_data",
        _Ignored,
        key="core",
        value={"onboarded_version": version},
    )
    await client.command(
        "config/entity_registry/update",
        _Ignored,
        entity_id="light.kitchen_light",
        area_id="kitchen",
    )
    token = await client.command(
        "auth/long_lived_access_token", str, client_name="Stranger", lifespan=1
    )
    frontend = Frontend(page, url)
    await frontend.sign_in(Owner())
    return _Stranger(frontend, client, token, album)


async def _expose_the_door(stranger: _Stranger) -> None:
    """Install and set up: "Expose what the agent may see and use"."""
    page = stranger.page
    await stranger.frontend.go("/config/voice-assistants/expose")
    await page.get_by_role("button", name="Expose entities").click()
    listed = page.locator("dialog-expose-entity")
    await listed.get_by_text("Kitchen Light").wait_for(state="hidden")
    await listed.get_by_text("Front Door").first.click()
    await stranger.picture("expose")
    await listed.get_by_role("button", name="Expose 1 entity").click()
    await page.get_by_role("row").filter(has_text="Front Door").first.wait_for()


async def _set_up_without_a_model(stranger: _Stranger) -> None:
    """Install and set up: "No model"; Later: a reminder."""
    frontend = stranger.frontend
    await frontend.open_devices_and_services()
    dialog = await frontend.pick_integration("Chatterbox")
    await stranger.picture("where-the-model-runs")
    await dialog.get_by_text("No model", exact=True).click()
    await expect(dialog.get_by_text("Front Door")).to_be_visible()
    await stranger.picture("almost-done")
    await frontend.complete(dialog)
    await dialog.get_by_text("Unlock Front Door").wait_for()
    await stranger.picture("ready")
    assist = await frontend.try_it(dialog)
    assert await assist.ask("Turn on the kitchen lights") == "Turned on the lights"
    assert await assist.ask("Unlock Front Door") == "Unlock the Front Door?"
    assert await assist.ask("no") == sentence("common.spoken_declined")
    heard = await assist.ask("Remind me tomorrow at 6 pm to call Mum")
    assert "call Mum" in heard
    await assist.see_the_end()
    await stranger.picture("talk-without-a-model")
    await assist.close()


async def _set_up_a_model_at_home(stranger: _Stranger, address: str) -> None:
    """Install and set up: "A model in your home"."""
    frontend, dialog = stranger.frontend, stranger.dialog
    await frontend.open_service("Chatterbox")
    await stranger.page.get_by_role("button", name="Add service").click()
    await dialog.get_by_text("In my home", exact=True).click()
    await dialog.get_by_role("textbox", name="Address").fill(address)
    await stranger.picture("address")
    await frontend.submit(dialog)
    await dialog.get_by_text("Choose a model").wait_for()
    await stranger.picture("model")
    await frontend.submit(dialog)
    await dialog.get_by_text("Almost done").wait_for()
    await dialog.get_by_text("Home Assistant (takes it over from Chatterbox)").click()
    await dialog.get_by_text("A new assistant with this name").click()
    await stranger.picture("takes-over")
    await frontend.complete(dialog)
    await dialog.get_by_text("Your server needs about").wait_for()
    await stranger.picture("ready-with-a-model")
    assist = await frontend.try_it(dialog)
    assert await assist.ask("Good morning") == "Good morning!"
    await assist.close()


async def _look_at_the_page(stranger: _Stranger) -> None:
    """The page and Activity: "Now" and "Conversations"."""
    await stranger.frontend.open_panel("Chatterbox")
    plan = stranger.panel.get_by_role("listitem").filter(has_text="call Mum")
    await expect(plan).to_contain_text("18:00")
    await stranger.picture("page-now")
    await stranger.panel.get_by_role("link", name=text("page.turns")).click()
    await stranger.panel.get_by_text("Good morning!").wait_for()
    await stranger.picture("page-conversations")


async def _add_a_rule(stranger: _Stranger) -> None:
    """Confirmations and permissions: "To add a rule", on the page; lights ask first from then on."""
    panel = stranger.panel
    await panel.get_by_role("link", name=text("page.permissions")).click()
    await panel.get_by_role("link", name=text("permissions.rules")).click()
    await panel.get_by_role("button", name=text("permissions.add")).click()
    form = panel.get_by_role("dialog")
    await form.get_by_label("Result").select_option("Ask first")
    await form.get_by_label("Device types").select_option("Light")
    await stranger.picture("rule")
    await form.get_by_role("button", name=text("page.save")).click()
    await panel.get_by_text("Use anything of type Light only after a yes.").wait_for()
    await panel.get_by_role("link", name=text("permissions.try")).click()
    tried = panel.get_by_role("textbox", name=text("permissions.sentence"))
    await tried.fill("turn on the kitchen light")
    await panel.get_by_role(
        "button", name=text("permissions.try_button"), exact=True
    ).click()
    await panel.get_by_text("Turn on the Kitchen Light?").wait_for()
    await stranger.picture("try-a-sentence")


async def _set_a_pin(stranger: _Stranger) -> None:
    """The PIN: "Set, change or remove it", and "Say it"."""
    frontend = stranger.frontend
    await frontend.open_service("Chatterbox")
    dialog = await frontend.open_agent_menu(_MODEL)
    await stranger.picture("change-agent")
    await dialog.get_by_text("Confirmations", exact=True).click()
    await dialog.get_by_role("textbox", name="PIN").fill(_PIN)
    await dialog.get_by_role("button", name="Next").click()
    await dialog.get_by_text("What this means for your home").wait_for()
    await stranger.picture("what-it-means")
    await dialog.get_by_text("Save", exact=True).click()
    await frontend.close_when_changed(dialog)
    assist = await stranger.come_home()
    question = f"Unlock the Front Door? {sentence('common.spoken_say_pin')}"
    assert await assist.ask("Let me in, please") == question
    assert await assist.ask("yes") == sentence("common.spoken_pin_missing")
    assert await assist.ask("four seven one one") == "Come in!"
    await stranger.picture("pin")
    await assist.close()
    assert (await states(stranger.client))["lock.front_door"].state == "unlocked"


async def _use_examples(stranger: _Stranger) -> None:
    """Recipes: "Use an example", of an event in an automation and of an action in a script."""
    await _paste(stranger, "automation", _example("events", "chatterbox_change"))
    assist = await stranger.come_home()
    await assist.ask("Let me in, please")
    assert await assist.ask(_PIN) == "Come in!"
    await assist.close()
    await stranger.note("unlocked Front Door, after the PIN")
    await stranger.picture("event")
    example = _example("actions", "chatterbox.ask")
    await _paste(stranger, "script", example.replace("conversation.butler", _AGENT))
    await stranger.client.post("/api/services/script/evening_check", {}, _Ignored)
    await (await stranger.come_home()).close()
    await stranger.note(_EVERY_WINDOW)
    await stranger.picture("action")


def _example(page: str, words: str) -> str:
    """Return the YAML of a page in which these words stand."""
    blocks = re.findall(
        r"```yaml\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL
    )
    (found,) = [block for block in blocks if words in block]
    return str(found)


async def _paste(stranger: _Stranger, kind: str, example: str) -> None:
    """Paste an example into a new automation or script; its editor asks for a name if there is none."""
    page = stranger.page
    await page.goto(f"{stranger.frontend.url}/config/{kind}/dashboard")
    await page.get_by_role("button", name=f"Create {kind}").click()
    await page.get_by_text(f"Create new {kind}").click()
    await page.wait_for_url(re.compile(f"{kind}/edit/new"))
    editor = page.locator(f"ha-{kind}-editor")
    await editor.locator("ha-dropdown ha-icon-button").first.click()
    await page.get_by_role("menuitem", name="Edit in YAML").click()
    await page.locator("ha-yaml-editor .cm-content").first.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insert_text(example)
    await stranger.picture(f"pasted-{kind}")
    await page.get_by_role("button", name="Save").first.click()
    if "alias:" not in example:
        await page.get_by_role("textbox", name="Name").fill("Locks")
        await page.get_by_role("button", name="Save").last.click()
    await page.get_by_text("Traces").first.wait_for()


async def _let_a_client_in(stranger: _Stranger) -> None:
    """The Responses API: "Switch it on", and the first example."""
    frontend, dialog = stranger.frontend, stranger.dialog
    await stranger.page.goto(frontend.url)
    await frontend.open_service("Chatterbox")
    row = stranger.page.locator("ha-config-entry-row").filter(has_text="llama.cpp")
    await row.get_by_role("button", name="Menu").first.click()
    await row.get_by_role("menuitem", name="Reconfigure").click()
    await dialog.get_by_text("Database, diagnostics and API clients").click()
    await dialog.get_by_role("button", name="Submit").wait_for()
    await frontend.unfold(dialog, "API clients")
    switch = dialog.locator("ha-selector-boolean").filter(has_text="Responses API")
    await switch.locator("ha-switch").click()
    await stranger.picture("api-clients")
    await frontend.submit(dialog)
    await frontend.close_when_changed(dialog)
    page = (DOCS / "responses-api.md").read_text("utf-8")
    command = re.findall(r"```shell\n(.*?)```", page, re.DOTALL)[0]
    command = command.replace("http://homeassistant.local:8123", frontend.url)
    process = await asyncio.create_subprocess_shell(
        command.replace("conversation.chatterbox", _AGENT),
        env=os.environ | {"TOKEN": stranger.token},
        stdout=asyncio.subprocess.PIPE,
    )
    answer, _ = await process.communicate()
    assert "It is lit." in answer.decode()


async def _remove(stranger: _Stranger) -> None:
    """Install and set up: "Remove Chatterbox", up to the restart."""
    page, frontend = stranger.page, stranger.frontend
    await frontend.open_service("Chatterbox")
    rows = page.locator("ha-config-entry-row")
    for left in (1, 0):
        await rows.first.get_by_role("button", name="Menu").first.click()
        await rows.first.get_by_role("menuitem", name="Delete").click()
        await page.get_by_role("button", name="Delete").last.click()
        await expect(rows).to_have_count(left)
    await stranger.picture("removed")
    assist = await stranger.come_home()
    assert await assist.ask("Turn on the kitchen lights") == "Turned on the lights"
    await stranger.picture("home-assistant-answers")
    await assist.close()
