"""The environment of the clients, and a home for all tests, made once as it takes longest."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.behaviour.clients.home import Address
from tests.behaviour.clients.running_scripts import REPOSITORY

_SET_UP_SECONDS = 300
_STOP_SECONDS = 60


@pytest.fixture(scope="session")
def _clients() -> None:
    """The environment of the clients, as the lock file describes it."""
    subprocess.run(
        [REPOSITORY / "script" / "setup", "clients"],
        check=True,
        timeout=_SET_UP_SECONDS,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="session")
def home(_clients: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A home for API clients. Its log must hold no error and no token."""
    folder = tmp_path_factory.mktemp("home")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.behaviour.clients.home", folder],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            address = Address.model_validate_json(process.stdout.readline())
            yield address
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)
    log = address.log.read_text(encoding="utf-8")
    assert " ERROR " not in log, log[-8000:]
    assert address.token not in log
