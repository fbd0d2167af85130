"""A file of ours in `.storage`: what cannot be read is kept and reported, and what is stored was read back.

Home Assistant's `Store` takes a file without data for none, moves one that is no JSON
away and begins with nothing, and only logs what it cannot write. So the file is read
here, and is left as it is until it can be read. Decision 56.
"""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant
from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.storage import STORAGE_DIR, Store
from homeassistant.util.json import json_loads

from ..agent.messages import JsonValue
from ..const import DOMAIN, LOGGER
from ..repairs import async_report_not_stored, async_report_unreadable_file

RETRY_SECONDS: Final = 60.0
"""Time until a file is read or written once more."""
_ROOM: Final = 65_536
"""Bytes that most of the files have room in."""


class Unreadable(Exception):
    """A file cannot be read. It is left as it is."""


class Obstacle(StrEnum):
    """Why a file is not written. The values are parts of translation keys."""

    NO_ROOM = "no_room"
    OTHER = "not_kept"


class StoredFile[Content]:
    """The file `.storage/chatterbox.<name>`."""

    def __init__(
        self,
        hass: HomeAssistant,
        name: str,
        parse: Callable[[JsonValue], Content],
        *,
        version: int = 1,
        grows: bool = False,
    ) -> None:
        """Prepare the file without reading it. `parse` raises an error for anything that was not stored by us.

        The version has to rise with each change that an earlier version would misread.
        What `grows` is added to in another file, `chatterbox.<name>.meanwhile`, while
        it cannot be read.
        """
        self._hass = hass
        self._name = name
        self._parse = parse
        self._grows = grows
        self._store = Store[Any](
            hass, version, f"{DOMAIN}.{name}", private=True, atomic_writes=True
        )
        self._meanwhile = Store[Any](
            hass,
            version,
            f"{DOMAIN}.{name}.meanwhile",
            private=True,
            atomic_writes=True,
        )
        self.path: Final = Path(self._store.path)
        self.changed_at: float | None = None
        """Seconds since the epoch; None before it is read, or without a file."""
        self._is_newer = False
        """Whether a later version has written the file."""
        self._wanted: JsonValue = None
        """The content that the file should have; None for no file."""
        self._writing = asyncio.Lock()
        self._end_retry: CALLBACK_TYPE = lambda: None

    async def async_load(self) -> Content | None:
        """Return what is stored; None without a file.

        What cannot be read is told by a repair. It raises `Unreadable`, unless there is
        a file for the meantime.
        """
        more: JsonValue = None
        if self._grows:
            with suppress(Exception):  # it is damaged, too
                found, _ = await self._async_parts_of(self._meanwhile)
                if found is not None and self._parse(found):
                    more = found
        try:
            stored, self.changed_at = await self._async_parts_of(self._store)
            self._wanted = _joined(stored, more)
            if self._wanted is None:
                content = None
            else:
                content = self._parse(self._wanted)
        except Exception as error:
            is_newer = isinstance(error, UnsupportedStorageVersionError)
            self._is_newer = is_newer and not self._grows
            copy = self.path
            if not is_newer:
                copy = await self._hass.async_add_executor_job(
                    _copy,
                    self.path,
                )
            self.report(copy, is_newer=is_newer)
            # Its text may quote what somebody said.
            LOGGER.error(
                "The file %s cannot be read: %s", self.path, type(error).__name__
            )
            if not self._grows:
                raise Unreadable from error
            self._store = self._meanwhile
            if more is None:
                return None
            return self._parse(more)
        self._is_newer = False
        self.report(None)
        if more is not None and await self.async_save(self._wanted) is None:
            await self._meanwhile.async_remove()
        return content

    async def _async_parts_of(
        self, store: Store[Any]
    ) -> tuple[JsonValue, float | None]:
        """Return what is stored in a file, which an earlier version may have written, and when it was changed."""
        found = await self._hass.async_add_executor_job(
            _parts_of, Path(store.path), store.version
        )
        return found or (await store.async_load(), None)

    def report(
        self,
        copy: Path | None,
        *,
        is_newer: bool = False,
    ) -> None:
        """Report that the file cannot be read, and where it is kept; None ends that."""
        async_report_unreadable_file(
            self._hass, self._name, self.path, copy, is_newer=is_newer
        )

    async def async_remove(self) -> None:
        """Delete the file."""
        async with self._writing:
            self._wanted = None
            self._end_retry()
            self.report(None)
            async_report_not_stored(
                self._hass,
                self._name,
                self.path,
                None,
            )
            await self._store.async_remove()

    async def async_save(
        self, data: JsonValue, *, keeps: bool = True
    ) -> Obstacle | None:
        """Write the file, and read it back. Return why that failed.

        It is then tried again each minute, with what was stored before unless this is
        to be kept.
        """
        async with self._writing:
            before = self._wanted
            self._wanted = data
            if self._is_newer:
                # Entered anew, as rules are; a later version finds its own again.
                copy = await self._hass.async_add_executor_job(
                    _copy,
                    self.path,
                )
                LOGGER.warning("A later version's %s is kept as %s", self.path, copy)
                self._is_newer = False
            try:
                await self._store.async_save(data)
                is_stored = await self._store.async_load() == data
            except Exception as error:  # noqa: BLE001  # the caller has to learn of any failure
                LOGGER.error(
                    "The file %s cannot be written: %s", self.path, type(error).__name__
                )
                is_stored = False
            if is_stored:
                obstacle = None
            else:
                obstacle = await self._hass.async_add_executor_job(
                    _obstacle,
                    self.path,
                )
            async_report_not_stored(
                self._hass,
                self._name,
                self.path,
                obstacle,
            )
            self._end_retry()
            if obstacle:
                self._wanted = data if keeps else before
            if obstacle and self._wanted is not None:
                again = HassJob(self._async_save_again, cancel_on_shutdown=True)
                self._end_retry = async_call_later(self._hass, RETRY_SECONDS, again)
            return obstacle

    async def _async_save_again(self, _now: datetime) -> None:
        await self.async_save(self._wanted)

    def async_delay_save(
        self,
        data: Callable[[], JsonValue],
        delay: float,
    ) -> None:
        """Write the file some seconds later, or when Home Assistant stops."""
        self._store.async_delay_save(data, delay)


