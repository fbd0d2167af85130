"""Understands a request to have a message spoken at home: "tell the kids that dinner is ready".

The words around a message are in `languages/<language>/messages.toml`; the message is passed on as it was said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, NotRequired, TypedDict

from ..agent.text import read_language_files
from ..speech.text.phrases import Token, divided
from .lexicon import ARTICLE, COMMA, GAP, SILENT, Lexicon, Role, tokens_of_phrase
from .vocabulary import HomeVocabulary

_PERSON: Final = "person"
_LONGEST_LISTENERS: Final = 8
"""Words that tell who is to hear a message."""
_SHORTEST_PART: Final = 4
"""Characters of a word that may stand for the room whose name has it: "the kids" for "Kids Room"."""
_SHORTEST_AFTER_ARTICLE: Final = 4
"""Words of a message that nothing divides from its listeners: "tell everyone a joke" is no message."""
_END: Final = " .!?。！？,，"  # noqa: RUF001 also Chinese marks


class _MessageWords(TypedDict):
    everyone: str
    """Words for all at home."""
    to: str
    """Phrases around those that are to hear a message; the message is at the end."""
    all: str
    """Phrases before a message for all."""
    come: str
    """The same as `to`, of words that have somebody come, without a message."""
    conjunction: NotRequired[str]
    """The last word of such a phrase that belongs to the message, too, as in "dass das Essen fertig ist"."""
    frame: NotRequired[str]
    """The announcement of such a message, with `{message}`."""


class _Form(NamedTuple):
    """The words around those that are to hear a message."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Listeners(NamedTuple):
    """Those that are to hear a message; all at home if none are named."""

    area_ids: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    """Ids of entities."""


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """A message to be spoken at home."""

    text: str
    """Empty for a call to come."""
    listeners: Listeners


_LANGUAGES: Final = read_language_files("messages", _MessageWords)


