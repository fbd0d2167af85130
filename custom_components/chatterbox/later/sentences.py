"""Recognizes requests about plans without a model: "remind me at six to call Mum", "turn it off in ten minutes".

Home Assistant's own sentences go first. Those that it understands as delayed become plans, and so do commands that it
understands, with either of its recognizers, once their time is left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from homeassistant.components.alarm_control_panel import DOMAIN as ALARM_PANEL
from homeassistant.components.conversation import DOMAIN as CONVERSATION, ConversationInput
from homeassistant.components.intent import async_device_supports_timers
from homeassistant.components.media_player import INTENT_MEDIA_SEARCH_AND_PLAY
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent
from homeassistant.util import dt as dt_util
from pydantic import BaseModel, ConfigDict

from ..agent.conversation.own_words import as_models_read
from ..agent.messages import AssistantMessage, JsonValue, ToolCall, Transcript
from ..agent.text import base_language, heard_words, read_data_file
from ..agent.transcript import since_last_user_message
from ..approvals.answers.yes_or_no import Meaning, understand_answer, understand_choice
from ..effects.effect import Touches
from ..effects.intents import delay_of, delayed_command
from ..effects.reading import async_read_plan
from ..effects.recognition import RecognizedRequest, async_recognize, readable_sentence
from ..home.entities import async_get_home, telling_words
from ..home.request import QUESTION_ENDS
from ..internals.conversation import async_recognized, built_in_agent, slots_of
from ..offline.misheard import is_negated
from ..offline.provider import PROCESS_SENTENCE, SENTENCE, asked_about, local_call
from ..offline.sentence_effects import async_read_sentence, async_sentence_effects, async_with_names
from ..people.speakers import person_id_of
from ..speech.sentences import async_error_text, async_get_sentences
from ..speech.text.times import (
    Moment,
    TimeInSentence,
    exact_words,
    is_resolved,
    names_days,
    parts_of_time,
    prepare,
    recurs_on,
    spoken_time,
    times_in,
)
from .plans import TIMER_WORDS, Asker, FuturePlan, NotPlanned, PlanKind, plans_of
from .schedule import async_due_at, async_get_schedule, async_resolve, moment_of
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
_CURLY: Final = "\N{RIGHT SINGLE QUOTATION MARK}"


class _Sentences(BaseModel):
    """Regular expressions for whole sentences of a language, without their time and the marks at their end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    polite: str
    """Words that may begin each of them."""
    thanks: str
    """Words that may end those without a text."""
    unclear: str
    """Words with which a reminder without a time may be for something else than a time."""
    list: tuple[str, ...]
    """Questions for the plans."""
    kinds: Mapping[ReminderKind, str]
    """Names of alarms and reminders, for which `<kind>` stands in other patterns."""
    of_kind: str
    """Words for one of a kind, or for `all` or `both`, in requests to cancel; without their time."""
    bounds: Mapping[str, str]
    """Words beside a time of day up to or from which those of a kind are meant, and those for a time in their place."""
    questions: tuple[str, ...]
    """Questions for those of a kind, for the `next` one or for their `count`."""
    all: tuple[str, ...]
    """Requests to cancel all plans."""
    it: tuple[str, ...]
    """Requests to cancel the plan that was just made or named."""
    cancel: tuple[str, ...]
    """Requests to cancel one; the group `plan` holds its words."""
    one: str
    """Words around the time of a plan that is chosen among several, as in "the one at seven"."""
    of_time: Mapping[str, str] = {}
    """Words before the time of a plan, and those that are understood: "la de las siete" is "la a las siete"."""
    move: tuple[str, ...]
    """Words around the times of a request to move the plan that was just made or named, or to be reminded again."""
    move_kind: tuple[str, ...]
    """Requests to move the one of a kind; the groups `old` and `new` hold its times, and may hold other words."""
    remind: tuple[str, ...]
    """Requests for a reminder; the group `text` holds its text."""
    remind_when: tuple[str, ...]
    """Requests for a reminder without a text."""
    alarm: tuple[str, ...]
    """Requests to be woken, which a reminder may do."""


_SENTENCES: Final = read_data_file(Path(__file__).with_name("sentences.toml"), dict[str, _Sentences])


async def async_recognize_plan(
    hass: HomeAssistant, user_input: ConversationInput, history: Transcript, found: RecognizedRequest | None
) -> RecognizedRequest | None:
    """Return a request about plans, with the call that does it, or else the one that Home Assistant has `found`."""
    agent = built_in_agent(hass, user_input.text)
    if agent is None or (found and found.intent not in _TIMERS):
        return found
    if await agent.async_recognize_sentence_trigger(user_input):
        return found
    await hass.async_add_executor_job(prepare, user_input.language)
    if len(times_in(user_input.text, user_input.language)) > _MOST_TIMES:
        return found
    try:
        clear = await _async_made_clear(hass, user_input, history) or await _async_of_kind(hass, user_input, found)
        clear = clear or await _async_kind_moved(hass, user_input)
        request = clear or await _async_recognized(hass, agent, user_input, history, found)
        request = request or await _async_with_text(hass, user_input, history)
        if request and request.call and request.call.name == _NAME:
            await async_get_schedule(hass).plans.async_load()
    except NotPlanned as error:  # they cannot be read
        answer = await async_error_text(hass, user_input.language, error.problem)
        return RecognizedRequest(_NAME, is_question=False, answer=answer)
    return request


