"""A browser and a home to open in it: real processes on the loopback address, new for every test.

The only module of these tests that knows processes. The tests run in an event loop that Home Assistant's test plugin
watches, but no `hass` runs in it; they ask for `socket_enabled`, as all they test is on the other end of one.
"""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from demo.configuration import Configuration, SignIn, write_configuration
from demo.home import set_up_home
from demo.home_assistant import free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import COUNT_CLICKS, TIMEOUT_SECONDS, Frontend

_REPOSITORY = Path(__file__).resolve().parents[3]
_BROWSER_INSTALLATION_SECONDS = 300
expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
_BROWSER_ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # Chromium refuses to run as root with it, as in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; Debian's is installed where there is none."""
    found = subprocess.run(
        [_REPOSITORY / "script" / "browser"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_BROWSER_INSTALLATION_SECONDS,
    )
    return found.stdout.splitlines()[-1]


@pytest.fixture
def camera() -> Camera:
    """Takes the pictures for the docs, when they are asked for."""
    return Camera.from_environment()


@pytest.fixture
async def page(chromium: str, tmp_path: Path) -> AsyncIterator[Page]:
    """An empty page in a new browser; what it shows at the end is kept with the test's files."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=_BROWSER_ARGUMENTS)
        context = await browser.new_context(
            viewport={"width": 1200, "height": 800}, locale="en-GB", reduced_motion="reduce"
        )
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        await context.add_init_script(COUNT_CLICKS)
        page = await context.new_page()
        yield page
        await page.screenshot(path=tmp_path / "at-the-end.png")
        await browser.close()


@pytest.fixture
def port_nearby() -> int:
    """The only port of this machine at which Chatterbox looks for a model server; nothing is there yet."""
    return free_port()


@pytest.fixture
async def home(tmp_path: Path, port_nearby: int) -> AsyncIterator[str]:
    """The address of a running Home Assistant with the demo house, its owner, and no assistant but the built-in one."""
    configuration = tmp_path / "configuration"
    configuration.mkdir()
    port = free_port()
    usual = Configuration(port=port, sign_in=SignIn.PASSWORD)
    components = (*usual.custom_components, Path(__file__).parent / "components" / "servers_nearby")
    await asyncio.to_thread(write_configuration, configuration, replace(usual, custom_components=components))
    with (configuration / "configuration.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write(f"\nservers_nearby:\n  - http://127.0.0.1:{port_nearby}\n")
    log = tmp_path / "home-assistant.log"
    async with running_home_assistant(configuration, port, log) as home_assistant:
        code = await create_owner(home_assistant.url, Owner())
        async with HomeAssistantClient.connected(home_assistant.url, code) as client:
            await set_up_home(client)
        yield home_assistant.url
    assert " ERROR " not in await asyncio.to_thread(log.read_text)


@pytest.fixture
async def frontend(home: str, page: Page) -> Frontend:
    """The page of the home, its owner signed in by name and password."""
    frontend = Frontend(page, home)
    await frontend.sign_in(Owner())
    return frontend
