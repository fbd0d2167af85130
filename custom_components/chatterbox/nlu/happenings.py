"""Understands commands for when something happens: "when the front door opens, turn on the hallway light".

The words by language are in `languages/<language>/happenings.toml`, beside those for kinds, aspects and units of
`requests.toml`. What happens is understood if all its words are explained and mean one entity; the command is
passed on as it was said.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from ..agent.text import MOST_UNDERSTOOD, base_language, read_language_files
from ..speech.text.phrases import divided
from .kinds import KINDS, ON_OFF
from .lexicon import COMMA, Lexicon, Role, phrase_table, read_lexicon, tokens_of_phrase
from .questions import is_of_kind
from .reading import MOST_WORDS, Parts, read
from .vocabulary import HomeVocabulary, KnownEntity

ME: Final = "me"
_SHARED: Final = (
    *("accented", "article", "aspect", "endings", "heads", "kind", "place", "point"),
    *("joining", "preposition", "unit"),
)
"""The sections of `requests.toml` that are used, too."""
_ROLES: Final = frozenset(
    {
        *(Role.FILLER, Role.PREPOSITION, Role.ENTITY, Role.PLACE, Role.KIND),
        *(Role.ASPECT, Role.STATE, Role.VERB, Role.PARTICLE, Role.AMOUNT),
        Role.PRONOUN,
    }
)
_AROUND: Final = " .,!。，！"  # noqa: RUF001 Chinese marks
_LONGEST: Final = 14
"""Words of what happens."""
_BOUNDS: Final = {"above": ">", "below": "<"}
_NUMBERS: Final = frozenset({"sensor", "number", "input_number"})
_OPENINGS: Final = frozenset({"door", "garage_door", "opening", "window"})
_OPENED: Final = frozenset({"cover", "valve"})
_OF_PEOPLE: Final = frozenset({"home", "not_home"})
_PRESSED: Final = frozenset({"button", "event", "input_button"})
_BY_CLASS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "open": ("on", _OPENINGS),
    "closed": ("off", _OPENINGS),
    "motion": ("on", frozenset({"motion", "occupancy", "presence"})),
    "still": ("off", frozenset({"motion", "occupancy", "presence"})),
    "wet": ("on", frozenset({"moisture"})),
    "smoke": ("on", frozenset({"smoke"})),
}
"""States of binary sensors of some device classes, by the values of the lexicon."""
_BY_DOMAIN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("on", "off"), ON_OFF),
    **dict.fromkeys(("open", "closed"), _OPENED),
    **dict.fromkeys(("locked", "unlocked"), frozenset({"lock"})),
    **dict.fromkeys(_OF_PEOPLE, frozenset({"person"})),
    **dict.fromkeys(("playing", "paused"), frozenset({"media_player"})),
    **dict.fromkeys(("docked", "cleaning"), frozenset({"vacuum"})),
}
"""The domains of other entities that may be in a state."""


class Happening(NamedTuple):
    """A command, and when it is to run."""

    entity_id: str
    """`ME` for the person who speaks."""
    state: str
    """As a tool takes it: a state, a bound such as "> 70", or empty for what only happens."""
    is_once: bool
    command: str


_LANGUAGES: Final = read_language_files("happenings", dict[str, dict[str, str] | str])


@cache
def happening_lexicon(language: str) -> Lexicon | None:
    """Return the words for what happens in a language, if there are any."""
    code = base_language(language)
    words, known = _LANGUAGES.get(code), phrase_table(code)
    if words is None or known is None:
        return None
    shared = {key: known[key] for key in _SHARED if key in known}
    own = {key: words[key] for key in ("filler", "pronoun", "state")}
    return read_lexicon(shared | own, code)


class _Clauses(NamedTuple):
    """The words around what happens."""

    before: Sequence[tuple[Sequence[str], bool]]
    """Phrases that begin it, the longest first, and whether they mean one time."""
    after: Sequence[Sequence[str]]
    """Phrases that end it, where it may begin with none."""
    last: Sequence[Sequence[str]]
    """Phrases at the end of a sentence that mean one time."""
    then: Sequence[Sequence[str]]
    """Phrases that begin the command after it."""


@cache
def _clauses(code: str) -> _Clauses:
    def phrases(key: str) -> list[list[str]]:
        found = map(tokens_of_phrase, divided(str(_LANGUAGES[code].get(key, ""))))
        return sorted(found, key=len, reverse=True)

    once = [(phrase, True) for phrase in phrases("once")]
    each = [(phrase, False) for phrase in phrases("when")]
    before = sorted([*once, *each], key=lambda one: len(one[0]), reverse=True)
    return _Clauses(before, phrases("after"), phrases("only_once"), phrases("then"))


class _Clause(NamedTuple):
    """A sentence in two parts, of which one may tell what happens."""

    text: str
    command: str
    is_once: bool


def happenings(
    sentence: str, language: str, words: Lexicon, names: HomeVocabulary
) -> Iterator[Happening]:
    """Yield what a sentence may want to be done, and when; nothing for any other sentence."""
    for text, command, is_once in _divided(
        sentence, words, _clauses(base_language(language))
    ):
        for reading in read(text, words, names):
            if meant := _meant(Parts(reading.spans), words, names):
                yield Happening(*meant, is_once, command)
                break


def _divided(sentence: str, words: Lexicon, known: _Clauses) -> Iterator[_Clause]:
    """Yield the ways to divide a sentence: at commas before other places."""
    spoken = words.tokens(sentence) if len(sentence) <= MOST_UNDERSTOOD else []
    found = [token for token in spoken if token.word != COMMA]
    commas = [token.start for token in spoken if token.word == COMMA]
    heard = [token.word for token in found[: MOST_WORDS + 1]]
    if len(heard) > MOST_WORDS:
        return
    last = next((one for one in known.last if heard[-len(one) :] == one), ())
    end, is_once = len(heard) - len(last), bool(last)
    starts = [*(token.start for token in found), len(sentence)]

    def text(first: int, until: int) -> str:
        return sentence[starts[first] : starts[until]].strip(_AROUND)

    def parts(first: int, until: int, *, is_once: bool) -> Iterator[_Clause]:
        then = _after(heard, until, known.then)
        following = words.phrases.found(heard, then)
        if all(meaning.role is not Role.AND for _, meaning in following):
            yield _Clause(text(first, until), text(then, end), is_once)

    for start in range(end):
        begun, once = next(
            (one for one in known.before if _is_at(heard, start, one[0])), ((), False)
        )
        if begun and start and end - start - len(begun) <= _LONGEST:
            clause = text(start + len(begun), end)
            yield _Clause(clause, text(0, start), is_once or once)
        elif begun and not start:
            first = len(begun)
            last_words = {sum(one.start < comma for one in found) for comma in commas}
            until = range(first + 1, min(first + _LONGEST, end))
            for at in sorted(until, key=lambda at: at not in last_words):
                yield from parts(first, at, is_once=is_once or once)
        ended = next((one for one in known.after if _is_at(heard, start, one)), ())
        if ended and 0 < start <= _LONGEST:
            yield from parts(0, start, is_once=is_once)


def _is_at(heard: Sequence[str], start: int, phrase: Sequence[str]) -> bool:
    return [*heard[start : start + len(phrase)]] == [*phrase]


def _after(heard: Sequence[str], at: int, phrases: Sequence[Sequence[str]]) -> int:
    """Return the place after all phrases that follow each other from a place on."""
    while found := next((one for one in phrases if one and _is_at(heard, at, one)), ()):
        at += len(found)
    return at


def _meant(
    parts: Parts, words: Lexicon, names: HomeVocabulary
) -> tuple[str, str] | None:
    """Return the entity and its state that all words mean; None if they mean none, or several."""
    states = [*parts.values(Role.STATE), *filter(None, [parts.act(words)])]
    amounts = parts.all(Role.AMOUNT)
    if not _ROLES.issuperset(parts.by_role) or len(states) != 1 or len(amounts) > 1:
        return None
    [state] = states
    bound = _BOUNDS.get(state, "")
    if bool(bound) != bool(amounts):
        return None
    subjects = (Role.ENTITY, Role.KIND, Role.PLACE, Role.ASPECT)
    pronouns, is_alone = parts.values(Role.PRONOUN), not any(map(parts.all, subjects))
    if state in _OF_PEOPLE and is_alone:  # "cuando salga de casa"
        return None if "any" in pronouns else (ME, state)
    if "me" in pronouns:
        return None
    found = [
        (one.entity_id, value)
        for one in names.entities
        if (value := _state_of(one, state)) is not None
        and _is_subject(one, parts, names)
    ]
    if len(found) != 1:
        return None
    [(entity_id, value)] = found
    return entity_id, f"{bound} {amounts[0].number:g}" if bound else value


def _state_of(entity: KnownEntity, state: str) -> str | None:
    """Return a state as an entity has it; None if it never is in that state."""
    if state in _BOUNDS:
        return state if entity.domain in _NUMBERS else None
    if state == "rings":
        is_bell = entity.domain in _PRESSED
        return "" if is_bell else None
    if entity.domain == "binary_sensor":
        is_open = entity.device_class in _OPENINGS
        value, classes = _BY_CLASS.get(state, (state, frozenset({entity.device_class})))
        is_named = value in {"on", "off"} and not (is_open and state not in _BY_CLASS)
        return value if is_named and entity.device_class in classes else None
    return state if entity.domain in _BY_DOMAIN.get(state, ()) else None


def _is_subject(entity: KnownEntity, parts: Parts, names: HomeVocabulary) -> bool:
    """Return whether all words that name something are about an entity."""
    areas = [
        span.named.ids if span.named else names.areas_of(span.value)
        for span in parts.all(Role.PLACE)
    ]
    kinds = [KINDS.get(value) for value in parts.values(Role.KIND)]
    return all(
        chain(
            (entity.entity_id in one.ids for one in parts.named),
            (entity.area_id in one for one in areas),
            (kind is not None and is_of_kind(kind, entity) for kind in kinds),
            (entity.device_class == one for one in parts.values(Role.ASPECT)),
        )
    )
