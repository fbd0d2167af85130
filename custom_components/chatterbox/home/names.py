"""What things are called under the heading of their room: as short as can be, and never so that two are one.

Pure text; knows nothing of Home Assistant. A name that begins with its room's is told without it, unless another thing
goes by what is left, or no call can say the room. A further name is told where it says something that name and room do
not, or where it tells a thing from another.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"\w+")
_JOINTS: Final = " \t-\N{EN DASH}\N{EM DASH}:|/\N{MIDDLE DOT}.,"
"""What stands between the name of a room and that of a thing."""
# fmt: off
_CONNECTING: Final = frozenset({
    "al", "all", "alla", "am", "an", "at", "au", "aux", "da", "das", "de", "degli", "dei", "del", "dell", "della",
    "den", "der", "des", "det", "di", "die", "din", "do", "dos", "du", "een", "ei", "el", "en", "et", "ett", "for",
    "from", "för", "het", "il", "im", "in", "la", "las", "le", "les", "lo", "los", "mein", "mi", "min", "mon", "my",
    "na", "nad", "ne", "nel", "nella", "no", "nos", "of", "on", "os", "pa", "para", "pod", "przy", "på", "the",
    "till", "to", "um", "un", "una", "une", "van", "vom", "von", "we", "ze", "zu", "zum", "zur",
})
# fmt: on
"""Words that a name has in one language or another and that tell nothing apart. A single letter may: Lamp A."""


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A thing, before it is told."""

    entity_id: str
    names: tuple[str, ...]
    """The one that it is called by, and the others."""
    room: tuple[str, ...]
    """The name of its room, and the others; nothing for what is in none."""
    needs_whole_name: bool = False
    """Whether a call cannot say in which room it is."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a thing is told under its room."""

    name: str
    """Empty for one without a name."""
    also: tuple[str, ...] = ()


def tell_names(things: Sequence[NamedThing]) -> Mapping[str, Told]:
    """Return how things are told under their rooms, by entity id."""
    names = {thing.entity_id: _short_names(thing) for thing in things}
    own = Counter(name for thing in things for name in set(map(compared, thing.names)))
    in_room = Counter((thing.room[:1], compared(names[thing.entity_id])) for thing in things)
    with_word: dict[str, set[str]] = defaultdict(set)
    for thing in things:
        for word in words_of(*thing.names[:1], *thing.room):
            with_word[word].add(thing.entity_id)
    told: dict[str, Told] = {}
    for thing in things:
        short, full = names[thing.entity_id], thing.names[0] if thing.names else ""
        others = own[compared(short)] - (compared(short) in map(compared, thing.names))
        name = short if not others and in_room[thing.room[:1], compared(short)] == 1 else full
        also = (alias for alias in thing.names[1:] if compared(alias) not in (compared(name), compared(full)))
        told[thing.entity_id] = Told(name, tuple(alias for alias in also if _is_news(alias, thing, with_word)))
    return told


def _short_names(thing: NamedThing) -> str:
    """Return the name of a thing without that of its room, if there is anything else in it."""
    full = thing.names[0] if thing.names else ""
    room = thing.room[0] if thing.room else ""
    rest = full[len(room) :]
    if (
        thing.needs_whole_name
        or not room
        or compared(full[: len(room)]) != compared(room)
        or not rest.startswith(tuple(_JOINTS))
    ):
        return full
    short = rest.lstrip(_JOINTS)
    is_signed = short[:1].isdigit() and rest.removesuffix(short)[-2:] in (" -", " .")
    # Home Assistant takes "all" for whatever is there.
    return full if not short or is_signed or compared(short) == "all" else short


def _is_news(alias: str, thing: NamedThing, with_word: Mapping[str, set[str]]) -> bool:
    """Tell whether a further name of a thing says more than its name and room, or could be that of another one."""
    words = words_of(alias)
    if words == words_of(thing.names[0], *thing.room[:1]):
        return False
    meant = [with_word.get(word, set()) for word in words]
    return not meant or set.intersection(*meant) != {thing.entity_id}


def words_of(*texts: str) -> frozenset[str]:
    """Return the words of some texts in small letters, without those that only connect others."""
    return frozenset(_WORD.findall(" ".join(texts).casefold())) - _CONNECTING


def compared(name: str) -> str:
    """Write a name as Home Assistant compares it."""
    return name.strip().casefold()


_STRUCTURE: Final = frozenset(',:()"\\<>')
"""What has a meaning of its own where a home is told."""
_JOINERS: Final = "\u200c\u200d"
"""Without these, words of some languages and some emoji fall apart."""


def quoted(name: str) -> str:
    r"""Write a name so that it stays one name on one line: as it is, or, where that could be read otherwise, as JSON.

    What would begin a line, or a part of another kind, is escaped: a call with `"\u003c"` in its arguments has the
    same name as one with `"<"`.
    """
    is_plain = not _STRUCTURE.intersection(name) and name.isprintable() and not name.startswith(("#", "-", "*"))
    return name if is_plain and name.strip() else f'"{"".join(map(_escaped, name))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character in "<>" or not (character.isprintable() or character in _JOINERS):
        units = character.encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
    return character


def listed(names: Iterable[str]) -> str:
    """Write several names one after the other."""
    return ", ".join(map(quoted, names))
