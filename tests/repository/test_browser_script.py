"""`script/browser` as a person runs it who has a browser of their own choice."""

import asyncio
import os
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "script" / "browser"


async def _run(chromium: Path) -> tuple[int | None, str, str]:
    """Return exit code, output and messages of a run with CHROMIUM set."""
    process = await asyncio.create_subprocess_exec(
        str(_SCRIPT),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"CHROMIUM": str(chromium)},
    )
    async with asyncio.timeout(60):
        output, messages = await process.communicate()
    return process.returncode, output.decode(), messages.decode()


async def test_the_chosen_browser_is_taken(tmp_path: Path) -> None:
    chosen = tmp_path / "my chromium"
    chosen.write_text("#!/bin/sh\n")
    chosen.chmod(0o755)

    assert await _run(chosen) == (0, f"{chosen}\n", "")


@pytest.mark.parametrize("there", [False, True], ids=["no file", "no program"])
async def test_a_chosen_browser_that_cannot_be_run_is_named_and_no_other_is_taken(
    tmp_path: Path, *, there: bool
) -> None:
    chosen = tmp_path / "chromium"
    if there:
        chosen.touch()

    exit_code, output, messages = await _run(chosen)

    assert (exit_code, output) == (1, "")
    assert f"CHROMIUM is set to {chosen}, which is no program here" in messages
