"""Says what was recognized to an agent, and compares what comes of it with what the spoken words would have done."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.components.intent.timers import TimerInfo, TimerManager
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import async_get_platforms
from homeassistant.util import dt as dt_util
from pydantic import TypeAdapter
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.approvals.pin.spoken_digits import spoken_digits
from custom_components.chatterbox.approvals.pin_tries import async_get_pin_tries
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from tests.demo_house.move_in import move_in, states_of
from tests.support.config_entries import offline_entry, prepare, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.llm_apis import satellite
from tests.support.page_tables import MEASURED, table
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, DEMO_HOUSE, SATELLITE, speech

PAGE: Final = MEASURED / "heard.md"
_FIXTURE: Final = Path(__file__).parents[2] / "fixtures" / "heard.jsonl"
LANGUAGES: Final = ("en", "de")
_HOMES: Final = {"en": DEMO_HOUSE, "de": Path(__file__).with_name("home_de.yaml")}
_UNLOCK: Final = {"en": "unlock the front door", "de": "schließe die Haustür auf"}
_DOORS: Final = {"en": "lock.front_door", "de": "lock.haustuer"}
_SPEAKER: Final = "media_player.living_room_speaker"
_ROOMS: Final = {"en": "kitchen", "de": "wohnzimmer"}
_YES: Final = {"en": "yes", "de": "ja"}
_NOES: Final = frozenset(
    {
        *("no", "nope", "no thanks", "stop", "cancel", "never mind", "don't", "wait"),
        *("nein", "nee", "nein danke", "lieber nicht", "stopp", "abbrechen"),
    }
)


@dataclass(frozen=True, slots=True)
class Recognized:
    """Spoken words, and those that a recognizer wrote."""

    kind: str
    lang: str
    voice: str
    text: str
    heard: str

    @property
    def wrong_words(self) -> int:
        """How many words were replaced, left out or added."""
        spoken, heard = (_plain(words) for words in (self.text, self.heard))
        distances = list(range(len(heard) + 1))
        for row, word in enumerate(spoken, start=1):
            before, distances[0] = distances[0], row
            for column, other in enumerate(heard, start=1):
                best = min(
                    distances[column] + 1,
                    distances[column - 1] + 1,
                    before + (word != other),
                )
                before, distances[column] = distances[column], best
        return distances[-1]


_NUMBERS: Final = {
    "thirty": "30", "fifty": "50", "eighty": "80", "forty": "40", "sixty": "60", "ten": "10", "five": "5",
    "dreißig": "30", "einundzwanzig": "21",
}  # fmt: skip
_SPOKEN: Final = (
    ("twenty three point five", "23.5"), ("twenty one", "21"), ("twenty two", "22"), (" percent", ""), ("%", ""),
    ("prozent", ""), ("nevermind", "never mind"), ("kid's", "kids"),
)  # fmt: skip


def _plain(text: str) -> tuple[str, ...]:
    """Return the words of a text, with its numbers as digits and without "percent"."""
    text = text.casefold()
    for spoken, written in _SPOKEN:
        text = text.replace(spoken, written)
    return tuple(
        _NUMBERS.get(word, word)
        for word in text.replace(",", " ").replace(". ", " ").rstrip(".!?").split()
    )


def read_recognized() -> list[Recognized]:
    """Return all lines of the fixture."""
    lines = _FIXTURE.read_text(encoding="utf-8").splitlines()
    return [TypeAdapter(Recognized).validate_json(line) for line in lines]


def _timers(hass: HomeAssistant) -> Iterable[TimerInfo]:
    manager: TimerManager = hass.data[TIMER_DATA]
    return manager.timers.values()


async def async_move_in(
    hass: HomeAssistant, language: str, agent: MockConfigEntry
) -> HeardHome:
    """Set up the home of a language, with an agent and a satellite."""
    await prepare(hass)
    entry = await move_in(hass, _HOMES[language].read_text(encoding="utf-8"))
    await set_up(hass, agent)
    satellite_id = satellite(hass, _ROOMS[language])
    async_register_timer_handler(hass, satellite_id, lambda *_: None)
    home = HeardHome(hass, language, entry, satellite_id)

    @callback
    def note(event: Event[dict[str, object]]) -> None:
        home.has_acted = True
        if event.data["domain"] != "todo":
            home.calls.append(
                str(event.data["domain"])
                + str(event.data["service"])
                + str(event.data["service_data"])
            )

    @callback
    def note_end(event: Event[Mapping[str, list[dict[str, str]]]]) -> None:
        home.errors.extend(
            call["name"] for call in event.data["tool_calls"] if call["is_error"]
        )

    if hass.states.get(_SPEAKER):
        await hass.services.async_call(
            "media_player", "media_play", {"entity_id": _SPEAKER}, blocking=True
        )
    platforms = async_get_platforms(hass, "demo_house")
    devices = [
        device for platform in platforms for device in platform.entities.values()
    ]
    home.first_devices = [(device, _copied(vars(device))) for device in devices]
    home.first_states = home.states()
    hass.bus.async_listen(EVENT_CALL_SERVICE, note)
    hass.bus.async_listen(EVENT_TURN_FINISHED, note_end)
    return home


def _copied(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields of a device, whose lists may be changed."""
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of words."""

    calls: frozenset[str]
    """Actions, with their targets and data, items of lists, timers and plans."""
    at_once: frozenset[str]
    """Ids of the entities that were changed without a yes."""
    changed: frozenset[str]
    """Ids of the entities that were changed in the end."""
    answer: str
    is_error: bool

    def is_like(self, spoken: Outcome) -> bool:
        """Return whether the same was done; for words that do nothing, whether the same was answered."""
        if self.is_error or spoken.is_error:
            return False
        if self.calls or spoken.calls:
            return self.calls == spoken.calls
        return self.answer == spoken.answer


@dataclass(slots=True)
class HeardHome:
    """A home in which words are said, each of them in a conversation of its own."""

    hass: HomeAssistant
    language: str
    entry: MockConfigEntry
    satellite_id: str
    talks: int = 0
    calls: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """The tools that failed."""
    has_acted: bool = False
    """Whether an action has run since the home began."""
    first_devices: list[tuple[Entity, dict[str, object]]] = field(default_factory=list)
    """Each device with its fields when the home began."""
    first_states: frozenset[tuple[str, str]] = frozenset()

    async def async_renew(self) -> None:
        """Put the home into the state in which it begins, unless it still is."""
        for timer in list(_timers(self.hass)):
            self.hass.data[TIMER_DATA].cancel_timer(timer.id)
        await async_get_schedule(self.hass).async_forget(lambda _: True)
        if self.has_acted or self.states() != self.first_states:
            for (
                device,
                fields,
            ) in self.first_devices:  # to load the home anew takes most of a count
                vars(device).clear()
                vars(device).update(_copied(fields))
                device.async_write_ha_state()
            assert self.states() == self.first_states
            self.has_acted = False
        self.talks += 1
        self.calls.clear()
        self.errors.clear()

    async def async_say(self, words: str) -> str:
        """Say something, and return the answer."""
        talk = f"talk-{self.talks}"
        result = await conversation.async_converse(
            self.hass,
            words,
            talk,
            Context(),
            self.language,
            AGENT,
            self.satellite_id,
            SATELLITE,
        )
        await self.hass.async_block_till_done()
        return speech(result)

    async def async_try(self, words: str) -> Outcome:
        """Return what comes of words, with a yes to the question about them."""
        await self.async_renew()
        before, answer = self.states(), await self.async_say(words)
        at_once, is_error = self._changed(before), bool(self.errors)
        if async_get_approvals(self.hass).waiting:
            await self.async_say(_YES[self.language])
        for timer in list(_timers(self.hass)):
            self.calls.append(f"timer {timer.seconds}")
            if timer.conversation_command:
                await self.async_say(timer.conversation_command)
        for plan in async_get_schedule(self.hass).plans.stored.plans:
            wait = plan.due - dt_util.utcnow() if plan.due else timedelta()
            self.calls.append(
                f"plan {plan.text} in {round(wait / timedelta(minutes=1))} minutes"
            )
        changed = self._changed(before)
        items = [
            f"{name} {await self._async_items(name)}"
            for name in changed
            if name.startswith("todo.")
        ]
        return Outcome(
            frozenset([*self.calls, *items]), at_once, changed, answer, is_error
        )

    def states(self) -> frozenset[tuple[str, str]]:
        """Return the states of the home."""
        return frozenset(
            (state.entity_id, f"{state.state} {state.attributes}")
            for state in states_of(self.hass, self.entry)
        )

    def _changed(self, before: frozenset[tuple[str, str]]) -> frozenset[str]:
        return frozenset(name for name, _ in self.states() - before)

    async def _async_items(self, list_id: str) -> str:
        target = {"entity_id": list_id}
        found = await self.hass.services.async_call(
            "todo", "get_items", target, blocking=True, return_response=True
        )
        return json.dumps(found, default=str)


@dataclass(frozen=True, slots=True)
class RequestCount:
    """How many requests came to what was spoken."""

    language: str
    requests: int
    right: int
    """Done, answered, or offered with a question."""
    near: int
    """Requests with at most one wrong word."""
    near_right: int
    wrong: int
    """States that were changed without a question, and that the spoken words would not have changed."""
    missed: tuple[str, ...] = ()


async def count_requests(
    hass: HomeAssistant, language: str, share: int = 1
) -> RequestCount:
    """Say one of `share` requests as it was spoken, and as it was recognized, to an agent without a model."""
    home = await async_move_in(hass, language, offline_entry())
    rows = [
        row
        for row in read_recognized()
        if row.kind == "request" and row.lang == home.language
    ][::share]
    outcomes = {
        words: await home.async_try(words)
        for words in dict.fromkeys(
            words for row in rows for words in (row.text, row.heard)
        )
    }
    right = [row for row in rows if outcomes[row.heard].is_like(outcomes[row.text])]
    near = [row for row in rows if row.wrong_words <= 1]
    wrong = [
        row
        for row in rows
        if not outcomes[row.heard].at_once <= outcomes[row.text].changed
    ]
    missed = tuple(
        f"{row.text!r} heard {row.heard!r}: {outcomes[row.heard].answer}"
        for row in rows
        if row not in right
    )
    return RequestCount(
        home.language,
        len(rows),
        len(right),
        len(near),
        sum(row in right for row in near),
        len(wrong),
        missed,
    )


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """How many answers to a question were understood, and what the others came to."""

    language: str
    answers: int
    understood: int
    asked_again: int
    lost: int
    """Answers that ended the question, although they were not understood."""
    wrong_yes: int
    """Noes and noise that unlocked the door, and PINs that unlocked it although they are others."""
    lost_tries: int
    """Tries that a PIN with a wrong number of digits has cost."""
    missed: tuple[str, ...] = ()


async def count_answers_without_a_model(
    hass: HomeAssistant, language: str, share: int = 1
) -> AnswerCount:
    """Say one of `share` answers to the question of an agent that has no model."""
    home = await async_move_in(hass, language, offline_entry())
    return await _async_count(home, share)


async def count_answers_with_a_model(
    hass: HomeAssistant, language: str, share: int = 1
) -> AnswerCount:
    """Say one of `share` answers to the question that the call of a model leads to."""
    model = ScriptedChatCompletions(Script())
    name = {"en": "Front Door", "de": "Haustür"}[language]
    call = ScriptedCall(
        name="HassTurnOff", arguments={"name": name, "domain": ["lock"]}
    )
    answers = (
        ScriptedAnswer(tool_calls=(call,)),
        *[ScriptedAnswer(content="There you are.")] * 3,
    )
    async with serving(model.application()) as address:
        entry = server_entry(address)
        home = await async_move_in(hass, language, entry)
        script = Script(answers=answers)
        count = await _async_count(home, share, lambda: model.play(script))
        assert await hass.config_entries.async_unload(entry.entry_id)
    return count


async def _async_count(
    home: HeardHome, share: int, ask: Callable[[], None] = lambda: None
) -> AnswerCount:
    """Ask whether the door shall be unlocked before each answer; `ask` prepares a model for the question."""
    counts, missed = Counter[str](), list[str]()
    rows = [
        row
        for row in read_recognized()
        if row.kind != "request" and row.lang == home.language
    ][::share]
    for row in rows:
        pin = spoken_digits(row.text, row.lang) if row.kind == "confirm" else None
        ask()
        result = await _async_answered(home, row, pin)
        counts[result] += 1
        if result in {"lost", "wrong yes", "lost try"}:
            missed.append(f"{row.text!r} heard {row.heard!r}: {result}")
    return AnswerCount(
        home.language,
        len(rows),
        counts["understood"],
        counts["asked again"],
        counts["lost"],
        counts["wrong yes"],
        counts["lost try"],
        tuple(missed),
    )


async def _async_answered(home: HeardHome, row: Recognized, pin: str | None) -> str:
    """Return what an answer comes to."""
    await set_home_rules(home.hass, **_rules(pin))
    await async_get_pin_tries(home.hass).async_remove()
    await home.async_renew()
    for waiting in (approvals := async_get_approvals(home.hass)).waiting:
        approvals.drop(waiting.id)
    response = await home.async_say(_UNLOCK[home.language])
    assert len(approvals.waiting) == 1, (row, response)
    answer = await home.async_say(row.heard) if row.heard else ""
    is_open = home.hass.states.is_state(_DOORS[home.language], "unlocked")
    if is_open:
        is_meant = pin is None or pin in re.sub(r"\D", "", row.heard)
        return (
            "understood"
            if is_meant and row.kind == "confirm" and row.text not in _NOES
            else "wrong yes"
        )
    if home.hass.states.is_state(_DOORS[home.language], "locked") and approvals.waiting:
        is_short = len(re.sub(r"\D", "", row.heard)) != len(pin or "")
        return (
            "lost try"
            if pin and "attempts left" in answer and is_short
            else "asked again"
        )
    return "understood" if row.text in _NOES else "lost"


def _rules(pin: str | None) -> dict[str, object]:
    hashed = {"pin": PinHash.of(pin, HashCost(2, 1)).as_json()} if pin else {}
    return {
        "rules": [
            {"verdict": "pin" if pin else "ask", "domains": ["lock"]},
            {"verdict": "allow"},
        ],
        **hashed,
    }


def requests_table(counts: Iterable[RequestCount]) -> str:
    """Return the table of requests."""
    head = [
        "requests, without a model",
        "all",
        "right",
        "at most one wrong word",
        "right",
        "%",
        "wrong acts",
    ]
    rows = (
        [
            one.language,
            *map(
                str,
                (
                    one.requests,
                    one.right,
                    one.near,
                    one.near_right,
                    100 * one.near_right // one.near,
                    one.wrong,
                ),
            ),
        ]
        for one in counts
    )
    return table(head, rows)


def answers_table(counts: Mapping[str, AnswerCount]) -> str:
    """Return the table of answers, with the way in which the question was asked."""
    head = [
        "answers and silence",
        "all",
        "understood",
        "asked again",
        "lost",
        "wrong yes",
        "tries lost",
    ]
    rows = (
        [
            way,
            *map(
                str,
                (
                    one.answers,
                    one.understood,
                    one.asked_again,
                    one.lost,
                    one.wrong_yes,
                    one.lost_tries,
                ),
            ),
        ]
        for way, one in counts.items()
    )
    return table(head, rows)
