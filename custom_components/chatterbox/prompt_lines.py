"""What of a prompt holds for everybody, and what only for who asks: told line by line.

Pure text; knows nothing of APIs or devices. A prompt is rendered for nobody in particular and for somebody: a line that
only one of the two has is not for everybody.
"""

import re
from collections.abc import Iterable, Set as AbstractSet
from datetime import datetime
from typing import Final

_RECORDS: Final = re.compile(r"(?:^- .*\n(?:^ .*\n)*){2,}", re.MULTILINE)
"""Items of a list one after the other, each with the indented lines that belong to it."""
_RECORD: Final = re.compile(r"^- .*\n(?:^ .*\n)*", re.MULTILINE)

_MOMENTS: Final = ("%Y-%m-%d", "%H:%M", "%I:%M", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%B %d")
"""How a day or a minute is written by those who put it into a prompt."""


def lines_without(text: str, other: str) -> set[str]:
    """Return the lines of a text that are not in the other one. Blank lines do not count."""
    return {line for line in text.splitlines() if line.strip()} - set(other.splitlines())


def lines_about_now(text: str, now: datetime) -> set[str]:
    """Return the lines that name the present day or minute."""
    moments = {now.strftime(moment).removeprefix("0") for moment in _MOMENTS}
    named = [moment for moment in moments if moment in text]
    return {line for line in text.splitlines() if any(moment in line for moment in named)} if named else set()


def leave_out(text: str, lines: AbstractSet[str]) -> str:
    """Return a text without some of its lines."""
    return "\n".join(line for line in text.splitlines() if line not in lines)


def only(text: str, lines: Iterable[str]) -> str:
    """Return those lines of a text that are among `lines`, in the order of the text."""
    wanted = set(lines)
    return "\n".join(line for line in text.splitlines() if line in wanted)


def sort_records(text: str) -> str:
    """Put the items of each list in a text in order, each with its indented lines. One item is no list."""
    ended = text if text.endswith("\n") else f"{text}\n"
    ordered = _RECORDS.sub(lambda records: "".join(sorted(_RECORD.findall(records[0]))), ended)
    return ordered if text.endswith("\n") else ordered.removesuffix("\n")
