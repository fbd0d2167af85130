"""Shortens the names of entities for a list by rooms, such that no two of them become the same.

A name that begins with the name of its room is listed without it, unless another entity has the remaining name, or no
call can give the room. An alias is listed if it adds something to name and room, or tells the entity from another.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..agent.text import compared, fold, runs

_JOINTS: Final = " \t-\N{EN DASH}\N{EM DASH}:|/\N{MIDDLE DOT}.,"
"""Separators between the name of a room and the rest of a name."""
# fmt: off
_CONNECTING: Final = frozenset({
    "al", "all", "alla", "am", "an", "at", "au", "aux", "da", "das", "de", "degli", "dei", "del", "dell", "della",
    "den", "der", "des", "det", "di", "die", "din", "do", "dos", "du", "een", "ei", "el", "en", "et", "ett", "for",
    "from", "för", "het", "il", "im", "in", "la", "las", "le", "les", "lo", "los", "mein", "mi", "min", "mon", "my",
    "na", "nad", "ne", "nel", "nella", "no", "nos", "of", "on", "os", "pa", "para", "pod", "przy", "på", "the",
    "till", "to", "um", "un", "una", "une", "van", "vom", "von", "we", "ze", "zu", "zum", "zur",
})
# fmt: on
"""Articles and prepositions, which do not tell names apart. A single letter may: Lamp A."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """The full names of an entity."""

    entity_id: str
    names: tuple[str, ...]
    """Its name first, then its aliases."""
    room: tuple[str, ...]
    """The name of its room and the aliases of the room; empty without a room."""
    needs_whole_name: bool = False
    """True if a call cannot give the room."""


@dataclass(frozen=True, slots=True)
class ListedName:
    """The names of an entity as they are listed under its room."""

    name: str
    """Empty for an entity without a name."""
    other_names: tuple[str, ...] = ()


def listed_names(entities: Sequence[NamedEntity]) -> Mapping[str, ListedName]:
    """Return the listed names by entity id."""
    names = {entity.entity_id: _short_names(entity) for entity in entities}
    own = Counter(name for entity in entities for name in set(map(compared, entity.names)))
    in_room = Counter((entity.room[:1], compared(names[entity.entity_id])) for entity in entities)
    with_word: dict[str, set[str]] = defaultdict(set)
    for entity in entities:
        for word in telling_words(*entity.names[:1], *entity.room):
            with_word[word].add(entity.entity_id)
    listed_by_id: dict[str, ListedName] = {}
    for entity in entities:
        short, full = names[entity.entity_id], entity.names[0] if entity.names else ""
        others = own[compared(short)] - (compared(short) in map(compared, entity.names))
        name = short if not others and in_room[entity.room[:1], compared(short)] == 1 else full
        also = (alias for alias in entity.names[1:] if compared(alias) not in (compared(name), compared(full)))
        listed_by_id[entity.entity_id] = ListedName(
            name, tuple(alias for alias in also if _is_news(alias, entity, with_word))
        )
    return listed_by_id


def _short_names(entity: NamedEntity) -> str:
    """Return the name of an entity without the name of its room, if anything remains."""
    full = entity.names[0] if entity.names else ""
    room = entity.room[0] if entity.room else ""
    rest = full[len(room) :]
    if (
        entity.needs_whole_name
        or not room
        or compared(full[: len(room)]) != compared(room)
        or not rest.startswith(tuple(_JOINTS))
    ):
        return full
    short = rest.lstrip(_JOINTS)
    is_signed = short[:1].isdigit() and rest.removesuffix(short)[-2:] in (" -", " .")
    # Home Assistant reads "all" as every entity.
    return full if not short or is_signed or compared(short) == "all" else short


def _is_news(alias: str, entity: NamedEntity, with_word: Mapping[str, set[str]]) -> bool:
    """Return True if an alias says more than name and room, or could be the name of another entity."""
    words = telling_words(alias)
    if words == telling_words(entity.names[0], *entity.room[:1]):
        return False
    meant = [with_word.get(word, set()) for word in words]
    return not meant or set.intersection(*meant) != {entity.entity_id}


def telling_words(*texts: str) -> frozenset[str]:
    """Return the words of texts in lower case, without articles and prepositions."""
    return frozenset(run for run, _ in runs(fold(" ".join(texts), keep_accents=True))) - _CONNECTING


_STRUCTURE: Final = frozenset(',:()"\\<>')
"""Characters with a meaning in the list."""
_JOINERS: Final = "\u200c\u200d"
"""Without these, words of some languages and some emoji fall apart."""


def quoted(name: str) -> str:
    r"""Return a name as it is, or as a JSON string if it could be read as more than one name on one line.

    Markup is escaped: a call with `"\u003c"` in its arguments has the same name as one with `"<"`.
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
    """Return several names, separated by commas."""
    return ", ".join(map(quoted, names))
