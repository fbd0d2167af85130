"""Understands commands for when something happens: "when the front door opens, turn on the hallway light".

The words by language are in `languages/<language>/happenings.toml`, beside those for kinds, aspects and units of
`requests.toml`. What happens is understood if all its words are explained and mean one entity; the command is
passed on as it was said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from ..agent.text import MOST_UNDERSTOOD, base_language, read_language_files
from ..speech.text.phrases import PhraseTree, Token, divided
from .kinds import BY_STATE, CLASSES, KINDS, OPENINGS
from .lexicon import (
    COMMA,
    SMALL,
    Lexicon,
    PhraseTable,
    Role,
    phrase_table,
    read_lexicon,
    tokens_of_phrase,
)
from .questions import is_of_kind
from .reading import MOST_WORDS, NAMING, Parts, Reading, read
from .vocabulary import HomeVocabulary, KnownEntity

ME: Final = "me"
_SHARED: Final = (
    "accented",
    "article",
    "aspect",
    "endings",
    "heads",
    "kind",
    "place",
    "point",
    "joining",
    "preposition",
    "unit",
)
"""The sections of `requests.toml` that are used, too."""
_ROLES: Final = (
    SMALL
    | NAMING
    | {
        Role.ASPECT,
        Role.STATE,
        Role.VERB,
        Role.PARTICLE,
        Role.AMOUNT,
        Role.PRONOUN,
    }
)
_AROUND: Final = " .,!。，！"  # noqa: RUF001 Chinese marks
_LONGEST: Final = 14
"""Words of what happens."""
_SUBJECTS: Final = NAMING | {Role.ASPECT}
_BOUNDS: Final = {
    "above": ">",
    "below": "<",
}
_NUMBERS: Final = frozenset({"sensor", "number", "input_number"})
_OF_PEOPLE: Final = frozenset({"home", "not_home"})
_PRESSED: Final = frozenset({"button", "event", "input_button"})
_OPPOSITES: Final = {
    "closed": "open",
    "still": "motion",
}
"""States in which binary sensors are off, with those in which they are on."""


class Happening(NamedTuple):
    """A command, and when it is to run."""

    entity_id: str
    """`ME` for the person who speaks."""
    state: str
    """As a tool takes it: a state, a bound such as "> 70", or empty for what only happens."""
    is_once: bool
    command: str


_LANGUAGES: Final = read_language_files(
    "happenings",
    PhraseTable,
)


@cache
def happening_lexicon(language: str) -> Lexicon | None:
    """Return the words for what happens in a language, if there are any."""
    code = base_language(language)
    words = _LANGUAGES.get(code)
    known = phrase_table(code)
    if words is None or known is None:
        return None
    shared = {key: known[key] for key in _SHARED if key in known}
    own = {key: words[key] for key in ("filler", "pronoun", "state")}
    return read_lexicon(shared | own, code)


_AROUND_CLAUSES: Final = (
    "once",
    "when",
    "after",
    "other",
    "only_once",
    "then",
)
"""The sections with phrases around what happens.