@cache
def _sorted_forms(texts: str) -> Sequence[_Form]:
    """Return forms, those with the most words first."""
    parts = (text.partition(GAP) for text in divided(texts))
    forms = [_Form(_words(before), _words(after)) for before, _, after in parts]
    return sorted(
        forms,
        key=lambda one: (len(one.after), len(one.before)),
        reverse=True,
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(tokens_of_phrase(text))


def spoken_message(
    sentence: str,
    names: HomeVocabulary,
) -> SpokenMessage | None:
    """Return the message that a sentence wants to be spoken; None for any other sentence.

    It has to begin with the words for that, and whoever is named has to be known: there
    is no message for the attic where there is none.
    """
    words = names.words
    forms = _LANGUAGES.get(words.language)
    if forms is None:
        return None
    found = [one for one in words.tokens(sentence) if one.word != COMMA]
    request = _Request(
        sentence,
        found,
        forms,
        names,
    )
    return request.to_listeners() or request.to_all()


def after_phrase(
    heard: Sequence[str], phrase: tuple[str, ...], words: Lexicon
) -> int | None:
    """Return where the words after a phrase begin that opens a sentence, apart from courtesy."""
    starts = [0]
    while starts:
        start = starts.pop()
        end = start + len(phrase)
        if tuple(heard[start:end]) == phrase:
            return end
        fillers = words.phrases.found(heard, start)
        starts += [until for until, one in fillers if one.role is Role.FILLER]
    return None


@dataclass(frozen=True, slots=True)
class _Request:
    """A sentence in which a message is looked for."""

    sentence: str
    found: Sequence[Token]
    forms: _MessageWords
    names: HomeVocabulary

    @property
    def words(self) -> Lexicon:
        """The words of its language."""
        return self.names.words

    @property
    def heard(self) -> list[str]:
        """Its words."""
        return [token.word for token in self.found]

    def to_listeners(self) -> SpokenMessage | None:
        """Return a message for those that are named, or a call to come."""
        for form in _sorted_forms(self.forms["to"]):
            for start, end in self._around(form):
                message = self._message(
                    form,
                    start,
                    end,
                )
                if message:
                    return message
        for form in _sorted_forms(self.forms["come"]):
            for start, end in self._around(form):
                is_whole = end + len(form.after) == len(self.found)
                listeners = self._listeners(start, end)
                if is_whole and listeners and not listeners.people:
                    return SpokenMessage("", listeners)
        return None

    def to_all(self) -> SpokenMessage | None:
        """Return a message for all."""
        for form in _sorted_forms(self.forms["all"]):
            start = after_phrase(self.heard, form.before, self.words)
            if start is not None and not self._names_others(start):
                text = self._text(start, form.before)
                if text:
                    return SpokenMessage(text, Listeners())
                return None
        return None

    def _names_others(self, start: int) -> bool:
        """Return whether a message begins with words for a place, which may be one that is not known."""
        if start >= len(self.found):
            return False
        meanings = self.words.phrases.found(
            self.heard,
            start,
        )
        return any(one.role is Role.PREPOSITION for _, one in meanings)

    def _message(
        self,
        form: _Form,
        start: int,
        end: int,
    ) -> SpokenMessage | None:
        listeners = self._listeners(start, end)
        if listeners is None:
            return None
        text = self._text(
            end + len(form.after),
            form.after,
        )
        if not text or not (form.after or self._is_message(end)):
            return None
        return SpokenMessage(text, listeners)

    def _is_message(self, start: int) -> bool:
        """Return whether what follows those that are to hear it is a message, and no thing: "a joke"."""
        is_short = len(self.found) - start < _SHORTEST_AFTER_ARTICLE
        meanings = self.words.phrases.found(
            self.heard,
            start,
        )
        return not (is_short and any(one.value == ARTICLE for _, one in meanings))

    def _around(
        self,
        form: _Form,
    ) -> Iterator[tuple[int, int]]:
        """Yield the bounds of the words between the two parts of a form.

        Without a second part, each end is tried: the shortest first, but for several listeners.
        """
        start = after_phrase(self.heard, form.before, self.words)
        if start is None:
            return
        last = min(
            len(self.found),
            start + _LONGEST_LISTENERS,
        )
        size = len(form.after)
        ends = [
            end
            for end in range(start + 1, last + 1)
            if tuple(self.heard[end : end + size]) == form.after
        ]
        if not size:
            heard = self.heard
            found = self.words.phrases.found
            joined = [
                end
                for end in ends
                if any(
                    one.role is Role.AND
                    for at in range(start + 1, end - 1)
                    for _, one in found(heard, at)
                )
            ]
            ends = [*reversed(joined), *ends]  # "anna and bob"
        yield from ((start, end) for end in ends)

    def _listeners(
        self,
        start: int,
        end: int,
    ) -> Listeners | None:
        """Return those that words name; None if one of the words is not known, or the last one names nobody."""
        heard = self.heard[:end]
        areas = set[str]()
        people = set[str]()
        at = start
        is_named = False
        while at < end:
            named = [*self._named(heard, at)]
            is_named = bool(named)
            small = self.words.phrases.found(
                heard,
                at,
            )
            ends = [one[0] for one in named] or [
                until for until, one in small if one.role in SILENT
            ]
            if not ends:
                return None
            at = max(ends)
            for until, area_ids, person_ids in named:
                if until == at:
                    areas |= area_ids
                    people |= person_ids
        if is_named:
            return Listeners(
                frozenset(areas),
                frozenset(people),
            )
        return None

    def _named(
        self, heard: Sequence[str], at: int
    ) -> Iterator[tuple[int, frozenset[str], frozenset[str]]]:
        """Yield the ends, rooms and people of what is named from a word on. Words for all at home name no room."""
        for phrase in map(_words, divided(self.forms["everyone"])):
            end = at + len(phrase)
            if tuple(heard[at:end]) == phrase:
                yield end, frozenset(), frozenset()
        for end, named in self.names.found(heard, at):
            if named.role is Role.PLACE:
                yield end, named.ids, frozenset()
            elif self.names.domains(named.ids) == {_PERSON}:
                yield end, frozenset(), named.ids
        for end, one in self.words.phrases.found(heard, at):
            if one.role is Role.PLACE and (areas := self.names.areas_of(one.value)):
                yield end, areas, frozenset()
        areas = self._room_with(heard[at])
        if areas:
            yield at + 1, areas, frozenset()

    def _room_with(self, word: str) -> frozenset[str]:
        """Return the room whose name has a word, if there is one alone."""
        stem = self.words.stem(word)
        if len(stem) < _SHORTEST_PART or self.words.is_small(word):
            return frozenset()
        found = {
            place.area_ids
            for place in self.names.places
            for name in place.names
            if any(one.startswith(stem) for one in tokens_of_phrase(name))
        }
        if len(found) == 1:
            return found.pop()
        return frozenset()

    def _text(
        self,
        start: int,
        phrase: tuple[str, ...],
    ) -> str:
        """Return the message from a word on, after the phrase before it; empty if there is none."""
        is_kept = phrase[-1:] == (self.forms.get("conjunction"),)
        if start >= len(self.found):
            return ""
        begin = self.found[start - is_kept].start
        text = self.sentence[begin:].strip(_END)
        if is_kept:
            return self.forms["frame"].format(message=text)
        return text
