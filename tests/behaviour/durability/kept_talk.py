"""The remains of a talk after Home Assistant was killed: in the database, and in the request to a model.

Knows the file of the history and Chat Completions. Must not know processes.
"""

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, JsonValue


@dataclass(frozen=True, slots=True)
class Kept:
    """The contents of a database."""

    integrity: str
    """The verdict of SQLite on the file: `ok`."""
    sentences: Counter[str]
    """How often each sentence of a person is stored."""


def kept_in(database: Path) -> Kept:
    """Look into a copy of a database, so that it is Home Assistant that finds it as it was left."""
    with tempfile.TemporaryDirectory() as folder:
        for part in database.parent.glob(f"{database.name}*"):
            shutil.copy(part, folder)
        with contextlib.closing(
            sqlite3.connect(Path(folder) / database.name)
        ) as connection:
            (integrity,) = connection.execute("PRAGMA integrity_check").fetchone()
            bodies = connection.execute("SELECT body FROM chatterbox_turns").fetchall()
    messages = (
        message for (body,) in bodies for message in json.loads(body)["messages"]
    )
    return Kept(
        str(integrity),
        Counter(one["text"] for one in messages if one["role"] == "user"),
    )


class _Call(BaseModel):
    id: str


class _Message(BaseModel):
    role: str
    tool_calls: tuple[_Call, ...] = ()
    tool_call_id: str | None = None


class _Request(BaseModel):
    messages: tuple[_Message, ...]


def is_whole(request: dict[str, JsonValue]) -> bool:
    """Return whether every call of a request has its one result, right behind it, and every result its call."""
    waiting: list[str] = []
    for message in _Request.model_validate(request).messages:
        if message.role == "tool":
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
        elif waiting:
            return False
        waiting += [call.id for call in message.tool_calls]
    return not waiting


def turns_of(requests: Sequence[dict[str, JsonValue]]) -> int:
    """Return how many turns the longest of the requests holds."""
    parsed = (_Request.model_validate(request) for request in requests)
    return max(
        (
            sum(message.role == "user" for message in request.messages)
            for request in parsed
        ),
        default=0,
    )
