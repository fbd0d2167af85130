"""Understands what a sentence wants to know of calendars, or to be done in them.

The words by language are in `languages/<language>/calendar.toml`: phrases by what they
want, in which `<title>` stands for the title of an event, and `<named>` for the name of
a calendar. Times are taken out of a sentence before.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, NotRequired, TypedDict

from ..agent.text import capitalized, fold, read_language_files
from ..speech.text.phrases import PhraseTree, Token, divided, phrase_tree, text_tokens
from .lexicon import SMALL, Lexicon

_MOST: Final = 40
"""Words of a sentence."""
_SHORTEST_PART: Final = 3
_END: Final = " .!?。！？,，:："  # noqa: RUF001 also Chinese marks


class _CalendarWords(TypedDict):
    rules: dict[str, str]
    """Words that phrases share, by their name in angle brackets."""
    phrases: dict[str, str]
    """Phrases by what they want: a value of `CalendarRequest.action`."""
    ends: NotRequired[str]
    """Last parts of words that are read as two: "Zahnarzttermin"."""


_LANGUAGES: Final = read_language_files("calendar", _CalendarWords)


class CalendarRequest(NamedTuple):
    """A request about calendars."""

    action: str
    """`at` and `list` ask what is there, the first only at a time, `next` what comes next, `find` and `find_event` when
    something is, the first in words that may be about anything; `free`, `add`, `delete` and `move`."""
    title: str
    calendar: str
    """The id of one that is named."""


@dataclass(frozen=True, slots=True, eq=False)
class _Grammar:
    """The phrases of a language, and the words that they share; neither is written out, as they are too many then."""

    phrases: PhraseTree[str]
    rules: Mapping[str, PhraseTree[str]]
    ends: Sequence[str]


@cache
def _grammar(language: str) -> _Grammar | None:
    words = _LANGUAGES.get(language)
    if words is None:
        return None
    rules = words["rules"].items()
    return _Grammar(
        phrase_tree(words["phrases"]),
        {name: phrase_tree({name: text}) for name, text in rules},
        divided(fold(words.get("ends", ""))),
    )


type _Place = tuple[int, int]
"""Where words begin and end that stand for a slot."""
_NOWHERE: Final[_Place] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence in which phrases are looked for."""

    heard: Sequence[str]
    names: Sequence[tuple[str, ...]]
    """The names of calendars."""
    rules: Mapping[str, PhraseTree[str]]
    words: Lexicon

    def matches(
        self, tree: PhraseTree[str]
    ) -> Iterator[tuple[str, Mapping[str, _Place]]]:
        """Yield the ways in which phrases cover all words but courtesy: what they want, and their slots."""
        for start in self._without_small(0):
            for end, action, slots in tree.matches(
                self.heard,
                start,
                self._filled,
            ):
                if len(self.heard) in self._without_small(end):
                    yield action, slots

    def _filled(
        self,
        name: str,
        at: int,
    ) -> Iterator[tuple[int, Mapping[str, _Place]]]:
        """Yield where words may end that stand for a slot, and what they fill."""
        if name in self.rules:
            found = self.rules[name].matches(
                self.heard,
                at,
                self._filled,
            )
            yield from ((end, slots) for end, _, slots in found)
            return
        ends = (
            range(at + 1, len(self.heard) + 1) if name == "title" else self._named(at)
        )
        yield from ((end, {name: (at, end)}) for end in ends)

    def _named(self, at: int) -> Iterator[int]:
        for name in self.names:
            end = at + len(name)
            if tuple(self.heard[at:end]) == name:
                yield end

    def _without_small(self, at: int) -> set[int]:
        """Return a place, and those behind words that change nothing."""
        found = {at}
        waiting = [at]
        while waiting:
            for end, one in self.words.phrases.found(self.heard, waiting.pop()):
                if one.role in SMALL and end not in found:
                    found.add(end)
                    waiting.append(end)
        return found


def calendar_request(
    sentence: str, words: Lexicon, calendars: Mapping[str, str]
) -> CalendarRequest | None:
    """Return what a sentence without its time wants; None for any other one. `calendars` has their ids by name.

    Of several ways to read it, the one with the shortest title counts.
    """
    grammar = _grammar(words.language)
    if grammar is None:
        return None
    found = [*_divided(sentence, grammar.ends)]
    known = {_words(name): entity_id for name, entity_id in calendars.items()}
    heard = [one.word for one in found]
    if len(heard) > _MOST:
        return None
    parsed = _Sentence(
        heard,
        [*known],
        grammar.rules,
        words,
    )
    match = min(
        parsed.matches(grammar.phrases),
        key=lambda one: len(range(*one[1].get("title", _NOWHERE))),
        default=None,
    )
    if match is None:
        return None
    action, slots = match
    title = _text(
        sentence,
        found[slice(*slots.get("title", _NOWHERE))],
    )
    named = heard[slice(*slots.get("named", _NOWHERE))]
    return CalendarRequest(
        action,
        title,
        known.get(
            (*named,),
            "",
        ),
    )


def _divided(
    sentence: str,
    ends: Sequence[str],
) -> Iterator[Token]:
    """Yield the words of a sentence; a word with one of some ends is two."""
    for token in text_tokens(sentence):
        if not token.word.isalnum():
            continue
        last = next(
            (one for one in ends if token.word.endswith(one)),
            "",
        )
        middle = token.end - len(last)
        if last and middle - token.start >= _SHORTEST_PART:
            yield Token(
                token.word.removesuffix(last),
                token.start,
                middle,
            )
            yield Token(
                last,
                middle,
                token.end,
            )
        else:
            yield token


def _words(name: str) -> tuple[str, ...]:
    return tuple(token.word for token in text_tokens(name) if token.word.isalnum())


def _text(
    sentence: str,
    found: Sequence[Token],
) -> str:
    if not found:
        return ""
    text = sentence[found[0].start : found[-1].end].strip(_END)
    return capitalized(text)
