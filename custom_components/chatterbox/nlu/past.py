"""Understands questions about what was: when something was last so, whether it was so, and for how long.

Home Assistant's own sentences ask about the present. The words by language are in
`languages/<language>/past.toml`; their order is free, as long as every one of them is explained.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from ..agent.text import base_language, read_language_files
from .lexicon import Lexicon, PhraseTable, Role, read_lexicon
from .reading import NAMING, Parts, read
from .vocabulary import HomeVocabulary

_ROLES: Final = NAMING | {
    Role.FILLER,
    Role.AND,
    Role.QUESTION,
    Role.STATE,
    Role.DAY,
}


class PastForm(StrEnum):
    """A kind of question."""

    LAST = "last"
    """When something was last so."""
    WHETHER = "whether"
    LENGTH = "length"
    """For how long it was so."""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question about what was."""

    form: PastForm
    arguments: Mapping[str, str]
    """Those of the tool that tells what was."""


_LANGUAGES: Final = read_language_files(
    "past",
    PhraseTable,
)


@cache
def past_lexicon(language: str) -> Lexicon | None:
    """Return the words of questions about what was in a language, if there are any."""
    words = _LANGUAGES.get(code := base_language(language))
    if words:
        return read_lexicon(words, code)
    return None


def past_question(
    sentence: str,
    names: HomeVocabulary,
) -> PastQuestion | None:
    """Return what a sentence asks about the past of entities of the home; None for any other one."""
    readings = (Parts(one.spans, one) for one in read(sentence, names))
    questions = (_question(one) for one in readings if _ROLES.issuperset(one.by_role))
    return next(filter(None, questions), None)


def _question(parts: Parts) -> PastQuestion | None:
    states = parts.values(Role.STATE)
    periods = parts.values(Role.DAY)
    about = _about(parts)
    form = _form(
        {*parts.values(Role.QUESTION)}, parts.spans[0].value, has_period=bool(periods)
    )
    if form is None or about is None or len(states) != 1 or len(periods) > 1:
        return None
    about["state"] = states[0]
    if periods:
        about["period"] = periods[0]
    return PastQuestion(form, about)


def _form(
    forms: set[str],
    first: str,
    *,
    has_period: bool,
) -> PastForm | None:
    is_past = not forms.isdisjoint({"was", "asks", "last"})
    is_last = (
        "since" in forms
        or ("who" in forms and "is" not in forms)
        or ("when" in forms and is_past)
    )
    if has_period:
        is_length = "length" in forms
        is_whether = "asks" in forms or first == "was"
        if is_last:
            return None
        if is_length:
            return PastForm.LENGTH
        if is_whether:
            return PastForm.WHETHER
        return None
    is_length = "length" in forms and (is_past or "is" in forms)
    if is_last or is_length:
        return PastForm.LAST
    return None


def _about(parts: Parts) -> dict[str, str] | None:
    """Return the arguments for what is named: an entity, or a kind of them in the whole home or in a room."""
    entities, places = (
        [span.named for span in parts.all(role) if span.named]
        for role in (Role.ENTITY, Role.PLACE)
    )
    match entities, parts.values(Role.KIND), places:
        case [named], [], [] if named.is_whole:
            return {"name": parts.names.by_id[min(named.ids)].names[0]}
        case [], [kind], []:
            return {"kind": kind}
        case [], [kind], [place]:
            rooms = [
                room.names[0]
                for room in parts.names.places
                if room.area_ids == place.ids
            ]
            return {
                "kind": kind,
                "area": rooms[0],
            }
        case _:
            return None
