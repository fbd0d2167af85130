"""Pictures and documents of a chat, in the form in which a model receives them.

All files of a conversation are read at once, each once per turn; nothing is kept.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant

from ..agent.messages import Attachment, picture_type

MAX_FILE: Final = 10 * 2**20
"""Bytes of one file; services accept pictures of 5 to 20 MB."""
MAX_FILES: Final = 20 * 2**20
"""Bytes of all files of a conversation, the newest first; base64 adds a third."""
_HEAD: Final = 16
"""Bytes that tell the type of a picture."""
READ_TIMEOUT: Final = 5.0
"""Seconds for reading all files, also from a network share."""


class _NotShown(StrEnum):
    """The reason for which a model does not receive a file."""

    GONE = "it is not there any more"
    LATE = "it could not be read in time"
    TOO_LARGE = "it is too large"


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """The files of a conversation, as they are in one turn."""

    contents: Mapping[Path, bytes | _NotShown] = field(default_factory=dict)

    def shown_with(
        self,
        words: UserContent,
    ) -> tuple[tuple[Attachment, ...], str]:
        """Return the files of a message, and a note in place of those that the model cannot receive."""
        attachments: list[Attachment] = []
        notes: list[str] = []
        for attachment in words.attachments or ():
            match self.contents.get(attachment.path, _NotShown.GONE):
                case bytes(data):
                    mime_type = picture_type(data) or attachment.mime_type
                    attachments.append(
                        Attachment(
                            mime_type,
                            data,
                            attachment.path.name,
                        )
                    )
                case _NotShown() as why:
                    file = f"A file named {attachment.path.name} of type {attachment.mime_type}"
                    notes.append(
                        f"[{file} was attached here. You cannot see it, since {why}: say so if it matters.]"
                    )
        return tuple(attachments), "\n".join(notes)


NO_FILES: Final = ShownFiles()


async def async_read_shown_files(
    hass: HomeAssistant, paths: Collection[Path], seconds: float
) -> ShownFiles:
    """Read the files of a conversation within `seconds`, and within `READ_TIMEOUT` in any case."""
    try:
        async with asyncio.timeout(min(seconds, READ_TIMEOUT)):
            return ShownFiles(
                await hass.async_add_executor_job(_read_all, tuple(paths))
            )
    except TimeoutError:
        return ShownFiles(dict.fromkeys(paths, _NotShown.LATE))


def shown_type(path: Path, declared: str) -> str:
    """Return the MIME type of a file, as its content tells or else as declared; empty if it is gone or too large.

    Accesses the disk, so not for the event loop.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE:
            return ""
        with path.open("rb") as file:
            return picture_type(file.read(_HEAD)) or declared
    except OSError:
        return ""


def _read_all(paths: Iterable[Path]) -> Mapping[Path, bytes | _NotShown]:
    left = MAX_FILES
    contents: dict[Path, bytes | _NotShown] = {}
    for path in paths:
        content = _read(path, min(MAX_FILE, left))
        left -= len(content) if isinstance(content, bytes) else 0
        contents[path] = content
    return contents


def _read(
    path: Path,
    limit: int,
) -> bytes | _NotShown:
    """Read a file of up to `limit` bytes; anything but a regular file, such as a pipe, is never opened."""
    try:
        if not path.is_file():
            return _NotShown.GONE
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError:
        return _NotShown.GONE
    if len(content) <= limit:
        return content
    return _NotShown.TOO_LARGE
