"""Reads a request about plans, without its times: what is wanted, of which kind, and the words of the person's own.

All words are covered with phrases of known roles, which are data (`languages/<language>/plans.toml`). Words
without a role are only allowed where a text of the person's own may stand.
"""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, zip_longest
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ..agent.text import MOST_UNDERSTOOD, base_language, read_language_files
from ..speech.text.phrases import PhraseTree, Token, coverings, phrase_tree, text_tokens
from ..speech.text.times import has_bound
from .telling import ReminderKind

type PlanAct = Literal["ask", "list", "cancel", "move", "alarm", "remind", ""]

_SILENT: Final = frozenset({"filler", "mine", "about", "thanks"})
_HAN: Final = "\u3400"
"""The first sign of a script without spaces, in which words follow a time that precede it elsewhere."""
_KINDS: Final = frozenset({*ReminderKind, "plan"})
_DENYING: Final = frozenset({"denial", "only"})
_COSTS: Final = {
    "word": 1.0,
    "filler": 0.4,
    "about": 0.25,
    "one": 0.45,
}
_COST: Final = 0.3
_ON_NAMED: Final[Mapping[str, PlanAct]] = {
    "ask": "ask",
    "cancel": "cancel",
}
"""Acts on plans that are named by words of their own."""
_ON_KIND: Final[Mapping[str, PlanAct]] = {
    **_ON_NAMED,
    "off": "cancel",
    "move": "move",
}
"""The same where their kind is named, too."""
_ALL_PLANS: Final = (["cancel", "all", "plan"], ["all", "plan", "cancel"])
"""Roles of a request to cancel everything."""
_MAKES_ALARM: Final = frozenset({"alarm", "set", "turn", "on", "only"})
"""Roles of a request for an alarm."""
_SOME: Final = frozenset({"next", "last", "all"})
"""Roles that tell which of several plans are meant."""


