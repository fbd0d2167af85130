"""Fixtures of every test with a real `hass`: our integrations can be found, and nothing else is pretended."""

import asyncio
import gc
import hashlib
import logging
import sys
import threading
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, override

import orjson
import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory
from hassil import intents
from homeassistant.components import conversation
from homeassistant.components.http import HomeAssistantHTTP
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers import script
from homeassistant.setup import async_setup_component
from homeassistant.util import executor
from hypothesis import HealthCheck, settings
from pytest_asyncio import is_async_test
from pytest_homeassistant_custom_component import patch_time
from pytest_homeassistant_custom_component.common import MockConfigEntry
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, ServiceKind
from tests.demo_house.move_in import move_in
from tests.history.store.postgresql import PostgreSQL, binaries, running
from tests.support.config_entries import server_entry, set_up
from tests.support.leaks import Leaks
from tests.support.light_homes import (
    async_do_nothing,
    do_nothing,
    forget_homes,
    scrypt_with_little_work,
    share,
)
from tests.support.loop_clock import LoopClock
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving, serving_script
from tests.support.servers.script import Script
from tests.support.service_dialogs import GUARDED, TALKING
from tests.support.talk import PART, Serve, add_agent, move_into_the_demo_home

# Home Assistant's test plugin has each statement of a database logged, which takes
# longer than the statement.
logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)
# It formats each record of INFO as well, for the report of a failure. The fixture
# `caplog` still sees all records.
logging.getLogger().setLevel(logging.WARNING)
# It tries to import this before each test.
sys.modules["MySQLdb"] = None  # type: ignore[assignment]  # not to be had
# It interrupts threads that do not end within a moment, of which an overloaded machine
# has many.
vars(executor).update(EXECUTOR_SHUTDOWN_TIMEOUT=300)
# Each home parses the sentences of its languages anew, which takes longer than all else
# that a sentence needs. What is parsed is read only, so homes with the same sentences
# share it.
_intents_of, _intents_of_homes = (
    intents.Intents.from_dict,
    dict[bytes, intents.Intents](),
)


def _shared_intents(sentences: dict[str, Any]) -> intents.Intents:
    """Return the intents of the sentences of a language, as `Intents.from_dict` does."""
    key = orjson.dumps(sentences)
    return _intents_of_homes.get(key) or _intents_of_homes.setdefault(
        key, _intents_of(sentences)
    )


intents.Intents.from_dict = staticmethod(_shared_intents)  # type: ignore[assignment,method-assign]
# The clock is stopped in each loaded module that has it. What a module has is noticed by
# a new name, as here, and by a hash of all names. Before each test, freezegun is given
# this function.
vars(patch_time).update(
    ha_get_module_attributes_hash=lambda module: f"{id(module)}-{len(vars(module))}"
)
share()
# No verdict depends on the speed of the machine.
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
# Nor does one of the quick run depend on chance, its coverage included.
settings.register_profile(
    "quick", settings.get_profile("thorough"), max_examples=15, derandomize=True
)