async def _async_made_clear(
    hass: HomeAssistant, user_input: ConversationInput, history: Transcript
) -> RecognizedRequest | None:
    """Return the request of before with its exact time, if words answer the question about that.

    Words of then mean what they meant then: "tomorrow" is still the same day after midnight.
    """
    given, language = asked_about(_NAME, history), user_input.language
    request, answer = RecognizedRequest(_NAME, is_question=False), user_input.text.strip(_AROUND)
    if not given or given.get("text") == "":
        return None
    if given["kind"] == "cancel":
        return await _async_chosen(hass, user_input, request, str(given["text"]))
    said_at, when = given[_SAID_AT], str(given["when"])
    is_alarm = given.get("text") == (await async_get_sentences(hass, language))["later_alarm"]

    async def resolve(words: str, said_at: JsonValue, moved: Moment | None = None) -> Moment | None:
        at = dt_util.parse_datetime(str(said_at))
        moment = await async_resolve(hass, words, language, at, moved=moved)
        return _for_alarm(moment) if moment and is_alarm else moment

    moment, unclear = await resolve(when, said_at), dict[str, JsonValue]()
    old = moment if names_days(when, language) else None
    times = sorted((time.words for time in times_in(answer, language)), key=answer.index, reverse=True)
    rest = _without_times(answer, times)
    denied = moment and moment.due if understand_answer(rest, language) is Meaning.NO else None
    for words in (answer, *(times if _says_no_more(rest, language) else ())):
        together = [(f"{when} {words}", None, said_at)] if when else []
        for meant, moved, at in (*together, (words, old, None)):
            clear = await resolve(meant, at, moved)
            if clear and clear.is_sure and clear.due != denied:
                return replace(request, call=_planning(given, exact_words(clear)))
            if clear and not (moved or unclear):
                unclear = {**given, "when": meant, _SAID_AT: at}
    unclear = unclear or ({**given, "when": answer, _SAID_AT: None} if times and not rest else {})
    match understand_answer(answer, language):
        case Meaning.YES if moment:
            return replace(request, call=_planning(given, exact_words(moment)))
        case Meaning.NO:
            return await _async_declined(hass, language)
        case _:
            return await _async_with_call(hass, language, request, unclear) if unclear else None


async def _async_declined(hass: HomeAssistant, language: str) -> RecognizedRequest:
    """Return what is said after a no to a question."""
    answer = (await async_get_sentences(hass, language))["spoken_declined"]
    return RecognizedRequest(_NAME, is_question=False, answer=answer)


def _planning(given: Mapping[str, JsonValue], when: str) -> ToolCall:
    """Return the call that plans at a time what was asked about."""
    return local_call(_NAME, {**{name: value for name, value in given.items() if name != _SAID_AT}, "when": when})


def _for_alarm(moment: Moment) -> Moment:
    """Return the time that is meant for an alarm: in the morning, unless the other one is soon; then it is not sure."""
    morning = next((one for one in (moment.due, moment.other) if one and one.hour in _MORNING), None)
    if morning is None or not moment.names_hour or (moment.is_sure and moment.due == morning):
        return moment
    return replace(moment, is_sure=False) if moment.is_sure else replace(moment, due=morning, is_sure=True)


async def _async_with_text(
    hass: HomeAssistant, user_input: ConversationInput, history: Transcript
) -> RecognizedRequest | None:
    """Return the request for a reminder with words that are no other request as its text, if that was asked for."""
    given, language, answer = asked_about(_NAME, history), user_input.language, user_input.text.strip(_AROUND)
    sentences = _SENTENCES.get(base_language(language))
    is_question = user_input.text.rstrip().endswith(QUESTION_ENDS)
    if sentences is None or given.get("text") != "" or not answer or is_question:
        return None
    if understand_answer(answer, language) is Meaning.NO:
        return await _async_declined(hass, language)
    request, content = (
        [TimeInSentence("", words), *times_in(words, language, joined=True)][-1]
        for words in (since_last_user_message(history)[0], answer)
    )
    found = _fitting(sentences, sentences.remind, f"{request.rest.strip(_AROUND)} {content.rest}")
    text, when = found["text"].strip(_AROUND) if found else content.rest, str(given["when"])
    both = {_SAID_AT: given[_SAID_AT], "when": f"{when} / {content.words}" if content.words else when}
    given |= {"text": text, **(both if when else {_SAID_AT: None, "when": content.words})}
    return await _async_with_call(hass, language, RecognizedRequest(_NAME, is_question=False), given)


