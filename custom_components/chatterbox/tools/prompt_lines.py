"""What of a prompt holds for everybody, and what only for who asks: told part by part.

Pure text; knows nothing of APIs or devices. A part is a line, or a record: an item of a list with the indented lines
that belong to it, which is never torn. A prompt is rendered for nobody in particular and for somebody: a part that only
one of the two has is not for everybody.
"""

import re
from collections.abc import Callable, Iterable, Set as AbstractSet
from datetime import datetime
from typing import Final

_RECORDS: Final = re.compile(r"(?:^- .*\n(?:^ .*\n)*){2,}", re.MULTILINE)
"""Items of a list one after the other, each with the indented lines that belong to it."""
_RECORD: Final = re.compile(r"^- .*\n(?:^ .*\n)*", re.MULTILINE)

_PART: Final = re.compile(r"(?:^- .*(?:\n .*)+|^.*$)", re.MULTILINE)

_MOMENTS: Final = ("%Y-%m-%d", "%H:%M", "%I:%M", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%B %d")
"""How a day or a minute is written by those who put it into a prompt."""


def parts_of(text: str) -> list[str]:
    """Return the lines and records of a text."""
    return _PART.findall(text)


def parts_without(text: str, other: str) -> set[str]:
    """Return the parts of a text that are not in the other one. Blank lines do not count."""
    return {part for part in parts_of(text) if part.strip()} - set(parts_of(other))


def parts_about_now(text: str, now: datetime, names: Callable[[], Iterable[str]] = tuple) -> set[str]:
    """Return the parts that name the present day or minute. One of the `names` of things in the house never does."""
    moments = {now.strftime(moment).removeprefix("0") for moment in _MOMENTS}
    found = {part for part in parts_of(text) if _names_any(part, moments)}
    if not found:
        return found
    timely = sorted((name for name in names() if _names_any(name, moments)), key=len, reverse=True)
    return {part for part in found if _names_any(_without_names(part, timely), moments)}


def _names_any(text: str, moments: Iterable[str]) -> bool:
    return any(moment in text for moment in moments)


def _without_names(part: str, names: Iterable[str]) -> str:
    """Leave names out of a part, which may be YAML: quoted, and broken at spaces."""
    text = " ".join(part.replace("''", "'").split())
    for name in names:
        text = text.replace(" ".join(name.split()), "")
    return text


def leave_out(text: str, parts: AbstractSet[str]) -> str:
    """Return a text without some of its parts."""
    return "\n".join(part for part in parts_of(text) if part not in parts)


def only(text: str, parts: Iterable[str]) -> str:
    """Return those parts of a text that are among `parts`, in the order of the text."""
    wanted = set(parts)
    return "\n".join(part for part in parts_of(text) if part in wanted)


def sort_records(text: str) -> str:
    """Put the items of each list in a text in order, each with its indented lines. One item is no list."""
    ended = text if text.endswith("\n") else f"{text}\n"
    ordered = _RECORDS.sub(lambda records: "".join(sorted(_RECORD.findall(records[0]))), ended)
    return ordered if text.endswith("\n") else ordered.removesuffix("\n")
