"""Recognizes requests about plans without a model: "remind me at six to call Mum", "turn it off in ten minutes".

Home Assistant's own sentences go first. Those that it understands as delayed become
plans, and so do commands that it understands, with either of its recognizers, once
their time is left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from homeassistant.components.alarm_control_panel import DOMAIN as ALARM_PANEL
from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    ConversationInput,
)
from homeassistant.components.intent import async_device_supports_timers
from homeassistant.components.media_player import INTENT_MEDIA_SEARCH_AND_PLAY
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.util import dt as dt_util

from ..agent.conversation.own_words import as_models_read
from ..agent.messages import AssistantMessage, JsonValue, ToolCall, Transcript
from ..agent.text import heard_words
from ..agent.transcript import since_last_user_message
from ..approvals.answers.yes_or_no import Meaning, understand_answer, understand_choice
from ..effects.effect import Touches
from ..effects.intents import delay_of, delayed_command
from ..effects.reading import NOTHING_READ
from ..effects.recognition import RecognizedRequest, async_recognize, readable_sentence
from ..home.entities import async_get_home, telling_words
from ..home.request import QUESTION_ENDS
from ..internals.conversation import async_recognized, built_in_agent, slots_of
from ..nlu.requests import StateQuestion
from ..offline.misheard import is_negated
from ..offline.provider import PROCESS_SENTENCE, SENTENCE, asked_about, local_call
from ..offline.sentence_effects import (
    async_read_sentence,
    async_sentence_effects,
    async_with_names,
)
from ..people.speakers import person_id_of
from ..speech.sentences import async_error_text, async_get_sentences
from ..speech.text.times import (
    APART,
    Moment,
    TimeInSentence,
    exact_words,
    has_bound,
    is_resolved,
    names_days,
    parts_of_time,
    prepare,
    recurs_on,
    spoken_time,
    times_in,
)
from .plan_words import (
    PlanWords,
    begins_bound,
    has_plan_words,
    is_clear,
    of_time,
    plan_words,
)
from .plans import TIMER_WORDS, Asker, FuturePlan, NotPlanned, PlanKind, plans_of
from .schedule import async_get_schedule, due_about, moment_of, resolved_time
from .telling import ReminderKind, async_reminder_kind, plan_text
from .tool import LATER, due_order, plans_called

if TYPE_CHECKING:
    from homeassistant.components.conversation.default_agent import DefaultAgent

_NAME: Final = LATER.definition.name
_TIMERS: Final = frozenset(
    {
        intent.INTENT_START_TIMER,
        intent.INTENT_CANCEL_TIMER,
        intent.INTENT_CANCEL_ALL_TIMERS,
        intent.INTENT_TIMER_STATUS,
        intent.INTENT_INCREASE_TIMER,
        intent.INTENT_DECREASE_TIMER,
        intent.INTENT_PAUSE_TIMER,
        intent.INTENT_UNPAUSE_TIMER,
    }
)
_ADDED: Final = "HassListAddItem"
_KINDS: Final = frozenset(ReminderKind)
_OF_NAMED: Final = {"ask": "list", "cancel": "cancel"}
"""Calls about plans that are named without their kind: "how long for the eggs?"."""
_ADJUSTED: Final = {intent.INTENT_INCREASE_TIMER: 1, intent.INTENT_DECREASE_TIMER: -1}
_CANCELLED: Final = (intent.INTENT_CANCEL_TIMER, intent.INTENT_CANCEL_ALL_TIMERS)
_SAID_AT: Final = "said_at"
"""When the words of a request were said, among the arguments of its call until its time is clear."""
_EXACTLY: Final = timedelta(minutes=1)
"""The difference up to which a time means the time of a plan to cancel."""
_MOST_NAMED: Final = 5
"""Plans in a question."""
_MOST_TIMES: Final = 6
"""Times in a sentence, and words around times, that are tried: each costs some milliseconds."""
_MORNING: Final = range(4, 12)
"""The hours at which an alarm is meant if they come next: nobody wants to be asked which seven o'clock."""
_AROUND: Final = " .,!?¿¡。，！？"  # noqa: RUF001 Chinese marks


_COMMAND: Final = RecognizedRequest(_NAME, is_question=False)


