"""Plots as SVG: horizontal bars, one for each agent, and lines over the size of something.

Knows shapes; must not know what is shown.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

_WIDTH: Final = 720
_LEFT: Final = 190
_RIGHT: Final = 90
_ROW: Final = 24
_TOP: Final = 44
_MARKED: Final = "#1769aa"
_OTHER: Final = "#9aa5b1"
_HEIGHT: Final = 300
"""Of the part of a plot with lines in which they are drawn."""
_AXIS: Final = 70
"""Where lines begin; what they are called stands to their right."""
_NAMES: Final = 170


def bars(title: str, unit: str, values: Mapping[str, float], marked: str) -> str:
    """Return bars in the order of the mapping; those are marked whose name begins with `marked`."""
    most = max((*values.values(), 1e-9))
    rows = [
        _bar(
            number,
            name,
            f"{value:.3g} {unit}",
            (_WIDTH - _LEFT - _RIGHT) * max(value, 0) / most,
            marked,
        )
        for number, (name, value) in enumerate(values.items())
    ]
    return _drawn(title, _TOP + _ROW * len(values) + 12, rows)


def _bar(number: int, name: str, label: str, length: float, marked: str) -> str:
    top = _TOP + _ROW * number
    return (
        f'<text x="{_LEFT - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{_LEFT}" y="{top + 3}" width="{length:.1f}" height="16" fill="{_colour(name, marked)}"/>'
        f'<text x="{_LEFT + length + 6:.1f}" y="{top + 15}">{escape(label)}</text>'
    )


def lines(
    title: str,
    unit: str,
    sizes: Sequence[str],
    values: Mapping[str, Sequence[float]],
    marked: str,
) -> str:
    """Return a line for each name, with a value for each size; those are marked whose name begins with `marked`."""
    most = max((*(value for many in values.values() for value in many), 1e-9))
    step = (_WIDTH - _AXIS - _NAMES) / max(1, len(sizes) - 1)
    bottom = _TOP + _HEIGHT
    scale = [
        f'<text x="{_AXIS + step * number:.1f}" y="{bottom + 20}" text-anchor="middle">{escape(size)}</text>'
        for number, size in enumerate(sizes)
    ]
    grid = [
        f'<line x1="{_AXIS}" x2="{_WIDTH - _NAMES}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e7eb"/>'
        f'<text x="{_AXIS - 8}" y="{y + 4:.1f}" text-anchor="end">{most * part / 4:.3g} {escape(unit)}</text>'
        for part in range(5)
        for y in [bottom - _HEIGHT * part / 4]
    ]
    drawn = []
    lowest = bottom + 2.0 * _ROW
    for name, many in sorted(values.items(), key=lambda one: one[1][-1]):
        points = [
            (_AXIS + step * number, bottom - _HEIGHT * value / most)
            for number, value in enumerate(many)
        ]
        lowest = min(
            lowest - _ROW * 0.7, points[-1][1] + 4
        )  # names stand above each other where lines end together
        drawn.append(_line(name, points, lowest, marked))
    return _drawn(title, bottom + 36, [*grid, *scale, *drawn])


def _line(
    name: str, points: Sequence[tuple[float, float]], beside: float, marked: str
) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    colour = _colour(name, marked)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<text x="{points[-1][0] + 8:.1f}" y="{beside:.1f}" style="fill: {colour}">{escape(name)}</text>'
    )


def _colour(name: str, marked: str) -> str:
    return _MARKED if name.startswith(marked) else _OTHER


def _drawn(title: str, height: float, shapes: Sequence[str]) -> str:
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}">',
            "<style>text { font: 13px system-ui, sans-serif; fill: #1f2933 }</style>",
            f'<rect width="{_WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
            f'<text x="12" y="26" style="font-size: 15px; font-weight: 600">{escape(title)}</text>',
            *shapes,
            "</svg>\n",
        )
    )