async def _async_chosen(
    hass: HomeAssistant, user_input: ConversationInput, request: RecognizedRequest, words: str
) -> RecognizedRequest | None:
    """Return the request to cancel those of several plans that an answer chooses, by number, name or time."""
    answer, language = user_input.text.strip(_AROUND), user_input.language
    plans, sentences = await _async_called(hass, user_input, words), _SENTENCES[base_language(language)]
    names = [[frozenset(heard_words(plan.text))] for plan in plans]
    choice = understand_choice(answer, language, names, _MOST_NAMED)
    chosen: Sequence[FuturePlan] = [plans[number] for number in choice or ()]
    times = [*_times_in(sentences, answer, language)][:-1]
    for time in times:
        rest = f"{time.rest.strip(_AROUND)} ".lstrip()
        if re.fullmatch(f"{sentences.polite}{sentences.one}", rest, re.IGNORECASE):
            chosen = await _async_due(hass, plans, time.words, language)
    meaning = understand_answer(answer, language)
    if len(plans) == 1 and meaning is Meaning.YES:
        chosen = plans
    if chosen and (len(chosen) == 1 or not times):
        return replace(request, call=_call_for("cancel", chosen), answer="")
    if meaning is Meaning.NO:
        return await _async_declined(hass, language)
    if not chosen and choice is None:
        return None
    return replace(request, call=_call_for("cancel", plans), answer=await _async_which(hass, user_input, plans))


async def _async_called(hass: HomeAssistant, user_input: ConversationInput, words: str) -> Sequence[FuturePlan]:
    """Return the plans of the speaker that words name, those that come first before others."""
    return plans_called(await _async_plans(hass, user_input), words)


async def _async_plans(hass: HomeAssistant, user_input: ConversationInput) -> Sequence[FuturePlan]:
    """Return the plans of the speaker, the oldest first."""
    plans, user_id = async_get_schedule(hass).plans, user_input.context.user_id
    await plans.async_load()
    return plans_of(plans.stored.plans, person_id_of(hass, user_id) if user_id else None)


async def _async_of_kind(
    hass: HomeAssistant, user_input: ConversationInput, theirs: RecognizedRequest | None
) -> RecognizedRequest | None:
    """Return the request that asks for alarms, reminders or timers or cancels some; None for other words."""
    language, text = user_input.language, user_input.text.replace(_CURLY, "'")
    if (sentences := _SENTENCES.get(base_language(language))) is None:
        return None
    for time, is_bound in _bounds_in(sentences, text, language):
        question = _fitting(sentences, sentences.questions, time.rest)
        is_day = is_bound and not question and names_days(time.words, language)  # "voor morgen" is for tomorrow
        if is_day or (time.words and not is_resolved(time.words, language)):
            continue
        requests = (_fitting(sentences, [pattern], time.rest) for pattern in sentences.cancel)
        names = (
            _fitting(sentences, [sentences.of_kind], request["plan"])
            for request in requests
            if request and not _names_kind(sentences, request)
        )
        found = question or next(filter(None, names), None)
        if groups := found.groupdict() if found else await _async_read_groups(hass, user_input, time):
            is_question = bool(question or groups.get("question"))
            break
    else:
        return None
    kind = next(kind for kind in ReminderKind if groups.get(kind))
    if kind is ReminderKind.TIMER:
        is_count, is_only = bool(groups.get("count")), theirs is None
        is_plain = is_question and not time.words
        return await _async_timers(hass, user_input, is_count=is_count, is_only=is_only) if is_plain else None
    plans = await _async_plans(hass, user_input)
    sure = [plan for plan in sorted(plans, key=due_order) if await async_reminder_kind(hass, plan) is kind]
    named = sure or plans_called(plans, groups[kind])
    meant = await _async_due(hass, named, time.words, language) if time.words and not is_bound else named
    request, texts = RecognizedRequest(_NAME, is_question=is_question), await async_get_sentences(hass, language)
    is_device = time.words and await async_recognize(hass, replace(user_input, text=time.rest))
    if not meant and (is_device or (kind is ReminderKind.ALARM and _has_alarm_panel(hass))):
        return None  # of that name
    if not meant:
        answer = texts[f"later_none_{kind}{'_then' if time.words and not is_bound else ''}"]
        return replace(request, answer=answer, is_last_resort=True)
    if groups.get("count") and len(meant) > 1 and not is_bound:
        return replace(request, answer=await _async_counted(hass, user_input, meant), is_last_resort=True)
    if is_question:
        return replace(request, call=_call_for("list", meant[:1] if groups.get("next") and not is_bound else meant))
    is_all = groups.get("all") or len(meant) == (2 if groups.get("both") else 1)
    is_one_of_many = any(plan.every for plan in meant) and names_days(time.words, language)
    is_vague = groups.get("all") and time.words and not names_days(time.words, language)  # "by seven", "from seven on"
    is_clear = sure and is_all and not (is_one_of_many or is_vague or is_bound)
    answer = "" if is_clear else await _async_which(hass, user_input, meant)
    return replace(request, call=_call_for("cancel", meant), answer=answer)


