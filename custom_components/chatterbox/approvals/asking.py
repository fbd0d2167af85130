"""Ends a turn whose calls need approval with a question, and finds the names by which an answer may name a thing."""

import re
import time
from collections.abc import Callable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    ConversationInput,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    entity_registry as er,
    intent,
)

from ..agent.conversation.own_words import NO_MODEL
from ..agent.events import (
    MessageDone,
    PendingApproval,
    PendingCall,
    TextDelta,
    TurnEvent,
    TurnFinished,
)
from ..agent.loop.hooks import covers
from ..agent.messages import AssistantMessage
from ..agent.text import character_map, fold, spoken_words
from ..effects.effect import ActionKind, kind_of
from ..home.entities import async_get_home, telling_words
from ..home.entity_matches import (
    action_name,
    area_name,
    areas_of_entities,
    entity_name,
    matching_states,
    spoken,
    tool_name,
)
from ..people.speakers import Speaker
from ..records.turn_record import Origin
from ..speech.sentences import (
    Sentences,
    TranslatedComposer,
    as_sentence,
    in_sentences,
    joined_texts,
)
from .action_summary import (
    PLAY,
    ActionSummary,
    Setting,
    repeatable_action,
    sets_value,
    summarize_calls,
)
from .answers.language import ALL_WORDINGS, Phrase, Wording, language_code, phrases_of
from .answers.yes_or_no import (
    NOTHING_NAMED,
    QuestionContext,
    prepare_answers,
    understand_choice,
    understood_language,
)
from .guard import CallGuard
from .questions import CHOICE, UNASKED, ApprovalScope, Question
from .review import CallOption, CallReview

_LONG_WAIT: Final = 90.0
"""Seconds from which the time is given in minutes."""
_MOST_NAMES: Final = 5
"""Names in a question."""
_HAS_ARTICLE: Final = re.compile(
    r"(?:the|an?|my|our|your|his|her|their)\s|\S+(?:['’]s|s['’])\s",  # noqa: RUF001 - as people type it
    re.IGNORECASE,
)
"""Matches a name that takes no English article. The other languages use none before a name."""
_FIRST_WORD: Final = re.compile(r"\w+")


def question_text(
    hass: HomeAssistant, sentences: Sentences, calls: Sequence[CallReview]
) -> str:
    """Return one short question for all calls that need approval, with the reasons for it.

    `sentences` are those of the language of the speaker.
    """
    given = [call.reason for call in calls if call.reason.strip()]
    reasons = [*dict.fromkeys(map(as_sentence, given))]
    kinds = [
        call.wish_of or ("outside" if call.for_outside_content else "")
        for call in calls
    ]
    reasons += [
        sentences[f"spoken_asked_{kind}"] for kind in dict.fromkeys(kinds) if kind
    ]
    summary = summarize_calls(hass, calls)
    if summary.is_unclear:
        reasons.append(sentences["spoken_asked_unclear"])
    reasons += dict.fromkeys(call.when.words for call in calls if call.when)
    reasons.append(_QuestionText(hass, sentences, summary).question(calls[0].options))
    if any(call.needs_pin for call in calls):
        reasons.append(sentences["spoken_say_pin"])
    return " ".join(reasons)


def actions_text(hass: HomeAssistant, sentences: Sentences, call: CallReview) -> str:
    """Return what a call does, as a question names it; empty if that has no name."""
    return _QuestionText(hass, sentences, summarize_calls(hass, [call])).actions()


def unmeant_text(
    hass: HomeAssistant, sentences: Sentences, calls: Sequence[CallReview]
) -> str:
    """Return what was not done, and that content from outside may have asked for it."""
    actions = _QuestionText(hass, sentences, summarize_calls(hass, calls)).actions()
    source = sentences[f"spoken_asked_{calls[0].wish_of}"] if calls[0].wish_of else ""
    text = sentences["spoken_outside_not_done"].format_map({"actions": actions})
    return f"{source} {text if actions else sentences['spoken_declined']}".lstrip()


def asked_of(
    hass: HomeAssistant,
    sentences: Sentences,
    calls: Sequence[CallReview],
    language: str,
) -> QuestionContext:
    """Return what a question names, so that "yes, unlock the front door" is understood as an answer to it.

    `sentences` are those of `language`.
    """
    wording = ALL_WORDINGS.get(language_code(language))
    if wording is None:
        return NOTHING_NAMED
    summary = summarize_calls(hass, calls)
    words = _QuestionText(
        hass,
        sentences,
        summary,
    )
    action = None
    names = tuple[str, ...]()
    place = ""
    if (
        len(summary.actions) == 1
        and not summary.tools
        and not summary.unforeseen
        and not summary.has_more
    ):
        ((wording_of_all, entity_ids),) = summary.actions.items()
        action = repeatable_action(wording_of_all)
        if len(entity_ids) == 1:
            place = area_name(hass, entity_ids[0])
            names = unique_names(
                hass, entity_ids[0], wording, lambda name: words.placed(name, place)
            )
    return QuestionContext(
        action, names, place, several=summary.is_several, repetition=words.actions()
    )


