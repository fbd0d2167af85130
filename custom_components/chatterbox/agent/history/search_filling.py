"""The step to version 2 of the tables: turns that were stored before there was a search can be found as well.

Knows the tables as they were then. The index is filled as it is made today, because all of it comes from the turns: who
changes it lets a later step drop it and fill it again. Bears being begun again.
"""

from collections import defaultdict
from contextlib import suppress
from typing import Final

from sqlalchemy import Connection, inspect, text

from ..messages import Message
from ..transcript import has_outside_content
from .json_fields import StoredJsonInvalid, read_object
from .search import terms_of_messages
from .search_index import Indexed, add_to_index, clear_index, create_index, drop_index
from .stored_transcripts import message_from_json

_AT_ONCE: Final = 500
"""Turns that are held in memory."""
_TURNS: Final = text(
    "SELECT seq, conversation, person FROM chatterbox_turns WHERE seq > :after ORDER BY seq LIMIT :most"
)
_MESSAGES: Final = text(
    "SELECT turn, body FROM chatterbox_messages WHERE turn > :after AND turn <= :last ORDER BY turn, position"
)
_AT_INDEX: Final = "chatterbox_turns_person_at"
_MARK: Final = text("UPDATE chatterbox_turns SET outside = true WHERE seq = :seq")


def let_turns_be_found(connection: Connection) -> None:
    """Add the index and the mark of outside content, and fill them from what is stored."""
    if "outside" not in {column["name"] for column in inspect(connection).get_columns("chatterbox_turns")}:
        connection.execute(text("ALTER TABLE chatterbox_turns ADD COLUMN outside BOOLEAN NOT NULL DEFAULT false"))
    if _AT_INDEX not in {index["name"] for index in inspect(connection).get_indexes("chatterbox_turns")}:
        connection.execute(text(f"CREATE INDEX {_AT_INDEX} ON chatterbox_turns (person, at)"))
    _fill_index(connection)


def make_index_anew(connection: Connection) -> None:
    """Make the index of an SQLite file again, when it is damaged."""
    drop_index(connection)
    _fill_index(connection)


def _fill_index(connection: Connection) -> None:
    create_index(connection)
    clear_index(connection)
    marked: set[str] = set()
    after = 0
    while rows := connection.execute(_TURNS, {"after": after, "most": _AT_ONCE}).all():
        said = _messages(connection, after, rows[-1].seq)
        after = rows[-1].seq
        marks: list[dict[str, int]] = []
        for row in rows:
            if has_outside_content(said[row.seq]):
                marked.add(row.conversation)
            if row.conversation in marked:
                marks.append({"seq": row.seq})
        if marks:
            connection.execute(_MARK, marks)
        add_to_index(
            connection, (Indexed(row.seq, row.person, terms_of_messages(said[row.seq])) for row in rows if row.person)
        )


def _messages(connection: Connection, after: int, last: int) -> dict[int, list[Message]]:
    """Return the messages of turns; one that somebody has damaged is left out."""
    found = defaultdict[int, list[Message]](list)
    for row in connection.execute(_MESSAGES, {"after": after, "last": last}):
        with suppress(StoredJsonInvalid):
            found[row.turn].append(message_from_json(read_object(row.body)))
    return found