async def _async_read_groups(
    hass: HomeAssistant, user_input: ConversationInput, time: TimeInSentence
) -> dict[str, str]:
    """Return what a sentence without a time, as it is read, lists or cancels, by the names of groups; empty for others.

    One that counts, or that names the text of a reminder, is left to others.
    """
    plan = await async_read_plan(hass, time.rest, user_input.language)
    if plan is None or plan.act == "set" or plan.text:
        return {}
    marks = {"all": plan.is_all, "count": plan.is_count, "question": plan.act == "list"}
    return {plan.kind: plan.kind, **{name: name for name, is_so in marks.items() if is_so}}


async def _async_timers(
    hass: HomeAssistant, user_input: ConversationInput, *, is_count: bool, is_only: bool
) -> RecognizedRequest | None:
    """Return the request that names or counts all timers: those among the plans, and those of devices.

    It is None without any among the plans, unless it `is_only`: Home Assistant, which has understood the question, too,
    names those of devices.
    """
    plans, texts = await _async_plans(hass, user_input), await async_get_sentences(hass, user_input.language)
    ours = [plan for plan in plans if await async_reminder_kind(hass, plan) is ReminderKind.TIMER]
    request, language = RecognizedRequest(_NAME, is_question=True), user_input.language
    if not ours and not is_only:
        return None
    status = await intent.async_handle(hass, CONVERSATION, intent.INTENT_TIMER_STATUS, language=language)
    if not all(timer["is_active"] for timer in status.speech_slots["timers"]):
        return None  # one that is paused ends at no time
    theirs = [
        FuturePlan(
            kind=PlanKind.REMIND,
            agent="",
            asker=Asker(),
            language=language,
            text=str(timer["name"] or texts["later_timer"]),
            due=dt_util.utcnow() + timedelta(seconds=timer["total_seconds_left"]),
        )
        for timer in status.speech_slots["timers"]
    ]
    timers = sorted([*ours, *theirs], key=due_order)
    if is_count and len(timers) > 1:
        return replace(request, answer=await _async_counted(hass, user_input, timers), is_last_resort=True)
    if ours and not theirs:
        return replace(request, call=_call_for("list", timers))
    spoken = (plan_text(hass, texts, plan, language) for plan in timers)
    return replace(request, answer=" ".join(spoken) or texts["later_none_timer"], is_last_resort=True)


async def _async_kind_moved(hass: HomeAssistant, user_input: ConversationInput) -> RecognizedRequest | None:
    """Return the request to move the one alarm or reminder, or the one of a time; None for other words."""
    language, text = user_input.language, user_input.text.replace(_CURLY, "'")
    sentences = _SENTENCES.get(base_language(language))
    found = _fitting(sentences, sentences.move_kind, text) if sentences else None
    kind = next((one for one in (ReminderKind.ALARM, ReminderKind.REMINDER) if found and found[one]), None)
    if sentences is None or found is None or kind is None:
        return None
    at, old = next(iter(sentences.bounds.values())), found["old"]
    plans = [plan for plan in await _async_plans(hass, user_input) if await async_reminder_kind(hass, plan) is kind]
    named = [await async_due_at(hass, plans, words, language) for words in (old, f"{at} {old}")] if old else plans
    meant = {plan.id: plan for plan in named if plan}
    moved = next(iter(meant.values()), None)
    times = (found["new"], f"{at} {found['new']}")
    moments = [(words, await async_resolve(hass, words, language, moved=moment_of(moved))) for words in times]
    # "An hour later" would be an hour from now.
    new = [words for words, moment in moments if moment and (moment.names_hour or names_days(words, language))]
    if not new or (old and not meant) or (not plans and kind is ReminderKind.ALARM and _has_alarm_panel(hass)):
        return None
    request, texts = RecognizedRequest(_NAME, is_question=False), await async_get_sentences(hass, language)
    if moved is None:
        return replace(request, answer=texts[f"later_none_{kind}"], is_last_resort=True)
    if len(meant) > 1:
        return replace(request, answer=texts["later_not_changed"].format(what=_named([*meant.values()], language)))
    return await _async_with_call(hass, language, request, {"kind": "move", "text": moved.id, "when": new[0]}, moved)


