"""The automations and scripts that the documentation shows, so that a test can set them up as a reader would."""

import re
from pathlib import Path

from homeassistant.util.yaml import parse_yaml

import custom_components

_PAGE = Path(custom_components.__file__).parents[1] / "docs" / "using.md"


def blocks_with(text: str) -> list[dict[str, object]]:
    """Return the YAML examples of the page for users in which a text stands, parsed."""
    blocks = re.findall(r"```yaml\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    parsed = [parse_yaml(block) for block in blocks if text in block]
    return [block for block in parsed if isinstance(block, dict)]
