"""Names under which tools are offered to a model: valid everywhere, unique, and stable over restarts.

A tool keeps its own name where possible. Otherwise its name ends in a short hash of its origin, so that no other tool
that is added or removed renames it, except one of the same name.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import slugify as unicode_slug

SENTENCE_TOOL: Final = "conversation__process_sentence"
"""The tool by which Home Assistant understands a sentence; see `offline/provider.py`."""
MAX_NAME_LENGTH: Final = 64
"""The longest name that every provider accepts."""

_LEGAL: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_LENGTH}}}")
_HASH_LENGTH: Final = 6
_HASH: Final = re.compile(rf"_[0-9a-f]{{{_HASH_LENGTH},}}$")
_LEGIBLE_LENGTH: Final = MAX_NAME_LENGTH - _HASH_LENGTH - 1
_SAME_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "HassMediaSearchAndPlay": ("media_player__play_media",),
    "HassShoppingListAddItem": ("HassListAddItem",),
    "HassShoppingListCompleteItem": ("HassListCompleteItem",),
}
"""Tools, or the intents of tools, that do the same as an intent for which Home Assistant offers no tool."""
_PLAIN_WORD: Final = re.compile(r"[a-z]+")


class ToolOrigin(NamedTuple):
    """The origin of a tool."""

    api_id: str
    """Stable id of the API that offers it; two APIs may share a title, never an id."""
    name: str
    """The tool's own name in that API."""


def offered_names(origins: Sequence[ToolOrigin]) -> tuple[str, ...]:
    """Return a name for each tool, in the same order: 1 to 64 characters from `[A-Za-z0-9_-]`, all different."""
    owners = Counter(origin.name for origin in origins)
    taken = {name for name, count in owners.items() if count == 1 and _LEGAL.fullmatch(name)}
    offered = frozenset(taken)
    seen = Counter[ToolOrigin]()
    names: list[str] = []
    for origin in origins:
        if origin.name in offered:
            names.append(origin.name)
            continue
        names.append(_hashed_name(origin, seen[origin], taken))
        seen[origin] += 1
        taken.add(names[-1])
    return tuple(names)


def _hashed_name(origin: ToolOrigin, ordinal: int, taken: set[str]) -> str:
    """Build a name from the valid characters of the old one and a hash, longer where a shorter one is taken."""
    legible = origin.name
    if not _LEGAL.fullmatch(legible):
        legible = unicode_slug.slugify(legible, separator="_", lowercase=False) or "tool"
    digest = sha256("\0".join((*origin, str(ordinal))).encode(errors="surrogatepass")).hexdigest()
    lengths = range(_HASH_LENGTH, MAX_NAME_LENGTH)
    candidates = (f"{legible[: MAX_NAME_LENGTH - length - 1]}_{digest[:length]}" for length in lengths)
    return next(name for name in candidates if name not in taken)


def have_same_origin(name: str, other: str) -> bool:
    """Return whether two offered names may belong to one tool, with and without a hash, or to tools with one name."""
    return _legible(name) == _legible(other)


def is_tool_of_intent(tool: str, intent_type: str) -> bool:
    """Return whether a tool of this name does what an intent does, whatever API or integration its name begins with."""
    name = _legible(tool)
    tail, is_cut = name.partition("__")[2] or name, len(name) == _LEGIBLE_LENGTH
    slug = unicode_slug.slugify(intent_type, separator="_", lowercase=False)
    for own in {intent_type, slug, *_SAME_AS.get(intent_type, ())} - {""}:
        wanted = _HASH.sub("", own)
        if wanted in (name, tail) or (is_cut and wanted.startswith(tail)):
            return True
        if own.startswith("Hass") and name.endswith(f"_{wanted}"):
            return True
    return False


def _legible(name: str) -> str:
    """Return an offered name without its hash, as far as it is never truncated."""
    return _HASH.sub("", name)[:_LEGIBLE_LENGTH]


def rename_tools(text: str, names: Mapping[str, str]) -> str:
    """Replace old names of tools in a text.

    `names` maps old to new. A name that is an ordinary word, such as "search", is only replaced between quotes or
    backticks.
    """
    renamed = {old: new for old, new in names.items() if old != new}
    if not renamed:
        return text
    longest_first = sorted(renamed, key=lambda name: (-len(name), name))
    pattern = re.compile("|".join(_mention(name) for name in longest_first))
    return pattern.sub(lambda found: renamed[found[0]], text)


def _mention(name: str) -> str:
    if _PLAIN_WORD.fullmatch(name):
        return rf"(?<=[\"'`]){name}(?=[\"'`])"
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])"