def _has_alarm_panel(hass: HomeAssistant) -> bool:
    """Return whether "the alarm" may be one that watches the home."""
    return any(entity.domain == ALARM_PANEL for entity in async_get_home(hass, CONVERSATION).all_entities)


def _names_kind(sentences: _Sentences, request: re.Match[str]) -> bool:
    """Return whether a kind is named beside the plan: "the alarm" of "the reminder about the alarm" is no kind."""
    start, end = request.span("plan")
    around = request.string[:start] + request.string[end:]
    return any(re.search(rf"\b(?:{words})", around, re.IGNORECASE) for words in sentences.kinds.values())


async def _async_due(
    hass: HomeAssistant, plans: Iterable[FuturePlan], words: str, language: str
) -> Sequence[FuturePlan]:
    """Return the plans that are due exactly when words say, those that come again then as well."""
    moments = [(plan, await async_resolve(hass, words, language, moved=moment_of(plan))) for plan in plans]
    return [plan for plan, moment in moments if moment and plan.due and _is_due_at(plan, plan.due, moment)]


def _is_due_at(plan: FuturePlan, first: datetime, moment: Moment) -> bool:
    later = dt_util.as_local(moment.due) - dt_util.as_local(first)
    if not plan.every:
        return not moment.every and abs(later) <= _EXACTLY
    is_day = recurs_on(moment.due.date(), dt_util.as_local(first).date(), plan.every)
    return is_day and later >= timedelta() and later.seconds <= _EXACTLY.seconds


def _call_for(kind: str, plans: Iterable[FuturePlan]) -> ToolCall:
    return local_call(_NAME, {"kind": kind, "text": " ".join(plan.id for plan in plans)})


def _times_in(sentences: _Sentences, text: str, language: str) -> Iterator[TimeInSentence]:
    """Yield the times in a sentence, then those after other words for "at", then none."""
    of_time = re.compile(rf"\b(?:{'|'.join(sentences.of_time)})(?= )" if sentences.of_time else "(?!)", re.IGNORECASE)
    yield from times_in(text, language, joined=True)
    for of in islice(of_time.finditer(text), _MOST_TIMES):
        at = f"{text[: of.start()]}{sentences.of_time[of[0].lower()]}{text[of.end() :]}"
        yield from times_in(at, language, joined=True)
    yield TimeInSentence("", text)


def _bounds_in(sentences: _Sentences, text: str, language: str) -> Iterator[tuple[TimeInSentence, bool]]:
    """Yield the times in a sentence and whether they are only bounds, as in "by seven", those that are first."""
    for words, at in sentences.bounds.items():
        pattern = words if not at else rf"\b(?:{words})(?= )"
        for bound in islice(re.finditer(pattern, text, re.IGNORECASE), _MOST_TIMES):
            exact = f"{text[: bound.start()]}{at}{text[bound.end() :]}"
            yield from ((time, True) for time in _times_in(sentences, exact, language) if time.words)
    yield from ((time, False) for time in _times_in(sentences, text, language))


async def _async_which(hass: HomeAssistant, user_input: ConversationInput, plans: Sequence[FuturePlan]) -> str:
    """Return the question for the one of some plans to cancel."""
    sentences = await async_get_sentences(hass, user_input.language)
    return sentences["later_which_plan"].format(plans=_named(plans, user_input.language))


def _named(plans: Sequence[FuturePlan], language: str) -> str:
    """Return the texts and times of the first few of some plans."""
    named = [(plan.text, _time_of(moment_of(plan), language)) for plan in plans[:_MOST_NAMED]]
    return "; ".join(", ".join(filter(None, names)) for names in named)


async def _async_counted(hass: HomeAssistant, user_input: ConversationInput, plans: Sequence[FuturePlan]) -> str:
    """Return how many plans of one kind there are, with their times, and with the texts that tell them apart."""
    sentences = await async_get_sentences(hass, user_input.language)
    times = [_time_of(moment_of(plan), user_input.language) for plan in plans]
    own = ["" if plan.text in {sentences["later_alarm"], sentences["later_timer"]} else plan.text for plan in plans]
    joined = "; ".join(", ".join(filter(None, names)) for names in zip(times, own, strict=True))
    return sentences["later_count"].format(count=len(plans), plans=joined)


def _time_of(moment: Moment | None, language: str) -> str:
    """Return a time as it is said within a sentence; empty for none."""
    if moment is None:
        return ""
    time = spoken_time(moment.due, now=dt_util.now(), language=language, every=moment.every, has_distance=False)
    return time[:1].lower() + time[1:]


def _without_times(text: str, times: Iterable[str]) -> str:
    for words in times:
        text = text.replace(words, "")
    return text.strip(_AROUND)


def _says_no_more(rest: str, language: str) -> bool:
    """Return whether beside a time stands a yes, a no or words around times; with more, it is another request."""
    sentences = _SENTENCES.get(base_language(language))
    if not rest or understand_answer(rest, language) is not Meaning.OTHER:
        return True
    is_polite = sentences and re.fullmatch(sentences.polite, f"{rest} ", re.IGNORECASE)
    return bool(is_polite or (sentences and _fitting(sentences, sentences.move, rest)))


