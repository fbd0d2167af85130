"""`script/browser` as a person runs it who has a browser of their own choice."""

import os
import subprocess
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "script" / "browser"


@pytest.mark.parametrize(
    "mode", [None, 0o644, 0o755], ids=["no file", "no program", "program"]
)
def test_the_chosen_browser_is_taken_or_named_and_no_other_is_taken(
    tmp_path: Path, mode: int | None
) -> None:
    chosen = tmp_path / "my chromium"
    if mode is not None:
        chosen.write_text("#!/bin/sh\n")
        chosen.chmod(mode)

    environment = os.environ | {"CHROMIUM": str(chosen)}
    run = subprocess.run(
        [_SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    if mode == 0o755:
        assert (run.returncode, run.stdout, run.stderr) == (0, f"{chosen}\n", "")
    else:
        assert (run.returncode, run.stdout) == (1, "")
        assert f"CHROMIUM is set to {chosen}, which is no program here" in run.stderr
