"""Writes the tables of `script/first_word --publish` into `bench/pages/performance.md`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from pydantic import BaseModel

from bench.side_by_side.home import DEMO, STREET, Home
from demo.configuration import REPOSITORY

_BEGIN: Final = "<!-- script/first_word --publish writes this -->"
_END: Final = "<!-- up to here -->"
_BLOCK: Final = re.compile(f"{_BEGIN}.*?{_END}", re.DOTALL)
_TITLES: Final[Mapping[Home, str]] = {
    DEMO: "home of `script/demo`",
    STREET: "eight such homes, each with names of its own",
}
_PAGE: Final = REPOSITORY / "bench/pages/performance.md"


class Row(NamedTuple):
    """The tokens that a server reads in one turn."""

    turn: str
    core: int
    ours: int
    warm: int
    """Of our agent after its warm-up."""


class Measured(BaseModel):
    """The measured turns of a home."""

    rows: list[Row]
    milliseconds: list[float]
    """The times of the first turn: of core's agent, of ours, and of ours after its warm-up."""


def title(home: Home) -> str:
    """Return the name of a home."""
    return _TITLES.get(home, f"{home} entities of few kinds")


def table(home: Home, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {title(home)}: tokens read before the first word | core | ours | ours after warm-up |"
    yield "| --- | --- | --- | --- |"
    for name, core, ours, warm in rows:
        yield f"| {name} | {core} | {ours} | {warm} |"


def publish(measured: Mapping[Home, Measured]) -> None:
    """Replace the tables of the page."""
    lines: list[str] = []
    for home, one in measured.items():
        core, ours, warm = (f"{time:,.0f} ms" for time in one.milliseconds)
        lines += [*table(home, one.rows), ""]
        lines += [
            f"As an example, the first turn took {core}, {ours} and {warm} on the machine of this run.",
            "",
        ]
    page = _PAGE.read_text("utf-8")
    block = "\n".join((_BEGIN, "", *lines, _END)).replace("\n\n\n", "\n\n")
    _PAGE.write_text(with_block(page, block), encoding="utf-8")


def block_of(page: str) -> str:
    """Return the block of tables of a page with its marks; an empty one if there is none."""
    found = _BLOCK.search(page)
    return found[0] if found else f"{_BEGIN}\n\n{_END}"


def with_block(page: str, block: str) -> str:
    """Return a page with another block of tables."""
    return _BLOCK.sub(lambda _: block, page)