async def async_recognize_plan(
    hass: HomeAssistant,
    user_input: ConversationInput,
    history: Transcript,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return a request about plans, with the call that does it, or else the one that Home Assistant has `found`."""
    agent, language = built_in_agent(hass, user_input.text), user_input.language
    if agent is None or (found and found.intent not in _TIMERS):
        return found
    if await agent.async_recognize_sentence_trigger(user_input):
        return found
    await hass.async_add_executor_job(prepare, language)
    calls = (await async_read_sentence(hass, user_input, "")).calls
    if any(one.intent == _ADDED for one in calls):
        return found  # the item of a list may have a time
    times = times_in(user_input.text, language)
    if len(times) > _MOST_TIMES:
        return found
    try:
        sentence = await _async_sentence(hass, user_input, history, times)
        clear = (
            sentence.made_clear()
            or await sentence.async_of_kind(found)
            or sentence.moved_by_kind()
        )
        request = (
            clear
            or await sentence.async_recognized(agent, found)
            or sentence.with_text()
        )
        if request and request.call and request.call.name == _NAME and sentence.problem:
            raise sentence.problem
    except NotPlanned as error:
        return replace(
            _COMMAND, answer=await async_error_text(hass, language, error.problem)
        )
    return request


async def _async_sentence(
    hass: HomeAssistant,
    user_input: ConversationInput,
    history: Transcript,
    times: Sequence[TimeInSentence],
) -> _Sentence:
    """Return a sentence with what its words may be about."""
    plans, user_id, problem = (
        async_get_schedule(hass).plans,
        user_input.context.user_id,
        None,
    )
    try:
        await plans.async_load()
    except NotPlanned as error:
        problem = error
    own = plans_of(plans.stored.plans, person_id_of(hass, user_id) if user_id else None)
    kinds = {plan.id: await async_reminder_kind(hass, plan) for plan in own}
    texts, language = (
        await async_get_sentences(hass, user_input.language),
        user_input.language,
    )
    readings = [*_readings(user_input.text, language)]
    return _Sentence(
        hass, user_input, history, times, readings, texts, own, kinds, problem
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that may be about plans."""

    hass: HomeAssistant
    user_input: ConversationInput
    history: Transcript
    times: Sequence[TimeInSentence]
    readings: Sequence[tuple[TimeInSentence, PlanWords]]
    """The ways to read it as a request about plans, each with its time."""
    texts: Mapping[str, str]
    """The sentences in its language."""
    own: Sequence[FuturePlan]
    kinds: Mapping[str, ReminderKind | None]
    """Of these plans, by their ids."""
    problem: NotPlanned | None
    """Why they cannot be read."""

    @property
    def plans(self) -> Sequence[FuturePlan]:
        """The plans of the speaker, the oldest first. Raises `NotPlanned`."""
        if self.problem:
            raise self.problem
        return self.own

    @property
    def language(self) -> str:
        """Its language."""
        return self.user_input.language

    @property
    def answer(self) -> str:
        """Its words without the marks around them."""
        return self.user_input.text.strip(_AROUND)

    def _resolve(
        self, words: str, said_at: JsonValue = None, moved: Moment | None = None
    ) -> Moment | None:
        """Return the time that words mean now, or meant when they were said."""
        at = dt_util.parse_datetime(str(said_at))
        return resolved_time(self.hass, words, self.language, at, moved=moved)

    def _for(self, text: JsonValue, moment: Moment | None) -> Moment | None:
        """Return the time that is meant for a reminder with a text."""
        return (
            _for_alarm(moment)
            if moment and text == self.texts["later_alarm"]
            else moment
        )

    def _says(
        self, key: str, request: RecognizedRequest = _COMMAND, **fields: str
    ) -> RecognizedRequest:
        """Return a request with a sentence in place of its call, of which a model may make more."""
        return replace(
            request, answer=self.texts[key].format(**fields), is_last_resort=True
        )

    def made_clear(self) -> RecognizedRequest | None:
        """Return the request of before with its exact time, if words answer the question about that.

        Words of then mean what they meant then: "tomorrow" is still the same day after
        midnight.
        """
        given, answer, language = (
            asked_about(_NAME, self.history),
            self.answer,
            self.language,
        )
        if not given or given.get("text") == "":
            return None
        if given["kind"] == "cancel":
            return self._chosen(str(given["text"]))
        said_at, when, text = given[_SAID_AT], str(given["when"]), given.get("text")
        moment, unclear = (
            self._for(text, self._resolve(when, said_at)),
            dict[str, JsonValue](),
        )
        old = moment if names_days(when, language) else None
        times = sorted(
            (time.words for time in self.times), key=answer.index, reverse=True
        )
        rest = _without_times(answer, times)
        denied = (
            moment and moment.due
            if understand_answer(rest, language) is Meaning.NO
            else None
        )
        for words in (answer, *(times if _says_no_more(rest, language) else ())):
            together = [(f"{when} {words}", None, said_at)] if when else []
            for meant, moved, at in (*together, (words, old, None)):
                clear = self._for(text, self._resolve(meant, at, moved))
                if clear and clear.is_sure and clear.due != denied:
                    return replace(_COMMAND, call=_planning(given, exact_words(clear)))
                if clear and not (moved or unclear):
                    unclear = {**given, "when": meant, _SAID_AT: at}
        unclear = unclear or (
            {**given, "when": answer, _SAID_AT: None} if times and not rest else {}
        )
        match understand_answer(answer, language):
            case Meaning.YES if moment:
                return replace(_COMMAND, call=_planning(given, exact_words(moment)))
            case Meaning.NO:
                return self._declined
            case _:
                return self._with_call(_COMMAND, unclear) if unclear else None

    @property
    def _declined(self) -> RecognizedRequest:
        """The words after a no to a question."""
        return replace(_COMMAND, answer=self.texts["spoken_declined"])

    def with_text(self) -> RecognizedRequest | None:
        """Return the request for a reminder with words that are no other request as its text, if that was asked for."""
        given, answer, language = (
            asked_about(_NAME, self.history),
            self.answer,
            self.language,
        )
        is_question = self.user_input.text.rstrip().endswith(QUESTION_ENDS)
        if given.get("text") != "" or not answer or is_question:
            return None
        if understand_answer(answer, language) is Meaning.NO:
            return self._declined
        request, content = (
            [TimeInSentence("", words), *times_in(words, language, joined=True)][-1]
            for words in (since_last_user_message(self.history)[0], answer)
        )
        words = plan_words(f"{request.rest.strip(_AROUND)} {content.rest}", language)
        text, when = (words and words.text) or content.rest, str(given["when"])
        both = {
            _SAID_AT: given[_SAID_AT],
            "when": f"{when} / {content.words}" if content.words else when,
        }
        given |= {
            "text": text,
            **(both if when else {_SAID_AT: None, "when": content.words}),
        }
        return self._with_call(_COMMAND, given)

    def _chosen(self, words: str) -> RecognizedRequest | None:
        """Return the request to cancel those of several plans that an answer chooses, by number, name or time."""
        answer, language, plans = (
            self.answer,
            self.language,
            plans_called(self.plans, words),
        )
        names = [[frozenset(heard_words(plan.text))] for plan in plans]
        choice, meaning = (
            understand_choice(answer, language, names, _MOST_NAMED),
            understand_answer(answer, language),
        )
        chosen: Sequence[FuturePlan] = [plans[number] for number in choice or ()]
        times = [*_times_in(answer, language)][:-1]
        for time in times:
            if (rest := plan_words(time.rest, language)) and rest.act == "":
                chosen = self._due(plans, time.words)
        if len(plans) == 1 and meaning is Meaning.YES:
            chosen = plans
        if chosen and (len(chosen) == 1 or not times):
            return replace(_COMMAND, call=_call_for("cancel", chosen))
        if meaning is Meaning.NO:
            return self._declined
        if not chosen and choice is None:
            return None
        return replace(
            _COMMAND, call=_call_for("cancel", plans), answer=self._which(plans)
        )

    async def async_of_kind(
        self, theirs: RecognizedRequest | None
    ) -> RecognizedRequest | None:
        """Return the request that asks for alarms, reminders or timers or cancels some; None for other words.

        `theirs` is the one that Home Assistant has understood.
        """
        for time, words in self.readings:
            is_bound = begins_bound(time.words, self.language) or has_bound(
                time.words, self.language
            )
            if (
                words.kind in _KINDS
                and words.act in {"ask", "cancel"}
                and self._is_known(time, words, is_bound=is_bound)
            ):
                break
        else:
            return None
        if (kind := ReminderKind(words.kind)) is ReminderKind.TIMER:
            is_plain = words.act == "ask" and not time.words
            return (
                await self._async_timers(words, is_only=theirs is None)
                if is_plain
                else None
            )
        then = "" if is_bound else time.words
        sure = sorted(self._of_kind(kind), key=due_order)
        named = sure or plans_called(self.plans, words.named)
        meant = self._due(named, then) if then else named
        request = replace(_COMMAND, is_question=words.act == "ask")
        if not meant:
            is_device = time.words and await async_recognize(
                self.hass, replace(self.user_input, text=time.rest)
            )
            if is_device or (kind is ReminderKind.ALARM and self._has_alarm_panel):
                return None  # of that name
            return self._says(f"later_none_{kind}{'_then' if then else ''}", request)
        if "count" in words.roles and len(meant) > 1 and not is_bound:
            return self._counted(request, meant)
        if request.is_question:
            is_next = "next" in words.roles and not is_bound
            return replace(
                request, call=_call_for("list", meant[:1] if is_next else meant)
            )
        is_clear = (
            bool(sure) and not is_bound and self._means_all(words, time.words, meant)
        )
        return replace(
            request,
            call=_call_for("cancel", meant),
            answer="" if is_clear else self._which(meant),
        )

    def _is_known(
        self, time: TimeInSentence, words: PlanWords, *, is_bound: bool
    ) -> bool:
        """Return whether the time of plans is understood: "voor morgen" may be for tomorrow, and no bound."""
        if is_bound and words.act == "cancel":
            return not any(
                names_days(one, self.language)
                for one in parts_of_time(time.words, self.language)
            )
        return is_bound or not time.words or is_resolved(time.words, self.language)

    def _means_all(
        self, words: PlanWords, time: str, plans: Sequence[FuturePlan]
    ) -> bool:
        """Return whether all of some plans are to be cancelled: no single day of one, and none of "by seven"."""
        has_days = names_days(time, self.language)
        if has_days and any(plan.every for plan in plans):
            return False
        if "all" in words.roles:
            return has_days or not time
        return len(plans) == (2 if "both" in words.roles else 1)

    async def _async_timers(
        self, words: PlanWords, *, is_only: bool
    ) -> RecognizedRequest | None:
        """Return the request that names or counts all timers: those among the plans, and those of devices.

        It is None without any among the plans, unless it `is_only`: Home Assistant,
        which has understood the question, too, names those of devices.
        """
        ours, request = (
            self._of_kind(ReminderKind.TIMER),
            replace(_COMMAND, is_question=True),
        )
        if not ours and not is_only:
            return None
        status = await intent.async_handle(
            self.hass, CONVERSATION, intent.INTENT_TIMER_STATUS, language=self.language
        )
        if not all(timer["is_active"] for timer in status.speech_slots["timers"]):
            return None  # one that is paused ends at no time
        theirs = [
            FuturePlan(
                kind=PlanKind.REMIND,
                agent="",
                asker=Asker(),
                language=self.language,
                text=str(timer["name"] or self.texts["later_timer"]),
                due=dt_util.utcnow() + timedelta(seconds=timer["total_seconds_left"]),
            )
            for timer in status.speech_slots["timers"]
        ]
        timers = sorted([*ours, *theirs], key=due_order)
        if "count" in words.roles and len(timers) > 1:
            return self._counted(request, timers)
        if ours and not theirs:
            return replace(request, call=_call_for("list", timers))
        spoken = " ".join(
            plan_text(self.hass, self.texts, plan, self.language) for plan in timers
        )
        return replace(
            request,
            answer=spoken or self.texts["later_none_timer"],
            is_last_resort=True,
        )

    def moved_by_kind(self) -> RecognizedRequest | None:
        """Return the request to move the one alarm or reminder, or the one of a time; None for other words."""
        language, text = self.language, self.user_input.text
        for timed_text in (
            (_with_at(text, language), text) if has_plan_words(language) else ()
        ):  # "to eight" is "at"
            times = sorted(
                (time.words for time in times_in(timed_text, language)),
                key=timed_text.index,
            )
            words = (
                plan_words(_without_times(timed_text, times), language)
                if times
                else None
            )
            if (
                words
                and words.act == "move"
                and words.kind in {ReminderKind.ALARM, ReminderKind.REMINDER}
            ):
                break
        else:
            return None
        *old, new = [part for time in times for part in parts_of_time(time, language)]
        plans = self._of_kind(ReminderKind(words.kind))
        meant = self._due_about(plans, old[-1]) if old else self._on_day(plans, new)
        moment = self._resolve(new, moved=moment_of(meant[0] if meant else None))
        # "An hour later" would be an hour from now.
        is_new = moment and (moment.names_hour or names_days(new, language))
        has_panel = words.kind == ReminderKind.ALARM and self._has_alarm_panel
        if not is_new or (old and not meant) or (not plans and has_panel):
            return None
        match meant:
            case [moved]:
                is_guessed = not old and len(plans) > 1
                given: dict[str, JsonValue] = {
                    "kind": "move",
                    "text": moved.id,
                    "when": new,
                }
                return self._with_call(_COMMAND, given, moved, asks=is_guessed)
            case []:
                return self._says(f"later_none_{words.kind}{'_then' if plans else ''}")
            case _:
                return replace(
                    _COMMAND,
                    answer=self.texts["later_not_changed"].format(
                        what=self._named(meant)
                    ),
                )

    def _on_day(self, plans: Sequence[FuturePlan], new: str) -> Sequence[FuturePlan]:
        """Return the plans that may be moved to a new time: of several those on its day, if it names one."""
        moment = (
            self._resolve(new)
            if len(plans) > 1 and names_days(new, self.language)
            else None
        )
        days = {
            plan.id: dt_util.as_local(plan.due).date() for plan in plans if plan.due
        }
        return (
            plans
            if moment is None
            else [plan for plan in plans if days.get(plan.id) == moment.due.date()]
        )

    def _due_about(
        self, plans: Sequence[FuturePlan], words: str
    ) -> Sequence[FuturePlan]:
        """Return the plan that is due about when words say."""
        return (
            [plan]
            if (plan := due_about(self.hass, plans, words, self.language))
            else []
        )

    def _of_kind(self, kind: ReminderKind) -> Sequence[FuturePlan]:
        return [plan for plan in self.plans if self.kinds[plan.id] is kind]

    @property
    def _has_alarm_panel(self) -> bool:
        """Whether "the alarm" may be one that watches the home."""
        return any(
            entity.domain == ALARM_PANEL
            for entity in async_get_home(self.hass, CONVERSATION).all_entities
        )

    def _due(self, plans: Iterable[FuturePlan], words: str) -> Sequence[FuturePlan]:
        """Return the plans that are due exactly when words say, those that come again then as well."""
        moments = [
            (plan, self._resolve(words, moved=moment_of(plan))) for plan in plans
        ]
        return [
            plan
            for plan, moment in moments
            if moment and plan.due and _is_due_at(plan, plan.due, moment)
        ]

    def _which(self, plans: Sequence[FuturePlan]) -> str:
        """Return the question for the one of some plans to cancel."""
        return self.texts["later_which_plan"].format(plans=self._named(plans))

    def _named(self, plans: Sequence[FuturePlan]) -> str:
        """Return the texts and times of the first few of some plans."""
        return _listed(
            (plan.text, _time_of(moment_of(plan), self.language))
            for plan in plans[:_MOST_NAMED]
        )

    def _counted(
        self, request: RecognizedRequest, plans: Sequence[FuturePlan]
    ) -> RecognizedRequest:
        """Return how many plans of one kind there are, with their times, and with the texts that tell them apart."""
        common = {self.texts["later_alarm"], self.texts["later_timer"]}
        named = (
            (
                _time_of(moment_of(one), self.language),
                "" if one.text in common else one.text,
            )
            for one in plans
        )
        return self._says(
            "later_count", request, count=str(len(plans)), plans=_listed(named)
        )

    async def async_recognized(
        self, agent: DefaultAgent, found: RecognizedRequest | None
    ) -> RecognizedRequest | None:
        """Return a request for a timer, a reminder or a command at a time, or else the one that was `found`."""
        plain = replace(
            self.user_input, text=readable_sentence(self.hass, self.user_input.text)
        )
        strict = await agent.async_recognize_intent(plain, strict_intents_only=True)
        timer, slots = (strict.intent.name, slots_of(strict)) if strict else ("", {})
        timed, is_guess = (
            delayed_command(timer, slots),
            strict is None and found is None,
        )
        reading = (
            NOTHING_READ if strict else await async_read_sentence(self.hass, plain, "")
        )
        calls = reading.calls
        if is_guess and len(calls) == 1 and calls[0].intent in _TIMERS:
            timer, slots = calls[0].intent, {**calls[0].slots}
        if (
            timer == intent.INTENT_START_TIMER
            and not timed
            and is_negated(plain.text, self.language)
        ):
            return replace(self._declined, is_last_resort=True)
        if timer and not timed:
            device_id = self.user_input.device_id
            supports = device_id and async_device_supports_timers(self.hass, device_id)
            given = (
                None if supports or timer not in _TIMERS else self._timer(timer, slots)
            )
        else:
            given = self._wish()
        if given:
            is_guessed_question = is_guess and timer == intent.INTENT_TIMER_STATUS
            return (
                self._wished(given, timer, is_last_resort=is_guessed_question) or found
            )
        delayed = (
            [TimeInSentence(f"in {delay_of(slots)} seconds", timed)] if timed else []
        )
        text = self.user_input.text.strip()
        times: Sequence[TimeInSentence] = (
            times_in(text, self.language, joined=True) if timed or not strict else ()
        )
        is_whole = bool(calls) or isinstance(reading.answered, StateQuestion)
        is_begun = any(text.startswith(one.words) for one in times)
        if is_whole and not is_begun:  # "一点" is "a bit", too, but not as first words
            times = ()
        return await self._async_command(times, delayed) or found

    def _wished(
        self, given: dict[str, JsonValue], timer: str, *, is_last_resort: bool
    ) -> RecognizedRequest | None:
        """Return the request for a call that was asked for; None if it moves a plan that is not there."""
        moved = self._moved(given) if given["kind"] == "move" else None
        if (
            given["kind"] == "move"
            and given.get("text")
            and moved is None
            and not timer
        ):
            return None
        is_whole = given.get("text") != "" and is_resolved(
            str(given.get("when") or ""), self.language
        )
        is_last_resort = is_last_resort or (
            given["kind"] in {"remind", "move"} and not is_whole
        )
        request = replace(
            _COMMAND, is_question=given["kind"] == "list", is_last_resort=is_last_resort
        )
        return self._undone(request, given, timer) or self._with_call(
            request, given, moved
        )

    async def _async_command(
        self, times: Iterable[TimeInSentence], delayed: Sequence[TimeInSentence]
    ) -> RecognizedRequest | None:
        """Return the command that is left of a sentence without one of its times, or that Home Assistant delays."""
        for time in [one for one in (*times, *delayed) if one.rest]:
            command = replace(self.user_input, text=time.rest)
            if _is_local(self.history):
                command = replace(
                    command, text=await async_with_names(self.hass, command)
                )
            later = await async_recognize(self.hass, command)
            if later is None and time.is_alone:
                later = await _async_guessed(
                    self.hass, command, is_delayed=time in delayed
                )
            if later is None or later.is_question:
                continue
            if (
                later.intent == intent.INTENT_START_TIMER
            ):  # no timer starts at another time
                return self._says("later_no_time", later)
            given: dict[str, JsonValue] = {"kind": "act", "when": time.words}
            given |= {
                "tool": PROCESS_SENTENCE.name,
                "arguments": {SENTENCE: command.text},
            }
            return self._with_call(
                replace(
                    later, is_last_resort=not is_resolved(time.words, self.language)
                ),
                given,
            )
        return None

    def _undone(
        self, request: RecognizedRequest, given: dict[str, JsonValue], timer: str
    ) -> RecognizedRequest | None:
        """Return words in place of a call that pauses a timer, or that means one plan where several fit."""
        kind, text = given["kind"], str(given.get("text") or "all")
        plans = (
            plans_called(self.plans, text)
            if kind in {"cancel", "list"} and text != "all"
            else ()
        )
        if timer == intent.INTENT_PAUSE_TIMER:
            return replace(
                request,
                answer=self.texts["later_not_paused"].format(what=self._named(plans)),
            )
        if len(plans) <= 1:
            return None
        if timer in _ADJUSTED:
            return replace(
                request,
                answer=self.texts["later_not_changed"].format(what=self._named(plans)),
            )
        if kind == "list" or timer == intent.INTENT_CANCEL_ALL_TIMERS:
            return None
        return replace(
            request, call=local_call(_NAME, given), answer=self._which(plans)
        )

    def _with_call(
        self,
        request: RecognizedRequest,
        given: dict[str, JsonValue],
        moved: FuturePlan | None = None,
        *,
        asks: bool = False,
    ) -> RecognizedRequest:
        """Return a request with the call of the tool, and with a question if its time or its text is not clear.

        It always `asks` about what was only guessed.
        """
        words, said_at = (
            "" if request.is_question else str(given.get("when") or ""),
            given.get(_SAID_AT),
        )
        waiting = replace(
            request,
            call=local_call(
                _NAME, {**given, _SAID_AT: said_at or dt_util.utcnow().isoformat()}
            ),
        )
        is_reminder = given["kind"] == "remind"
        if is_reminder and not (words and given["text"]):
            return replace(
                waiting,
                answer=self.texts["later_ask" if given["text"] else "later_what"],
            )
        if not words:
            return replace(request, call=local_call(_NAME, given))
        plain = self._resolve(words, said_at, moment_of(moved))
        moment = self._for(
            moved.text if moved else given.get("text") if is_reminder else "", plain
        )
        if moment and moment.is_sure and not asks:
            is_plain = said_at is None and moment == plain
            return replace(
                request,
                call=_planning(given, words if is_plain else exact_words(moment)),
            )
        if moment is None:
            key = (
                "later_no_time"
                if is_resolved(words, self.language)
                else "later_exactly"
            )
            return replace(waiting, answer=self.texts[key])
        return replace(
            waiting,
            answer=self.texts["later_which"].format(
                time=_time_of(moment, self.language)
            ),
        )

    def _moved(self, given: Mapping[str, JsonValue]) -> FuturePlan | None:
        """Return the plan that a call moves: that of its old time, or else the latest one."""
        if old_time := given.get("text"):
            return due_about(self.hass, self.plans, str(old_time), self.language)
        heard = async_get_schedule(self.hass).last_heard(self.user_input.satellite_id)
        return self.plans[-1] if self.plans and not heard else None

    def _timer(
        self, intent_type: str, slots: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue] | None:
        """Return the arguments of a call that does as a reminder what an intent does with a timer."""
        name, seconds = str(slots.get("name") or "").strip(" -"), delay_of(slots)
        if intent_type == intent.INTENT_START_TIMER:
            text = name or self.texts["later_timer"]
            return (
                {"kind": "remind", "when": _timer_words(seconds), "text": text}
                if seconds
                else None
            )
        started = delay_of(
            {
                unit.removeprefix("start_"): value
                for unit, value in slots.items()
                if unit.startswith("start_")
            }
        )
        if moment := self._resolve(f"in {name}"):  # "the 1 hour 30 minute timer"
            name, started = "", round((moment.due - dt_util.now()).total_seconds())
        timers = [
            plan
            for plan in self._of_kind(ReminderKind.TIMER)
            if not started or plan.words == _timer_words(started)
        ]
        named = [one for one in timers if _is_called(one.text, name)]
        timers = named or (timers if intent_type == intent.INTENT_TIMER_STATUS else [])
        if not timers or "area" in slots:
            return None
        if (
            (sign := _ADJUSTED.get(intent_type))
            and len(timers) == 1
            and (due := timers[0].due)
        ):
            left = round((due - dt_util.now()).total_seconds()) + sign * seconds
            return {
                "kind": "move",
                "text": timers[0].id,
                "when": _timer_words(max(left, 1)),
            }
        kind = "cancel" if intent_type in _CANCELLED else "list"
        return {"kind": kind, "text": " ".join(plan.id for plan in timers)}

    def _wish(self) -> dict[str, JsonValue] | None:
        """Return the arguments of a call that lists, moves or cancels plans or plans a reminder, if one is meant."""
        language, change = self.language, self._change_of_it()
        heard = async_get_schedule(self.hass).last_heard(self.user_input.satellite_id)
        if heard and change and change["kind"] == "move":
            return change
        for time, words in sorted(
            self.readings, key=lambda one: not is_resolved(one[0].words, language)
        ):
            if words.act == "list":
                return {"kind": "list", "when": time.words}
            if words.roles == {"cancel", "all"}:
                return {"kind": "cancel", "text": "all"}
            if (
                words.act in {"alarm", "remind"}
                and time.is_alone
                and (time.words or not self.times)
            ):
                if words.act == "alarm":
                    return {
                        "kind": "remind",
                        "text": self.texts["later_alarm"],
                        "when": time.words,
                    }
                if self._says_when(time, words):
                    return {
                        "kind": "remind",
                        "when": time.words,
                        "text": words.text or "",
                    }
        _, results = since_last_user_message(self.history)
        if change and any(result.name == _NAME for result in results):
            return change
        return self._named_wish()

    def _named_wish(self) -> dict[str, JsonValue] | None:
        """Return the arguments of a call about plans that are named by their words alone."""
        for time, words in self.readings:
            is_named = bool(words.text) and self._is_named(words.text or "")
            if is_named and words.act in _OF_NAMED and not time.words:
                return {"kind": _OF_NAMED[words.act], "text": words.text}
        return None

    def _says_when(self, time: TimeInSentence, words: PlanWords) -> bool:
        """Return whether a reminder has its time as it was said, or nothing in its text that may be one."""
        if time.words:
            return time in times_in(self.user_input.text, self.language, joined=True)
        return is_clear(words.text or "", self.language)

    def _is_named(self, words: str) -> bool:
        """Return whether the speaker has a plan with these words, of which one is more than "the" and the like."""
        named = {*heard_words(words)}
        plans = self.plans if telling_words(words) else ()
        return any(
            named <= {*heard_words(f"{plan.text} {plan.words}")} for plan in plans
        )

    def _change_of_it(self) -> dict[str, JsonValue] | None:
        """Return the arguments of a call that cancels or moves the plan that was just made or named."""
        text, language = self.user_input.text, self.language
        spoken = sorted((time.words for time in self.times), key=text.index)
        rest, parts = (
            _without_times(text, spoken),
            [part for one in spoken for part in parts_of_time(one, language)],
        )
        words = plan_words(rest, language)
        if words and words.roles in ({"cancel"}, {"cancel", "it"}) and not parts:
            return {"kind": "cancel"}
        is_move = not rest or (
            words is not None and words.act == "move" and not words.kind
        )
        match parts if is_move else ():
            case [new]:
                return {"kind": "move", "when": new}
            case [old, new]:
                return {"kind": "move", "when": new, "text": old}
            case _:
                return None


def _planning(given: Mapping[str, JsonValue], when: str) -> ToolCall:
    """Return the call that plans at a time what was asked about."""
    return local_call(
        _NAME,
        {
            **{name: value for name, value in given.items() if name != _SAID_AT},
            "when": when,
        },
    )


def _for_alarm(moment: Moment) -> Moment:
    """Return the time that is meant for an alarm: in the morning, unless the other one is soon; then it is not sure."""
    morning = next(
        (one for one in (moment.due, moment.other) if one and one.hour in _MORNING),
        None,
    )
    if (
        morning is None
        or not moment.names_hour
        or (moment.is_sure and moment.due == morning)
    ):
        return moment
    return (
        replace(moment, is_sure=False)
        if moment.is_sure
        else replace(moment, due=morning, is_sure=True)
    )


def _is_due_at(plan: FuturePlan, first: datetime, moment: Moment) -> bool:
    later = dt_util.as_local(moment.due) - dt_util.as_local(first)
    if not plan.every:
        return not moment.every and abs(later) <= _EXACTLY
    is_day = recurs_on(moment.due.date(), dt_util.as_local(first).date(), plan.every)
    return is_day and later >= timedelta() and later.seconds <= _EXACTLY.seconds


def _call_for(kind: str, plans: Iterable[FuturePlan]) -> ToolCall:
    return local_call(
        _NAME, {"kind": kind, "text": " ".join(plan.id for plan in plans)}
    )


def _times_in(text: str, language: str) -> Iterator[TimeInSentence]:
    """Yield the times in a sentence, then those after other words for "at", then none."""
    times = times_in(text, language, joined=True)
    yield from times
    if len(times) > 1:  # "the six am alarm on Wednesday"
        yield replace(times[-1], words=times[-1].words.replace(APART, " "))
    others = of_time(language)
    before = re.compile(
        rf"\b(?:{'|'.join(others)})(?= )" if others else "(?!)", re.IGNORECASE
    )
    for of in islice(before.finditer(text), _MOST_TIMES):
        yield from times_in(
            f"{text[: of.start()]}{others[of[0].lower()]}{text[of.end() :]}",
            language,
            joined=True,
        )
    yield TimeInSentence("", text)


def _with_at(text: str, language: str) -> str:
    """Return a text with words for "at" in place of all others before a time."""
    for other, at in of_time(language).items():
        text = re.sub(rf"\b{other}(?= )", at, text, flags=re.IGNORECASE)
    return text


def _readings(text: str, language: str) -> Iterator[tuple[TimeInSentence, PlanWords]]:
    """Yield the ways to read a request about plans, each with its time."""
    times = _times_in(text, language) if has_plan_words(language) else ()
    yield from (
        (time, words) for time in times if (words := plan_words(time.rest, language))
    )


def _listed(plans: Iterable[tuple[str, str]]) -> str:
    """Return what is told of some plans."""
    return "; ".join(", ".join(filter(None, words)) for words in plans)


def _time_of(moment: Moment | None, language: str) -> str:
    """Return a time as it is said within a sentence; empty for none."""
    if moment is None:
        return ""
    time = spoken_time(
        moment.due,
        now=dt_util.now(),
        language=language,
        every=moment.every,
        has_distance=False,
    )
    return time[:1].lower() + time[1:]


def _without_times(text: str, times: Iterable[str]) -> str:
    for words in times:
        text = text.replace(words, "")
    return text.strip(_AROUND)


def _says_no_more(rest: str, language: str) -> bool:
    """Return whether beside a time stands a yes, a no or words around times; with more, it is another request."""
    if not rest or understand_answer(rest, language) is not Meaning.OTHER:
        return True
    words = plan_words(rest, language)
    return words is not None and words.act in {"", "move"} and not words.kind


def _is_local(history: Transcript) -> bool:
    """Return whether Home Assistant has processed the sentence before, and all others: then it knows what "it" is."""
    _, results = since_last_user_message(history)
    is_sentence = bool(results) and all(
        result.name == PROCESS_SENTENCE.name for result in results
    )
    answers = (
        message
        for message in as_models_read(history)
        if isinstance(message, AssistantMessage)
    )
    return is_sentence and all(answer == AssistantMessage() for answer in answers)


async def _async_guessed(
    hass: HomeAssistant, user_input: ConversationInput, *, is_delayed: bool
) -> RecognizedRequest | None:
    """Return a command that is read word by word, if its effects are known.

    One that it would delay may also start automations, which is asked about.
    """
    plain = replace(user_input, text=readable_sentence(hass, user_input.text))
    if await async_recognized(hass, plain) is not None:
        return None
    effects = await async_sentence_effects(hass, plain, "")
    if any(run.intent_type == INTENT_MEDIA_SEARCH_AND_PLAY for run in effects.intents):
        return None  # a number in a title is no time
    is_known = effects.actions if isinstance(effects, Touches) else is_delayed
    return _COMMAND if is_known and not effects.is_guessed else None


def _is_called(text: str, name: str) -> bool:
    """Return whether a text has the words of a name, or longer ones: a "Nudeltimer" is for "Nudeln"."""
    return all(
        any(one.startswith(word) for one in heard_words(text))
        for word in heard_words(name)
    )


def _timer_words(seconds: int) -> str:
    """Return words for the time of a timer, which nobody says: a reminder "in 90 seconds" is none."""
    return f"{TIMER_WORDS} {seconds} seconds"
