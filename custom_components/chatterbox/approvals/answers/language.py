"""Loads the words for yes, no and numbers of all languages, and expands their sentence templates to phrases.

Ten languages have files of their own; of the others, `other_languages.toml` and
`cldr.toml` hold a yes, a no and the digits. In these, an answer is also read as an
English one.

Templates have the syntax of Home Assistant's sentences and are expanded by hassil:
`[please]` may be left out, `(yes|yeah)` is one of both. `<it>` stands for the device in
question: a word for it, or its name; `<action>` for what was asked for, as `actions`
has it; `<order>` for those actions that never name the device: "ábrela". Capitals and
punctuation do not matter.
"""

import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from ...agent.text import (
    MOST_COMPARED,
    base_language,
    contains_phrase,
    heard_words,
    read_language_files,
    spoken_words,
)

if TYPE_CHECKING:
    from hassil.expression import Sentence

type Phrase = tuple[str, ...]
"""Words in the order in which they are said."""

_SLOTS: Final = (
    "it",
    "action",
    "order",
    "name",
    "place",
)


class Action(StrEnum):
    """An action that was asked for. An answer may repeat it and must not name the opposite."""

    UNLOCK = "unlock"
    LOCK = "lock"
    OPEN = "open"
    CLOSE = "close"
    DISARM = "disarm"
    ARM = "arm"
    TURN_ON = "turn_on"
    TURN_OFF = "turn_off"
    RUN = "run"
    """Start a script, a scene or an automation."""


class _LanguageTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NumberWords(_LanguageTable):
    """How a language says the numbers up to 99. Accents do not matter."""

    digits: tuple[str, ...]
    """0 to 9, as they are said alone."""
    teens: tuple[str, ...] = ()
    """10 to 19."""
    tens: tuple[str, ...] = ()
    """20, 30 to 90."""
    compounds: tuple[str, ...] = ()
    """How the others are composed: `<ten> <unit>`."""
    irregular: Mapping[int, str] = {}
    """Numbers that are said in another way, or in other ways too."""
    repeats: Mapping[str, int] = {}
    """Words that repeat the next digit: "double" is 2."""
    before: tuple[str, ...] = ()
    """Words that may precede the digits and add nothing: "my PIN is"."""
    after: tuple[str, ...] = ()
    """Words that may follow the digits and add nothing: "please"."""
    units: tuple[str, ...] = ()
    """1 to 9 within other numbers, where they differ from `digits`."""
    large: tuple[str, ...] = ()
    """Words, not templates, for hundreds and thousands, which are not read as digits; `*` stands for any letters."""
    weak: tuple[str, ...] = ()
    """Digits that are other words, too: "a moment", "no one", "oh"."""
    idioms: tuple[str, ...] = ()
    """Phrases that contain a number and mean none: "grazie mille", "a hundred percent"."""


class Wording(_LanguageTable):
    """How a language agrees and declines. The fields are those of the language file."""

    yes: tuple[str, ...]
    """A plain yes, alone or after another one, to any question whether something shall be done."""
    yes_alone: tuple[str, ...] = ()
    """A yes only with courtesies around it; other words would change its meaning: Spanish "si" is also "if"."""
    after_yes: tuple[str, ...] = ()
    """Words that may follow a yes besides another yes: "right now", "you can"."""
    no: tuple[str, ...]
    """A plain no, alone or after another one."""
    no_alone: tuple[str, ...] = ()
    """A no only with courtesies around it; it would reverse other words: "don't"."""
    courtesies: tuple[str, ...] = ()
    """Words that add nothing anywhere: "please", "oh"."""
    it: tuple[str, ...] = ()
    """Words for one device: "it"."""
    them: tuple[str, ...] = ()
    """Words for several devices, and for all of them: "both"."""
    all: tuple[str, ...] = ()
    """Words, not templates, by which a request is about all devices of a kind: "lock every door"."""
    exceptions: tuple[str, ...] = ()
    """Words, not templates, by which a request may leave a device out: "all doors but the back door"."""
    ordinals: tuple[str, ...] = ()
    """How one of several is chosen by its place: the first, the second and so on, and at the end the last one."""
    corrections: tuple[str, ...] = ()
    """A no, before a pause, to what was named first: "no, the back one"."""
    named: tuple[str, ...] = ()
    """How `<name>`, the name of a device, stands in a sentence: "the <name>"."""
    placed: tuple[str, ...] = ()
    """How `<place>`, the name of a room, stands beside a device: "in the <place>"."""
    accents_matter: tuple[str, ...] = ()
    """Words that mean something else without their accents. Others may be written without: "nao", "dejala"."""
    folded: str = ""
    """Pairs of characters: the first is read as the second."""
    neither: tuple[str, ...] = ()
    """English answers that mean something else in this language: Czech "no" is "well"."""
    actions: Mapping[Action, tuple[str, ...]] = {}
    """Words with which the same person would request an action: "unlock [<it>]"."""
    numbers: NumberWords

    @property
    def is_brief(self) -> bool:
        """Whether only a yes, a no and the digits are known, so that an English answer counts, too."""
        return not self.actions


