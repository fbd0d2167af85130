"""The file with the sums of all agents: what they are now is written at its end, a line each time, and the last counts.

Knows the file and its form. Must not know when sums are stored, or who is told. Everything here waits for a disk, so it
is called in a thread. A line that was cut off is passed over, so that no crash takes more than the line it has cut.
"""

import os
from pathlib import Path
from typing import Final

from homeassistant.helpers.json import json_bytes
from homeassistant.util.file import write_utf8_file_atomic
from homeassistant.util.json import json_loads

from .totals import Tallies

_MOST_BYTES: Final = 256 * 1024
"""A file that is longer is begun anew with its last line."""
_PRIVATE: Final = 0o600


class TallyFile:
    """Sums on a disk. For one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Take its place; it need not be there."""
        self._path = path

    def read(self) -> Tallies:
        """Return the sums as they were stored last, none where nothing was.

        Raises ValueError when no line of the file can be read, and OSError.
        """
        self._path.parent.mkdir(exist_ok=True)
        if not self._path.exists():
            return Tallies()
        for line in reversed(self._path.read_bytes().splitlines()):
            try:
                return Tallies.from_json(json_loads(line))
            except ValueError:
                continue
        raise ValueError("No line of the file can be read.")

    def append(self, tallies: Tallies) -> None:
        """Store sums. Raises OSError, WriteError where the file has to be begun anew, TypeError for 2**64 or more."""
        line = b"\n%b" % json_bytes(tallies)  # on a line of its own, whatever became of the one before
        with open(self._path, "ab", opener=_opened) as file:  # a Path takes no opener
            file.write(line)
            size = file.tell()
        if size > _MOST_BYTES:
            write_utf8_file_atomic(str(self._path), line, private=True, mode="wb")


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags, _PRIVATE)
