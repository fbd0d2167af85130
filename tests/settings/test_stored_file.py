"""A file that cannot be read is kept, reported and left as it is; one that is stored was read back, or it says why."""

import errno
import json
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.approvals.pin_tries import PinTries, Wrong
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.evaluate.trials import Trials
from custom_components.chatterbox.later.plans import NotPlanned, Plans
from custom_components.chatterbox.memory.facts import Memories, NotRemembered
from custom_components.chatterbox.runtime.earlier_agents import EarlierAgents
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import HomeRulesStore
from custom_components.chatterbox.settings.stored_file import (
    RETRY_SECONDS,
    Obstacle,
    StoredFile,
    Unreadable,
)
from custom_components.chatterbox.usage.tracker import UsageTotals, UsageTracker

PIN: Final = PinHash.of("7391", HashCost(2, 1))
DAMAGES: Final = {
    "empty": b"",
    "cut off": b'{"version": 1, "data": {"pl',
    "zeros": bytes(300),
    "null": b"null",
    "a list": b"[]",
    "no data": b'{"version": 1}',
    "no version": b'{"data": {}}',
    "data of null": b'{"version": 1, "data": null}',
    "data of false": b'{"version": 1, "data": false}',
    "data of a text": b'{"version": 1, "data": ""}',
    "data of a number": b'{"version": 1, "data": 0}',
    "no UTF-8": b'{"version": 1, "data": {"\xff": 1}}',
    "other data": b'{"version": 1, "data": {"plans": 5, "people": 5, "agents": 5, "rules": 5}}',
}


def file_of(hass: HomeAssistant, name: str) -> Path:
    """Return where a file is."""
    return Path(hass.config.path(".storage", f"chatterbox.{name}"))


def write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def read(file: Path) -> bytes:
    return file.read_bytes()


def copies(file: Path) -> list[Path]:
    """Return what is kept of a damaged file."""
    return [*file.parent.glob(f"{file.name}.corrupt.*")]


def files_beside(file: Path) -> list[Path]:
    return [*file.parent.iterdir()]


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[HomeAssistant]:
    """Return a Home Assistant that writes to a real disk."""
    async with async_test_home_assistant(config_dir=str(tmp_path)) as hass:
        await hass.async_add_executor_job(
            partial(file_of(hass, "").parent.mkdir, exist_ok=True)
        )
        yield hass
        await hass.async_stop(force=True)


def issues(hass: HomeAssistant) -> dict[str, str | None]:
    """Return the keys of the texts of our issues, by the issue."""
    found = ir.async_get(hass).issues.items()
    return {
        issue_id: one.translation_key
        for (domain, issue_id), one in found
        if domain == DOMAIN
    }


async def plans_readable(hass: HomeAssistant) -> bool:
    with suppress(NotPlanned):
        await Plans(hass).async_load()
        return True
    return False


async def memories_readable(hass: HomeAssistant) -> bool:
    with suppress(NotRemembered):
        await Memories(hass).async_load()
        return True
    return False


async def rules_readable(hass: HomeAssistant) -> bool:
    store = HomeRulesStore(hass)
    await store.async_load()
    return not store.current.policy.only_reads


async def read_usage(hass: HomeAssistant) -> None:
    await UsageTracker(hass).async_start()


async def read_pin_tries(hass: HomeAssistant) -> None:
    await PinTries(hass).async_try("hall", PIN, "1111")


async def read_assistants(hass: HomeAssistant) -> None:
    await EarlierAgents(hass).async_put_back()


async def read_trials(hass: HomeAssistant) -> None:
    await Trials(hass).async_results()


class Kind(NamedTuple):
    """A file, and how it is read; whether it could be, where that is told."""

    name: str
    load: Callable[[HomeAssistant], Awaitable[bool | None]]
    issue: str
    key: str
    good: str
    """Its data."""


