"""A real PostgreSQL server of our own, on a socket in a folder of its own, gone when the tests are."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OWNER = "postgres"
"""It refuses to run as root; this user comes with Debian's package."""


def binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL that is installed."""
    if found := sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: int(path.parts[-3]),
    ):
        return found[-1].parent
    found_in_path = shutil.which("initdb")
    return Path(found_in_path).parent if found_in_path else None


class PostgreSQL:
    """A server that can be started and stopped."""

    def __init__(self, folder: Path, executables: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._executables = executables
        self._user = _OWNER if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        self._run(
            "initdb",
            "--auth=trust",
            f"--username={_OWNER}",
            "--encoding=UTF8",
            "--no-sync",
            f"--pgdata={self._data}",
        )

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-c listen_addresses='' -c fsync=off -k {self._folder}"
        log = self._folder / "log"
        self._run(
            "pg_ctl",
            "--wait",
            f"--pgdata={self._data}",
            f"--log={log}",
            f"--options={options}",
            "start",
        )

    def stop(self) -> None:
        """Stop at once, whoever is connected."""
        self._run(
            "pg_ctl", "--wait", f"--pgdata={self._data}", "--mode=immediate", "stop"
        )

    def new_database(self, name: str) -> str:
        """Make a database, and return its address."""
        self._run("createdb", f"--host={self._folder}", f"--username={_OWNER}", name)
        return f"postgresql+psycopg://{_OWNER}@/{name}?host={self._folder}"

    def _run(self, command: str, *arguments: str) -> None:
        subprocess.run(
            [self._executables / command, *arguments],
            check=True,
            cwd=self._folder,
            user=self._user,
            env={"LC_ALL": "C.UTF-8", "HOME": str(self._folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=60,
        )


@contextmanager
def running(executables: Path) -> Iterator[PostgreSQL]:
    """Run a server as long as it is needed."""
    folder = Path(
        tempfile.mkdtemp(prefix="chatterbox-pg-")
    )  # short: a socket's path has 107 characters at most
    server = PostgreSQL(folder, executables)
    try:
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
