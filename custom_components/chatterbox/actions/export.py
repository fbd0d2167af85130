"""Where exported records go: to a new file that only Home Assistant may read, or into a response if they are few.

Knows the folder and files. Must not know which records are exported, or why. A file is never written over, and nobody
outside chooses its name. What is cut off leaves no file behind.
"""

import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import IO, Final, Self

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject

FOLDER: Final = "chatterbox_exports"
"""In the folder of the configuration."""
MOST_CHARACTERS: Final = 500_000
"""Of a response: it goes through a browser as a whole, and may stand in the trace of an automation."""
_AT_ONCE: Final = 500
"""Lines that are written in one go."""


class TooMuch(Exception):
    """More than a response may hold."""


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """How many records of each kind there are."""

    turns: int = 0
    audit_records: int = 0
    responses: int = 0
    facts: int = 0

    @classmethod
    def of(cls, records: Iterable[JsonObject]) -> Self:
        """Count records, each with its `kind`."""
        kinds = [record["kind"] for record in records]
        return cls(kinds.count("turn"), kinds.count("audit"), kinds.count("response"), kinds.count("fact"))

    def plus(self, other: RecordCounts) -> RecordCounts:
        """Return both together."""
        return RecordCounts(
            self.turns + other.turns,
            self.audit_records + other.audit_records,
            self.responses + other.responses,
            self.facts + other.facts,
        )

    def as_json(self) -> JsonObject:
        """Return them as `turns`, `audit_records`, `responses` and `facts`."""
        return {**asdict(self)}


async def as_records(lines: AsyncGenerator[str]) -> list[JsonObject]:
    """Return the records of an export. Raises TooMuch."""
    records: list[JsonObject] = []
    characters = 0
    async for line in lines:
        characters += len(line)
        if characters > MOST_CHARACTERS:
            raise TooMuch
        records.append(json.loads(line))
    return records


class ExportFile:
    """Writes one export of a house."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Write nothing yet."""
        self._hass = hass

    async def async_write(self, lines: AsyncGenerator[str]) -> tuple[str, RecordCounts]:
        """Write lines of JSON to a new file; return its path, and how many records it holds.

        Raises OSError where that cannot be done, and whatever `lines` raises; then there is no file.
        """
        run = self._hass.async_add_executor_job
        file = await run(self._open)
        counts, waiting = RecordCounts(), list[str]()
        try:
            async for line in lines:
                waiting.append(line)
                if len(waiting) == _AT_ONCE:
                    counts = counts.plus(await run(_append, file, waiting))
                    waiting = []
            counts = counts.plus(await run(_append, file, waiting))
            await run(file.close)
        except BaseException:
            await run(_discard, file)
            raise
        return file.name, counts

    def _open(self) -> IO[str]:
        """Open a new file in the folder, wherever that is if it is a link to a place that is allowed."""
        folder = Path(self._hass.config.path(FOLDER))
        folder.mkdir(mode=0o700, exist_ok=True)
        is_inside = folder.resolve().is_relative_to(Path(self._hass.config.config_dir).resolve())
        if not is_inside and not self._hass.config.is_allowed_path(str(folder)):
            raise PermissionError(None, f"{folder} leads to a place that is not in allowlist_external_dirs")
        path = _create(folder, f"history_{dt_util.now():%Y-%m-%d_%H-%M-%S}")
        return path.open("w", encoding="utf-8")


def _create(folder: Path, name: str) -> Path:
    """Make a file that there was not, with a number if there was one of this name."""
    numbers = count(2)
    path = folder / f"{name}.jsonl"
    while True:
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            path = folder / f"{name}_{next(numbers)}.jsonl"
        else:
            return path


def _append(file: IO[str], lines: list[str]) -> RecordCounts:
    file.writelines(f"{line}\n" for line in lines)
    return RecordCounts.of(json.loads(line) for line in lines)


def _discard(file: IO[str]) -> None:
    """Remove a file that is not complete. A disk that is full may refuse to write what is left of it."""
    try:
        file.close()
    except OSError:
        pass
    finally:
        Path(file.name).unlink(missing_ok=True)