KINDS: Final = (
    Kind(
        "home_rules",
        rules_readable,
        "home_rules_unreadable",
        "home_rules_unreadable",
        '{"notify": ["notify.a"]}',
    ),
    Kind(
        "later", plans_readable, "later_unreadable", "plans_unreadable", '{"plans": []}'
    ),
    Kind(
        "memories",
        memories_readable,
        "memories_unreadable",
        "memories_unreadable",
        '{"people": []}',
    ),
    Kind(
        "usage",
        read_usage,
        "usage_unreadable",
        "file_unreadable",
        '{"agents": {}, "turns": []}',
    ),
    Kind("pin_tries", read_pin_tries, "pin_tries_unreadable", "file_unreadable", "[]"),
    Kind(
        "assistants", read_assistants, "assistants_unreadable", "file_unreadable", "{}"
    ),
    Kind("evaluations", read_trials, "evaluations_unreadable", "file_unreadable", "[]"),
)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
async def test_whatever_is_damaged_is_kept_and_told_until_it_is_put_back(
    disk: HomeAssistant, kind: Kind, subtests: pytest.Subtests
) -> None:
    file = file_of(disk, kind.name)
    for damage, content in DAMAGES.items():
        with subtests.test(damage):
            write(file, content)

            assert not await kind.load(disk)
            assert issues(disk) == {kind.issue: kind.key}
            assert read(file) == content, "it is left as it is"
            (copy,) = copies(file)
            assert read(copy) == content
            (issue,) = [
                one
                for (domain, _), one in ir.async_get(disk).issues.items()
                if domain == DOMAIN
            ]
            assert issue.translation_placeholders == {
                "file": f".storage/{file.name}",
                "kept": f".storage/{copy.name}",
            }

            write(file, f'{{"version": 1, "data": {kind.good}}}'.encode())
            assert await kind.load(disk) in {True, None}
            assert not issues(disk)
            assert read(copy) == content, "what was damaged stays"
            remove(copy)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
async def test_a_folder_and_what_a_later_version_wrote_stay_where_they_are(
    disk: HomeAssistant, kind: Kind
) -> None:
    file = file_of(disk, kind.name)
    await disk.async_add_executor_job(file.mkdir)
    assert not await kind.load(disk)
    assert issues(disk) == {kind.issue: kind.key}
    remove(file)

    later = f'{{"version": 99, "data": {kind.good}}}'.encode()
    write(file, later)
    assert not await kind.load(disk)
    assert issues(disk) == {kind.issue: "stored_by_newer"}
    assert read(file) == later
    assert not copies(file)


async def test_usage_that_comes_while_the_file_is_damaged_is_added_to_the_one_that_is_put_back(
    disk: HomeAssistant,
) -> None:
    def file() -> StoredFile[UsageTotals]:
        return StoredFile(disk, "usage", UsageTotals.from_json, grows=True)

    path, today = file().path, dt_util.utcnow().date()
    earlier = (
        UsageTotals()
        .with_request("a", Usage(100, 10), None, today)
        .with_request("b", Usage(1, 1), None, today)
    )
    await file().async_save(earlier.as_json())
    good = read(path)
    write(path, b"")

    for tokens in (7, 8):  # two runs of Home Assistant
        damaged = file()
        known = await damaged.async_load() or UsageTotals()
        await damaged.async_save(
            known.with_request("a", Usage(tokens, 1), None, today).as_json()
        )
    assert read(path) == b""
    write(path, good)

    for _ in range(2):  # it is added once
        whole = await file().async_load()
        assert whole is not None
        assert (
            whole.of("a").input_tokens,
            whole.of("a").inferences,
            whole.of("b").input_tokens,
        ) == (115, 3, 1)
        assert path.with_name(f"{path.name}.meanwhile") not in files_beside(path)