_HERE = Path(__file__).parent
_BROWSER_TESTS = "tests/behaviour/browser/"
_TAKE_LONG = frozenset(
    {
        "browser",
        "chaos",
        "clients",
        "durability",
        "real_model",
        "recorded_runs",
        "test_demo.py",
        "test_release.py",
        "test_responses_hang_up.py",
        "test_responses_page.py",
        "test_stable_prefix.py",
    }
)
"""Folders and files, most of which start whole homes."""
_OF_A_HOME = frozenset(
    {
        "_find_custom_integrations",
        "disable_http_server",
        "fail_on_log_exception",
        "reset_globals",
        "skip_stop_scripts",
    }
)
_OF_A_LOOP = frozenset(
    {
        "configure_event_loop",
        "enable_event_loop_debug",
        "expected_lingering_tasks",
        "expected_lingering_timers",
        "verify_cleanup",
    }
)
"""Fixtures of Home Assistant's test plugin that take longer than most tests without a home or an event loop."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Change how much is tested, and what the tests of `tests/behaviour/chaos` and `tests/behaviour/hostile` do."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Run the tests marked as thorough as well.",
    )
    group = parser.getgroup("chaos")
    group.addoption(
        "--chaos-turns",
        type=int,
        help="How many turns (default: 2,000, and a fourth of them in the quick run).",
    )
    group.addoption(
        "--chaos-seed",
        type=int,
        default=1,
        help="What happens in them (default: %(default)s).",
    )
    group.addoption(
        "--chaos-turn",
        type=int,
        help="Take only this one, after those before it in its conversation.",
    )
    loop = parser.getgroup("loop")
    loop.addoption(
        "--debug-loop", action="store_true", help="Switch asyncio's debug mode on."
    )
    pages = parser.getgroup("pages")
    pages.addoption(
        "--write-pages",
        action="store_true",
        help="Write examples anew; see tests/repository/test_diagnostics_page.py.",
    )
    parser.getgroup("release").addoption(
        "--archive",
        type=Path,
        help="Walk through this archive instead of a new one; see tests/repository/test_release.py.",
    )
    hostile = parser.getgroup("hostile")
    hostile.addoption(
        "--unguarded",
        action="store_true",
        help="Allow everything, to see attacks succeed.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Try as many examples of a property, and take as many turns amid failures, as is asked for."""
    is_thorough = config.getoption("thorough")
    settings.load_profile("thorough" if is_thorough else "quick")
    if config.getoption("--chaos-turns") is None:
        config.option.chaos_turns = 2_000 if is_thorough else 500
    gc.freeze()  # what has been imported is no garbage


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave thorough tests out, give each test only the fixtures it needs, and begin with the tests that take long.

    Decision 58. No worker is left alone with those at the end.
    """
    if not config.getoption("thorough"):
        left_out = {item for item in items if item.get_closest_marker("thorough")}
        left_out.update(_further_rows([item for item in items if item not in left_out]))
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if isinstance(item, pytest.Function) and "hass" not in item.fixturenames:
            unneeded = _OF_A_HOME if is_async_test(item) else _OF_A_HOME | _OF_A_LOOP
            item.fixturenames = [
                name for name in item.fixturenames if name not in unneeded
            ]
    items.sort(
        key=lambda item: _TAKE_LONG.isdisjoint(item.path.relative_to(_HERE).parts)
    )
    gc.freeze()


def _further_rows(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the rows of tables that show the same again in another home: all but the first and the last."""
    tables: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and "hass" in item.fixturenames
            and not item.get_closest_marker("each_row")
        ):
            tables[item.nodeid.partition("[")[0]].append(item)
    return [row for rows in tables.values() for row in rows[1:-1]]


class _OneProcessForTheBrowser(LoadFileScheduling):
    """Gives each file to a process, and all browser tests to one, in which they share a home and a browser."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return (
            _BROWSER_TESTS
            if nodeid.startswith(_BROWSER_TESTS)
            else super()._split_scope(nodeid)
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> LoadFileScheduling | None:
    """Distribute the tests with `--dist loadfile`, as `script/test` does."""
    return (
        _OneProcessForTheBrowser(config, log)
        if config.getvalue("dist") == "loadfile"
        else None
    )


@pytest.fixture(autouse=True)
def _find_custom_integrations(request: pytest.FixtureRequest) -> None:
    """Let a test that starts Home Assistant find the custom integrations; leave the others alone."""
    if "hass" in request.fixturenames:
        request.getfixturevalue("enable_custom_integrations")


@pytest.fixture(autouse=True)
async def enable_event_loop_debug(pytestconfig: pytest.Config) -> None:
    """Have the event loop refuse calls from other threads.

    This replaces a fixture of Home Assistant's test plugin, which switches asyncio's
    debug mode on. That refuses them, too, and notes where every future and handle comes
    from, which can take a third of a test's time.
    """
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    if pytestconfig.getoption("--debug-loop"):
        loop.set_debug(True)
        return

    def checked[**P, R](call: Callable[P, R]) -> Callable[P, R]:
        def in_its_thread(*args: P.args, **kwargs: P.kwargs) -> R:
            if threading.get_ident() != thread:
                raise RuntimeError("Another thread has to use call_soon_threadsafe")
            return call(*args, **kwargs)

        return in_its_thread

    vars(loop).update(call_soon=checked(loop.call_soon), call_at=checked(loop.call_at))


@pytest.fixture
def freezer(monkeypatch: pytest.MonkeyPatch) -> Iterator[FrozenDateTimeFactory]:
    """Stop the clock of the home, and let that of the event loop go on from it: a stream waits for the next words."""
    monotonic = time.monotonic
    with freeze_time() as stopped:
        assert isinstance(stopped, FrozenDateTimeFactory)
        began = monotonic()
        monkeypatch.setattr(
            asyncio.get_event_loop(),
            "time",
            lambda: time.monotonic() + monotonic() - began,
        )
        yield stopped


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """Run a PostgreSQL server, where one is installed."""
    folder = binaries()
    if folder is None:
        pytest.skip(
            "PostgreSQL is not installed here, so nothing is tested on it: run script/postgresql"
        )
    with running(folder) as server:
        yield server


@pytest.fixture
async def loop_clock() -> AsyncGenerator[LoopClock]:
    """Stop the clock of the event loop while the loop works: it does not depend on the speed of the machine."""
    clock = LoopClock()
    with clock.running():
        yield clock


@pytest.fixture
def disable_http_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the web server of the home bind no socket."""
    monkeypatch.setattr(HomeAssistantHTTP, "async_bind", async_do_nothing)
    monkeypatch.setattr(HomeAssistantHTTP, "start", async_do_nothing)


