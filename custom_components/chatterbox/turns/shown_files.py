"""Pictures and documents in a chat, as a model receives them.

All files of a conversation are read at once, each once, for one turn; nothing is kept.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from homeassistant.components.conversation import ChatLog, UserContent
from homeassistant.core import HomeAssistant, callback

from ..agent.messages import Attachment

MAX_FILE: Final = 10 * 2**20
"""Bytes of one file; services take 5 to 20 MB of a picture."""
MAX_FILES: Final = 20 * 2**20
"""Bytes of all files of a conversation, the newest first; base64 makes a third more of them."""
READ_TIMEOUT: Final = 5.0
"""Seconds that all of them may take, from a share too."""


class _NotShown(StrEnum):
    """Why a model is not shown a file."""

    GONE = "it is not there any more"
    LATE = "it could not be read in time"
    TOO_LARGE = "it is too large"


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """The files of a conversation, as they are in one turn."""

    contents: Mapping[Path, bytes | _NotShown] = field(default_factory=dict)

    def shown_with(self, words: UserContent) -> tuple[tuple[Attachment, ...], str]:
        """Return the files that a model receives with these words, and a note in place of those that it cannot see."""
        shown: list[Attachment] = []
        notes: list[str] = []
        for attachment in words.attachments or ():
            match self.contents.get(attachment.path, _NotShown.GONE):
                case bytes(data):
                    shown.append(Attachment(attachment.mime_type, data, attachment.path.name))
                case _NotShown() as why:
                    file = f"A file named {attachment.path.name} of type {attachment.mime_type}"
                    notes.append(f"[{file} was attached here. You cannot see it, since {why}: say so if it matters.]")
        return tuple(shown), "\n".join(notes)


NO_FILES: Final = ShownFiles()


@callback
def shown_paths(chat_log: ChatLog) -> Collection[Path]:
    """Return where the files of a conversation are, the newest first, each once."""
    return {
        attachment.path: None
        for content in reversed(chat_log.content)
        if isinstance(content, UserContent)
        for attachment in content.attachments or ()
    }


async def async_read_shown_files(hass: HomeAssistant, paths: Collection[Path], seconds: float) -> ShownFiles:
    """Read the files of a conversation within `seconds`, and within `READ_TIMEOUT` in any case."""
    try:
        async with asyncio.timeout(min(seconds, READ_TIMEOUT)):
            return ShownFiles(await hass.async_add_executor_job(_read_all, tuple(paths)))
    except TimeoutError:
        return ShownFiles(dict.fromkeys(paths, _NotShown.LATE))


def can_be_shown(path: Path) -> bool:
    """Tell whether a file is there and not too large. Looks at the disk, so not for the event loop."""
    try:
        return path.is_file() and path.stat().st_size <= MAX_FILE
    except OSError:
        return False


def _read_all(paths: Iterable[Path]) -> Mapping[Path, bytes | _NotShown]:
    left = MAX_FILES
    contents: dict[Path, bytes | _NotShown] = {}
    for path in paths:
        content = _read(path, min(MAX_FILE, left))
        left -= len(content) if isinstance(content, bytes) else 0
        contents[path] = content
    return contents


def _read(path: Path, limit: int) -> bytes | _NotShown:
    """Read a file of up to `limit` bytes; what is no file, such as a pipe, is never opened."""
    try:
        if not path.is_file():
            return _NotShown.GONE
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError:
        return _NotShown.GONE
    return content if len(content) <= limit else _NotShown.TOO_LARGE