async def test_what_an_earlier_version_noted_meanwhile_is_added_by_a_later_one(
    disk: HomeAssistant,
) -> None:
    def file(version: int) -> StoredFile[JsonValue]:
        return StoredFile(
            disk, "numbers", lambda stored: stored, version=version, grows=True
        )

    await file(2).async_save([1])
    earlier = file(1)
    assert await earlier.async_load() is None
    assert issues(disk) == {"numbers_unreadable": "stored_by_newer"}
    await earlier.async_save([2])

    for _ in range(2):  # it is added once
        assert await file(2).async_load() == [1, 2]
    assert not issues(disk)


async def test_rules_that_an_earlier_version_enters_do_not_replace_those_of_a_later_one(
    disk: HomeAssistant,
) -> None:
    file = file_of(disk, "home_rules")
    later = b'{"version": 99, "data": {"notify": ["notify.a"]}}'
    write(file, later)
    store = HomeRulesStore(disk)
    await store.async_load()

    for pin in (PIN, None):
        await store.async_enter(replace(store.stored, pin=pin))

    assert not issues(disk)
    assert [read(copy) for copy in copies(file)] == [later]


async def test_a_pin_that_is_guessed_while_the_file_is_damaged_gets_no_more_tries(
    disk: HomeAssistant,
) -> None:
    path = file_of(disk, "pin_tries")
    for left in (4, 3, 2):
        assert await PinTries(disk).async_try("hall", PIN, "1111") == Wrong(left)
    good = read(path)
    write(path, b"null")
    assert [await PinTries(disk).async_try("hall", PIN, "1111") for _ in range(2)] == [
        Wrong(4),
        Wrong(3),
    ]

    write(path, good)
    assert await PinTries(disk).async_try("hall", PIN, "1111") == Wrong(1)


def numbers(hass: HomeAssistant) -> StoredFile[JsonValue]:
    """Return a file of anything."""
    return StoredFile(hass, "numbers", lambda stored: stored)


async def refuse(*_: object) -> None:
    raise OSError(errno.EROFS, "it is read-only")


async def wait_for_another_try(hass: HomeAssistant) -> None:
    async_fire_time_changed(
        hass, dt_util.utcnow() + timedelta(seconds=RETRY_SECONDS + 1)
    )
    await hass.async_block_till_done()


@pytest.mark.parametrize("free", [0, 10**9])
async def test_what_cannot_be_written_is_told_and_tried_again(
    disk: HomeAssistant, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    file, obstacle = numbers(disk), Obstacle.OTHER if free else Obstacle.NO_ROOM
    assert await file.async_save([1]) is None
    with monkeypatch.context() as full:
        full.setattr(Store, "async_save", refuse)
        full.setattr(
            shutil,
            "disk_usage",
            lambda _: shutil._ntuple_diskusage(1, 1, free),  # noqa: SLF001  # its type
        )
        assert await file.async_save([2], keeps=False) is obstacle
        assert issues(disk) == {"numbers_not_stored": f"file_{obstacle}"}
        await wait_for_another_try(disk)
        assert issues(disk)
        assert await numbers(disk).async_load() == [1]
        assert await file.async_save([3]) is obstacle

    await wait_for_another_try(disk)
    assert not issues(disk)
    assert await numbers(disk).async_load() == [3]


async def test_what_was_refused_is_not_written_later(
    disk: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = numbers(disk)
    await file.async_save([1])
    with monkeypatch.context() as unsure:
        unsure.setattr(
            Store, "async_load", refuse
        )  # it is written, but that cannot be seen
        assert await file.async_save([2], keeps=False) is Obstacle.OTHER
    assert json.loads(read(file.path))["data"] == [2]

    await wait_for_another_try(disk)
    assert await numbers(disk).async_load() == [1]


async def test_it_is_removed_for_good(
    disk: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = numbers(disk)
    with monkeypatch.context() as full:
        full.setattr(Store, "async_save", refuse)
        await file.async_save([1])
    await file.async_remove()
    assert not issues(disk)

    await wait_for_another_try(disk)
    assert await numbers(disk).async_load() is None
    write(file.path, b"")
    with pytest.raises(Unreadable):
        await file.async_load()
