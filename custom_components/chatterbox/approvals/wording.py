"""Words the question whether something may be done, and tells what an answer may repeat of it.

Knows sentences, and what calls would do to which entities. Must not know when a question is asked, nor how it is heard
or shown. Of what a model wrote, only the name of the tool and the entities that the call was resolved to are said.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import intent

from ..agent.consent.answers import NOTHING_NAMED, QuestionContext
from ..agent.consent.language import WORDINGS
from ..agent.text import base_language
from ..home.entity_matches import matching_states
from ..home.spoken_names import area_name, entity_name, names_of, tool_name
from .action_summary import ActionKind, ActionSummary, summarize_calls
from .questions import AskedCall, QuestionState

_LONG_WAIT: Final = 90.0
"""Seconds from which on minutes are counted."""
_ANSWERS: Final = frozenset(
    {QuestionState.APPROVED, QuestionState.DENIED, QuestionState.DROPPED, QuestionState.EXPIRED}
)


@dataclass(frozen=True, slots=True)
class ApprovalSentences:
    """The sentences of one language, as `error_bridge.async_get_sentences` returns them."""

    sentences: Mapping[str, str]

    @property
    def declined(self) -> str:
        """Say that nothing is done, after a no."""
        return self.sentences["spoken_declined"]

    @property
    def dropped(self) -> str:
        """Say that nothing was done, because something else was said; comes before the answer to that."""
        return self.sentences["spoken_question_dropped"]

    @property
    def expired(self) -> str:
        """Say that an answer came too late."""
        return self.sentences["spoken_question_expired"]

    @property
    def asked_again(self) -> str:
        """Say why it is asked again after a yes: what would be done is something else by now."""
        return self.sentences["spoken_asked_again"]

    @property
    def nobody_to_ask(self) -> str:
        """Say that a yes is needed, and nobody can give it."""
        return self.sentences["spoken_nobody_to_ask"]

    @property
    def not_allowed(self) -> str:
        """Say that the rules of the household are against it."""
        return self.sentences["spoken_not_allowed"]

    @property
    def not_permitted(self) -> str:
        """Say that the person who asks has no right to control it."""
        return self.sentences["spoken_not_permitted"]

    @property
    def pin_missing(self) -> str:
        """Say that a yes is not enough, and ask for the PIN."""
        return self.sentences["spoken_pin_missing"]

    @property
    def pin_not_set(self) -> str:
        """Say that a PIN is needed, and there is none."""
        return self.sentences["spoken_pin_not_set"]

    @property
    def pin_unclear(self) -> str:
        """Say that something like a PIN was not understood, and ask for it again."""
        return self.sentences["spoken_pin_unclear"]

    def pin_wrong(self, tries_left: int) -> str:
        """Say that a PIN was wrong, when at least one try is left."""
        if tries_left == 1:
            return self.sentences["spoken_pin_wrong_one_left"]
        return self.sentences["spoken_pin_wrong"].format_map({"count": str(tries_left)})

    def pin_locked(self, seconds_left: float) -> str:
        """Say that no PIN is taken for a while."""
        if seconds_left < _LONG_WAIT:
            return self.sentences["spoken_pin_locked_briefly"]
        return self.sentences["spoken_pin_locked"].format_map({"minutes": str(ceil(seconds_left / 60))})

    @property
    def title(self) -> str:
        """What stands above a question that is shown."""
        return self.sentences["question_title"]

    @property
    def yes(self) -> str:
        """What stands on the button that approves."""
        return self.sentences["answer_yes"]

    @property
    def no(self) -> str:
        """What stands on the button that denies."""
        return self.sentences["answer_no"]

    def outcome(self, state: QuestionState) -> str:
        """Tell, where a question is still shown, what became of it; empty as long as that is nothing."""
        return self.sentences[f"question_{state}"] if state in _ANSWERS else ""


_MOST_NAMES: Final = 5
"""So many can be listened to."""
_HAS_ARTICLE: Final = re.compile(r"(?:the|an?|my|our|your|his|her|their)\s|\S+(?:['’]s|s['’])\s", re.IGNORECASE)  # noqa: RUF001 - as people type it
"""How a name begins that takes no English article. In other languages there is none before a name."""
_FIRST_WORD: Final = re.compile(r"\w+")
_ENDS: Final = (".", "!", "?", "…", ":", "。", "\N{FULLWIDTH EXCLAMATION MARK}", "\N{FULLWIDTH QUESTION MARK}")


@callback
def question_text(hass: HomeAssistant, sentences: Mapping[str, str], calls: Sequence[AskedCall]) -> str:
    """Return one short question for all calls that wait for a yes, with the reasons that are given for it.

    `sentences` are those of the speaker's language, as `error_bridge.async_get_sentences` returns them.
    """
    asked = summarize_calls(hass, calls)
    said = list(dict.fromkeys(_as_sentence(call.pending.reason) for call in calls if call.pending.reason.strip()))
    if any(call.for_outside_content for call in calls):
        said.append(sentences["spoken_asked_outside"])
    if asked.is_unclear:
        said.append(sentences["spoken_asked_unclear"])
    said.append(_Words(hass, sentences, asked).question())
    if any(call.needs_pin for call in calls):
        said.append(sentences["spoken_say_pin"])
    return " ".join(said)


@callback
def asked_of(
    hass: HomeAssistant, sentences: Mapping[str, str], calls: Sequence[AskedCall], language: str
) -> QuestionContext:
    """Return what a question named, so that "yes, unlock the front door" is understood as an answer to it.

    `sentences` are those of `language`, in which it was asked.
    """
    wording = WORDINGS.get(base_language(language))
    if wording is None:
        return NOTHING_NAMED
    asked = summarize_calls(hass, calls)
    words = _Words(hass, sentences, asked)
    action, names, place = None, tuple[str, ...](), ""
    if len(asked.deeds) == 1 and not asked.tools and not asked.has_more:
        ((deed, entity_ids),) = asked.deeds.items()
        action = deed.action
        if len(entity_ids) == 1:
            place = area_name(hass, entity_ids[0])
            names = names_of(hass, entity_ids[0], wording, lambda name: words.placed(name, place))
    return QuestionContext(action, names, place, several=asked.is_several, repetition=words.deeds())


@dataclass(frozen=True, slots=True)
class _Words:
    """What is asked about, in the words of one language."""

    hass: HomeAssistant
    sentences: Mapping[str, str]
    asked: ActionSummary

    def question(self) -> str:
        """Return the question alone."""
        if not (deeds := self.deeds()):
            return self.sentences["asked_anything"]
        return _FIRST_WORD.sub(_capitalized, self._say("question", deeds=deeds), count=1)

    def deeds(self) -> str:
        """Return all that would be done, as it stands in the question; empty if nothing of it has a name."""
        parts = [
            self._say(deed, things=self._listed([self.thing(one, deed) for one in self._shown(ids)], len(ids)))
            for deed, ids in self.asked.deeds.items()
        ]
        if tools := self.asked.tools:
            parts.append(
                self._say(ActionKind.USE, things=self._listed(list(map(tool_name, self._shown(tools))), len(tools)))
            )
        if not parts:
            return ""
        deeds = self._joined("and_do", parts)
        return self._say("more", deeds=deeds) if self.asked.has_more else deeds

    def thing(self, entity_id: str, deed: ActionKind) -> str:
        """Return the name of an entity, and where it is, if it is the only one or has its name from others too."""
        name = entity_name(self.hass, entity_id)
        if deed is ActionKind.RUN:
            return name
        place = area_name(self.hass, entity_id) if not self.asked.is_several or self._is_shared(name) else ""
        return self.placed(name, "" if place.casefold() in name.casefold() else place)

    def placed(self, name: str, place: str) -> str:
        """Return a name with a place, if there is one."""
        thing = self._with_article(name)
        return self._say("placed", thing=thing, place=self._with_article(place)) if place else thing

    def _is_shared(self, name: str) -> bool:
        """Tell whether others that an assistant may see have a name, too."""
        alike = intent.MatchTargetsConstraints(name=name, assistant=CONVERSATION, allow_duplicate_names=True)
        return len(matching_states(self.hass, alike)) > 1

    def _shown[Thing](self, things: Sequence[Thing]) -> Sequence[Thing]:
        """Return those that are named: all of a few, else so many that there is time for the other deeds."""
        most = max(_MOST_NAMES // (len(self.asked.deeds) + bool(self.asked.tools)), 2)
        return things if len(things) <= most else things[: most - 1]

    def _listed(self, names: Sequence[str], count: int) -> str:
        if more := count - len(names):
            return self._say("many", things=reduce(self._beside, names), count=str(more))
        return self._joined("and", names)

    def _joined(self, last: str, parts: Sequence[str]) -> str:
        *others, end = parts
        return self._say(last, first=reduce(self._beside, others), second=end) if others else end

    def _beside(self, first: str, second: str) -> str:
        return self.sentences["spoken_list"].format_map({"first": first, "second": second})

    def _with_article(self, name: str) -> str:
        return name if _HAS_ARTICLE.match(name) else self._say("thing", name=name)

    def _say(self, key: str, **placeholders: str) -> str:
        return self.sentences[f"asked_{key}"].format_map(placeholders)


def _capitalized(word: re.Match[str]) -> str:
    """Return a word as a sentence begins; but a name such as iPhone stays as it is written."""
    return word[0][0].upper() + word[0][1:] if word[0].islower() else word[0]


def _as_sentence(reason: str) -> str:
    """Return a reason in one line that ends, so that the question can follow."""
    words = " ".join(reason.split())
    return words if words.endswith(_ENDS) else f"{words}."
