"""The picture of the layers shows the import contracts as they are."""

import runpy
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_the_picture_is_drawn_from_the_contracts() -> None:
    script = runpy.run_path(str(REPOSITORY / "script" / "architecture_picture.py"))
    assert script["PICTURE"].read_text() == script["draw"](), "run script/architecture"