`once` and `when` begin what happens, once or each time; `after` ends it, where it may
begin with none; `other` are phrases like those that mean something else, such as "even
if"; `only_once` ends a sentence about one time, and `then` begins the command.
"""


@cache
def _around_clauses(code: str) -> PhraseTree[str]:
    """Return the phrases around what happens, with their sections."""
    tree = PhraseTree[str]()
    for section in _AROUND_CLAUSES:
        for phrase in divided(str(_LANGUAGES[code].get(section, ""))):
            tree.add(tokens_of_phrase(phrase), section)
    return tree


class _Clause(NamedTuple):
    """A sentence in two parts, of which one may tell what happens."""

    text: str
    command: str
    is_once: bool


def happenings(
    sentence: str,
    names: HomeVocabulary,
) -> Iterator[Happening]:
    """Yield what a sentence may want to be done, and when; nothing for any other sentence."""
    if len(sentence) > MOST_UNDERSTOOD:
        return
    words = names.words
    spoken = words.tokens(sentence)
    found = [token for token in spoken if token.word != COMMA]
    if len(found) > MOST_WORDS:
        return
    commas = [token.start for token in spoken if token.word == COMMA]
    clauses_of = _Sentence(
        sentence,
        found,
        commas,
        words,
        _around_clauses(words.language),
    )
    for text, command, is_once in clauses_of.clauses():
        meant = map(_meant, read(text, names))
        one = next(filter(None, meant), None)
        if one:
            yield Happening(
                *one,
                is_once,
                command,
            )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that may tell what happens, without its commas."""

    text: str
    tokens: Sequence[Token]
    commas: Sequence[int]
    """Where they stand in the text."""
    words: Lexicon
    known: PhraseTree[str]
    """The phrases around what happens."""

    @property
    def heard(self) -> list[str]:
        """Its words."""
        return [token.word for token in self.tokens]

    def clauses(self) -> Iterator[_Clause]:
        """Yield the ways to divide it."""
        heard = self.heard
        count = len(heard)
        found = [
            (at, until, section)
            for at in range(count)
            for until, section in self.known.found(heard, at)
        ]
        if any(section == "other" for _, _, section in found):
            return
        ends = [
            at
            for at, until, section in found
            if section == "only_once" and until == count
        ]
        end = min(ends, default=count)
        for start in range(end):
            for clause in (*self._begun(start, end), *self._ended(start, end)):
                yield clause._replace(is_once=clause.is_once or bool(ends))

    def _phrases(
        self,
        at: int,
        *sections: str,
    ) -> list[tuple[int, str]]:
        """Return the ends of the phrases of some sections that begin at a word."""
        found = self.known.found(self.heard, at)
        return [one for one in found if one[1] in sections]

    def _begun(
        self,
        start: int,
        end: int,
    ) -> Iterator[_Clause]:
        """Yield those with words that begin what happens at a place: at commas before other places."""
        begun = self._phrases(start, "once", "when")
        if not begun:
            return
        first, section = max(begun, key=itemgetter(0))
        is_once = section == "once"
        if start:
            if end - first <= _LONGEST:
                command = self._part(0, start)
                yield _Clause(
                    self._part(first, end),
                    command,
                    is_once,
                )
            return
        at_commas = {
            sum(one.start < comma for one in self.tokens) for comma in self.commas
        }
        until = range(
            first + 1,
            min(first + _LONGEST, end),
        )
        for at in sorted(until, key=lambda at: at not in at_commas):
            yield from self._before_command(
                first,
                at,
                end,
                is_once=is_once,
            )

    def _ended(
        self,
        start: int,
        end: int,
    ) -> Iterator[_Clause]:
        """Yield those with words that end what happens at a place."""
        if self._phrases(start, "after") and 0 < start <= _LONGEST:
            yield from self._before_command(
                0,
                start,
                end,
                is_once=False,
            )

    def _before_command(
        self,
        first: int,
        until: int,
        end: int,
        *,
        is_once: bool,
    ) -> Iterator[_Clause]:
        """Yield what happens with the command after it, unless both are joined to something else."""
        then = self._after_then(until)
        following = self.words.phrases.found(
            self.heard,
            then,
        )
        if all(meaning.role is not Role.AND for _, meaning in following):
            yield _Clause(
                self._part(first, until),
                self._part(then, end),
                is_once,
            )

    def _after_then(self, at: int) -> int:
        """Return the place after all phrases before a command that follow each other from a place on."""
        ends = [end for end, _ in self._phrases(at, "then")]
        if ends:
            return self._after_then(max(ends))
        return at

    def _part(
        self,
        first: int,
        until: int,
    ) -> str:
        starts = [*(token.start for token in self.tokens), len(self.text)]
        return self.text[starts[first] : starts[until]].strip(_AROUND)


