"""Runs scripts of API clients in an environment of their own, against a home."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from tests.behaviour.clients.home import Address

REPOSITORY = Path(__file__).resolve().parents[3]
CLIENT_BINARIES = REPOSITORY / ".venv-clients" / "bin"
PYTHON = CLIENT_BINARIES / "python"
RUN_SECONDS = 240
_SCRIPTS = Path(__file__).parent / "scripts"


def run(command: Sequence[str | Path], home: Address) -> str:
    """Run a command, as a person who has set what `openai` reads; return what it prints.

    Raises `AssertionError` when it fails, with what it complained about.
    """
    finished = subprocess.run(
        command,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert finished.returncode == 0, (
        f"{finished.stdout[-3000:]}\n{finished.stderr[-6000:]}"
    )
    return finished.stdout


def printed_by[T](script: str, home: Address, output: TypeAdapter[T]) -> T:
    """Run one of `scripts/`, and return the JSON that it prints."""
    printed = run([PYTHON, _SCRIPTS / f"{script}.py"], home)
    return output.validate_json(printed)


def _environment(home: Address) -> Mapping[str, str]:
    inherited = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG", "TMPDIR")
        if name in os.environ
    }
    return inherited | {
        "OPENAI_BASE_URL": home.base_url,
        "OPENAI_API_KEY": home.token,
        "MODEL": home.model,
        "URL": home.url,
        "MODEL_SERVER": home.model_server,
    }
