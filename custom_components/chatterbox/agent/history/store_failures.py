"""From the errors of databases to what is wrong with the store.

Knows SQLAlchemy's errors and the codes of SQLite and of SQL. No text of a database gets through: these quote
values, and pieces of addresses that may belong to a password.
"""

import sqlite3
from typing import Final

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)

from .store_trouble import RecordRefused, StoreUnavailable, Trouble

_SQLITE: Final = {
    3: Trouble.CANNOT_OPEN,
    5: Trouble.LOCKED,
    6: Trouble.LOCKED,
    8: Trouble.READ_ONLY,
    10: Trouble.DISK_FAILED,
    11: Trouble.CORRUPT,
    13: Trouble.DISK_FULL,
    14: Trouble.CANNOT_OPEN,
    26: Trouble.CORRUPT,
}
"""By primary result code. Source: https://sqlite.org/rescode.html"""

_DIALECT: Final = SQLiteDialect_pysqlite()

_SQLSTATE: Final = {"53100": Trouble.DISK_FULL, "25006": Trouble.READ_ONLY, "55P03": Trouble.LOCKED}
"""Source: https://www.postgresql.org/docs/current/errcodes-appendix.html"""

_PACKET_TOO_LARGE: Final = 1153
"""Source: https://mariadb.com/kb/en/mariadb-error-code-reference/"""

_TEXTS: Final = {
    Trouble.CANNOT_OPEN: "It cannot be opened. Look whether its folder exists and may be written to.",
    Trouble.READ_ONLY: "It may only be read. Let Home Assistant write to it.",
    Trouble.DISK_FULL: "The disk is full. Make room on it.",
    Trouble.DISK_FAILED: "The disk does not read or write as it should. Look whether it is sound and has room.",
    Trouble.LOCKED: "Another program holds it. Close that program.",
    Trouble.CORRUPT: "It is damaged.",
    Trouble.SERVER_GONE: "Its server cannot be reached, or does not let us in. Look at the address, the name, "
    "the password, and whether the server runs.",
}


def unavailable(trouble: Trouble, where: str, code: str = "") -> StoreUnavailable:
    """Return the error for a trouble with the database at `where`, which must hold no password."""
    text = _TEXTS.get(trouble, f"It does not work as it should ({code}).")
    return StoreUnavailable(trouble, f"The history in {where} cannot be used now. {text}")


def failure_of(error: SQLAlchemyError | sqlite3.Error, where: str) -> StoreUnavailable | RecordRefused:
    """Return what an error of the database means, also one of SQLite's that did not come through SQLAlchemy."""
    if isinstance(error, sqlite3.Error):
        error = DBAPIError.instance(None, None, error, sqlite3.Error, dialect=_DIALECT)
    # A plain StatementError has not got to the database: there is something in the record that nobody could store.
    if isinstance(error, IntegrityError | DataError) or type(error) is StatementError or _is_too_large(error):
        return RecordRefused(f"The history in {where} does not take a record ({type(error).__name__}).")
    if not isinstance(error, DBAPIError):
        return unavailable(Trouble.OTHER, where, type(error).__name__)
    code = _code(error)
    if isinstance(code, int):
        return unavailable(_SQLITE.get(code & 0xFF, Trouble.OTHER), where, f"SQLite {code}")
    trouble = _SQLSTATE.get(code or "", _trouble_by_class(error))
    return unavailable(trouble, where, code or type(error).__name__)


def _is_too_large(error: SQLAlchemyError) -> bool:
    """Tell whether a record is larger than MariaDB or MySQL take at once (`max_allowed_packet`)."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "args", ())[:1] == (_PACKET_TOO_LARGE,)


def _code(error: DBAPIError) -> int | str | None:
    """Return the code of SQLite (a number), that of a server (a text), or None."""
    number = getattr(error.orig, "sqlite_errorcode", None)
    if isinstance(number, int):
        return number
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    return state if isinstance(state, str) else None


def _trouble_by_class(error: DBAPIError) -> Trouble:
    gone = error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
    return Trouble.SERVER_GONE if gone else Trouble.OTHER