def chosen_of(
    hass: HomeAssistant,
    question: Question,
    text: str,
    language: str,
) -> Sequence[CallOption] | None:
    """Return which options words choose; none if they may mean several, None if they choose none."""
    options = question.options
    registry = er.async_get(hass)
    words: list[list[frozenset[str]]] = []
    for one in options:
        entry = registry.async_get(one.entity_id)
        aliases = er.async_get_entity_aliases(hass, entry) if entry else ()
        names = (
            entity_name(hass, one.entity_id),
            area_name(hass, one.entity_id),
            *aliases,
        )
        words.append(
            [frozenset(map(fold, telling_words(name))) for name in names if name]
        )
    spoken = len(options) if len(options) <= _MOST_NAMES else _MOST_NAMES - 1
    chosen = understand_choice(
        text,
        understood_language(language),
        words,
        spoken,
    )
    if chosen is None:
        return None
    return [options[number] for number in chosen]


@dataclass(frozen=True, slots=True)
class _QuestionText:
    """The text of a question in one language."""

    hass: HomeAssistant
    sentences: Sentences
    summary: ActionSummary

    def question(self, options: Sequence[CallOption] = ()) -> str:
        """Return the question without its reasons: whether to do it, or to which one of some options."""
        if options:
            actions = self._joined(
                "or",
                self._choices(options),
            )
        else:
            actions = self.actions()
        if not actions:
            return self.sentences["asked_anything"]
        return _FIRST_WORD.sub(
            _capitalized, self._say("question", actions=actions), count=1
        )

    def _choices(self, options: Sequence[CallOption]) -> list[str]:
        """Return the names of options, the last one for all that are left out."""
        names = [self.name(one.entity_id, ActionKind.CHANGE) for one in options]
        if len(names) <= _MOST_NAMES:
            return names
        return [*names[: _MOST_NAMES - 1], self._say("another")]

    def actions(self) -> str:
        """Return the actions, as the question names them; empty if none has a name."""
        parts = [
            self._action(
                wording,
                self._listed(
                    [self.name(one, wording) for one in self._named(ids)], len(ids)
                ),
            )
            for wording, ids in self.summary.actions.items()
        ]
        for key, names, as_words in (
            (str(ActionKind.USE), self.summary.tools, tool_name),
            ("call", self.summary.unforeseen, action_name),
        ):
            if names:
                parts.append(
                    self._say(
                        key,
                        targets=self._listed(
                            list(map(as_words, self._named(names))), len(names)
                        ),
                    )
                )
        if not parts:
            return ""
        actions = self._joined("and_do", parts)
        if self.summary.has_more:
            return self._say("more", actions=actions)
        return actions

    def _action(
        self,
        wording: str,
        targets: str,
    ) -> str:
        """Return an action with the names of its entities, and with what they are set to."""
        values = [*map(self._value, self.summary.settings.get(wording, ()))]
        if values:
            value = joined_texts(self.sentences, values)
        else:
            value = ""
        if value and wording == PLAY:
            return self._say(
                "play",
                targets=targets,
                value=value,
            )
        if value and sets_value(wording):
            return self._say(
                "set",
                targets=targets,
                value=value,
            )
        if "." not in wording:
            return self._say(
                wording,
                targets=targets,
                value=value,
            )
        domain, _, service = wording.partition(".")
        named = f"{targets} ({value})" if value else targets
        name = self.sentences.get(f"component.{domain}.services.{service}.name")
        kind = kind_of(wording)
        if name or kind == ActionKind.USE:
            return self._say(
                "named", action=name or action_name(wording), targets=named
            )
        return self._say(kind, targets=named)

    def _value(self, setting: Setting) -> str:
        """Return a value with its unit."""
        value = (
            f"{setting.value:g}"
            if isinstance(setting.value, float | int)
            else setting.value
        )
        if setting.unit == "%":
            return self._say("percent", value=value)
        unit = (
            self.hass.config.units.temperature_unit
            if setting.unit == "°"
            else setting.unit
        )
        return f"{value} {unit}".rstrip()

    def name(
        self,
        entity_id: str,
        kind: str,
    ) -> str:
        """Return the name of an entity, with its area if it is the only one, or if others have the same name."""
        name = entity_name(self.hass, entity_id)
        if kind == ActionKind.RUN:
            return name
        if not self.summary.is_several or self._is_shared(name):
            place = area_name(self.hass, entity_id)
        else:
            place = ""
        return self.placed(
            name,
            "" if fold(place) in fold(name) else place,
        )

    def placed(
        self,
        name: str,
        place: str,
    ) -> str:
        """Return a name with its area, if it has one."""
        named = self._with_article(name)
        if place:
            return self._say(
                "placed",
                name=named,
                place=self._with_article(place),
            )
        return named

    def _is_shared(self, name: str) -> bool:
        """Return whether several exposed entities have a name."""
        alike = intent.MatchTargetsConstraints(
            name=name, assistant=CONVERSATION, allow_duplicate_names=True
        )
        return len(matching_states(self.hass, alike)) > 1

    def _named(self, names: Sequence[str]) -> Sequence[str]:
        """Return the first names, as many as leave room for the other actions."""
        kinds = (
            len(self.summary.actions)
            + bool(self.summary.tools)
            + bool(self.summary.unforeseen)
        )
        most = max(_MOST_NAMES // kinds, 2)
        if len(names) <= most:
            return names
        return names[: most - 1]

    def _listed(
        self,
        names: Sequence[str],
        count: int,
    ) -> str:
        more = count - len(names)
        if more:
            return self._say(
                "many", targets=joined_texts(self.sentences, names), count=str(more)
            )
        return self._joined("and", names)

    def _joined(
        self,
        last: str,
        parts: Sequence[str],
    ) -> str:
        *others, end = parts
        if others:
            return self._say(
                last,
                first=joined_texts(self.sentences, others),
                second=end,
            )
        return end

    def _with_article(self, name: str) -> str:
        if _HAS_ARTICLE.match(name):
            return name
        return self._say("name", name=name)

    def _say(
        self,
        key: str,
        **placeholders: str,
    ) -> str:
        return self.sentences[f"asked_{key}"].format_map(placeholders)


def _capitalized(word: re.Match[str]) -> str:
    """Return a word with an initial capital, unless it is a name such as iPhone."""
    if word[0].islower():
        return word[0][0].upper() + word[0][1:]
    return word[0]


def wrong_pin_text(
    sentences: Sentences,
    tries_left: int,
) -> str:
    """Return the sentence after a wrong PIN that can be tried again."""
    if tries_left == 1:
        return sentences["spoken_pin_wrong_one_left"]
    return sentences["spoken_pin_wrong"].format_map({"count": str(tries_left)})


def locked_pin_text(
    sentences: Sentences,
    seconds_left: float,
) -> str:
    """Return the sentence after too many wrong PINs."""
    if seconds_left < _LONG_WAIT:
        return sentences["spoken_pin_locked_briefly"]
    return sentences["spoken_pin_locked"].format_map(
        {"minutes": str(ceil(seconds_left / 60))}
    )


type Keep = Callable[[Question, float], bool]
"""Opens a question for a number of seconds; returns whether it can be answered at all."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class ApprovalRequester:
    """Asks the question of one turn."""

    hass: HomeAssistant
    user_input: ConversationInput
    """The input that led to the question."""
    scope: ApprovalScope
    speaker: Speaker
    origin: Origin
    approved: Sequence[PendingCall]
    """The calls that were approved when the turn was resumed."""
    guard: CallGuard
    composer: TranslatedComposer
    keep: Keep
    is_written: bool = True
    """Whether the question is said in words. An API client gets the calls instead."""

    def ask(
        self,
        end: TurnFinished,
        pending: PendingApproval,
    ) -> Iterator[TurnEvent]:
        """Ask, and yield the last events of the turn. The text names what was done before it asks."""
        question = self._question(pending)
        is_kept = self.keep(
            question,
            max(
                pending.expires_at - time.time(),
                0,
            ),
        )
        if not self.is_written:
            yield replace(
                end,
                pending=question.pending if is_kept else None,
            )
            return
        if is_kept:  # while the person hears the question
            language = understood_language(question.language)
            asked_about = asked_of(
                self.hass, self.composer.sentences, question.calls, language
            )
            _ = self.hass.async_add_executor_job(
                prepare_answers,
                language,
                asked_about,
            )
        if is_kept:
            sentence = question.text
        else:
            sentence = self.composer.sentences["spoken_question_dropped"]
        done = self.composer.done(end.tool_results)
        text = in_sentences((done, sentence))
        yield TextDelta(text)
        yield MessageDone(AssistantMessage(text, provider_items=(NO_MODEL,)))
        yield replace(
            end,
            text=text,
            pending=question.pending if is_kept else None,
        )

    def _question(self, pending: PendingApproval) -> Question:
        sentences = self.composer.sentences
        calls = self.guard.reviews_of(pending)
        later = tuple[CallReview, ...]()
        choice = next(
            (call for call in calls if call.options),
            None,
        )
        if choice:  # all else waits until that is known
            calls, later = (
                (choice,),
                tuple(call for call in calls if call is not choice),
            )
            pending = replace(
                pending,
                calls=tuple(
                    one for one in pending.calls if one.call.id == choice.call.id
                ),
            )
        if self._has_changed(pending):
            again = sentences["spoken_asked_again"]
        else:
            again = ""
        text = f"{again} {question_text(self.hass, sentences, calls)}".lstrip()
        return Question(
            pending,
            calls,
            text,
            self.user_input.language,
            self.scope,
            self.speaker,
            self.user_input.context,
            self.origin,
            self.user_input.text,
            later=later,
        )

    def _has_changed(self, pending: PendingApproval) -> bool:
        """Return whether an approved call needs approval again, because its terms have changed."""
        approved = {one.call.key: one.terms for one in self.approved}
        again = ((approved.get(one.call.key), one.terms) for one in pending.calls)
        return any(
            earlier not in {None, CHOICE, UNASKED} and not covers(earlier or "", terms)
            for earlier, terms in again
        )


def unique_names(
    hass: HomeAssistant,
    entity_id: str,
    wording: Wording,
    with_place: Callable[[str], str],
) -> tuple[str, ...]:
    """Return the names and aliases of an entity that mean nothing else in the home.

    They are compared with all other exposed entities, areas and floors, regardless of
    articles. A name that is not unique is combined with the area by `with_place`, if
    the other entity is in another area.
    """
    entry = er.async_get(hass).async_get(entity_id)
    if entry:
        aliases = er.async_get_entity_aliases(hass, entry)
    else:
        aliases = []
    names = {
        name: with_place(name)
        for name in (entity_name(hass, entity_id), *map(spoken, aliases))
        if name
    }
    every = (_words(name, wording) for name in (*names, *names.values()))
    ends = {words[-1] for words in every if words}
    beside = _other_names(
        hass,
        entity_id,
        wording,
        ends,
    )
    area_id = areas_of_entities(hass).get(entity_id)

    def places_of_others(name: str) -> list[str | None]:
        words = _words(name, wording)
        return [place for other, place in beside if _sound_alike(words, other, wording)]

    plain = list[str]()
    apart = list[str]()
    for name, placed in names.items():
        places = places_of_others(name)
        if not places:
            plain.append(name)
        elif area_id and area_id not in places and not places_of_others(placed):
            apart.append(placed)
    return (*plain, *apart)


def _other_names(
    hass: HomeAssistant,
    entity_id: str,
    wording: Wording,
    ends: AbstractSet[str],
) -> frozenset[tuple[Phrase, str | None]]:
    """Return the names of other entities, areas and floors as words, with the ids of their areas.

    The result contains at least those that end in one of `ends`.
    """
    characters = character_map(wording.folded)
    pieces = {end.rpartition("'")[2] for end in ends}

    def may_end(name: str) -> bool:
        plain = fold(name, keep_accents=True).translate(characters)
        return any(piece in plain for piece in pieces)

    home = async_get_home(hass, CONVERSATION)
    others = [one for one in home.all_entities if one.entity_id != entity_id]
    named = [
        *(
            ((entity_name(hass, one.entity_id), *one.names), one.area_id)
            for one in others
        ),
        *((one.names, None) for one in home.places),
    ]
    return frozenset(
        (_words(name, wording), area_id)
        for names, area_id in named
        for name in names
        if may_end(name)
    )


def _sound_alike(
    one: Phrase,
    other: Phrase,
    wording: Wording,
) -> bool:
    """Return True if two names may sound the same, with articles before them."""
    shorter, longer = sorted(
        ("'".join(words).split("'") for words in (one, other)), key=len
    )
    if longer[-len(shorter) :] != shorter:
        return False
    return not _forms(one, wording).isdisjoint(_forms(other, wording))


def _words(name: str, wording: Wording) -> Phrase:
    """Return the words of a name; empty if it cannot be spoken."""
    return spoken_words(spoken(name), wording.folded) or ()


def _forms(
    words: Phrase,
    wording: Wording,
) -> frozenset[Phrase]:
    """Return the forms of a name in a sentence."""
    return phrases_of(
        wording.named,
        {"name": [" ".join(words)]},
    )
