"""Reads a request about plans, without its times: what is wanted, of which kind, and the words of the person's own.

All words are covered with phrases of known roles, which are data (`languages/`). Words without a role are only allowed
where a text of the person's own may stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ..agent.text import MOST_UNDERSTOOD, base_language, read_language_files
from ..speech.text.covering import coverings
from ..speech.text.time_phrases import PhraseNode, TimeToken, time_tokens
from .telling import ReminderKind

type PlanAct = Literal["ask", "list", "cancel", "move", "alarm", "remind", ""]

_SILENT: Final = frozenset({"filler", "about", "thanks"})
_HAN: Final = "\u3400"
"""The first sign of a script without spaces, in which words follow a time that precede it elsewhere."""
_KINDS: Final = frozenset({*ReminderKind, "plan"})
_COSTS: Final = {"word": 1.0, "filler": 0.4, "about": 0.25, "one": 0.45}
_COST: Final = 0.3
_MAKES_ALARM: Final = frozenset({"alarm", "set", "turn", "on"})
"""Roles of a request for an alarm."""


class _Words(BaseModel):
    """The phrases of a language, divided by commas, by their roles; they are written as those of times."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    remind: str
    wake: str
    set: str
    turn: str
    on: str
    off: str
    """After `turn` and `set`, it cancels."""
    cancel: str
    move: str
    """Requests for another time of what was just planned or heard, too."""
    ask: str
    count: str
    alarm: str
    reminder: str
    timer: str
    plan: str
    all: str
    both: str
    next: str
    it: str
    one: str
    """Words for one of several plans: "the one"."""
    named: str
    """Words before the name of an alarm."""
    denial: str
    filler: str
    """Words that change nothing: articles, courtesy."""
    about: str
    """The same, before the text of a reminder."""
    thanks: str
    unclear: str
    """Words with which a reminder may be for something else than a time."""
    until: str = ""
    """Words that begin a time up to which, or from which on, plans are meant, beside those of `time_words`."""
    of_time: Mapping[str, str] = {}
    """Words before the time of a plan, and those that are understood: "la de las siete" is "la a las siete"."""


_WORDS: Final = read_language_files(Path(__file__).with_name("languages"), _Words)


@dataclass(frozen=True, slots=True)
class PlanWords:
    """A request about plans."""

    act: PlanAct
    kind: str = ""
    """A `ReminderKind`; empty if none is named."""
    text: str | None = None
    """Words of the person's own; empty if they are missing."""
    named: str = ""
    """The word for the kind."""
    roles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Phrase:
    start: int
    end: int
    role: str


def has_plan_words(language: str) -> bool:
    """Return whether requests about plans are understood in a language."""
    return base_language(language) in _WORDS


def begins_bound(time: str, language: str) -> bool:
    """Return whether words for a time begin with some that make it a bound."""
    words = [one.strip() for one in _WORDS[base_language(language)].until.split(",")]
    return any(one and (time.lower().startswith(f"{one} ") or (one >= _HAN and one in time)) for one in words)


def of_time(language: str) -> Mapping[str, str]:
    """Return words before the time of a plan, and those that are understood."""
    return _WORDS[base_language(language)].of_time


@cache
def _phrases(tag: str) -> PhraseNode[str]:
    node, words = PhraseNode[str](), _WORDS[tag]
    for role in _Words.model_fields:
        if role not in {"until", "of_time", "unclear"}:
            node.add(getattr(words, role), role, {})
    return node


@cache
def _unclear(tag: str) -> PhraseNode[str]:
    node = PhraseNode[str]()
    node.add(_WORDS[tag].unclear, "unclear", {})
    return node


def plan_words(text: str, language: str) -> PlanWords | None:
    """Return what a request wants; None for words that are none, or too many."""
    if (tag := base_language(language)) not in _WORDS or len(text) > MOST_UNDERSTOOD:
        return None
    tokens = [token for token in time_tokens(text) if token.word[0].isalnum()]
    words = [token.word for token in tokens]

    def spans(start: int) -> Iterator[_Phrase]:
        yield _Phrase(start, start + 1, "word")
        yield from (_Phrase(start, end, role) for end, role in _phrases(tag).found(words, start))

    ways = coverings(len(words), spans, lambda one: _COSTS.get(one.role, _COST), 1)
    return _Request(text, tokens, ways[0][1] if ways else ()).meaning


def is_clear(text: str, language: str) -> bool:
    """Return whether a text holds nothing that may say when."""
    tag, words = base_language(language), [token.word for token in time_tokens(text)]
    return not any(any(True for _ in _unclear(tag).found(words, at)) for at in range(len(words)))