@pytest.fixture
def skip_stop_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no timer of scripts behind when the home stops."""
    monkeypatch.setattr(script, "_schedule_stop_scripts_after_shutdown", do_nothing)


@pytest.fixture
def hass_config_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give every home a configuration folder of its own, and hashes of PINs that take a moment."""
    monkeypatch.setattr(hashlib, "scrypt", scrypt_with_little_work)
    yield str(tmp_path)
    forget_homes()


@pytest.fixture
def home_file(request: pytest.FixtureRequest) -> str:
    """Return the text of the home that the module of a test calls `HOME`."""
    return str(request.module.HOME)


@pytest.fixture
async def home(hass: HomeAssistant, home_file: str) -> HomeAssistant:
    """Return Home Assistant with the home of `home_file`, to which one can talk."""
    await move_in(hass, home_file)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


@pytest.fixture
def whole_home() -> None:
    """Have `serve` set up the whole demo home, which takes twice as long."""


@pytest.fixture
def part() -> frozenset[str]:
    """Return the entities of the demo home that `serve` sets up otherwise."""
    return PART


@pytest.fixture
async def serve(
    request: pytest.FixtureRequest,
    hass: HomeAssistant,
    socket_enabled: None,  # noqa: ARG001  # opens the sockets
    part: frozenset[str],
) -> AsyncGenerator[Serve]:
    """Start a model server that plays a script, and an agent that uses it, in a part of the demo home."""
    only = None if "whole_home" in request.fixturenames else part
    async with AsyncExitStack() as stack:

        async def start(script: Script, **options: object) -> ScriptedChatCompletions:
            await move_into_the_demo_home(hass, only)
            scripted = ScriptedChatCompletions(script)
            base_url = await stack.enter_async_context(serving(scripted.application()))
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_BASE_URL: base_url,
            }
            defaults: dict[str, object] = {
                CONF_MODEL: "scripted-model",
                CONF_LLM_HASS_API: ["assist"],
            }
            await add_agent(hass, service, defaults | options)
            return scripted

        yield start


@pytest.fixture
async def address(socket_enabled: None) -> AsyncGenerator[str]:  # noqa: ARG001  # opens the sockets
    """Return the address of a server that lists two models and answers."""
    async with serving_script(TALKING) as base_url:
        yield base_url


@pytest.fixture
async def guarded_address(socket_enabled: None) -> AsyncGenerator[str]:  # noqa: ARG001  # opens the sockets
    """Return the address of such a server that wants a key."""
    async with serving_script(GUARDED) as base_url:
        yield base_url


@pytest.fixture
async def entry(hass: HomeAssistant, address: str) -> MockConfigEntry:
    """Set up a service at a server that lists two models and answers."""
    return await set_up(hass, server_entry(address))


@pytest.fixture
async def offline(hass: HomeAssistant) -> None:
    """Set up the agent that needs nothing, in the demo home."""
    await move_into_the_demo_home(hass)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE}, {})


@pytest.fixture
def leaks(
    hass: HomeAssistant, hass_storage: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> Leaks:
    """Watch where words get to that nobody may read."""
    watching = Leaks(hass, hass_storage, caplog)
    watching.watch()
    return watching
