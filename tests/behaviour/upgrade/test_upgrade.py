"""A home is upgraded, downgraded and upgraded again, and loses nothing; the earlier version says why it waits.

The later version is a copy of this one that stores everything in another shape, under
raised versions.
"""

import json
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp
import pytest

import custom_components.chatterbox
from custom_components.chatterbox.const import ENTRY_VERSION
from custom_components.chatterbox.history.store import schema
from demo.web_api import HomeAssistantClient
from tests.behaviour.durability.killed_home import SCRIPT, KilledHome
from tests.behaviour.upgrade.filled_home import (
    FACT,
    PLANS,
    SENTENCE,
    conditions,
    fill,
    remember,
    say,
    tell,
)
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving

_PRODUCT: Final = Path(custom_components.chatterbox.__file__).parent
_LATER_FACT: Final = "the ladder is in the shed"
_LATER_SENTENCE: Final = "Good evening."

_ENTRIES: Final = f"ENTRY_VERSION: Final = {ENTRY_VERSION}"
_TABLES: Final = f"\nVERSION: Final = {schema.VERSION}"
_CASE: Final = '        case {"version": int(), "data": dict() |'
_LATER_CASE: Final = """        case {"version": int(found), "data": {"content": data}} if found == version:
            return data, changed_at
"""
_REFUSAL: Final = "    if found != VERSION:\n"
_MIGRATION: Final = """    if found == VERSION - 1:
        connection.execute(_schema.update().values(version=VERSION))
        return False
"""
_CHANGES: Final[Mapping[str, Mapping[str, str]]] = {
    "const.py": {_ENTRIES: f"{_ENTRIES} + 1"},
    "__init__.py": {
        "version=ENTRY_VERSION)": 'version=ENTRY_VERSION, data={**entry.data, "more": 1})'
    },
    "settings/stored_file.py": {
        "        self._hass = hass\n": "        self._hass = hass\n        version += 1\n",
        "async_save(data)\n": 'async_save({"content": data})\n',
        "async_load() == data\n": 'async_load() == {"content": data}\n',
        _CASE: _LATER_CASE + _CASE,
        "async_delay_save(data,": 'async_delay_save(lambda: {"content": data()},',
    },
    "history/store/schema.py": {
        _TABLES: f"{_TABLES} + 1",
        _REFUSAL: _MIGRATION + _REFUSAL,
    },
}
"""The replacements that make a later version, by module."""


def later_version(folder: Path) -> Path:
    """Return a later version of the integration."""
    later = folder / "later" / "chatterbox"
    shutil.copytree(_PRODUCT, later, ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in _CHANGES.items():
        text = (later / name).read_text("utf-8")
        for before, after in changes.items():
            assert text.count(before) == 1, f"{name}: {before}"
            text = text.replace(before, after)
        (later / name).write_text(text, "utf-8")
    return later


def install(home: KilledHome, version: Path) -> None:
    """Put a version where Home Assistant finds it."""
    installed = home.folder / "custom_components" / "chatterbox"
    installed.unlink()
    installed.symlink_to(version, target_is_directory=True)


def files_of(home: KilledHome) -> dict[str, object]:
    """Return what is stored, byte for byte, and our entries."""
    storage = home.folder / ".storage"
    files = [*storage.glob("chatterbox.*"), *home.folder.glob("chatterbox.db*")]
    stored = json.loads((storage / "core.config_entries").read_bytes())
    entries = [
        one for one in stored["data"]["entries"] if one["domain"] == "chatterbox"
    ]
    return {file.name: file.read_bytes() for file in files} | {"entries": entries}


@asynccontextmanager
async def running(
    home: KilledHome,
) -> AsyncGenerator[tuple[HomeAssistantClient, aiohttp.ClientSession]]:
    async with (
        home.started() as (home_assistant, session),
        HomeAssistantClient.signed_in(home_assistant.url, home.token) as client,
    ):
        yield client, session


@pytest.mark.thorough
@pytest.mark.timeout(1_200)  # Home Assistant starts five times
@pytest.mark.usefixtures("socket_enabled")
async def test_nothing_is_lost_between_versions(tmp_path: Path) -> None:
    later = later_version(tmp_path)
    async with serving(ScriptedChatCompletions(SCRIPT).application()) as address:
        home = await KilledHome.set_up(tmp_path, address)
        async with running(home) as (client, session):
            await fill(client, session, home.agent)
            first = await tell(client, session, home.agent)
        assert first.rules
        assert first.trials == 1
        assert all(plan in first.planned for plan in PLANS)
        assert FACT in first.exported
        assert SENTENCE in first.exported

        install(home, later)
        async with running(home) as (client, session):
            assert await conditions(client) == ({"loaded"}, set())
            upgraded = await tell(client, session, home.agent)
            await remember(session, _LATER_FACT)
            await say(session, home.agent, _LATER_SENTENCE, "evening")
        assert upgraded.same == first.same
        assert FACT in upgraded.exported
        assert SENTENCE in upgraded.exported

        stored = files_of(home)
        install(home, _PRODUCT)
        async with running(home) as (client, session):
            refused = await conditions(client)
        assert refused == ({"migration_error"}, {"newer_entries", "stored_by_newer"})
        assert files_of(home) == stored

        install(home, later)
        async with running(home) as (client, session):
            assert await conditions(client) == ({"loaded"}, set())
            again = await tell(client, session, home.agent)
        assert again.same == first.same
        for words in (FACT, SENTENCE, _LATER_FACT, _LATER_SENTENCE):
            assert words in again.exported
