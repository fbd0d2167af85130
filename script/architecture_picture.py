"""Draws docs/images/architecture.svg from the import contracts in pyproject.toml.

Run by `script/architecture`. Each layer is a row, and its packages are boxes: code
imports from the rows below its own. Modules at the root of the integration have white
boxes. The layers of `agent/` are drawn in its box.
"""

import tomllib
from collections.abc import Iterator, Sequence
from itertools import batched
from math import ceil
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
PICTURE: Final = _REPOSITORY / "docs" / "images" / "architecture.svg"
_PRODUCT: Final = _REPOSITORY / "custom_components" / "chatterbox"

_WIDTH: Final = 760
_BOX: Final = 30
_GAP: Final = 8
_MARGIN: Final = 16
_MOST: Final = 6
"""Boxes beside one another."""
_HEAD: Final = 22
_TEXT: Final = 'font-family="sans-serif" font-size="12" text-anchor="middle"'
_STYLE: Final = (
    ".ground,.module{fill:#fff}.package{fill:#d6e6f5}.agent{fill:#eef6ea;stroke:#6a9a55}"
    ".package,.module{stroke:#4a7fb0}.head{font-weight:bold}"
)


def layers(container: str) -> list[list[str]]:
    """Return the names in each layer of a package, from the top."""
    contracts = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]["contracts"]
    (contract,) = [one for one in contracts if one.get("containers") == [container]]
    return [
        [name.strip(" ()") for name in layer.split("|")] for layer in contract["layers"]
    ]


def lines(layer: Sequence[str]) -> list[tuple[str, ...]]:
    """Break a long layer into lines of about the same length."""
    number = ceil(len(layer) / _MOST)
    return [*batched(layer, ceil(len(layer) / number), strict=False)]


def box(place: tuple[float, float, float, float], name: str, kind: str) -> str:
    """Return a box with a name in it; its place is x, y, width and height."""
    x, y, width, height = place
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" rx="4"/>'
        f'<text x="{x + width / 2:g}" y="{y + height / 2 + 4:g}">{name}</text>'
    )


def rows(
    names: Sequence[Sequence[str]], folder: Path, left: float, top: float, width: float
) -> Iterator[str]:
    """Yield the boxes of layers, one below the other; those of a long layer are broken into rows."""
    for layer in names:
        for row in lines(layer):
            each = (width - _GAP * (len(row) - 1)) / len(row)
            for number, name in enumerate(row):
                place = (
                    round(left + number * (each + _GAP), 1),
                    top,
                    round(each, 1),
                    _BOX,
                )
                yield box(
                    place,
                    name,
                    "package" if (folder / name / "__init__.py").exists() else "module",
                )
            top += _BOX + _GAP / 2
        top += _GAP / 2


def height(names: Sequence[Sequence[str]]) -> float:
    """Return how high the boxes of layers are together."""
    return sum(len(lines(layer)) * (_BOX + _GAP / 2) + _GAP / 2 for layer in names)


def draw() -> str:
    """Return the picture."""
    ours, agent = (
        layers("custom_components.chatterbox"),
        layers("custom_components.chatterbox.agent"),
    )
    ours.remove(["agent"])
    inner = _WIDTH - 2 * _MARGIN
    agent_top = _MARGIN + _HEAD + height(ours)
    agent_height = _HEAD + height(agent) + _GAP
    tall = agent_top + agent_height + _MARGIN
    middle = f'class="head" x="{_WIDTH / 2:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {tall:g}" {_TEXT}>',
        "<title>The layers of Chatterbox: code imports from the layers below its own</title>",
        f"<style>{_STYLE}</style>",
        '<rect class="ground" width="100%" height="100%"/>',
        f'<text {middle} y="{_MARGIN + 8}">custom_components/chatterbox: imports point down</text>',
        *rows(ours, _PRODUCT, _MARGIN, _MARGIN + _HEAD, inner),
        f'<rect class="agent" x="{_MARGIN}" y="{agent_top:g}" width="{inner}" height="{agent_height:g}" rx="4"/>',
        f'<text {middle} y="{agent_top + 15:g}">agent: works without Home Assistant</text>',
        *rows(
            agent,
            _PRODUCT / "agent",
            _MARGIN + _GAP,
            agent_top + _HEAD,
            inner - 2 * _GAP,
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw())