class _Words(BaseModel):
    """The phrases of a language, divided by commas; they are written as those of times."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unclear: str
    """Words with which a reminder may be for something else than a time."""
    until: str = ""
    """Words that begin a time up to which, or from which on, plans are meant, beside those of `times.toml`."""
    of_time: Mapping[str, str] = {}
    """Words before the time of a plan, and those that are understood: "la de las siete" is "la a las siete"."""
    lasting: Mapping[str, str] = {}
    """Words before the time for which something lasts, and those before its end: "for ten minutes" ends in these."""
    ending: Mapping[str, str] = {}
    """The same for words before its end: "until nine"."""
    roles: Mapping[str, str]
    """Phrases by what they do in a request.

    `off` cancels, also after `turn` and `set`. `move` has requests for another time of
    what was just planned or heard, too. `one` is for one of several plans: "the one".
    `next` and `last` mean that plan, or two with `both`. `mine` with a kind alone asks for plans.
    `only` denies all but an alarm.
    `named` stands before the name of an alarm. `filler` changes nothing: articles,
    courtesy; `about` is the same, before the text of a reminder."""


_WORDS: Final = read_language_files("plans", _Words)


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


def is_bound(time: str, language: str) -> bool:
    """Return whether a time is one up to which, or from which on, plans are meant."""
    if has_bound(time, language):
        return True
    for word in _WORDS[base_language(language)].until.split(","):
        until = word.strip()
        if until >= _HAN and until in time:
            return True
        if until and time.lower().startswith(f"{until} "):
            return True
    return False


def of_time(language: str) -> Mapping[str, str]:
    """Return words before the time of a plan, and those that are understood."""
    words = _WORDS.get(base_language(language))
    return words.of_time if words else {}


def lasting(language: str) -> Iterator[tuple[str, str, bool]]:
    """Yield words before the time for which something lasts, those before its end, and whether they name the end."""
    words = _WORDS.get(base_language(language))
    if words:
        for before, at in words.lasting.items():
            yield before, at, False
        for before, at in words.ending.items():
            yield before, at, True
            yield before, "", True


@cache
def _phrases(tag: str) -> PhraseTree[str]:
    return phrase_tree(_WORDS[tag].roles)


@cache
def _unclear(tag: str) -> PhraseTree[str]:
    return phrase_tree({"unclear": _WORDS[tag].unclear})


def plan_words(
    text: str,
    language: str,
) -> PlanWords | None:
    """Return what a request wants; None for words that are none, or too many."""
    tag = base_language(language)
    if tag not in _WORDS or len(text) > MOST_UNDERSTOOD:
        return None
    tokens = [token for token in text_tokens(text) if token.word[0].isalnum()]
    words = [token.word for token in tokens]

    def spans(start: int) -> Iterator[_Phrase]:
        yield _Phrase(
            start,
            start + 1,
            "word",
        )
        yield from (
            _Phrase(
                start,
                end,
                role,
            )
            for end, role in _phrases(tag).found(words, start)
        )

    ways = coverings(
        len(words),
        spans,
        lambda one: _COSTS.get(one.role, _COST),
        1,
    )
    return _Request(text, tokens, ways[0][1] if ways else ()).meaning


def is_clear(text: str, language: str) -> bool:
    """Return whether a text holds nothing that may say when."""
    unclear = _unclear(base_language(language))
    words = [token.word for token in text_tokens(text)]
    return not any(any(unclear.found(words, at)) for at in range(len(words)))


@dataclass(frozen=True, slots=True)
class _Request:
    """A sentence that is divided into phrases."""

    sentence: str
    tokens: Sequence[Token]
    phrases: Sequence[_Phrase]

    @property
    def meaning(self) -> PlanWords | None:
        """The request; None if there is none, or more than one."""
        loud = [one for one in self.phrases if one.role not in _SILENT]
        roles = frozenset(one.role for one in loud)
        begin = _begin(
            loud,
            is_asked=self._is_mine or not roles.isdisjoint({"ask", "count"}),
        )
        if begin is not None:
            text = self._text(
                begin,
                is_set=loud[0].role == "set",
            )
        elif (
            len(loud) > 1
            and (loud[0].role, loud[-1].role) == ("word", "remind")
            and "denial" not in roles
        ):
            start = loud[0].start
            end = loud[-1].start
            text = self._raw([one for one in self.phrases if start <= one.start < end])
        else:
            return self._of_kind(loud, roles)
        if text is None:
            return None
        return PlanWords(
            "remind",
            text=text,
            roles=roles,
        )

    def _of_kind(
        self, loud: Sequence[_Phrase], roles: frozenset[str]
    ) -> PlanWords | None:
        """Return a request about plans that there are, or for an alarm."""
        kinds = {one.role: one for one in loud if one.role in _KINDS}
        is_only = "only" in roles and not roles <= _MAKES_ALARM | {"wake"}
        if is_only or "denial" in roles:
            return None
        if "word" in roles or len(kinds) > 1:
            return self._of_named(loud, roles, [*kinds])
        kind = next(iter(kinds), "")
        # "All plans" are everything, and nobody asks for that: "have you planned".
        if [one.role for one in loud] in _ALL_PLANS:
            kind = ""
            roles = roles - {"plan"}
        is_told = self._is_mine or not roles.isdisjoint(_SOME)
        if (
            is_told and kind in roles and roles <= {kind, "both", *_SOME}
        ):  # "next alarm"
            roles |= {"ask"}
        act = _act(roles, kind)
        if act is None:
            return None
        return PlanWords(
            act,
            kind,
            None,
            self._raw([*kinds.values()]),
            roles,
        )

    def _of_named(
        self,
        loud: Sequence[_Phrase],
        roles: frozenset[str],
        kinds: Sequence[str],
    ) -> PlanWords | None:
        """Return a request about plans that are named by words of their own, with their kind if it moves them."""
        act = (_ON_KIND if kinds else _ON_NAMED).get(loud[0].role)
        named = self._named(loud) if act else ""
        if not (act and named):
            return None
        kind = kinds[0] if act == "move" else ""
        return PlanWords(act, kind, named, roles=roles)

    @property
    def _is_mine(self) -> bool:
        """Whether it begins with a word such as "my"."""
        return [one.role for one in self.phrases[:1]] == ["mine"]

    def _raw(self, phrases: Sequence[_Phrase]) -> str:
        """Return the words of some phrases as they were said."""
        if not phrases:
            return ""
        return self.sentence[
            self.tokens[phrases[0].start].start : self.tokens[phrases[-1].end - 1].end
        ]

    def _text(
        self,
        begin: int,
        *,
        is_set: bool,
    ) -> str | None:
        """Return the text of a reminder, empty if there is none; None if it is not to be given."""
        after = [one for one in self.phrases if one.start >= begin]
        phrases = _within(
            after,
            {"about", "thanks"},
            _SILENT if is_set else {"thanks"},
        )
        if not phrases:
            return ""
        before = after[: after.index(phrases[0])]
        is_joined = any(one.role == "about" for one in before)
        if phrases[-1].role in _DENYING or (
            phrases[0].role in _DENYING and not is_joined
        ):
            return None
        if any(one.role not in _SILENT for one in phrases):
            return self._raw(phrases)
        return ""

    def _named(self, loud: Sequence[_Phrase]) -> str:
        """Return the words of a plan that is to be cancelled: what the reminder is about, or all without a role."""
        kind = next(
            (one for one in loud if one.role in _KINDS),
            None,
        )
        end = next(
            (
                one.end
                for one in self.phrases
                if kind and one.start == kind.end and one.role == "about"
            ),
            None,
        )
        if end is None:
            return self._raw([one for one in loud if one.role == "word"])
        after = [
            one for one in self.phrases if one.start >= end and one.role != "thanks"
        ]
        return self._raw(_within(after, {"about", "filler", "mine"}, set()))


def _within(
    phrases: Sequence[_Phrase], before: AbstractSet[str], after: AbstractSet[str]
) -> Sequence[_Phrase]:
    """Return phrases without those of some roles at their beginning and at their end."""
    while phrases and phrases[-1].role in after:
        phrases = phrases[:-1]
    return [*dropwhile(lambda one: one.role in before, phrases)]


def _begin(
    loud: Sequence[_Phrase],
    *,
    is_asked: bool,
) -> int | None:
    """Return the word after which the text of a reminder may begin; None if there is no request for one."""
    is_asked = is_asked and loud[0].role != "set"
    for phrase, following in zip_longest(loud, loud[1:]):
        if phrase.role == "alarm" and following and following.role == "named":
            return following.end
        if phrase.role == "remind" or (phrase.role == "reminder" and not is_asked):
            return phrase.end
        if phrase.role != "set":
            return None
    return None


def _act(
    roles: frozenset[str],
    kind: str,
) -> PlanAct | None:
    """Return what roles want together that explain all words; None if they want nothing, or more than one thing."""
    if roles & {"ask", "count"}:
        return (
            {"": None, "plan": "list"}.get(
                kind,
                "ask",
            )
            if not roles & {"cancel", "move"}
            else None
        )
    if roles == {"plan"}:
        return "list"
    if "cancel" in roles or ("off" in roles and kind):
        return "cancel" if not roles & {"move", "wake", "on"} else None
    if "move" in roles:
        return "move" if roles <= {"move", "set", "it", "one", *_KINDS} else None
    is_alarm = "alarm" in roles and roles <= _MAKES_ALARM and roles != {"alarm", "turn"}
    if is_alarm or roles - {"only"} == {"wake"}:
        return "alarm"
    return "" if roles <= {"one", *_KINDS} else None
