"""Recognizes requests about plans without a model: "remind me at six to call Mum", "turn it off in ten minutes".

Home Assistant's own sentences go first. Those that it understands as delayed become plans, and so do commands that it
understands, with either of its recognizers, once their time is left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from homeassistant.components.alarm_control_panel import DOMAIN as ALARM_PANEL
from homeassistant.components.conversation import DOMAIN as CONVERSATION, ConversationInput
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
from .plan_words import PlanWords, begins_bound, has_plan_words, is_clear, of_time, plan_words
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
_ADDED: Final = "HassListAddItem"
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
    calls = (await async_read_sentence(hass, user_input, "")).calls
    if any(one.intent == _ADDED for one in calls):
        return found  # the item of a list may have a time
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
    is_question = user_input.text.rstrip().endswith(QUESTION_ENDS)
    if given.get("text") != "" or not answer or is_question:
        return None
    if understand_answer(answer, language) is Meaning.NO:
        return await _async_declined(hass, language)
    request, content = (
        [TimeInSentence("", words), *times_in(words, language, joined=True)][-1]
        for words in (since_last_user_message(history)[0], answer)
    )
    words = plan_words(f"{request.rest.strip(_AROUND)} {content.rest}", language)
    text, when = (words and words.text) or content.rest, str(given["when"])
    both = {_SAID_AT: given[_SAID_AT], "when": f"{when} / {content.words}" if content.words else when}
    given |= {"text": text, **(both if when else {_SAID_AT: None, "when": content.words})}
    return await _async_with_call(hass, language, RecognizedRequest(_NAME, is_question=False), given)


async def _async_chosen(
    hass: HomeAssistant, user_input: ConversationInput, request: RecognizedRequest, words: str
) -> RecognizedRequest | None:
    """Return the request to cancel those of several plans that an answer chooses, by number, name or time."""
    answer, language = user_input.text.strip(_AROUND), user_input.language
    plans = await _async_called(hass, user_input, words)
    names = [[frozenset(heard_words(plan.text))] for plan in plans]
    choice = understand_choice(answer, language, names, _MOST_NAMED)
    chosen: Sequence[FuturePlan] = [plans[number] for number in choice or ()]
    times = [*_times_in(answer, language)][:-1]
    for time in times:
        if (rest := plan_words(time.rest, language)) and rest.act == "":
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
    language = user_input.language
    for time, words in _readings(user_input.text, language):
        is_bound = begins_bound(time.words, language) or has_bound(time.words, language)
        is_known = not time.words or is_bound or is_resolved(time.words, language)
        if is_bound and words.act == "cancel":  # "voor morgen" is for tomorrow
            is_known = not any(names_days(one, language) for one in parts_of_time(time.words, language))
        if is_known and words.kind in set(ReminderKind) and words.act in {"ask", "cancel"}:
            break
    else:
        return None
    question, groups = words.act == "ask", words.roles
    if (kind := ReminderKind(words.kind)) is ReminderKind.TIMER:
        is_count, is_only = "count" in groups, theirs is None
        is_plain = question and not time.words
        return await _async_timers(hass, user_input, is_count=is_count, is_only=is_only) if is_plain else None
    plans = await _async_plans(hass, user_input)
    sure = [plan for plan in sorted(plans, key=due_order) if await async_reminder_kind(hass, plan) is kind]
    named = sure or plans_called(plans, words.named)
    meant = await _async_due(hass, named, time.words, language) if time.words and not is_bound else named
    request, texts = RecognizedRequest(_NAME, is_question=question), await async_get_sentences(hass, language)
    is_device = time.words and await async_recognize(hass, replace(user_input, text=time.rest))
    if not meant and (is_device or (kind is ReminderKind.ALARM and _has_alarm_panel(hass))):
        return None  # of that name
    if not meant:
        answer = texts[f"later_none_{kind}{'_then' if time.words and not is_bound else ''}"]
        return replace(request, answer=answer, is_last_resort=True)
    if "count" in groups and len(meant) > 1 and not is_bound:
        return replace(request, answer=await _async_counted(hass, user_input, meant), is_last_resort=True)
    if question:
        return replace(request, call=_call_for("list", meant[:1] if "next" in groups and not is_bound else meant))
    is_all = "all" in groups or len(meant) == (2 if "both" in groups else 1)
    is_one_of_many = any(plan.every for plan in meant) and names_days(time.words, language)
    is_vague = "all" in groups and time.words and not names_days(time.words, language)  # "by seven", "from seven on"
    is_clear = sure and is_all and not (is_one_of_many or is_vague or is_bound)
    answer = "" if is_clear else await _async_which(hass, user_input, meant)
    return replace(request, call=_call_for("cancel", meant), answer=answer)


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
    language, text = user_input.language, user_input.text
    if not has_plan_words(language):
        return None
    for timed_text in (_with_at(text, language), text):  # "to eight" is "at eight"
        times = sorted((time.words for time in times_in(timed_text, language)), key=timed_text.index)
        words = plan_words(_without_times(timed_text, times), language) if times else None
        if words and words.act == "move" and words.kind in {ReminderKind.ALARM, ReminderKind.REMINDER}:
            break
    else:
        return None
    *old, new = [part for time in times for part in parts_of_time(time, language)]
    kind = words.kind
    plans = [plan for plan in await _async_plans(hass, user_input) if await async_reminder_kind(hass, plan) == kind]
    meant = [await async_due_at(hass, plans, old[-1], language)] if old else [*plans]
    moved = meant[0] if meant else None
    moment = await async_resolve(hass, new, language, moved=moment_of(moved))
    # "An hour later" would be an hour from now.
    is_new = moment and (moment.names_hour or names_days(new, language))
    if not is_new or (old and not moved) or (not plans and kind == ReminderKind.ALARM and _has_alarm_panel(hass)):
        return None
    request, texts = RecognizedRequest(_NAME, is_question=False), await async_get_sentences(hass, language)
    if moved is None:
        return replace(request, answer=texts[f"later_none_{kind}"], is_last_resort=True)
    if len(meant) > 1:
        return replace(request, answer=texts["later_not_changed"].format(what=_named(plans, language)))
    return await _async_with_call(hass, language, request, {"kind": "move", "text": moved.id, "when": new}, moved)


def _has_alarm_panel(hass: HomeAssistant) -> bool:
    """Return whether "the alarm" may be one that watches the home."""
    return any(entity.domain == ALARM_PANEL for entity in async_get_home(hass, CONVERSATION).all_entities)


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


def _times_in(text: str, language: str) -> Iterator[TimeInSentence]:
    """Yield the times in a sentence, then those after other words for "at", then none."""
    times = times_in(text, language, joined=True)
    yield from times
    if len(times) > 1:  # "the six am alarm on Wednesday"
        yield replace(times[-1], words=times[-1].words.replace(APART, " "))
    others = of_time(language)
    before = re.compile(rf"\b(?:{'|'.join(others)})(?= )" if others else "(?!)", re.IGNORECASE)
    for of in islice(before.finditer(text), _MOST_TIMES):
        yield from times_in(f"{text[: of.start()]}{others[of[0].lower()]}{text[of.end() :]}", language, joined=True)
    yield TimeInSentence("", text)


def _with_at(text: str, language: str) -> str:
    """Return a text with words for "at" in place of all others before a time."""
    for other, at in of_time(language).items():
        text = re.sub(rf"\b{other}(?= )", at, text, flags=re.IGNORECASE)
    return text


def _readings(text: str, language: str) -> Iterator[tuple[TimeInSentence, PlanWords]]:
    """Yield the ways to read a request about plans, each with its time."""
    times = _times_in(text, language) if has_plan_words(language) else ()
    yield from ((time, words) for time in times if (words := plan_words(time.rest, language)))


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
    if not rest or understand_answer(rest, language) is not Meaning.OTHER:
        return True
    words = plan_words(rest, language)
    return words is not None and words.act in {"", "move"} and not words.kind


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
        given = await _async_wish(hass, user_input, history)
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
        and (not started or plan.words == _timer_words(started))
    ]
    named = [one for one in timers if _is_called(one.text, name)]
    timers = named or (timers if intent_type == intent.INTENT_TIMER_STATUS else [])
    if not timers or "area" in slots:
        return None
    if (sign := _ADJUSTED.get(intent_type)) and len(timers) == 1 and (due := timers[0].due):
        left = round((due - dt_util.now()).total_seconds()) + sign * delay_of(slots)
        return {"kind": "move", "text": timers[0].id, "when": _timer_words(max(left, 1))}
    kind = "cancel" if intent_type in _CANCELLED else "list"
    return {"kind": kind, "text": " ".join(plan.id for plan in timers)}


def _is_called(text: str, name: str) -> bool:
    """Return whether a text has the words of a name, or longer ones: a "Nudeltimer" is for "Nudeln"."""
    return all(any(one.startswith(word) for one in heard_words(text)) for word in heard_words(name))


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
    language, text = user_input.language, user_input.text
    times, at_times = times_in(text, language), times_in(text, language, joined=True)
    readings = [*_readings(text, language)]
    heard = async_get_schedule(hass).last_heard(user_input.satellite_id)
    change = _change_of_it(text, times, language)
    if heard and change and change["kind"] == "move":
        return change
    alarm = (await async_get_sentences(hass, language))["later_alarm"]
    for time, words in sorted(readings, key=lambda one: not is_resolved(one[0].words, language)):
        is_whole = time.is_alone and (time.words or not times)
        match words.act:
            case "list":
                return {"kind": "list", "when": time.words}
            case "alarm" if is_whole:
                return {"kind": "remind", "text": alarm, "when": time.words}
            case "remind" if is_whole and (
                time in at_times or (not time.words and is_clear(words.text or "", language))
            ):
                return {"kind": "remind", "when": time.words, "text": words.text or ""}
            case "cancel" if words.roles == {"cancel", "all"}:
                return {"kind": "cancel", "text": "all"}
            case _:
                pass
    _, results = since_last_user_message(history)
    if change and any(result.name == _NAME for result in results):
        return change
    named = next((words.text for time, words in readings if words.act == "cancel" and not time.words), None)
    is_known = bool(named) and await _async_is_known(hass, user_input, named or "")
    return {"kind": "cancel", "text": named} if is_known else None


def _change_of_it(text: str, times: Sequence[TimeInSentence], language: str) -> dict[str, JsonValue] | None:
    """Return the arguments of a call that cancels or moves the plan that was just made or named."""
    spoken = sorted((time.words for time in times), key=text.index)
    rest, parts = _without_times(text, spoken), [part for one in spoken for part in parts_of_time(one, language)]
    words = plan_words(rest, language)
    if words and words.roles in ({"cancel"}, {"cancel", "it"}) and not parts:
        return {"kind": "cancel"}
    is_move = not rest or (words is not None and words.act == "move" and not words.kind)
    if len(parts) in {1, 2} and is_move:
        *others, new = parts
        return {"kind": "move", "when": new, **({"text": others[0]} if others else {})}
    return None