@dataclass(frozen=True, slots=True)
class _Request:
    """A sentence that is divided into phrases."""

    sentence: str
    tokens: Sequence[TimeToken]
    phrases: Sequence[_Phrase]

    @property
    def meaning(self) -> PlanWords | None:
        """The request; None if there is none, or more than one."""
        loud = [one for one in self.phrases if one.role not in _SILENT]
        roles = frozenset(one.role for one in loud)
        if (begin := self._begin(loud, roles)) is not None:
            text = self._text(begin, is_set=loud[0].role == "set")
            return None if text is None else PlanWords("remind", text=text, roles=roles)
        if len(loud) > 1 and loud[-1].role == "remind" and loud[0].role == "word":
            return PlanWords("remind", text=self._raw(loud[0].start, loud[-1].start), roles=roles)
        kinds = {one.role: one for one in loud if one.role in _KINDS}
        if "denial" in roles:
            return None
        if "word" in roles or len(kinds) > 1:
            named = self._named(loud) if loud[0].role == "cancel" else ""
            return PlanWords("cancel", text=named, roles=roles) if named else None
        kind, phrase = next(iter(kinds.items()), ("", None))
        spoken = self._raw(phrase.start, phrase.end) if phrase else ""
        act = _act(roles, kind)
        return None if act is None else PlanWords(act, kind, None, spoken, roles)

    def _raw(self, first: int, last: int) -> str:
        """Return some words as they were said."""
        return self.sentence[self.tokens[first].start : self.tokens[last - 1].end] if first < last else ""

    def _begin(self, loud: Sequence[_Phrase], roles: frozenset[str]) -> int | None:
        """Return the word after which the text of a reminder may begin; None if there is no request for one."""
        for phrase, following in zip(loud, (*loud[1:], None), strict=False):
            is_named = phrase.role == "alarm" and following is not None and following.role == "named"
            if is_named and following:
                return following.end
            is_asked = loud[0].role != "set" and not roles.isdisjoint({"ask", "count"})
            if phrase.role == "remind" or (phrase.role == "reminder" and not is_asked):
                return phrase.end
            if phrase.role != "set":
                return None
        return None

    def _text(self, begin: int, *, is_set: bool) -> str | None:
        """Return the text of a reminder, empty if there is none; None if it is not to be given."""
        phrases, is_joined = [one for one in self.phrases if one.start >= begin], False
        while phrases and (phrases[-1].role == "thanks" or (is_set and phrases[-1].role in _SILENT)):
            phrases.pop()
        while phrases and phrases[0].role in {"about", "thanks"}:
            is_joined |= phrases.pop(0).role == "about"
        if phrases and (phrases[-1].role == "denial" or (phrases[0].role == "denial" and not is_joined)):
            return None
        has_words = any(one.role not in _SILENT for one in phrases)
        return self._raw(phrases[0].start, phrases[-1].end) if has_words else ""

    def _named(self, loud: Sequence[_Phrase]) -> str:
        """Return the words of a plan that is to be cancelled: what the reminder is about, or all without a role."""
        kind = next((one for one in loud if one.role in _KINDS), None)
        end = next((one.end for one in self.phrases if kind and one.start == kind.end and one.role == "about"), None)
        if end is None:
            own = [one for one in loud if one.role == "word"]
            return self._raw(own[0].start, own[-1].end) if own else ""
        after = [one for one in self.phrases if one.start >= end and one.role != "thanks"]
        while after and after[0].role in {"about", "filler"}:
            after.pop(0)
        return self._raw(after[0].start, after[-1].end) if after else ""


def _act(roles: frozenset[str], kind: str) -> PlanAct | None:
    """Return what roles want together that explain all words; None if they want nothing, or more than one thing."""
    if roles & {"ask", "count"}:
        return {"": None, "plan": "list"}.get(kind, "ask") if not roles & {"cancel", "move"} else None
    if roles == {"plan"}:
        return "list"
    if "cancel" in roles or ("off" in roles and kind):
        return "cancel" if not roles & {"move", "wake", "on"} else None
    if "move" in roles:
        return "move" if roles <= {"move", "set", "it", "one", *_KINDS} else None
    is_alarm = "alarm" in roles and roles <= _MAKES_ALARM and roles != {"alarm", "turn"}
    if is_alarm or roles == {"wake"}:
        return "alarm"
    return "" if roles <= {"one", *_KINDS} else None
