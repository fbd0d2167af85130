"""Understands requests about alarms and reminders, without their times, which others read."""

from dataclasses import dataclass
from typing import Final

from .lexicon import COMMA, SMALL, Lexicon, Role
from .reading import Parts, Reading, telling_text

_PLANS: Final = {"alarm": "alarm", "alarms": "alarm", "reminder": "reminder", "reminders": "reminder"}
"""Kinds of plans, by the values of words for them."""
_ACTS: Final = {
    **dict.fromkeys(("set", "add", "create", "start", "on", "brew", "remind", "wake"), "set"),
    **dict.fromkeys(("remove", "off", "stop", "clear"), "cancel"),
    "read": "list",
}
_OF_PLANS: Final = SMALL | {
    *(Role.ACT, Role.VERB, Role.PARTICLE, Role.KIND, Role.TEXT, Role.QUESTION, Role.BE, Role.QUANTIFIER, Role.STATE),
    Role.AND,
}
_BEGIN: Final = 4
"""Words at the begin of a text, one of which may say that nothing is to be remembered: "erinnere mich bitte nicht"."""
_ASKING: Final = frozenset({Role.BE, Role.QUESTION})


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A request about alarms or reminders."""

    act: str
    """`set`, `cancel` or `list`."""
    kind: str
    """`alarm` or `reminder`."""
    text: str = ""
    """The text of a reminder."""
    is_all: bool = False
    is_count: bool = False


def plan_request(parts: Parts, reading: Reading, words: Lexicon) -> PlanRequest | None:
    """Return the request about alarms or reminders that all words make."""
    verb, forms, quantifiers = parts.act(words), parts.values(Role.QUESTION), parts.values(Role.QUANTIFIER)
    kinds = {_PLANS.get(value, "") for value in parts.values(Role.KIND)} | {
        kind for act, kind in (("remind", "reminder"), ("wake", "alarm")) if act == verb
    }
    if len(kinds) != 1 or "" in kinds or not _OF_PLANS.issuperset(parts.by_role) or not {*quantifiers} <= {"all"}:
        return None
    if any(reading.words[span.start].word != COMMA for span in parts.all(Role.AND)):
        return None
    act, kind = _act(parts, verb), kinds.pop()
    is_plural = not {"alarms", "reminders"}.isdisjoint(parts.values(Role.KIND))
    text = _text(parts, reading, words)
    is_whole = not parts.all(Role.TEXT) or (bool(text) and kind == "reminder" and act != "list")
    if not act or not is_whole or (act == "set" and (is_plural or quantifiers)):
        return None
    return PlanRequest(act, kind, text, is_plural or bool(quantifiers), "how_many" in forms)


def _act(parts: Parts, verb: str) -> str:
    """Return what is to be done with plans; empty if that is not clear."""
    has_act = any(parts.all(role) for role in (Role.ACT, Role.VERB, Role.PARTICLE))
    states = {*parts.values(Role.STATE)}
    begin = next((span.role for span in parts.spans if span.role not in SMALL), None)
    if begin in _ASKING:
        return "list" if not has_act or verb in {"read", "set"} else ""
    if parts.all(Role.BE) or parts.all(Role.QUESTION) or (has_act and not verb):
        return ""
    if verb:
        return _ACTS.get(verb, "") if not states else ""
    return {frozenset[str](): "set", frozenset({"on"}): "set", frozenset({"off"}): "cancel"}.get(frozenset(states), "")


def _text(parts: Parts, reading: Reading, words: Lexicon) -> str:
    """Return the text of a reminder, without the prepositions before it: "call mum" of "to call mum"."""
    texts = parts.all(Role.TEXT)
    if len(texts) != 1 or not telling_text(reading.text(texts[0].start, texts[0].end), words):
        return ""
    heard, start, end = [token.word for token in reading.words], texts[0].start, texts[0].end
    ends = (*heard[start : min(start + _BEGIN, end)], heard[end - 1])
    meanings = [one for word in ends for _, one in words.phrases.found([word], 0)]
    is_reversed = any(one.role is Role.REVERSING or one.value == "time" for one in meanings)
    while heard[start] == COMMA or any(
        one.role is Role.PREPOSITION for _, one in words.phrases.found([heard[start]], 0)
    ):
        start += 1
    return "" if is_reversed else reading.text(start, end)