_FOLDER: Final = Path(__file__).parent
_OTHER_CODES: Final = {
    "no": "nb",
    "iw": "he",
    "in": "id",
    "tl": "fil",
}
"""Codes under which languages are known, too."""
WORDINGS: Final = read_language_files("answers", Wording)
"""The languages with files, by code (ISO 639-1). Read at import, which Home Assistant does in an executor."""


def _brief_wordings() -> Mapping[str, Wording]:
    """Read the languages without files of their own. The words of both files count, but the digits of only one."""
    cldr, own = (
        tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
        for name in ("cldr", "other_languages")
    )
    merged = {
        code: {**cldr.get(code, {}), **own.get(code, {})} for code in (*cldr, *own)
    }
    for code, fields in merged.items():
        both = (cldr.get(code, {}), own.get(code, {}))
        for key in ("yes", "no"):
            fields[key] = [word for file in both for word in file.get(key, ())]
        polite = fields.get("courtesies", ())
        fields["numbers"] = {
            "digits": fields.pop("digits", ()),
            "before": polite,
            "after": polite,
        }
    return {code: Wording.model_validate(fields) for code, fields in merged.items()}


ALL_WORDINGS: Final = {
    **_brief_wordings(),
    **WORDINGS,
}
"""All languages, by code."""


def language_code(tag: str) -> str:
    """Return the key of a language such as `pt-BR` or `no` in `ALL_WORDINGS`, which need not be there."""
    code = base_language(tag)
    return _OTHER_CODES.get(code, code)


def is_about_all(request: str, language: str) -> bool:
    """Return whether the words of a request are about all devices of a kind.

    False in languages that are not known, and of a text that is longer than what people
    say.
    """
    wording = ALL_WORDINGS.get(language_code(language))
    return (
        wording is not None
        and len(request) <= MOST_COMPARED
        and _contains_any(request, wording.all)
    )


def may_except(request: str, language: str) -> bool:
    """Return whether the words of a request may leave out a device.

    True in languages that are not known, and of a text that is longer than what people
    say.
    """
    wording = ALL_WORDINGS.get(language_code(language))
    if wording is None or wording.is_brief or len(request) > MOST_COMPARED:
        return True
    return _contains_any(request, wording.exceptions)


def _contains_any(
    request: str,
    phrases: Iterable[str],
) -> bool:
    words = heard_words(request)
    return any(contains_phrase(words, _words_of(phrase)) for phrase in phrases)


_words_of: Final = cache(heard_words)
"""Returns the words of a phrase of a language file."""


@cache
def action_words(
    code: str,
    action: Action,
) -> frozenset[str]:
    """Return the words of a request for an action, without accents; none in a language without such words."""
    if code not in ALL_WORDINGS:
        return frozenset()
    templates = ALL_WORDINGS[code].actions.get(
        action,
        (),
    )
    return frozenset(
        word
        for phrase in phrases_of(templates, {"it": ["[x]"]})
        for word in heard_words(" ".join(phrase))
    ) - {"x"}


def phrases_of(
    templates: Iterable[str], slots: Mapping[str, Iterable[str]] | None = None
) -> frozenset[Phrase]:
    """Return every phrase that one of the templates stands for.

    `slots` gives the templates that may stand in place of a name in angle brackets. A
    phrase with a slot that has none is left out.
    """
    from hassil.expression import Alternative, Sentence  # noqa: PLC0415 - a fifth of a second, which few turns need
    from hassil.sample import sample_sentence  # noqa: PLC0415 - as above

    filled = {name: "|".join(fillings) for name, fillings in (slots or {}).items()}
    rules = {
        name: _parsed(filled[name]) if filled.get(name) else Sentence(Alternative())
        for name in _SLOTS
    }
    sentences = (
        text
        for template in templates
        for text in sample_sentence(_parsed(template), expansion_rules=rules)
    )
    return frozenset(words for text in sentences if (words := spoken_words(text)))


@lru_cache(maxsize=1024)
def _parsed(template: str) -> Sentence:
    from hassil.parse_expression import parse_sentence  # noqa: PLC0415 - as above

    return parse_sentence(template)
