"""Tells what a sentence wants or asks, as far as that is plain where not all of its words are explained."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

from ..agent.text import plain
from .commands import ACTS_ON, BY_ASPECT, KINDS, act_without_verb
from .lexicon import ARTICLE, COMMA, Lexicon, Role
from .reading import Parts, PhraseSpan, Reading, is_report, read
from .vocabulary import HomeVocabulary

_WISHES: Final[Mapping[str, frozenset[str]]] = {
    **{
        act: frozenset({act})
        for act in ("on", "off", "open", "close", "lock", "unlock", "mute", "unmute", "louder", "quieter")
    },
    **dict.fromkeys(("start", "clean", "play", "resume"), frozenset({"start"})),
    **dict.fromkeys(("stop", "dock"), frozenset({"stop"})),
    "pause": frozenset({"stop", "pause"}),
    "more": frozenset({"louder"}),
    "less": frozenset({"quieter"}),
}
"""The wishes of acts. Others have no opposite."""
_READ: Final = ("read",)
"""The act that changes nothing."""
_PLAYER: Final = frozenset({"media_player"})
_SOUND: Final = frozenset({"more", "less"})
"""Acts that are about sound only where a player may be meant."""
_NO_REQUEST: Final = frozenset({Role.REVERSING, Role.BE})
_ASKING: Final = frozenset({Role.QUESTION, Role.BE})
_OF_QUESTIONS: Final = _ASKING | {Role.REVERSING, Role.STATE}
_NAMING: Final = frozenset({Role.ENTITY, Role.KIND})


@dataclass(frozen=True, slots=True)
class Gist:
    """The wishes or the question of a sentence."""

    wanted: frozenset[str] = frozenset()
    """The wishes of a plain command: "open", "off"."""
    asks: bool = False
    """Whether it asks how things are, or were, and nothing follows the question."""
    kinds: frozenset[str] = frozenset()
    """All kinds that its words may name."""
    unknown_place: str = ""
    """Words that nothing explains where a place is named: "in the attic"."""


NO_GIST: Final = Gist()
"""The gist in a language without a lexicon, and of a text that is too long."""


def gist(sentence: str, words: Lexicon, names: HomeVocabulary) -> Gist:
    """Return the gist of a sentence in its likeliest reading."""
    readings = read(sentence, words, names, for_gist=True)
    if not readings:
        return NO_GIST
    first, parts = readings[0], Parts(readings[0].spans)
    likely = (one for one in readings if one.cost == first.cost)
    meant = [_acts(one.spans, words) for one in likely if Parts(one.spans).by_role.keys() == parts.by_role.keys()]
    without_verb = next(filter(None, (act_without_verb(Parts(one.spans), names) for one in readings)), "")
    acts = meant[0] or [(without_verb,)]
    fitting = [wishes for one in (*meant, acts) if all(wishes := _wishes(one, parts))]
    wanted = frozenset[str]().union(*chain.from_iterable(fitting)) or _wishes_of(chain.from_iterable(acts), *_SOUND)
    is_joined = any(first.words[span.start].word != COMMA for span in parts.all(Role.AND))
    is_told = is_joined or is_report(sentence, words) or not _NO_REQUEST.isdisjoint(parts.by_role)
    heard = [token.word for token in first.words]
    found = (one for start in range(len(heard)) for _, one in words.phrases.found(heard, start))
    kinds = frozenset(one.value for one in found if one.role is Role.KIND)
    return Gist(frozenset() if is_told else wanted, _asks(first, meant[0], words), kinds, _unknown_place(first))


def _acts(spans: Sequence[PhraseSpan], words: Lexicon) -> list[tuple[str, ...]]:
    """Return the acts of a sentence, each with all that its words may mean: "the lock" is none."""
    found, verb = list[tuple[str, ...]](), ""
    nouns = {before.end for before in spans if before.value == ARTICLE}
    for span in spans:
        match span.role:
            case Role.ACT if span.start in nouns:
                pass
            case Role.ACT:
                found.append((span.value,))
            case Role.VERB:
                verb = span.value
            case Role.PARTICLE if joined := words.acts.get((verb, span.value)):
                found.append(joined)
                verb = ""
            case _:
                pass
    return found


def _wishes(found: Sequence[tuple[str, ...]], parts: Parts) -> Sequence[frozenset[str]]:
    """Return the wishes of each act that has some, as far as what is named can fulfil them."""
    wishing = (acts for acts in found if not _WISHES.keys().isdisjoint(acts))
    return [_wishes_of(act for act in acts if act in _WISHES and _fits(act, parts)) for acts in wishing]


def _wishes_of(acts: Iterable[str], *but: str) -> frozenset[str]:
    """Return the wishes of acts, but for some."""
    return frozenset[str]().union(*(_WISHES[act] for act in acts if act in _WISHES and act not in but))


def _fits(act: str, parts: Parts) -> bool:
    """Return whether an act may be for what is named last."""
    domains = _PLAYER if act in {*_SOUND, "play"} else ACTS_ON[act]
    kinds = [KINDS[value].domains for value in parts.values(Role.KIND) if value in KINDS]
    aspects = [BY_ASPECT[value] for value in parts.values(Role.ASPECT) if value in BY_ASPECT]
    return bool(domains.intersection(*kinds[-1:], *aspects))


def _asks(reading: Reading, acts: Sequence[tuple[str, ...]], words: Lexicon) -> bool:
    """Return whether a sentence begins as a question, or is marked as one, and nothing follows the question."""
    text = plain(reading.sentence).rstrip()
    bare = text.rstrip("?")
    if "?" in bare:
        return False
    begin = next((span for span in reading.spans if span.role is not Role.FILLER), reading.spans[0])
    heard = [f"{' '.join(token.word for token in reading.words[start:])} " for start in {0, begin.start}]
    if any(one.startswith(f"{phrase} ") for one in heard for phrase in words.asking):
        return True
    roles = {span.role for span in reading.spans}
    is_begun = begin.role in _ASKING and not _NAMING.isdisjoint(roles)
    is_marked = bare != text and not _OF_QUESTIONS.isdisjoint(roles)
    return (is_begun or is_marked) and all(act == _READ for act in acts)


def _unknown_place(reading: Reading) -> str:
    """Return the unknown words behind a preposition."""
    spans = [span for span in reading.spans if span.role is not Role.FILLER]
    return " ".join(
        reading.text(span.start, span.end)
        for before, span in pairwise(spans)
        if before.role is Role.PREPOSITION and span.role is Role.UNKNOWN
    )
