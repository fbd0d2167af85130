"""Recognizes requests about plans without a model: "remind me at six to call Mum", "turn it off in ten minutes"."""

# Home Assistant's sentences go first, and so do those of automations and the items of
# lists. Its requests for timers are ours where the device has no timers. All others are
# read in this order, and the first that is understood counts:
#
# 1. the answer to a question of ours: "at seven", "yes", "the first"
# 2. questions about alarms, reminders and timers of a kind, and requests to cancel or
#    move them
# 3. timers of Home Assistant, which become reminders, or else words about plans: a new
#    reminder or alarm, a list, another time for what was just planned
# 4. commands of Home Assistant, once their time is left out, or what has to happen before; those that it
#    understands as delayed are among them
# 5. any other words, if we have asked what a reminder is about
#
# Each ends in the arguments of a call of the tool, which `_with_call` turns into the call
# or into a question about its time.

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from ..approvals.policy import is_risky
from ..effects.intents import delay_of, delayed_command
from ..effects.reading import ReadSentence, async_happenings
from ..effects.recognition import RecognizedRequest, async_recognize, readable_sentence
from ..home.entities import async_get_home
from ..home.request import QUESTION_ENDS, Request
from ..internals.conversation import slots_of
from ..nlu.happenings import ME
from ..nlu.lexicon import Role, lexicon, tokens
from ..nlu.requests import StateQuestion
from ..offline.local_commands import Talk
from ..offline.misheard import is_negated
from ..offline.provider import PROCESS_SENTENCE, SENTENCE, asked_about, local_call
from ..offline.sentence_effects import (
    Undoing,
    async_read_sentence,
    async_sentence_effects,
    async_undoing,
    async_with_names,
    intents_of,
    is_certain,
)
from ..people.speakers import async_get_speaker
from ..settings.tool_names import BROADCAST_TOOL
from ..speech.sentences import async_error_text
from ..speech.text.times import (
    APART,
    Moment,
    TimeInSentence,
    exact_words,
    is_delay,
    is_resolved,
    lasting_words,
    names_days,
    names_sun,
    parts_of_time,
    times_in,
)
from .broadcast import async_message_later
from .known_plans import (
    MOST_NAMED,
    KnownPlans,
    async_known_plans,
)
from .plan_words import (
    PlanWords,
    is_bound,
    is_clear,
    lasting,
    of_time,
    plan_words,
)
from .plans import TIMER_WORDS, FuturePlan, NotPlanned
from .schedule import async_get_schedule, moment_of
from .telling import ReminderKind, plan_text
from .tool import LATER, due_order

if TYPE_CHECKING:
    from homeassistant.components.conversation.default_agent import DefaultAgent

type _Given = dict[str, JsonValue]
"""The arguments of a call of the tool."""

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
_KINDS: Final = frozenset(ReminderKind)
_MOVES: Final = {("move", kind) for kind in _KINDS - {ReminderKind.TIMER}}
_ON_KNOWN: Final = frozenset({"ask", "cancel"})
"""Acts on plans that are named by their kind or by words: "how long for the eggs?"."""
_FIRST: Final = "first"
"""The sentence that is processed before the plan for its end is made, among the same."""
_ONE_OF_SEVERAL: Final = frozenset({"next", "last"})
"""Roles of words that tell which of several timers is meant."""
_SAID_AT: Final = "said_at"
"""When the words of a request were said, among the arguments of its call until its time is clear."""
_OF_WORDS: Final = frozenset({_FIRST, _SAID_AT})
"""The arguments that the tool does not have."""
_MOST_TIMES: Final = 6
"""Times in a sentence, and words around times, that are tried: each costs some milliseconds."""
_MOVED: Final = frozenset({"cover", "valve"})
"""Domains of what takes positions, which may be numbers."""
_MORNING: Final = range(4, 12)
"""The hours at which an alarm is meant if they come next: nobody wants to be asked which seven o'clock."""
_AROUND: Final = " .,!?¿¡。，！？"  # noqa: RUF001 Chinese marks
_COMMAND: Final = RecognizedRequest(_NAME, is_question=False)
_QUESTION: Final = RecognizedRequest(_NAME, is_question=True)