def _meant(reading: Reading) -> tuple[str, str] | None:
    """Return the entity and its state that all words mean; None if they mean none, or several."""
    parts = Parts(reading.spans, reading)
    states = [*parts.values(Role.STATE), *filter(None, [parts.act])]
    amounts = parts.all(Role.AMOUNT)
    if not _ROLES.issuperset(parts.by_role) or len(states) != 1 or len(amounts) > 1:
        return None
    [state] = states
    bound = _BOUNDS.get(state, "")
    if bool(bound) != bool(amounts):
        return None
    pronouns = parts.values(Role.PRONOUN)
    has_subject = parts.all(*_SUBJECTS)
    if state in _OF_PEOPLE and not has_subject:  # "cuando salga de casa"
        if "any" in pronouns:
            return None
        return (ME, state)
    if "me" in pronouns:
        return None
    found = _entity_in(state, parts)
    if found is None:
        return None
    entity_id, value = found
    return entity_id, f"{bound} {amounts[0].number:g}" if bound else value


def _entity_in(
    state: str,
    parts: Parts,
) -> tuple[str, str] | None:
    """Return the one entity that is named and may be in a state, and that state as it has it."""
    able = {one.entity_id: _state_of(one, state) for one in parts.names.entities}
    possible = [
        one
        for one in parts.names.entities
        if able[one.entity_id] is not None and _is_described(one, parts)
    ]
    found = [
        one
        for one in possible
        if all(one.entity_id in named.ids for named in parts.named)
    ]
    found = found or [one for one in possible if _is_part(one, parts)]
    if len(found) != 1:
        return None
    [entity] = found
    return entity.entity_id, able[entity.entity_id] or ""


def _state_of(
    entity: KnownEntity,
    state: str,
) -> str | None:
    """Return a state as an entity has it; None if it never is in that state."""
    if state in _BOUNDS:
        if entity.domain in _NUMBERS:
            return state
        return None
    if state == "rings":
        is_bell = entity.domain in _PRESSED
        return "" if is_bell else None
    if entity.domain == "binary_sensor":
        if state in {"on", "off"}:
            return None if entity.device_class in OPENINGS else state
        when_on = _OPPOSITES.get(state, state)
        # A car that moves is no motion in a room.
        classes = CLASSES.get(when_on, frozenset()) - {"moving"}
        if entity.device_class in classes:
            return "on" if when_on == state else "off"
        return None
    if entity.domain in BY_STATE.get(state, ()):
        return state
    return None


def _is_part(
    entity: KnownEntity,
    parts: Parts,
) -> bool:
    """Return whether an entity is a part of what is named: "Front Door Contact", where a lock is the "Front Door"."""
    words = parts.reading.words
    named = [
        {*map(words.stem, parts.reading.heard[one.start : one.end])}
        for one in parts.all(Role.ENTITY)
    ]
    own = [_own_words(name, words) for name in entity.names]
    return bool(named) and all(any(one <= name for name in own) for one in named)


def _own_words(
    name: str,
    words: Lexicon,
) -> set[str]:
    """Return the words of a name, without endings, and without what is written in one word: "Voordeurcontact"."""
    found = tokens_of_phrase(name)
    found += [
        word.removesuffix(head)
        for word in found
        for head in words.heads
        if word.endswith(head)
    ]
    return {*map(words.stem, found)}


def _is_described(
    entity: KnownEntity,
    parts: Parts,
) -> bool:
    areas = map(
        parts.areas_of,
        parts.all(Role.PLACE),
    )
    kinds = [KINDS.get(value) for value in parts.values(Role.KIND)]
    return all(
        chain(
            (entity.area_id in one for one in areas),
            (kind is not None and is_of_kind(kind, entity) for kind in kinds),
            (entity.device_class == one for one in parts.values(Role.ASPECT)),
        )
    )
