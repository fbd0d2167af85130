"""Plots as SVG: horizontal bars, one for each agent.

Knows shapes; must not know what is shown.
"""

from collections.abc import Mapping
from html import escape
from typing import Final

_WIDTH: Final = 720
_LEFT: Final = 190
_RIGHT: Final = 90
_ROW: Final = 24
_TOP: Final = 44
_MARKED: Final = "#1769aa"
_OTHER: Final = "#9aa5b1"


def bars(title: str, unit: str, values: Mapping[str, float], marked: str) -> str:
    """Return bars in the order of the mapping; those are marked whose name begins with `marked`."""
    most = max((*values.values(), 1e-9))
    height = _TOP + _ROW * len(values) + 12
    rows = [
        _bar(number, name, f"{value:.3g} {unit}", (_WIDTH - _LEFT - _RIGHT) * max(value, 0) / most, marked)
        for number, (name, value) in enumerate(values.items())
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}">',
            "<style>text { font: 13px system-ui, sans-serif; fill: #1f2933 }</style>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="12" y="26" style="font-size: 15px; font-weight: 600">{escape(title)}</text>',
            *rows,
            "</svg>\n",
        )
    )


def _bar(number: int, name: str, label: str, length: float, marked: str) -> str:
    top = _TOP + _ROW * number
    colour = _MARKED if name.startswith(marked) else _OTHER
    return (
        f'<text x="{_LEFT - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{_LEFT}" y="{top + 3}" width="{length:.1f}" height="16" fill="{colour}"/>'
        f'<text x="{_LEFT + length + 6:.1f}" y="{top + 15}">{escape(label)}</text>'
    )