async def async_recognize_plan(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return a request about plans, with the call that does it, or else the one that Home Assistant has `found`."""
    history, agent, of_guest = talk
    language = user_input.language
    if agent is None or (found and found.intent not in _TIMERS):
        return found
    plain = replace(
        user_input,
        text=readable_sentence(hass, user_input.text),
        conversation_id=None,
    )
    reading = await async_read_sentence(hass, plain)
    times = times_in(user_input.text, language)
    # The item of a list may have a time.
    if (
        any(one.intent == "HassListAddItem" for one in reading.calls)
        or len(times) > _MOST_TIMES
    ):
        return found
    user_id = user_input.context.user_id
    known = await async_known_plans(
        hass,
        user_id,
        language,
        of_guest=of_guest,
    )
    readings = [*_readings(user_input.text, language)]
    sentence = _Sentence(
        hass, user_input, plain, history, reading, times, readings, known
    )
    try:
        return (
            sentence.answered()
            or await sentence.async_of_kind(found)
            or sentence.moved_by_kind()
            or await sentence.async_message()
            or await sentence.async_routine()
            or await sentence.async_for_a_while()
            or await sentence.async_planned(agent, found)
            or sentence.with_text()
        )
    except NotPlanned as error:
        return replace(
            _COMMAND, answer=await async_error_text(hass, language, error.problem)
        )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence that may be about plans."""

    hass: HomeAssistant
    user_input: ConversationInput
    plain: ConversationInput
    """The same, with its names as Home Assistant knows them."""
    history: Transcript
    reading: ReadSentence
    times: Sequence[TimeInSentence]
    readings: Sequence[tuple[TimeInSentence, PlanWords]]
    """The ways to read it as a request about plans, each with its time."""
    known: KnownPlans

    @property
    def language(self) -> str:
        """Its language."""
        return self.user_input.language

    @property
    def texts(self) -> Mapping[str, str]:
        """The sentences in its language."""
        return self.known.texts

    @property
    def answer(self) -> str:
        """Its words without the marks around them."""
        return self.user_input.text.strip(_AROUND)

    # What a request comes to: a call, or words in its place.

    def _call(
        self,
        given: Mapping[str, JsonValue],
        when: str = "",
    ) -> ToolCall:
        """Return a call, at a time if one is given. Raises `NotPlanned` where plans cannot be read."""
        if self.known.problem:
            raise self.known.problem
        if not when:
            return local_call(_NAME, {**given})
        rest = {name: value for name, value in given.items() if name not in _OF_WORDS}
        return local_call(
            _NAME,
            {**rest, "when": when},
        )

    def _does(
        self,
        given: _Given,
        when: str = "",
    ) -> RecognizedRequest:
        """Return the request with a call, at a time if one is given."""
        request = _QUESTION if given["kind"] == "list" else _COMMAND
        first = str(given.get(_FIRST, ""))
        return replace(request, first=first, call=self._call(given, when))

    def _about(
        self,
        kind: str,
        plans: Iterable[FuturePlan],
    ) -> RecognizedRequest:
        """Return the request with a call that is about some plans."""
        return self._does({"kind": kind, "text": " ".join(plan.id for plan in plans)})

    def _says(
        self,
        request: RecognizedRequest,
        key: str,
        plans: Sequence[FuturePlan] = (),
    ) -> RecognizedRequest:
        """Return a request with a sentence, about some plans, in place of its call."""
        return replace(
            request,
            answer=self.known.say(
                key,
                plans,
            ),
        )

    def _asks_which(self, plans: Sequence[FuturePlan]) -> RecognizedRequest:
        """Return the question for the one of some plans to cancel."""
        return self._says(
            self._about("cancel", plans),
            "later_which_plan",
            plans,
        )

    @property
    def _declined(self) -> RecognizedRequest:
        """The words after a no to a question."""
        return self._says(_COMMAND, "spoken_declined")

    def _with_call(
        self,
        request: RecognizedRequest,
        given: _Given,
        moved: FuturePlan | None = None,
        *,
        asks: bool = False,
    ) -> RecognizedRequest:
        """Return a request with the call for a time, and with a question if the time or the text is not clear.

        It always `asks` about what was only guessed.
        """
        words = str(given["when"])
        said_at = given.get(_SAID_AT)
        since = {
            **given,
            _SAID_AT: said_at or dt_util.utcnow().isoformat(),
        }
        waiting = replace(request, call=self._call(since))
        if given.get("text") == "":
            return self._says(waiting, "later_what")
        if not words:
            return self._says(waiting, "later_ask")
        plain = self.known.resolve(
            words,
            said_at,
            moment_of(moved),
        )
        moment = self._for(
            moved.text if moved else given.get("text"),
            plain,
        )
        if moment is None:
            is_time = is_resolved(words, self.language)
            return self._says(waiting, "later_no_time" if is_time else "later_exactly")
        if asks or not moment.is_sure:
            time = self.known.time_of(moment)
            return replace(
                waiting,
                answer=self.texts["later_which"].format(time=time),
            )
        is_plain = said_at is None and moment == plain
        when = words if is_plain else lasting_words(words, moment, self.language)
        return replace(request, call=self._call(given, when))

    def _for(
        self,
        text: JsonValue,
        moment: Moment | None,
    ) -> Moment | None:
        """Return the time that is meant for a reminder with a text."""
        is_alarm = text == self.texts["later_alarm"]
        if moment and is_alarm:
            return _for_alarm(moment)
        return moment

    # 1. Answers to our questions.

    def answered(self) -> RecognizedRequest | None:
        """Return the request of before as an answer completes it; None for other words, and for the text of one."""
        given = asked_about(_NAME, self.history)
        if not given or given.get("text") == "":
            return None
        if given["kind"] == "cancel":
            return self._chosen(str(given["text"]))
        return self._timed(given)

    def _timed(self, given: _Given) -> RecognizedRequest | None:
        """Return the request of before with its exact time, or the question about that once more."""
        text = given.get("text")
        language = self.language
        offered = self._for(
            text, self.known.resolve(str(given["when"]), given[_SAID_AT])
        )
        rest, _, times = self._divided(self.answer)
        is_other = understand_answer(rest, language) is Meaning.NO  # "no, at seven"
        unclear: _Given | None = None
        for words, said_at, moved in self._completed(given, offered, rest):
            moment = self._for(
                text,
                self.known.resolve(
                    words,
                    said_at,
                    moved,
                ),
            )
            if moment is None:
                continue
            is_denied = is_other and offered and moment.due == offered.due
            if moment.is_sure and not is_denied:
                return self._does(
                    given,
                    lasting_words(
                        words,
                        moment,
                        language,
                    ),
                )
            if moved is None:
                unclear = unclear or {**given, "when": words, _SAID_AT: said_at}
        if unclear is None and times and not rest:
            unclear = {
                **given,
                "when": self.answer,
                _SAID_AT: None,
            }
        match understand_answer(self.answer, language):
            case Meaning.YES if offered:
                return self._does(given, exact_words(offered))
            case Meaning.NO:
                return self._declined
            case _:
                if unclear:
                    return self._with_call(_COMMAND, unclear)
                return None

    def _completed(
        self,
        given: _Given,
        offered: Moment | None,
        rest: str,
    ) -> Iterator[tuple[str, JsonValue, Moment | None]]:
        """Yield the words of the time that an answer may mean, when they were said, and the time that they move.

        Words of then mean what they meant then: "tomorrow" is still the same day after
        midnight. Alone, those of an answer keep the day of before.
        """
        when = str(given["when"])
        said_at = given[_SAID_AT]
        moved = offered if names_days(when, self.language) else None
        parts = [self.answer]
        if _says_no_more(rest, self.language):
            parts += sorted(
                (time.words for time in self.times),
                key=self.answer.index,
                reverse=True,
            )
        for words in parts:
            if when:
                yield f"{when} {words}", said_at, None
            yield words, None, moved

    def _chosen(self, words: str) -> RecognizedRequest | None:
        """Return the request to cancel those of several plans that an answer chooses, by number, name or time."""
        answer = self.answer
        language = self.language
        plans = self.known.called(words)
        names = [[frozenset(heard_words(plan.text))] for plan in plans]
        choice = understand_choice(
            answer,
            language,
            names,
            MOST_NAMED,
        )
        meaning = understand_answer(answer, language)
        chosen: Sequence[FuturePlan] = [plans[number] for number in choice or ()]
        times = [*_times_in(answer, language)][:-1]
        for time in times:
            rest = plan_words(time.rest, language)
            if rest and rest.roles <= {"one", *_KINDS}:
                chosen = self.known.due_at(
                    plans,
                    time.words,
                )
        if len(plans) == 1 and meaning is Meaning.YES:
            chosen = plans
        if chosen and (len(chosen) == 1 or not times):
            return self._about("cancel", chosen)
        if meaning is Meaning.NO:
            return self._declined
        is_open = chosen or choice is not None
        if is_open:
            return self._asks_which(plans)
        return None

    # 2. Alarms, reminders and timers that there are.

    async def async_of_kind(
        self, theirs: RecognizedRequest | None
    ) -> RecognizedRequest | None:
        """Return the request that asks for alarms, reminders or timers or cancels some; None for other words.

        `theirs` is the one that Home Assistant has understood.
        """
        fitting = (one for one in self.readings if self._is_of_kind(*one))
        found = next(fitting, None)
        if found is None:
            return None
        time, words = found
        kind = ReminderKind(words.kind)
        if kind is ReminderKind.TIMER:
            return await self._async_timers(
                time,
                words,
                theirs,
            )
        # Of "by nine" and the like, all are told, and all are asked about.
        then = time.words
        roles = words.roles
        if is_bound(then, self.language):
            then = ""
            roles = frozenset()
        sure = self.known.of_kind(kind)
        named = sure or self.known.called(words.named)
        meant = self._meant(named, then, roles)
        request = _QUESTION if words.act == "ask" else _COMMAND
        if not meant:
            if await self._async_is_theirs(time, kind):
                return None
            return self._says(
                replace(request, is_last_resort=True),
                f"later_none_{kind}{'_then' if then else ''}",
            )
        if request.is_question:
            return self._listing(roles, meant)
        if sure and self._means_all(words, time.words, meant):
            return self._about("cancel", meant)
        return self._asks_which(meant)

    def _meant(
        self,
        plans: Sequence[FuturePlan],
        time: str,
        roles: frozenset[str],
    ) -> Sequence[FuturePlan]:
        """Return those of some plans that are due at a time, if one is said, or only the next or last of them.

        All are meant where the last ones that were made are others.
        """
        if time:
            plans = self.known.due_at(plans, time)
        count = 1 + ("both" in roles)
        if "next" in roles:
            return plans[:count]
        latest = [plan for plan in self.known.all if plan in plans][-count:]
        if "last" in roles and {*latest} == {*plans[-count:]}:
            return latest
        return plans

    def _is_of_kind(
        self,
        time: TimeInSentence,
        words: PlanWords,
    ) -> bool:
        """Return whether a reading asks for plans of a kind or cancels them, and its time is understood.

        "Voor morgen" may be for tomorrow, and no bound.
        """
        if words.kind not in _KINDS or words.act not in _ON_KNOWN:
            return False
        if not is_bound(time.words, self.language):
            return not time.words or is_resolved(time.words, self.language)
        parts = parts_of_time(time.words, self.language)
        has_days = any(names_days(part, self.language) for part in parts)
        return words.act == "ask" or not has_days

    async def _async_is_theirs(
        self,
        time: TimeInSentence,
        kind: ReminderKind,
    ) -> bool:
        """Return whether words for plans that are not there may mean a device of that name."""
        if self._may_watch(kind):
            return True
        device = replace(
            self.user_input,
            text=time.rest,
        )
        return bool(time.words and await async_recognize(self.hass, device))

    def _means_all(
        self,
        words: PlanWords,
        time: str,
        plans: Sequence[FuturePlan],
    ) -> bool:
        """Return whether all of some plans are to be cancelled: no single day of one, and none of "by seven"."""
        has_days = names_days(time, self.language)
        if is_bound(time, self.language) or (
            has_days and any(plan.every for plan in plans)
        ):
            return False
        if "all" in words.roles and "last" not in words.roles:
            return has_days or not time
        return len(plans) == 1 + ("both" in words.roles)

    def _listing(
        self, roles: frozenset[str], plans: Sequence[FuturePlan]
    ) -> RecognizedRequest:
        """Return the request that tells plans of one kind, or how many there are."""
        if "count" in roles and len(plans) > 1:
            answer = self.known.count(plans)
            return replace(
                _QUESTION,
                answer=answer,
                is_last_resort=True,
            )
        return self._about(
            "list",
            plans,
        )

    async def _async_timers(
        self,
        time: TimeInSentence,
        words: PlanWords,
        theirs: RecognizedRequest | None,
    ) -> RecognizedRequest | None:
        """Return the request that names or counts all timers: those among the plans, and those of devices.

        It is None without any among the plans if Home Assistant has understood the
        question, too: it names those of devices.
        """
        if words.act != "ask" or time.words:
            return None
        ours = self.known.of_kind(ReminderKind.TIMER)
        if theirs and not ours:
            return None
        others = await self.known.async_device_timers()
        if others is None:
            return None
        timers = self._meant(
            sorted(
                [*ours, *others],
                key=due_order,
            ),
            "",
            words.roles,
        )
        if (ours and not others) or ("count" in words.roles and len(timers) > 1):
            return self._listing(words.roles, timers)
        spoken = " ".join(
            plan_text(self.hass, self.texts, plan, self.language) for plan in timers
        )
        answer = spoken or self.texts["later_none_timer"]
        return replace(
            _QUESTION,
            answer=answer,
            is_last_resort=True,
        )

    def moved_by_kind(self) -> RecognizedRequest | None:
        """Return the request to move the one alarm or reminder, or the one of a time; None for other words."""
        found = self._move_of_kind()
        if found is None:
            return None
        kind, (*old, new), plans = found
        known = self.known
        meant = known.due_about(plans, old[-1]) if old else known.on_day(plans, new)
        moment = self.known.resolve(
            new,
            moved=moment_of(meant[0] if meant else None),
        )
        is_theirs = not plans and self._may_watch(kind)
        if not self._names_when(moment, new) or (old and not meant) or is_theirs:
            return None
        match meant:
            case [moved]:
                given: _Given = {
                    "kind": "move",
                    "text": moved.id,
                    "when": new,
                }
                is_guessed = not old and len(plans) > 1
                return self._with_call(
                    _COMMAND,
                    given,
                    moved,
                    asks=is_guessed,
                )
            case []:
                return self._says(
                    replace(_COMMAND, is_last_resort=True),
                    f"later_none_{kind}{'_then' if plans else ''}",
                )
            case _:
                return self._says(
                    _COMMAND,
                    "later_not_changed",
                    meant,
                )

    def _names_when(
        self,
        moment: Moment | None,
        words: str,
    ) -> bool:
        """Return whether words name an hour, a day or the sun: "an hour later" would be an hour from now."""
        return moment is not None and (
            moment.names_hour
            or names_days(words, self.language)
            or names_sun(words, self.language)
        )

    def _move_of_kind(
        self,
    ) -> tuple[ReminderKind, Sequence[str], Sequence[FuturePlan]] | None:
        """Return the kind of plan that is to be moved, times of which the last is its new one, and those it may be."""
        text = self.user_input.text
        for timed in (_with_at(text, self.language), text):  # "to eight" is "at"
            _, words, times = self._divided(timed)
            if not (times and words and (words.act, words.kind) in _MOVES):
                continue
            kind = ReminderKind(words.kind)
            named = words.text or ""
            plans = self.known.of_kind(kind)
            if is_resolved(named, self.language):  # "my Friday alarm"
                return kind, [named, *times], plans
            if named:
                called = self.known.called(named)
                plans = [plan for plan in plans if plan in called]
            return (kind, times, plans) if plans or not named else None
        return None

    def _may_watch(self, kind: ReminderKind) -> bool:
        """Return whether "the alarm" may be one that watches the home."""
        home = async_get_home(self.hass, CONVERSATION)
        return kind is ReminderKind.ALARM and any(
            entity.domain == ALARM_PANEL for entity in home.all_entities
        )

    # 3. Timers of Home Assistant, and words about plans.

    async def async_planned(
        self, agent: DefaultAgent, found: RecognizedRequest | None
    ) -> RecognizedRequest | None:
        """Return a request for a timer, a reminder or a command at a time, or else the one that was `found`."""
        theirs = await agent.async_recognize_intent(
            self.plain, strict_intents_only=True
        )
        name = ""
        slots: Mapping[str, JsonValue] = {}
        calls = self.reading.calls
        if len(calls) > 1:
            theirs = None  # the name of its timer would be another command
        if theirs:
            name = theirs.intent.name
            slots = slots_of(theirs)
        elif found is None and len(calls) == 1:
            [(meant, values, *_)] = calls
            if meant in _TIMERS:
                name = meant
                slots = values
        command = delayed_command(name, slots)
        if name and not command:
            request = self._of_timer(name, slots)
            if request or theirs:
                return request or found
        elif request := self._wished():
            return request
        delay = f"in {delay_of(slots)} seconds"
        delayed = [TimeInSentence(delay, command)] if command else []
        return await self._async_command(delayed) or found

    def _of_timer(
        self, name: str, slots: Mapping[str, JsonValue]
    ) -> RecognizedRequest | None:
        """Return the request that does with reminders what an intent does with timers, unless the device has some."""
        is_start = name == intent.INTENT_START_TIMER
        if is_start and is_negated(self.plain.text, self.language):
            return replace(self._declined, is_last_resort=True)
        device_id = self.user_input.device_id
        has_timers = device_id and async_device_supports_timers(self.hass, device_id)
        if name not in _TIMERS or has_timers:
            return None
        if name == intent.INTENT_PAUSE_TIMER and self._begins_with_stop:
            name = intent.INTENT_CANCEL_TIMER
        called = str(slots.get("name") or "").strip(" -")
        seconds = delay_of(slots)
        if not is_start:
            timers = self._timers_meant(
                name,
                called,
                slots,
            )
            if timers:
                return self._about_timers(
                    name,
                    timers,
                    seconds,
                )
            return None
        when = _timer_words(seconds)
        text = called or self.texts["later_timer"]
        given: _Given = {
            "kind": "remind",
            "when": when,
            "text": text,
        }
        if seconds:
            return self._with_call(_COMMAND, given)
        return None

    @property
    def _begins_with_stop(self) -> bool:
        """Whether the first word ends something, which Home Assistant takes for a pause: "para el temporizador"."""
        words = lexicon(self.language)
        heard = [token.word for token in tokens(self.plain.text)]
        found = words.phrases.found(heard, 0) if words else ()
        acts = {one.value for _, one in found if one.role is Role.ACT}
        return "stop" in acts and "pause" not in acts

    def _timers_meant(
        self,
        name: str,
        called: str,
        slots: Mapping[str, JsonValue],
    ) -> Sequence[FuturePlan]:
        """Return the timers among the plans that an intent names; a question without a name is about all."""
        started = delay_of(
            {
                unit.removeprefix("start_"): value
                for unit, value in slots.items()
                if unit.startswith("start_")
            }
        )
        left = _seconds_until(self.known.resolve(f"in {called}"))
        if left:
            called, started = "", left  # "the 1 hour 30 minute timer"
        timers = [
            plan
            for plan in self.known.of_kind(ReminderKind.TIMER)
            if not started or plan.words == _timer_words(started)
        ]
        if "area" in slots:
            return []
        named = [plan for plan in timers if _is_called(plan.text, called)]
        if named:
            return named
        roles = frozenset[str]().union(*(words.roles for _, words in self.readings))
        if name == intent.INTENT_TIMER_STATUS or not _ONE_OF_SEVERAL.isdisjoint(roles):
            return self._meant(timers, "", roles)
        return []

    def _about_timers(
        self,
        name: str,
        timers: Sequence[FuturePlan],
        seconds: int,
    ) -> RecognizedRequest:
        """Return the request that does what an intent does with some timers among the plans."""
        match name:
            case intent.INTENT_PAUSE_TIMER:
                return self._says(
                    _QUESTION,
                    "later_not_paused",
                    timers,
                )
            case intent.INTENT_CANCEL_TIMER if len(timers) > 1:
                return self._asks_which(timers)
            case intent.INTENT_CANCEL_TIMER | intent.INTENT_CANCEL_ALL_TIMERS:
                return self._about("cancel", timers)
            case intent.INTENT_INCREASE_TIMER | intent.INTENT_DECREASE_TIMER:
                if len(timers) > 1:
                    return self._says(
                        _QUESTION,
                        "later_not_changed",
                        timers,
                    )
                is_more = name == intent.INTENT_INCREASE_TIMER
                left = _seconds_until(moment_of(timers[0]))
                left += seconds if is_more else -seconds
                when = _timer_words(max(left, 1))
                return self._does(
                    {
                        "kind": "move",
                        "text": timers[0].id,
                    },
                    when,
                )
            case _:
                return self._about("list", timers)

    def _wished(self) -> RecognizedRequest | None:
        """Return the request that lists, moves or cancels plans or plans a reminder; None if none is meant."""
        change = self._change_of_it()
        if change and self._last_heard:
            return self._changed(change)
        readings = sorted(
            self.readings,
            key=lambda one: not is_resolved(one[0].words, self.language),
        )
        whole = Request(self.hass, self.user_input.text, language=self.language)
        for time, words in readings:
            if words.act == "list":
                given: _Given = {
                    "kind": "list",
                    "when": time.words,
                }
                return self._does(given)
            if words.roles == {"cancel", "all"} and not whole.asks:
                return self._cancels_all(words, time)
            request = self._reminder(time, words)
            if request:
                return request
        _, results = since_last_user_message(self.history)
        if change is not None and any(result.name == _NAME for result in results):
            return self._changed(change)
        return self._named()

    def _cancels_all(
        self,
        words: PlanWords,
        time: TimeInSentence,
    ) -> RecognizedRequest:
        """Return the request that cancels all plans, or all of a day; a question for another time, as for a bound."""
        if not time.words:
            return self._does({"kind": "cancel", "text": "all"})
        plans = self.known.all
        bound = f"{time.rest.split()[-1]} {time.words}"  # "by tomorrow"
        if not is_bound(bound, self.language):
            meant = self.known.due_at(
                plans,
                time.words,
            )
            if meant and self._means_all(words, time.words, meant):
                return self._about("cancel", meant)
        if not plans:
            return self._says(
                replace(_COMMAND, is_last_resort=True),
                "later_none",
            )
        return self._asks_which(plans)

    def _reminder(
        self, time: TimeInSentence, words: PlanWords
    ) -> RecognizedRequest | None:
        """Return the request for an alarm or a reminder; None if its time is not whole."""
        if not time.is_alone or (self.times and not time.words):
            return None
        if words.act == "alarm":
            text = self.texts["later_alarm"]
        elif words.act == "remind" and self._says_when(time, words):
            text = words.text or ""
        else:
            return None
        is_open = not text or not is_resolved(time.words, self.language)
        given: _Given = {
            "kind": "remind",
            "when": time.words,
            "text": text,
        }
        return self._with_call(
            replace(_COMMAND, is_last_resort=is_open),
            given,
        )

    def _says_when(
        self,
        time: TimeInSentence,
        words: PlanWords,
    ) -> bool:
        """Return whether a reminder has its time as it was said, or nothing in its text that may be one."""
        if time.words:
            return time in times_in(self.user_input.text, self.language, joined=True)
        return is_clear(
            words.text or "",
            self.language,
        )

    def _named(self) -> RecognizedRequest | None:
        """Return the request about plans that are named by their words alone."""
        for time, words in self.readings:
            text = words.text or ""
            if (
                words.act not in _ON_KNOWN
                or time.words
                or not self.known.is_named(text)
            ):
                continue
            plans = self.known.called(text)
            if words.act == "ask":
                # "When the lamp is on, turn it off", and "is the lamp on?".
                if "it" in words.roles or self._is_about_states:
                    continue
                return self._about("list", plans)
            if len(plans) > 1:
                return self._asks_which(plans)
            return self._does({"kind": "cancel", "text": text})
        return None

    @property
    def _is_about_states(self) -> bool:
        """Whether it asks how something is now."""
        return isinstance(self.reading.answered, StateQuestion)

    @property
    def _last_heard(self) -> FuturePlan | None:
        """The reminder that was just heard at the satellite of the speaker."""
        satellite_id = self.user_input.satellite_id
        return async_get_schedule(self.hass).last_heard(satellite_id)

    def _change_of_it(self) -> Sequence[str] | None:
        """Return the old and the new time of the plan that was just made or named; no times cancel it."""
        text = self.user_input.text
        is_of_kind = any(self.known.kinds[one.id] for one in self.known.stored[-1:])
        if is_of_kind and not self.times:
            text = _with_at(text, self.language)  # "make it 8", but no brightness
        rest, words, times = self._divided(text)
        if words and words.roles in ({"cancel"}, {"cancel", "it"}) and not times:
            return ()
        is_move = not rest or (words and words.act == "move" and not words.kind)
        return times if is_move and 0 < len(times) <= 2 else None  # noqa: PLR2004 old and new

    def _changed(self, times: Sequence[str]) -> RecognizedRequest | None:
        """Return the request to change the plan of an old time, or else the latest one; None if it is not there."""
        if not times:
            return self._does({"kind": "cancel"})
        *old, new = times
        plans = self.known.all
        given: _Given = {
            "kind": "move",
            "when": new,
        }
        if old:
            plans = self.known.due_about(
                plans,
                old[0],
            )
            if not plans:
                return None
            given["text"] = old[0]
        is_known = plans and (old or not self._last_heard)
        moved = plans[-1] if is_known else None
        is_open = not is_resolved(new, self.language)
        return self._with_call(
            replace(_COMMAND, is_last_resort=is_open),
            given,
            moved,
        )

    def _divided(self, text: str) -> tuple[str, PlanWords | None, Sequence[str]]:
        """Return what is left of a text without its times, what that wants, and the times that words tell apart."""
        language = self.language
        spoken = sorted(
            (one.words for one in times_in(text, language)),
            key=text.index,
        )
        rest = _without_times(text, spoken)
        times = [part for one in spoken for part in parts_of_time(one, language)]
        return rest, plan_words(rest, language), times

    # 4. Commands at a time.

    async def _async_command(
        self, delayed: Sequence[TimeInSentence]
    ) -> RecognizedRequest | None:
        """Return the command that is left of a sentence without one of its times, or that Home Assistant delays."""
        for time in self._command_times(delayed):
            command = await self._async_with_names(time.rest)
            later = await async_recognize(self.hass, command)
            if later is None and time.is_alone:
                later = await _async_guessed(
                    self.hass,
                    command,
                    is_delayed=time in delayed,
                )
            if later is None or later.is_question:
                continue
            if later.intent == intent.INTENT_START_TIMER:
                # No timer starts at another time.
                return self._says(
                    replace(later, is_last_resort=True),
                    "later_no_time",
                )
            given: _Given = {
                "kind": "act",
                "when": time.words,
                "tool": PROCESS_SENTENCE.name,
                "arguments": {SENTENCE: command.text},
            }
            is_open = not is_resolved(time.words, self.language)
            return self._with_call(
                replace(later, is_last_resort=is_open),
                given,
            )
        return None

    def _command_times(
        self, delayed: Sequence[TimeInSentence]
    ) -> Iterator[TimeInSentence]:
        """Yield the times at which the rest of the sentence may be a command."""
        text = self.user_input.text.strip()
        times = times_in(text, self.language, joined=True)
        is_begun = any(text.startswith(one.words) for one in times)
        is_other = self.reading.calls or self._is_about_states
        if not delayed and not is_begun and is_other:
            times = ()  # "一点" is "a bit", too, but not as first words
        lasting_ones = {one.rest for one in self._lasting()}
        for time in (*times, *delayed):
            if time.rest and time.rest not in lasting_ones:
                yield time

    async def async_for_a_while(self) -> RecognizedRequest | None:
        """Return the request for a command that is undone after a time; None if it has none, or cannot be undone.

        None, too, for what is risky: a no to it would leave the plan.
        """
        candidates = [(one, "") for one in self._lasting()]
        for time, whole in (*candidates, *self._undone_in_words()):
            command = await self._async_with_names(time.rest)
            undoing = await async_undoing(self.hass, command)
            if undoing is None or is_risky(self.hass, undoing.done):
                continue
            is_position = time.words.split()[-1].isdecimal() and any(
                action.domain in _MOVED for action in undoing.done.actions
            )
            if is_position or not await self._async_is_all(whole, undoing):
                continue
            given: _Given = {
                "kind": "act",
                "when": time.words,
                "tool": PROCESS_SENTENCE.name,
                "arguments": {SENTENCE: undoing.text},
                _FIRST: command.text,
            }
            request = replace(
                _COMMAND,
                first=command.text,
            )
            return self._with_call(request, given)
        return None

    def _lasting(self) -> Iterator[TimeInSentence]:
        """Yield the ends of the times for which something is to last, each with what is left of the sentence."""
        text = self.user_input.text
        for before, at, names_end in lasting(self.language):
            spoken = re.finditer(rf"\b{before}\b", text, re.IGNORECASE)
            for found in islice(spoken, _MOST_TIMES):
                if not all(names_end and found[0] in one.words for one in self.times):
                    continue  # "por la noche" is a time of its own
                ended = text[: found.start()] + at + text[found.end() :]
                for time in times_in(ended, self.language):
                    rest = ended[found.start() :].lstrip()
                    if time.is_alone and rest.startswith(time.words):
                        yield from self._ending(time, names_end=names_end)

    def _ending(
        self,
        time: TimeInSentence,
        *,
        names_end: bool,
    ) -> Iterator[TimeInSentence]:
        """Yield a time if it is understood as an end, or else as a distance from now."""
        is_end = is_resolved if names_end else is_delay
        if is_end(time.words, self.language):
            yield replace(time, rest=time.rest.strip(_AROUND))

    def _undone_in_words(self) -> Iterator[tuple[TimeInSentence, str]]:
        """Yield times with a command that another one may undo then, and both: "turn it on, and off in an hour"."""
        words = lexicon(self.language)
        for time in self.times:
            joined = words.joined(time.rest) if words else ()
            for first, joining in islice(joined, _MOST_TIMES):
                if self.user_input.text.startswith(joining):
                    yield replace(time, rest=first.strip(_AROUND)), time.rest

    async def _async_is_all(
        self,
        whole: str,
        undoing: Undoing,
    ) -> bool:
        """Return whether a command and what undoes it are all that a whole sentence asks for, if there is one."""
        if not whole:
            return True
        sentence = replace(self.user_input, text=whole)
        effects = await async_sentence_effects(self.hass, sentence)
        return (
            is_certain(effects)
            and effects.actions == undoing.done.actions | undoing.undone.actions
            and intents_of(effects)
            == intents_of(undoing.done) | intents_of(undoing.undone)
        )

    async def async_message(self) -> RecognizedRequest | None:
        """Return the request to speak a message at a time."""
        found = await async_message_later(
            self.hass,
            self.user_input,
        )
        if found is None:
            return None
        time, arguments = found
        given: _Given = {
            "kind": "act",
            "when": time.words,
            "tool": BROADCAST_TOOL,
            "arguments": {**arguments},
        }
        return self._with_call(_COMMAND, given)

    async def async_routine(self) -> RecognizedRequest | None:
        """Return the command that is to run when something happens: each time, unless words say once."""
        if self.times:
            return None
        text = self.user_input.text
        for one in await async_happenings(self.hass, text, self.language):
            command = await self._async_with_names(one.command)
            later = await async_recognize(self.hass, command)
            later = later or await _async_guessed(self.hass, command, is_delayed=False)
            is_timer = later and later.intent == intent.INTENT_START_TIMER
            if later is None or later.is_question or is_timer:
                continue
            if one.entity_id == ME and not await self._async_knows_speaker():
                return replace(_COMMAND, answer=self.texts["later_of_whom"])
            given: _Given = {
                "kind": "act" if one.is_once else "act_always",
                "tool": PROCESS_SENTENCE.name,
                "arguments": {SENTENCE: command.text},
                "entity": one.entity_id,
                "state": one.state,
            }
            return replace(
                later,
                call=self._call(given),
            )
        return None

    async def _async_knows_speaker(self) -> bool:
        speaker = await async_get_speaker(self.hass, self.user_input)
        return speaker.person_id is not None

    async def _async_with_names(self, text: str) -> ConversationInput:
        """Return a command, in which "it" is a name if Home Assistant knows what it is."""
        command = replace(self.user_input, text=text)
        if not _is_local(self.history):
            return command
        return replace(
            command,
            text=await async_with_names(self.hass, command),
        )

    # 5. The text of a reminder.

    def with_text(self) -> RecognizedRequest | None:
        """Return the request for a reminder with words that are no other request as its text, if that was asked for."""
        given = asked_about(_NAME, self.history)
        answer = self.answer
        language = self.language
        is_question = self.user_input.text.rstrip().endswith(QUESTION_ENDS)
        if given.get("text") != "" or not answer or is_question:
            return None
        if understand_answer(answer, language) is Meaning.NO:
            return self._declined
        request, content = (
            [TimeInSentence("", words), *times_in(words, language, joined=True)][-1]
            for words in (since_last_user_message(self.history)[0], answer)
        )
        words = plan_words(
            f"{request.rest.strip(_AROUND)} {content.rest}",
            language,
        )
        text = (words and words.text) or content.rest
        when = str(given["when"])
        if not when:
            time: _Given = {
                "when": content.words,
                _SAID_AT: None,
            }
        elif content.words:
            time = {"when": f"{when} / {content.words}"}
        else:
            time = {}
        return self._with_call(
            _COMMAND,
            {
                **given,
                "text": text,
                **time,
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
    if moment.is_sure:
        return replace(moment, is_sure=False)
    return replace(
        moment,
        due=morning,
        is_sure=True,
    )


def _times_in(
    text: str,
    language: str,
) -> Iterator[TimeInSentence]:
    """Yield the times in a sentence, then those after other words for "at", then none."""
    times = times_in(
        text,
        language,
        joined=True,
    )
    yield from times
    if len(times) > 1:  # "the six am alarm on Wednesday"
        yield replace(
            times[-1],
            words=times[-1].words.replace(
                APART,
                " ",
            ),
        )
    others = of_time(language)
    before = re.compile(
        rf"\b(?:{'|'.join(others)})(?= )" if others else "(?!)", re.IGNORECASE
    )
    for of in islice(before.finditer(text), _MOST_TIMES):
        preposition = others[of[0].lower()]
        timed = text[: of.start()] + preposition + text[of.end() :]
        yield from times_in(
            timed,
            language,
            joined=True,
        )
    yield TimeInSentence("", text)


def _with_at(text: str, language: str) -> str:
    """Return a text with words for "at" in place of all others before a time."""
    for other, at in of_time(language).items():
        text = re.sub(
            rf"\b{other}(?= )",
            at,
            text,
            flags=re.IGNORECASE,
        )
    return text


def _readings(
    text: str,
    language: str,
) -> Iterator[tuple[TimeInSentence, PlanWords]]:
    """Yield the ways to read a request about plans, each with its time."""
    for time in _times_in(text, language):
        words = plan_words(time.rest, language)
        named = words.text if words and words.act in _ON_KNOWN else ""
        if named and not time.words and is_resolved(named, language):
            rest = _without_times(text, [named])  # "my morning alarm"
            yield (
                replace(
                    time,
                    words=named,
                    rest=rest,
                ),
                plan_words(rest, language) or PlanWords(""),
            )
        elif words:
            yield time, words


def _without_times(
    text: str,
    times: Iterable[str],
) -> str:
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
    hass: HomeAssistant,
    user_input: ConversationInput,
    *,
    is_delayed: bool,
) -> RecognizedRequest | None:
    """Return a command that is read word by word, if its effects are known.

    One that it would delay may also start automations, which is asked about.
    """
    plain = replace(
        user_input,
        text=readable_sentence(hass, user_input.text),
        conversation_id=None,
    )
    effects = await async_sentence_effects(hass, plain)
    if any(run.intent_type == INTENT_MEDIA_SEARCH_AND_PLAY for run in effects.intents):
        return None  # a number in a title is no time
    is_known = effects.actions if effects.is_known else is_delayed
    if is_known and not effects.is_guessed:
        return _COMMAND
    return None


def _is_called(text: str, name: str) -> bool:
    """Return whether a text has the words of a name, or longer ones: a "Nudeltimer" is for "Nudeln"."""
    return all(
        any(one.startswith(word) for one in heard_words(text))
        for word in heard_words(name)
    )


def _timer_words(seconds: int) -> str:
    """Return words for the time of a timer, which nobody says: a reminder "in 90 seconds" is none."""
    return f"{TIMER_WORDS} {seconds} seconds"


def _seconds_until(moment: Moment | None) -> int:
    if moment:
        return round((moment.due - dt_util.now()).total_seconds())
    return 0