async def _async_recognized(
    hass: HomeAssistant,
    agent: DefaultAgent,
    user_input: ConversationInput,
    history: Transcript,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    language = user_input.language
    plain = replace(user_input, text=readable_sentence(hass, user_input.text))
    strict = await agent.async_recognize_intent(plain, strict_intents_only=True)
    slots = slots_of(strict) if strict else {}
    timed = delayed_command(strict.intent.name, slots) if strict else ""
    timer = strict.intent.name if strict else ""
    if is_guess := strict is None and found is None:
        calls = (await async_read_sentence(hass, plain, "")).calls
        timer, slots = (
            (calls[0].intent, {**calls[0].slots}) if len(calls) == 1 and calls[0].intent in _TIMERS else ("", {})
        )
    if timer == intent.INTENT_START_TIMER and not timed and is_negated(plain.text, language):
        return replace(await _async_declined(hass, language), is_last_resort=True)
    if timer and not timed:
        supports = user_input.device_id and async_device_supports_timers(hass, user_input.device_id)
        is_theirs = supports or timer not in _TIMERS
        given = None if is_theirs else await _async_timer(hass, user_input, timer, slots)
    else:
        given = await _async_wish(hass, user_input, history) or await _async_read_wish(hass, user_input)
    if given:
        is_question = given["kind"] == "list"
        moved = await _async_moved(hass, user_input, given) if given["kind"] == "move" else None
        if given["kind"] == "move" and given.get("text") and moved is None and not timer:
            return found
        is_whole = given.get("text") != "" and is_resolved(str(given.get("when") or ""), language)
        is_last_resort = given["kind"] in {"remind", "move"} and not is_whole
        is_last_resort = is_last_resort or (is_guess and timer == intent.INTENT_TIMER_STATUS)
        request = RecognizedRequest(_NAME, is_question, is_last_resort=is_last_resort)
        if undone := await _async_undone(hass, user_input, request, given, timer):
            return undone
        return await _async_with_call(hass, language, request, given, moved)
    delayed = [TimeInSentence(f"in {delay_of(slots)} seconds", timed)] if timed else []
    times = times_in(user_input.text, language, joined=True) if timed or not strict else ()
    return await _async_command(hass, user_input, history, times, delayed) or found


async def _async_command(
    hass: HomeAssistant,
    user_input: ConversationInput,
    history: Transcript,
    times: Iterable[TimeInSentence],
    delayed: Sequence[TimeInSentence],
) -> RecognizedRequest | None:
    """Return the command that is left of a sentence without one of its times, or that Home Assistant delays."""
    language = user_input.language
    for time in [one for one in (*times, *delayed) if one.rest]:
        command = replace(user_input, text=time.rest)
        if _is_local(history):
            command = replace(command, text=await async_with_names(hass, command))
        later = await async_recognize(hass, command)
        if later is None and time.is_alone:
            later = await _async_guessed(hass, command, is_delayed=time in delayed)
        if later is None or later.is_question:
            continue
        later = replace(later, is_last_resort=not is_resolved(time.words, language))
        if later.intent == intent.INTENT_START_TIMER:  # no timer starts at another time
            answer = (await async_get_sentences(hass, language))["later_no_time"]
            return replace(later, answer=answer, is_last_resort=True)
        given: dict[str, JsonValue] = {"kind": "act", "when": time.words}
        given |= {"tool": PROCESS_SENTENCE.name, "arguments": {SENTENCE: command.text}}
        return await _async_with_call(hass, language, later, given)
    return None


async def _async_undone(
    hass: HomeAssistant,
    user_input: ConversationInput,
    request: RecognizedRequest,
    given: dict[str, JsonValue],
    timer: str,
) -> RecognizedRequest | None:
    """Return the request with words in place of its call if that pauses a timer, or means one plan and several fit."""
    language, is_change = user_input.language, timer in _ADJUSTED and given["kind"] == "list"
    is_pause = timer == intent.INTENT_PAUSE_TIMER
    is_named = (
        given["kind"] == "cancel" and given.get("text", "all") != "all" and timer != intent.INTENT_CANCEL_ALL_TIMERS
    )
    plans = await _async_called(hass, user_input, str(given["text"])) if is_named or is_change or is_pause else ()
    if len(plans) <= 1 and not is_pause:
        return None
    if is_named:
        which = await _async_which(hass, user_input, plans)
        return replace(request, call=local_call(_NAME, given), answer=which)
    texts = await async_get_sentences(hass, language)
    unchanged = texts["later_not_paused" if is_pause else "later_not_changed"]
    return replace(request, answer=unchanged.format(what=_named(plans, language)))


def _is_local(history: Transcript) -> bool:
    """Return whether Home Assistant has processed the sentence before, and all others: then it knows what "it" is."""
    _, results = since_last_user_message(history)
    is_sentence = bool(results) and all(result.name == PROCESS_SENTENCE.name for result in results)
    answers = (message for message in as_models_read(history) if isinstance(message, AssistantMessage))
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
    return RecognizedRequest(_NAME, is_question=False) if is_known and not effects.is_guessed else None


async def _async_with_call(
    hass: HomeAssistant,
    language: str,
    request: RecognizedRequest,
    given: dict[str, JsonValue],
    moved: FuturePlan | None = None,
) -> RecognizedRequest:
    """Return a request with the call of the tool, and with a question if its time or its text is not clear."""
    words, said_at = "" if request.is_question else str(given.get("when") or ""), given.get(_SAID_AT)
    sentences, is_reminder = await async_get_sentences(hass, language), given["kind"] == "remind"
    waiting = local_call(_NAME, {**given, _SAID_AT: said_at or dt_util.utcnow().isoformat()})
    if is_reminder and not (words and given["text"]):
        return replace(request, call=waiting, answer=sentences["later_ask" if given["text"] else "later_what"])
    text, old = moved.text if moved else given.get("text") if is_reminder else "", moment_of(moved)
    at = dt_util.parse_datetime(str(said_at))
    plain = await async_resolve(hass, words, language, at, moved=old) if words else None
    moment = _for_alarm(plain) if plain and text == sentences["later_alarm"] else plain
    if moment and moment.is_sure:
        is_plain = said_at is None and moment == plain
        return replace(request, call=_planning(given, words if is_plain else exact_words(moment)))
    if not words:
        return replace(request, call=local_call(_NAME, given))
    if moment is None:
        question = sentences["later_no_time" if is_resolved(words, language) else "later_exactly"]
        return replace(request, call=waiting, answer=question)
    return replace(request, call=waiting, answer=sentences["later_which"].format(time=_time_of(moment, language)))


async def _async_moved(
    hass: HomeAssistant, user_input: ConversationInput, given: dict[str, JsonValue]
) -> FuturePlan | None:
    """Return the plan that a call moves: that of its old time, or else the latest one."""
    schedule, plans = async_get_schedule(hass), await _async_plans(hass, user_input)
    if old_time := given.get("text"):
        return await async_due_at(hass, plans, str(old_time), user_input.language)
    return plans[-1] if plans and not schedule.last_heard(user_input.satellite_id) else None


async def _async_timer(
    hass: HomeAssistant, user_input: ConversationInput, intent_type: str, slots: Mapping[str, JsonValue]
) -> dict[str, JsonValue] | None:
    """Return the arguments of a call that does as a reminder what an intent does with a timer."""
    name, sentences = str(slots.get("name") or "").strip(" -"), await async_get_sentences(hass, user_input.language)
    if intent_type == intent.INTENT_START_TIMER:
        seconds = delay_of(slots)
        given = {"kind": "remind", "when": _timer_words(seconds), "text": name or sentences["later_timer"]}
        return {**given} if seconds else None
    begun = {unit.removeprefix("start_"): value for unit, value in slots.items() if unit.startswith("start_")}
    started = delay_of(begun)
    if moment := await async_resolve(hass, f"in {name}", user_input.language):  # "the 1 hour 30 minute timer"
        name, started = "", round((moment.due - dt_util.now()).total_seconds())
    timers = [
        plan
        for plan in await _async_plans(hass, user_input)
        if await async_reminder_kind(hass, plan) is ReminderKind.TIMER
        and {*heard_words(name)} <= {*heard_words(plan.text)}
        and (not started or plan.words == _timer_words(started))
    ]
    if not timers or "area" in slots:
        return None
    if (sign := _ADJUSTED.get(intent_type)) and len(timers) == 1 and (due := timers[0].due):
        left = round((due - dt_util.now()).total_seconds()) + sign * delay_of(slots)
        return {"kind": "move", "text": timers[0].id, "when": _timer_words(max(left, 1))}
    kind = "cancel" if intent_type in _CANCELLED else "list"
    return {"kind": kind, "text": " ".join(plan.id for plan in timers)}


def _timer_words(seconds: int) -> str:
    """Return words for the time of a timer, which nobody says: a reminder "in 90 seconds" is none."""
    return f"{TIMER_WORDS} {seconds} seconds"


async def _async_is_known(hass: HomeAssistant, user_input: ConversationInput, words: str) -> bool:
    """Return whether the speaker has a plan with these words, of which one is more than "the" and the like."""
    named = {*heard_words(words)}
    plans = await _async_plans(hass, user_input) if telling_words(words) else ()
    return any(named <= {*heard_words(f"{plan.text} {plan.words}")} for plan in plans)


async def _async_wish(
    hass: HomeAssistant, user_input: ConversationInput, history: Transcript
) -> dict[str, JsonValue] | None:
    """Return the arguments of a call that lists, moves or cancels plans or plans a reminder; None if there is none."""
    language, text = user_input.language, user_input.text.replace(_CURLY, "'")
    if (sentences := _SENTENCES.get(base_language(language))) is None:
        return None
    times = times_in(text, language)
    heard = async_get_schedule(hass).last_heard(user_input.satellite_id)
    if heard and (moved := _change_of_it(sentences, text, times, language)) and moved["kind"] == "move":
        return moved
    at_times, alarm = times_in(text, language, joined=True), (await async_get_sentences(hass, language))["later_alarm"]
    requests: Sequence[tuple[Iterable[str], dict[str, JsonValue]]] = (
        (sentences.list, {"kind": "list"}),
        (sentences.alarm, {"kind": "remind", "text": alarm}),
        (sentences.remind_when, {"kind": "remind", "text": ""}),
    )
    for time in sorted(_times_in(sentences, text, language), key=lambda time: not is_resolved(time.words, language)):
        found = _fitting(sentences, sentences.remind, time.rest) if time in at_times and time.is_alone else None
        if found and (words := found["text"].strip(_AROUND)):
            return {"kind": "remind", "when": time.words, "text": words}
        for patterns, call in requests:
            if _fitting(sentences, patterns, time.rest):
                return {**call, "when": time.words}
    found = None if times else _fitting(sentences, sentences.remind, text)
    if found and _is_plain(sentences, words := found["text"].strip(_AROUND)):
        return {"kind": "remind", "when": "", "text": words}
    if _fitting(sentences, sentences.all, text):
        return {"kind": "cancel", "text": "all"}
    _, results = since_last_user_message(history)
    if any(result.name == _NAME for result in results) and (given := _change_of_it(sentences, text, times, language)):
        return given
    found = None if _fitting(sentences, sentences.it, text) else _fitting(sentences, sentences.cancel, text)
    is_known = found is not None and await _async_is_known(hass, user_input, found["plan"])
    return {"kind": "cancel", "text": found["plan"]} if found and is_known else None


async def _async_read_wish(hass: HomeAssistant, user_input: ConversationInput) -> dict[str, JsonValue] | None:
    """Return the arguments of a call that plans an alarm or a reminder, as it is read; None if there is none."""
    language, text = user_input.language, user_input.text
    if (sentences := _SENTENCES.get(base_language(language))) is None:
        return None
    times = times_in(text, language, joined=True)
    none = [] if times or times_in(text, language) else [TimeInSentence("", text)]
    whole = [time for time in times if time.is_alone]
    for time in (*sorted(whole, key=lambda one: not is_resolved(one.words, language)), *none):
        plan = await async_read_plan(hass, time.rest, language)
        if plan and plan.act == "set" and _is_plain(sentences, plan.text):
            alarm = (await async_get_sentences(hass, language))["later_alarm"]
            return {"kind": "remind", "when": time.words, "text": alarm if plan.kind == "alarm" else plan.text}
    return None


def _is_plain(sentences: _Sentences, words: str) -> bool:
    """Return whether the text of a reminder holds nothing that may say when."""
    may_say = re.search(sentences.unclear, words, re.IGNORECASE)
    return not (may_say or _fitting(sentences, sentences.move, words))


def _change_of_it(
    sentences: _Sentences, text: str, times: Sequence[TimeInSentence], language: str
) -> dict[str, JsonValue] | None:
    """Return the arguments of a call that cancels or moves the plan that was just made or named."""
    if _fitting(sentences, sentences.it, text):
        return {"kind": "cancel"}
    words = sorted((time.words for time in times), key=text.index)
    rest, parts = _without_times(text, words), [part for one in words for part in parts_of_time(one, language)]
    if len(parts) in {1, 2} and (not rest or _fitting(sentences, sentences.move, rest)):
        *others, new = parts
        return {"kind": "move", "when": new, **({"text": others[0]} if others else {})}
    return None


def _fitting(sentences: _Sentences, patterns: Iterable[str], text: str) -> re.Match[str] | None:
    line = " ".join(text.split()).strip(_AROUND)
    kinds = "|".join(f"(?P<{kind}>{words})" for kind, words in sentences.kinds.items())
    named = ((pattern.replace("<kind>", f"(?:{kinds})"), ".+" in pattern) for pattern in patterns)
    end = rf"(?:[ ,，]*(?:{sentences.thanks}))*"  # noqa: RUF001 Chinese comma
    whole = (f"{sentences.polite}(?:{pattern}){'' if has_text else end}" for pattern, has_text in named)
    found = (re.fullmatch(pattern, line, re.IGNORECASE) for pattern in whole)
    return next(filter(None, found), None)
