"""The files of a home that are kept of a release: those of Chatterbox, and what Home Assistant's say about it."""

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Final

RELEASES: Final = Path(__file__).parents[2] / "fixtures" / "releases"
PUBLIC_NAMES: Final = RELEASES.parents[1] / "repository" / "public_names.json"
ENTITIES: Final = "entities.json"
"""Entity ids by unique id."""
_OURS: Final = "chatterbox"


def keep(home: Path, folder: Path) -> None:
    """Copy what is ours of a home that is stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    storage = home / ".storage"
    for file in storage.glob(f"{_OURS}.*"):
        (folder / file.name).write_bytes(file.read_bytes())
    entries = json.loads((storage / "core.config_entries").read_bytes())
    data = entries["data"]
    data["entries"] = [one for one in data["entries"] if one["domain"] == _OURS]
    _write(folder / "core.config_entries", entries)
    registry = json.loads((storage / "core.entity_registry").read_bytes())
    entities = {
        one["unique_id"]: one["entity_id"]
        for one in registry["data"]["entities"]
        if one["platform"] == _OURS
    }
    _write(folder / ENTITIES, entities)
    (folder / PUBLIC_NAMES.name).write_bytes(PUBLIC_NAMES.read_bytes())
    _keep_database(home / f"{_OURS}.db", folder)


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _keep_database(database: Path, folder: Path) -> None:
    """Keep the history, in one small file."""
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    packed = gzip.compress(database.read_bytes(), 9, mtime=0)
    (folder / f"{database.name}.gz").write_bytes(packed)
