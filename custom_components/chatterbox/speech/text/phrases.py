"""The words of a text, the phrases that begin at each of them, and the likeliest ways to cover all words with spans.

In a phrase, `[...]` may be left out, `(a|b)` is one of several, and `<...>` stands for
words of a kind or for a rule.
"""

import re
from collections import deque
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from dataclasses import dataclass, field
from functools import cache
from heapq import nsmallest
from typing import Final, NamedTuple, Protocol

from ...agent.text import HAN, fold
from .language import number_words

_PIECE: Final = re.compile(r"[\[\]()|]|<\w+>|[^\[\]()|<]+")
_WORD: Final = re.compile(
    rf"\d+|[{HAN}]|[^\W\d_{HAN}]+|(?!(?<=[^\W\d_])-[^\W\d_])[^\w\s'\u2019]"
)
"""A number, a word or a sign; each character of a script without spaces is a word."""


class Token(NamedTuple):
    """A word, a number or a sign of a text, folded, and where it stands there."""

    word: str
    start: int
    end: int


def text_tokens(
    text: str,
    pattern: re.Pattern[str] = _WORD,
    accented: AbstractSet[str] = frozenset(),
) -> list[Token]:
    """Return the tokens of a text, each of which a pattern describes.

    Words that are `accented` keep their accents.
    """
    return [
        Token(
            _folded(found[0], accented),
            found.start(),
            found.end(),
        )
        for found in pattern.finditer(text)
    ]


def _folded(
    word: str,
    accented: AbstractSet[str],
) -> str:
    accented_word = fold(word, keep_accents=True)
    if accented_word in accented:
        return accented_word
    return fold(word)


def accented_words(texts: str) -> frozenset[str]:
    """Return words that keep their accents, which are divided by commas."""
    return frozenset(divided(fold(texts, keep_accents=True)))


@dataclass(slots=True)
class PhraseTree[Value]:
    """Phrases by their words, and by the slots that stand for words."""

    values: list[Value] = field(default_factory=list)
    words: dict[str, PhraseTree[Value]] = field(default_factory=dict)
    slots: dict[str, PhraseTree[Value]] = field(default_factory=dict)
    accented: frozenset[str] = frozenset()
    """Words that differ from others in an accent alone, and keep it."""

    def add(
        self,
        phrase: Iterable[str],
        value: Value,
    ) -> None:
        """Add a meaning of a phrase."""
        node = self
        for piece in phrase:
            is_slot = len(piece) > 1 and piece[0] == "<"
            node = (node.slots if is_slot else node.words).setdefault(
                piece.strip("<>") or piece, PhraseTree()
            )
        if value not in node.values:
            node.values.append(value)

    def add_all(
        self,
        texts: str,
        value: Value,
        rules: Mapping[str, str],
    ) -> None:
        """Add the meaning of phrases that are divided by commas."""
        for text in divided(texts):
            for way in _ways(deque(_PIECE.findall(text)), rules, self.accented):
                self.add(way, value)

    def found(
        self,
        words: Sequence[str],
        start: int,
        form: Callable[[str], str] = str,
    ) -> Iterator[tuple[int, Value]]:
        """Yield the ends and meanings of the phrases that begin at a word; `form` returns the form of words there."""
        node = self
        for end in range(start, len(words)):
            following = node.words.get(form(words[end]))
            if following is None:
                return
            node = following
            for value in node.values:
                yield end + 1, value

    def matches[Filled](
        self,
        words: Sequence[str],
        at: int,
        fill: Callable[[str, int], Iterable[tuple[int, Mapping[str, Filled]]]],
        slots: Mapping[str, Filled] = {},
    ) -> Iterator[tuple[int, Value, Mapping[str, Filled]]]:
        """Yield the ends, meanings and slots of the phrases that begin at a word, in which commas may stand.

        `fill` returns where words end that a slot may stand for, with what they fill.
        """
        for value in self.values:
            yield at, value, slots
        start = after_comma(words, at)
        following = self.words.get(words[start]) if start < len(words) else None
        if following:
            yield from following.matches(
                words,
                start + 1,
                fill,
                slots,
            )
        for name, after in self.slots.items():
            for end, filled in fill(name, at):
                yield from after.matches(
                    words,
                    end,
                    fill,
                    {**slots, **filled},
                )


def after_comma(words: Sequence[str], at: int) -> int:
    """Return where words go on, which may be after a comma."""
    if words[at : at + 1] == [","] and at + 1 < len(words):
        return at + 1
    return at


def phrase_tree(texts: Mapping[str, str]) -> PhraseTree[str]:
    """Return phrases, which are divided by commas, with what they mean."""
    tree = PhraseTree[str]()
    for value, phrases in texts.items():
        tree.add_all(phrases, value, {})
    return tree


@cache
def number_phrases(language: str) -> PhraseTree[int]:
    """Return the numbers of a language in words."""
    tree = PhraseTree[int]()
    for text, number in number_words(language).items():
        tree.add([one.word for one in text_tokens(text)], number)
    return tree


def divided(texts: str) -> list[str]:
    """Return texts that are divided by commas."""
    return [text for text in map(str.strip, texts.split(",")) if text]


def _ways(
    pieces: deque[str], rules: Mapping[str, str], accented: AbstractSet[str]
) -> list[tuple[str, ...]]:
    """Return the sequences of words that a phrase stands for, up to the end of a group."""
    found = list[tuple[str, ...]]()
    ways = list[tuple[str, ...]]([()])
    while pieces:
        match piece := pieces.popleft():
            case ")" | "]":
                break
            case "|":
                found = [*found, *ways]
                ways = [()]
                continue
            case "(":
                inner = _ways(
                    pieces,
                    rules,
                    accented,
                )
            case "[":
                inner = [(), *_ways(pieces, rules, accented)]
            case _ if (rule := rules.get(piece[1:-1])) and piece[0] == "<":
                inner = _ways(
                    deque(_PIECE.findall(rule)),
                    rules,
                    accented,
                )
            case _ if piece[0] == "<":
                inner = [(piece,)]
            case _:
                tokens = text_tokens(piece, accented=accented)
                inner = [tuple(token.word for token in tokens)]
        ways = [(*way, *more) for way in ways for more in inner]
    return [*found, *ways]


class _Span(Protocol):
    @property
    def end(self) -> int:
        """Where the span ends."""


def coverings[Span: _Span](
    length: int,
    spans_at: Callable[[int], Iterable[Span]],
    cost: Callable[[Span], float],
    most: int,
) -> Sequence[tuple[float, tuple[Span, ...]]]:
    """Return at most that many ways to cover a sequence, each with its cost; the cheapest come first.

    A span begins where the last one ends. Dynamic programming, never greedily.
    """
    best: list[list[tuple[float, tuple[Span, ...]]]] = [[] for _ in range(length)] + [
        [(0.0, ())]
    ]
    for start in range(length - 1, -1, -1):
        ways = (
            (cost(span) + rest, (span, *more))
            for span in spans_at(start)
            for rest, more in best[span.end]
        )
        best[start] = nsmallest(
            most,
            ways,
            key=lambda way: way[0],
        )
    return best[0]