def _parts_of(
    path: Path,
    version: int,
) -> tuple[JsonValue, float] | None:
    """Return what is stored in a file, and when it was changed; None if there is no file."""
    try:
        envelope = json_loads(path.read_bytes())
        changed_at = path.stat().st_mtime
    except FileNotFoundError:
        return None
    match envelope:
        case {"version": int(found)} if found > version:
            raise UnsupportedStorageVersionError(
                path.name,
                found,
                version,
            )
        case {"version": int(), "data": dict() | list() as data}:
            return data, changed_at
        case _:
            raise ValueError("nothing is stored")


def _joined(
    earlier: JsonValue,
    later: JsonValue,
) -> JsonValue:
    """Return the sum of numbers, and what either of two lists or objects has."""
    match earlier, later:
        case dict(), dict():
            return (
                earlier
                | later
                | {
                    key: _joined(earlier[key], later[key])
                    for key in earlier
                    if key in later
                }
            )
        case list(), list():
            return [*earlier, *later]
        case int() | float(), int() | float():
            return earlier + later
        case _:
            return earlier if later is None else later


def _copy(path: Path) -> Path:
    """Copy a damaged file, under a name that tells when it was changed last. Return it, or the file itself."""
    try:
        changed_at = datetime.fromtimestamp(
            path.stat().st_mtime,
            UTC,
        )
        copy = path.with_name(f"{path.name}.corrupt.{changed_at:%Y-%m-%dT%H:%M:%S}")
        if not copy.exists():
            shutil.copy2(path, copy)
    except OSError:  # a folder, a file without rights, or a full disk
        return path
    return copy


def remove_copies(folder: str) -> None:
    """Delete what is kept of damaged files of ours in a configuration folder."""
    for copy in Path(folder, STORAGE_DIR).glob(f"{DOMAIN}.*.corrupt.*"):
        copy.unlink(missing_ok=True)


def _obstacle(path: Path) -> Obstacle:
    """Return why a file is not written, as far as that can be told."""
    with suppress(OSError):
        if shutil.disk_usage(path.parent).free < _ROOM:
            return Obstacle.NO_ROOM
    return Obstacle.OTHER
