"""Runs a program in the environment of the clients, against a house.

Knows processes and environments; must not know what a program does.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from tests.behaviour.clients.house import Address

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAMS_OF_CLIENTS = REPOSITORY / ".venv-clients" / "bin"
PYTHON = PROGRAMS_OF_CLIENTS / "python"
RUN_SECONDS = 100
_PROGRAMS = Path(__file__).parent / "programs"


def run(command: Sequence[str | Path], house: Address) -> str:
    """Run a command, as a person who has set what `openai` reads; return what it prints.

    Raises `AssertionError` when it fails, with what it complained about.
    """
    finished = subprocess.run(
        command,
        env=_environment(house),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert finished.returncode == 0, f"{finished.stdout[-3000:]}\n{finished.stderr[-6000:]}"
    return finished.stdout


def told_by[T](program: str, house: Address, told: TypeAdapter[T]) -> T:
    """Run one of `programs/`; return the JSON that it prints, checked."""
    printed = run([PYTHON, _PROGRAMS / f"{program}.py"], house)
    return told.validate_json(printed)


def _environment(house: Address) -> Mapping[str, str]:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return inherited | {
        "OPENAI_BASE_URL": house.base_url,
        "OPENAI_API_KEY": house.token,
        "MODEL": house.model,
        "URL": house.url,
        "MODEL_SERVER": house.model_server,
        "OTHER_TOKEN": house.other_token,
        "ONLOOKER_TOKEN": house.onlooker_token,
    }
