"""The automations and scripts that the documentation shows, so that a test can set them up as a reader would."""

import re
from pathlib import Path

from homeassistant.util.yaml import parse_yaml

import custom_components

_PAGES = sorted((Path(custom_components.__file__).parents[1] / "docs").glob("*.md"))


def blocks_with(text: str) -> list[dict[str, object]]:
    """Return the YAML examples of all pages in which a text stands, parsed."""
    blocks = [
        block
        for page in _PAGES
        for block in re.findall(
            r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL
        )
    ]
    parsed = [parse_yaml(block) for block in blocks if text in block]
    return [block for block in parsed if isinstance(block, dict)]
