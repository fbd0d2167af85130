"""The file that a run's log goes to: the one that was chosen, or one that no other run is writing.

Knows files and their locks; must not know what is logged.
"""

import contextlib
import fcntl
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import BinaryIO

from demo.configuration import REPOSITORY
from demo.errors import DemoError

LOG_FOLDER = REPOSITORY / ".demo"
_NAME = "home-assistant"


@contextlib.contextmanager
def empty_log(chosen: Path | None, folder: Path = LOG_FOLDER) -> Iterator[Path]:
    """Make the file `chosen` empty, or the first free one of `folder`, which is this run's until the block is left.

    Raises `DemoError` when it cannot be written.
    """
    with contextlib.ExitStack() as held:
        try:
            if chosen is None:
                log = held.enter_context(_free_log(folder))
            else:
                log = chosen
                log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes(b"")
        except OSError as error:
            where = error.filename or chosen or folder
            raise DemoError(
                f"The log {where} cannot be written ({error.strerror}). Choose another --log."
            ) from error
        yield log


@contextlib.contextmanager
def _free_log(folder: Path) -> Iterator[Path]:
    """Lock home-assistant.log, or home-assistant-2.log while another run has that, and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        log = folder / (f"{_NAME}.log" if number == 1 else f"{_NAME}-{number}.log")
        with log.open("ab") as file:
            if _locks(file):
                yield log
                return


def _locks(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
