"""Understands the answer to a question such as "Unlock the front door?", without a model.

Only a plain yes is a yes: it has to be understood from its first word to its last. A
condition, an exception, a second request, another device or a doubt makes it something
else. Answers are neither stored nor cached.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial
from itertools import combinations
from typing import Final

from ...agent.text import character_map, fold, heard_words, spoken_words, words_alike
from .language import ALL_WORDINGS, Action, Phrase, Wording, language_code, phrases_of

MAX_WORDS: Final = 16
"""A longer answer is more than a yes or no. In Chinese, characters are counted."""
_MAX_CHARACTERS: Final = 200
_FALLBACK: Final = "en"
"""Questions are asked in English, too, where a language has no words."""


_MARK: Final = re.compile(r"[,.;:!…，。；！]+\s*(?=\S)")  # noqa: RUF001  # Chinese marks
"""A pause after which words follow."""


class Meaning(StrEnum):
    """The meaning of words as the answer to a question. Words alone are `YES`, `NO` or `OTHER`."""

    YES = "yes"
    YES_WITH_PIN = "yes_with_pin"
    NO = "no"
    OTHER = "other"
    """Neither a plain yes nor a plain no; it may be a new request. It contains no PIN, so a model may read it."""
    PIN_MISSING = "pin_missing"
    """A plain yes although the PIN is required; the PIN is then requested."""
    PIN_UNCLEAR = "pin_unclear"
    """Something like a PIN that cannot be understood. It costs no attempt, and the PIN is requested again."""
    PIN_NOT_NEEDED = "pin_not_needed"
    """A PIN although a yes suffices. The question is repeated, since it may have been mistaken for another one."""
    TOO_LATE = "too_late"
    """An answer to an expired question, or to one that requires a PIN that the home no longer has."""
    UNHEARD = "unheard"
    """An answer although a question is waiting that has not been spoken here yet; the question is spoken first."""
    NEITHER = "neither"
    """A few words that are no request: "great!". The question is asked again, once."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """The subject of the question. An answer may repeat it: "yes, unlock the front door"."""

    action: Action | None = None
    """The action to be done; None if there is no word for it, or if there are several."""
    names: tuple[str, ...] = ()
    """Names of the one device in question. Each of them must mean this device and no other in the home."""
    place: str = ""
    """Name of the room of that device."""
    several: bool = False
    """True if the question is about several devices: then "both" is an answer, and a name is none."""
    repetition: str = ""
    """The request in the words of the question: "unlock the front door and open the garage door"."""

    def __post_init__(self) -> None:
        """Refuse names of several devices."""
        if self.several and (self.names or self.place):
            raise ValueError(
                "a yes that names one of several devices is no yes to all: give no names, and no place"
            )


NOTHING_NAMED: Final = QuestionContext()
"""A question of which an answer cannot repeat anything."""


def understood_language(tag: str) -> str:
    """Return the language in which answers are read for a tag such as `pt-BR`: itself, or else English."""
    if language_code(tag) in ALL_WORDINGS:
        return tag
    return _FALLBACK


def prepare_answers(language: str, question: QuestionContext) -> None:
    """Prepare the phrases that answer a question, in a language as `understood_language` returns it.

    This may need a tenth of a second: call it in a thread.
    """
    for code in languages_of_answers(language):
        _answer_phrases(code, question)


def understand_answer(
    text: str, language: str, question: QuestionContext = NOTHING_NAMED
) -> Meaning:
    """Return what an answer means, in a language such as `de` or `pt-BR`.

    In a language that is not known, every answer is `OTHER`.
    """
    if len(text) > _MAX_CHARACTERS + len(question.repetition):
        return Meaning.OTHER
    meanings = (
        _meaning(
            text,
            code,
            question,
        )
        for code in languages_of_answers(language)
    )
    answer = next(
        (one for one in meanings if one is not Meaning.OTHER),
        Meaning.OTHER,
    )
    if answer is not Meaning.OTHER and _means_neither(text, language):
        return Meaning.OTHER
    return answer


def begins_with_yes(text: str, language: str) -> bool:
    """Return whether the first word of an answer is a yes, whatever follows."""
    words = heard_words(text)
    wordings = [ALL_WORDINGS[code] for code in languages_of_answers(language)]
    phrases = (_phrases(wording, wording.yes, {}) for wording in wordings)
    begins = (
        heard_words(phrase[0])
        for some in phrases
        for phrase in some
        if len(phrase) == 1
    )
    return any(words[: len(begin)] == begin for begin in begins)


def understand_choice(
    text: str,
    language: str,
    options: Sequence[Sequence[frozenset[str]]],
    spoken: int,
) -> tuple[int, ...] | None:
    """Return the numbers of those options that an answer chooses; none if it may mean several, None if it chooses none.

    An option is given by the words of its names, and of its room. All the words have to
    be understood. The question has named the first `spoken` options: "the last one"
    means one of these.
    """
    found = (
        _choice(
            text,
            code,
            options,
            spoken,
        )
        for code in languages_of_answers(language) or (_FALLBACK,)
    )
    return next(
        (one for one in found if one is not None),
        None,
    )


def _choice(
    text: str,
    code: str,
    options: Sequence[Sequence[frozenset[str]]],
    spoken: int,
) -> tuple[int, ...] | None:
    """Return the options that an answer chooses in one language."""
    wording = ALL_WORDINGS[code]
    first, *rest = _MARK.split(
        text,
        maxsplit=1,
    )
    if rest and heard_words(first) in _folded(wording.corrections):
        text = rest[0]
    if spoken_words(text, wording.folded) is None:
        return None
    polite, around = _fillers(code)
    heard = heard_words(text.translate(character_map(wording.folded)))
    heard = _without_courtesies(heard, polite)
    chosen = _by_place(
        heard,
        wording,
        len(options),
        spoken,
    )
    if chosen is None:
        return _by_name(
            heard,
            around,
            options,
        )
    return chosen


def _by_place(
    heard: Phrase,
    wording: Wording,
    count: int,
    spoken: int,
) -> tuple[int, ...] | None:
    """Return the options of which both or a place was said; None if none was."""
    if count == 2 and heard in _folded(wording.them):  # noqa: PLR2004  # "both", which is no word for more
        return (0, 1)
    for place, template in enumerate(wording.ordinals, start=1):
        if heard in _folded([template]):
            chosen = count if place == len(wording.ordinals) else place
            if chosen <= count:
                if chosen <= spoken:
                    return (chosen - 1,)
                return ()
    return None


def _by_name(
    heard: Phrase, around: frozenset[str], options: Sequence[Sequence[frozenset[str]]]
) -> tuple[int, ...] | None:
    """Return the options of which a name was said; the exact words come before others that sound alike."""
    known = [frozenset[str]().union(*names) for names in options]
    named = frozenset[str]().union(*known)
    content = {word for word in heard if word in named or word not in around}
    for words_of in (content.intersection, partial(words_alike, content)):
        meant = [
            number for number, words in enumerate(known) if content == words_of(words)
        ]
        if meant and content:
            exact = [number for number in meant if content in options[number]]
            return next(
                (tuple(one) for one in (meant, exact) if len(one) == 1),
                (),
            )
    return None


def _without_courtesies(
    heard: Phrase,
    polite: Iterable[Phrase],
) -> Phrase:
    """Return what was heard without courtesies before and after it."""
    for one in polite:
        if heard[: len(one)] == one:
            return _without_courtesies(heard[len(one) :], polite)
        if heard[-len(one) :] == one:
            return _without_courtesies(
                heard[: -len(one)],
                polite,
            )
    return heard


@cache
def _fillers(code: str) -> tuple[frozenset[Phrase], frozenset[str]]:
    """Return the phrases that may stand before and after a choice, and the words that may stand around a name."""
    wording = ALL_WORDINGS[code]
    polite = _folded((*wording.courtesies, *wording.yes))
    slots = {
        "name": ["x"],
        "place": ["x"],
    }
    around = {
        word
        for phrase in _folded(
            (*wording.named, *wording.placed, *wording.it),
            slots,
        )
        for word in phrase
    }
    return polite, frozenset(around - {"x"})


def _folded(
    templates: Iterable[str], slots: Mapping[str, Iterable[str]] | None = None
) -> frozenset[Phrase]:
    return frozenset(
        heard_words(" ".join(phrase)) for phrase in phrases_of(templates, slots)
    )


def languages_of_answers(language: str) -> tuple[str, ...]:
    """Return the codes of the languages in which an answer is read: English, too, where only a few words are known."""
    code = language_code(language)
    if code not in ALL_WORDINGS:
        return ()
    if ALL_WORDINGS[code].is_brief:
        return (code, _FALLBACK)
    return (code,)


def _means_neither(text: str, language: str) -> bool:
    """Return True if an English answer means something else in a language."""
    return spoken_words(text) in phrases_of(
        ALL_WORDINGS[language_code(language)].neither
    )


def _meaning(
    text: str,
    code: str,
    question: QuestionContext,
) -> Meaning:
    """Return what an answer means in one language."""
    folded = ALL_WORDINGS[code].folded
    words = spoken_words(text, folded)
    if words is None or len(words) > MAX_WORDS + len(
        spoken_words(question.repetition, folded) or ()
    ):
        return Meaning.OTHER
    phrases = _answer_phrases(code, question)
    if phrases.lead(words, phrases.yes, phrases.after_yes, phrases.yes_alone):
        return Meaning.YES
    if phrases.lead(words, phrases.no, phrases.no, phrases.no_alone):
        return Meaning.NO
    return Meaning.OTHER


_BEGUN: Final = 0
_ANSWERED: Final = 1
_FINISHED: Final = 2


@dataclass(frozen=True, slots=True)
class _AnswerPhrases:
    """The phrases that answer one question."""

    yes: frozenset[Phrase]
    yes_alone: frozenset[Phrase]
    after_yes: frozenset[Phrase]
    no: frozenset[Phrase]
    no_alone: frozenset[Phrase]
    courtesies: frozenset[Phrase]

    def lead(
        self,
        words: Phrase,
        first: frozenset[Phrase],
        then: frozenset[Phrase],
        alone: frozenset[Phrase],
    ) -> bool:
        """Return True if all the words are a first phrase and others of `then`, or one phrase that stands alone."""
        polite = self.courtesies
        # Each leads from one state, by any of some phrases, to another.
        steps = (
            (
                _BEGUN,
                polite,
                _BEGUN,
            ),
            (
                _BEGUN,
                first,
                _ANSWERED,
            ),
            (
                _ANSWERED,
                then | polite,
                _ANSWERED,
            ),
            (
                _BEGUN,
                alone,
                _FINISHED,
            ),
            (
                _FINISHED,
                polite,
                _FINISHED,
            ),
        )
        reached = [{_BEGUN}, *(set[int]() for _ in words)]
        for start, end in combinations(range(len(words) + 1), 2):
            phrase = words[start:end]
            reached[end] |= {
                after
                for before, phrases, after in steps
                if before in reached[start] and phrase in phrases
            }
        return not reached[-1].isdisjoint((_ANSWERED, _FINISHED))


@lru_cache(maxsize=4)  # by question, never by answer; a quarter of a megabyte each
def _answer_phrases(language: str, question: QuestionContext) -> _AnswerPhrases:
    """Combine the words of a language with what the question named."""
    wording = ALL_WORDINGS[language]
    if question.action:
        actions = wording.actions.get(
            question.action,
            (),
        )
    else:
        actions = ()
    shared = {
        "name": _usable_names(language, question.names),
        "place": _usable_places(language, question.place),
        "action": actions,
    }
    one = (*wording.it, *wording.named)
    device = wording.them if question.several else one
    agreeing = {
        **shared,
        "order": [action for action in actions if "<it>" not in action],
        "it": device,
    }
    declining = {
        **shared,
        "it": (*wording.them, *one),
    }
    yes = _phrases(wording, wording.yes, agreeing)
    repeated = (
        *actions,
        *(wording.them if question.several else wording.named),
        *wording.placed,
    )
    after_yes = yes | _phrases(wording, (*wording.after_yes, *repeated), agreeing)
    whole = spoken_words(question.repetition, wording.folded)
    if whole and negations(language).isdisjoint(whole):
        after_yes |= {whole}
    return _AnswerPhrases(
        yes=yes,
        yes_alone=_phrases(wording, wording.yes_alone, agreeing),
        after_yes=after_yes,
        no=_phrases(wording, wording.no, declining),
        no_alone=_phrases(wording, wording.no_alone, declining),
        courtesies=_phrases(
            wording,
            wording.courtesies,
            {},
        ),
    )


def _phrases(
    wording: Wording, templates: Iterable[str], slots: Mapping[str, Iterable[str]]
) -> frozenset[Phrase]:
    """Return the phrases of templates, and the same without accents, as speech recognition may write them."""
    characters = character_map(wording.folded)
    phrases = frozenset(
        tuple(word.translate(characters) for word in one)
        for one in phrases_of(templates, slots)
    )
    words = {word for phrase in phrases for word in phrase}.difference(
        wording.accents_matter
    )
    plain = {word: fold(word) for word in words}
    return phrases | {
        tuple(plain.get(word, word) for word in phrase) for phrase in phrases
    }


def _usable_places(
    language: str,
    place: str,
) -> list[str]:
    """Return the name of the room, unless it could be taken for a no, an action or a time: "in 10 minutes"."""
    if any(map(str.isnumeric, place)):
        return []
    return _usable_names(language, [place])


def _usable_names(
    language: str,
    names: Iterable[str],
) -> list[str]:
    """Return the names except those that could be taken for a no or an action."""
    folded = ALL_WORDINGS[language].folded
    actions = _requests(language)
    spoken = [words for name in names if (words := spoken_words(name, folded))]
    return [
        " ".join(words)
        for words in spoken
        if words not in actions and negations(language).isdisjoint(words)
    ]


@cache
def _requests(language: str) -> frozenset[Phrase]:
    """Return the phrases that request an action."""
    wording = ALL_WORDINGS[language]
    requests = [
        template for templates in wording.actions.values() for template in templates
    ]
    return phrases_of(
        requests,
        {"it": (*wording.it, *wording.them)},
    )


@cache
def negations(language: str) -> frozenset[str]:
    """Return the words that say no on their own."""
    wording = ALL_WORDINGS[language]
    return frozenset(
        phrase[0]
        for phrase in phrases_of((*wording.no, *wording.no_alone))
        if len(phrase) == 1
    )
