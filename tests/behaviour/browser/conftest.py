"""A browser and a home to open in it: real processes on the loopback address, which the tests of a process share.

Tests and fixtures run in the event loop of the session, to which the connection to the
browser belongs. Each test has a page whose storage is empty, and a home in which the
tests before it left nothing.
"""

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio
import pytest_socket
from playwright.async_api import Browser, Page, async_playwright, expect

from demo.configuration import Configuration, SignIn, write_configuration
from demo.home import set_up_home
from demo.home_assistant import free_port, running_home_assistant
from demo.owner import Owner, create_owner
from demo.web_api import HomeAssistantClient
from tests.behaviour.browser.camera import Camera
from tests.behaviour.browser.frontend import COUNT_CLICKS, TIMEOUT_SECONDS, Frontend
from tests.behaviour.browser.looks import Look
from tests.behaviour.browser.shared_home import Furniture, SharedHome

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[2]
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
_NO_SCRIM = """document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.style.setProperty("--ha-dialog-scrim-backdrop-filter", "none");
});"""
"""Leaves the page behind a dialog as bright as it is: to darken each picture takes half of the browser's time."""
_CONNECTION_ENDS = (
    "Cannot write to closing transport",
    "home-assistant-js-websocket/dist/connection.js",
)
"""Errors of Home Assistant and its frontend where a page is closed, or loses its connection, while it loads."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run a test of this folder in the event loop of the session."""
    item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Let all tests open sockets: all that they test is on the other end of one."""


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """The only browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=_BROWSER_ARGUMENTS
        )
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def port_nearby() -> int:
    """Return the only port of this machine at which Chatterbox looks for a model server; nothing is there at first."""
    pytest_socket.enable_socket()  # which each test does only after this
    return free_port()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_home(
    tmp_path_factory: pytest.TempPathFactory, port_nearby: int, browser: Browser
) -> AsyncIterator[SharedHome]:
    """The only Home Assistant."""
    folder, port = tmp_path_factory.mktemp("home"), free_port()
    configuration, log = folder / "configuration", folder / "home-assistant.log"
    configuration.mkdir()
    usual = Configuration(port=port, sign_in=SignIn.PASSWORD)
    names = ("servers_nearby", "llama_cpp", "demo_web")
    own = [_HERE / "components" / name for name in names]
    await asyncio.to_thread(
        write_configuration,
        configuration,
        replace(usual, custom_components=(*usual.custom_components, *own)),
    )
    with (configuration / "configuration.yaml").open("a", encoding="utf-8") as yaml:
        yaml.write(
            f"\nservers_nearby:\n  - http://127.0.0.1:{port_nearby}\ndemo_web:\n"
        )
    async with running_home_assistant(configuration, port, log) as home_assistant:
        url = home_assistant.url
        async with HomeAssistantClient.connected(
            url, await create_owner(url, Owner())
        ) as client:
            await set_up_home(client)
            token = await client.command(
                "auth/long_lived_access_token", str, client_name="Tests", lifespan=1
            )
        yield SharedHome(url, log, token, await _signed_in(browser, url))


async def _signed_in(browser: Browser, url: str) -> str:
    """Sign the owner in by name and password; return what the browser keeps of that."""
    page = await browser.new_page(locale="en-GB")
    await Frontend(page, url).sign_in(Owner())
    tokens: str = await page.evaluate("localStorage.hassTokens")
    await page.close()
    return tokens


@pytest_asyncio.fixture(loop_scope="session")
async def home(shared_home: SharedHome) -> AsyncIterator[HomeAssistantClient]:
    """The owner's connection to the home. It is put in order after the test, which must not have it log an error."""
    parsed = len(shared_home.log.read_bytes())
    async with HomeAssistantClient.signed_in(
        shared_home.url, shared_home.token
    ) as client:
        furniture = await Furniture.of(client)
        yield client
        await furniture.restore(client)
    records = re.split(r"\n(?=\d{4}-)", shared_home.log.read_bytes()[parsed:].decode())
    assert [
        one
        for one in records
        if " ERROR " in one and not any(end in one for end in _CONNECTION_ENDS)
    ] == []


@pytest.fixture
def camera() -> Camera:
    """Takes the pictures for the docs, when they are asked for."""
    return Camera.from_environment()


@pytest.fixture
def look() -> Look:
    """Return how large and how bright a page is; tests that want another one are parametrised with it."""
    return Look.DESKTOP_LIGHT


@pytest.fixture
def locale() -> str:
    """Return the language that the browser prefers."""
    return "en-GB"


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages that tests share, by look and language: another page would compile the frontend anew."""

    browser: Browser
    _opened: dict[tuple[Look, str], Page] = field(default_factory=dict)

    async def open(self, look: Look, locale: str) -> Page:
        """Return the page of a look and a language."""
        if (page := self._opened.get((look, locale))) is None:
            context = await self.browser.new_context(
                viewport=look.size,
                color_scheme=look.scheme,
                is_mobile=look.is_phone,
                has_touch=look.is_phone,
                locale=locale,
                permissions=[
                    "clipboard-write"
                ],  # which a browser without windows cannot ask for
                reduced_motion="reduce",
            )
            context.set_default_timeout(TIMEOUT_SECONDS * 1000)
            await context.add_init_script(COUNT_CLICKS)
            if not Camera.from_environment().folder:
                await context.add_init_script(_NO_SCRIM)
            page = self._opened[look, locale] = await context.new_page()
        return page


@pytest.fixture(scope="session")
def pages(browser: Browser) -> _Pages:
    """Return the pages that tests share."""
    return _Pages(browser)


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    pages: _Pages, look: Look, locale: str, camera: Camera, tmp_path: Path
) -> AsyncIterator[Page]:
    """An empty page for which nobody is signed in; what it shows at the end is kept with the test's files."""
    if camera.folder:  # the pictures for the docs are of one look
        look = Look.DESKTOP_LIGHT
    page = await pages.open(look, locale)
    yield page
    # Written here, as Playwright would start a thread for that, which Home Assistant's
    # test plugin takes for a leak.
    (tmp_path / "at-the-end.png").write_bytes(await page.screenshot())
    await page.evaluate("localStorage.clear(); sessionStorage.clear()")
    await page.goto("about:blank")
    await page.set_viewport_size(look.size)


@pytest_asyncio.fixture(loop_scope="session")
async def frontend(
    shared_home: SharedHome,
    home: HomeAssistantClient,  # noqa: ARG001  # it is put in order
    page: Page,
) -> Frontend:
    """The page of the home, its owner signed in."""
    await page.goto(f"{shared_home.url}/manifest.json")  # the smallest page of the home
    await page.evaluate(
        "(tokens) => { localStorage.hassTokens = tokens; }", shared_home.browser_tokens
    )
    frontend = Frontend(page, shared_home.url)
    await frontend.open_first()
    return frontend
