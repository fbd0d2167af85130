"""The words about plans, and how they reach a person: where they asked, on their phone, or when they speak next."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.components.notify import ATTR_DATA, ATTR_MESSAGE
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_ENTITY_ID,
    ATTR_ID,
    ATTR_UNIT_OF_MEASUREMENT,
    Platform,
)
from homeassistant.core import (
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.translation import async_translate_state
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonValue
from ..agent.text import base_language, capitalized, uncapitalized
from ..approvals.notifications import OUTCOME_DATA, async_send, can_announce, phones_of
from ..const import LOGGER
from ..home.entity_matches import entity_name
from ..internals.assist_pipeline import assistants
from ..speech.sentences import Sentences, async_get_sentences
from ..speech.text import speakable
from ..speech.text.times import follows_sun, spoken_time
from .plans import TIMER_WORDS, Condition, FuturePlan, News, PlanKind

ANNOUNCEMENT_TIMEOUT: Final = 120.0
"""Seconds to wait for a satellite that is busy, and for it to speak."""
_PLAYING_TIMEOUT: Final = 10.0
"""Seconds in which a speaker has to begin."""
_BUSY: Final = "SatelliteBusyError"
"""Source: homeassistant.components.assist_satellite.errors. Importing it would load the dependencies of satellites."""
PERSON: Final = "person"
"""The domain of persons. Source: homeassistant.components.person."""
IDLE: Final = "idle"
"""Source: `AssistSatelliteState.IDLE` (homeassistant.components.assist_satellite.entity)."""


class Button(StrEnum):
    """A button of a reminder on a phone. The values are translation keys."""

    DONE = "later_done"
    AGAIN = "later_again"
    CANCEL = "later_no_more"
    """Of one that is repeated."""


class ReminderKind(StrEnum):
    """A kind of plans that people have a word for. The values are parts of translation keys."""

    ALARM = "alarm"
    TIMER = "timer"
    REMINDER = "reminder"
    ROUTINE = "routine"


def buttons_of(news: News) -> Sequence[Button]:
    """Return the buttons of news: none if they are no reminder."""
    if news.plan is None or news.plan.kind is not PlanKind.REMIND:
        return ()
    if news.plan.every:
        return tuple(Button)
    return (Button.DONE, Button.AGAIN)


def time_text(
    hass: HomeAssistant, sentences: Sentences, plan: FuturePlan, language: str
) -> str:
    """Return when a plan is due, in words, without a full stop."""
    if plan.due is None:
        key = "later_whenever" if plan.repeats else "later_when"
        return sentences[key].format(what=waiting_text(hass, plan))
    return repetition_text(plan, language) or spoken_time(
        plan.due, now=dt_util.now(), language=language
    )


def sun_words(
    plan: FuturePlan,
    language: str,
) -> str:
    """Return the words of a language for the time of a plan that comes again with the sun; empty for others."""
    if not plan.every or base_language(plan.language) != base_language(language):
        return ""
    if not follows_sun(plan.words, language):
        return ""
    return capitalized(plan.words)


def due_text(plan: FuturePlan, language: str) -> str:
    """Return when a plan is due, as it is said within a sentence; empty for one that waits for a state."""
    words = sun_words(plan, language)
    if not words and plan.due:
        words = spoken_time(
            plan.due,
            now=dt_util.now(),
            language=language,
            every=plan.every,
            has_distance=False,
        )
    return uncapitalized(words)


def repetition_text(
    plan: FuturePlan,
    language: str,
) -> str:
    """Return how a plan comes again at times, in words; empty for one that does not."""
    words = sun_words(plan, language)
    if words or not (plan.due and plan.every):
        return words
    return spoken_time(
        plan.due,
        now=dt_util.now(),
        language=language,
        every=plan.every,
    )


async def async_reminder_kind(
    hass: HomeAssistant, plan: FuturePlan
) -> ReminderKind | None:
    """Return the kind of a plan that people have a word for; None for another plan."""
    if plan.is_routine:
        return ReminderKind.ROUTINE
    if plan.kind is not PlanKind.REMIND:
        return None
    if plan.words.startswith(TIMER_WORDS):
        return ReminderKind.TIMER
    sentences = await async_get_sentences(hass, plan.language)
    named = {
        sentences["later_alarm"]: ReminderKind.ALARM,
        sentences["later_timer"]: ReminderKind.TIMER,
    }
    return named.get(
        plan.text,
        ReminderKind.REMINDER,
    )


def condition_text(
    hass: HomeAssistant,
    condition: Condition,
) -> str:
    """Return a condition, such as "Washing Machine: Off", in the language of the home."""
    signs = ((">", condition.above), ("<", condition.below))
    bounds: list[str] = []
    for sign, bound in signs:
        match bound:
            case None:
                continue
            case str():
                bounds.append(f"{sign} {entity_name(hass, bound)}")
            case _:
                bounds.append(f"{sign} {bound:g}")
    state = hass.states.get(condition.entity_id)
    value = condition.state or " ".join(bounds)
    if state and condition.state and not condition.happens:
        value = _value_text(
            hass,
            state,
            value,
        )
    minutes, seconds = divmod(condition.seconds, 60)
    lasting = "".join(
        f", {amount} {unit}"
        for amount, unit in ((minutes, "min"), (seconds, "s"))
        if amount
    )
    name = entity_name(hass, condition.entity_id)
    if value:
        return f"{name}: {value}{lasting}"
    return name


def waiting_text(
    hass: HomeAssistant,
    plan: FuturePlan,
) -> str:
    """Return what a plan waits for: its condition, or the names or kinds of its triggers."""
    if plan.condition:
        return condition_text(hass, plan.condition)
    named = (one.get("alias") or one.get("trigger") for one in plan.waits_for)
    return ", ".join(str(one) for one in named if one)


def plan_text(
    hass: HomeAssistant, sentences: Sentences, plan: FuturePlan, language: str
) -> str:
    """Return a plan as a sentence: when, and what."""
    time = time_text(hass, sentences, plan, language)
    what = plan.text
    if plan.due is not None and plan.condition:
        what = f"{what} ({condition_text(hass, plan.condition)})"
    return sentences["later_plan"].format(
        time=time,
        what=what,
    )


def moment_text(due: datetime | None) -> str:
    """Return a time that has passed as a clock shows it, with its date on another day."""
    local = dt_util.as_local(due or dt_util.utcnow())
    if local.date() == dt_util.now().date():
        return f"{local:%H:%M}"
    return f"{local:%Y-%m-%d %H:%M}"


def may_see(
    hass: HomeAssistant,
    entity_id: str,
    person_id: str | None,
) -> bool:
    """Return whether plans of a person may depend on an entity: it is exposed, or is that person."""
    state = hass.states.get(entity_id)
    is_person = (
        state is not None
        and state.domain == PERSON
        and state.attributes.get(ATTR_ID) == person_id
    )
    return (is_person and person_id is not None) or async_should_expose(
        hass, CONVERSATION, entity_id
    )


def states_text(
    hass: HomeAssistant,
    condition: Condition,
) -> str:
    """Return the entities of a condition and their states, in the language of the home."""
    states = filter(
        None,
        map(
            hass.states.get,
            condition.entity_ids,
        ),
    )
    texts = list[str]()
    for state in states:
        value = _value_text(hass, state, state.state)
        unit = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
        spoken = f"{value} {unit}" if unit else value
        texts.append(f"{entity_name(hass, state.entity_id)}: {spoken}")
    return ", ".join(texts)


def _value_text(
    hass: HomeAssistant,
    state: State,
    value: str,
) -> str:
    """Return a state that an entity may have in words, such as "Open" for "on"."""
    entry = er.async_get(hass).async_get(state.entity_id)
    platform, key = (entry.platform, entry.translation_key) if entry else (None, None)
    device_class = state.attributes.get(ATTR_DEVICE_CLASS)
    return async_translate_state(
        hass,
        value,
        state.domain,
        platform,
        key,
        device_class,
    )


async def async_announce(
    hass: HomeAssistant,
    news: News,
) -> bool:
    """Announce news at the satellite of the plan, and return whether it did.

    It waits until the satellite is idle: an announcement would cancel a turn that is
    running.
    """
    satellite = news.asker.satellite_id
    if not satellite or not can_announce(hass, satellite):
        return False
    data = {
        ATTR_ENTITY_ID: satellite,
        ATTR_MESSAGE: speakable(
            news.text,
            news.language,
        ),
    }
    changed = asyncio.Event()

    @callback
    def note(_: Event[EventStateChangedData]) -> None:
        changed.set()

    stop = async_track_state_change_event(
        hass,
        satellite,
        note,
    )
    try:
        async with asyncio.timeout(ANNOUNCEMENT_TIMEOUT):
            while (now := hass.states.get(satellite)) is not None:
                changed.clear()
                if now.state == IDLE and await _async_has_announced(hass, data):
                    return True
                await changed.wait()
    except Exception as error:  # noqa: BLE001  # any integration may raise anything
        LOGGER.warning(
            "Could not announce at %s: %s",
            satellite,
            str(error) or type(error).__name__,
        )
    finally:
        stop()
    return False


async def _async_has_announced(
    hass: HomeAssistant,
    data: Mapping[str, object],
) -> bool:
    """Announce, and return whether the satellite was free. Raises whatever else its integration does."""
    try:
        action = Platform.ASSIST_SATELLITE, "announce", dict(data)
        await hass.services.async_call(
            *action,
            blocking=True,
            context=Context(),
        )
    except HomeAssistantError as error:
        if type(error).__name__ != _BUSY:
            raise
        return False
    return True


def speech_engine(hass: HomeAssistant) -> Mapping[str, str]:
    """Return the entity and the language of the voice of the preferred assistant; none if there is none."""
    store = assistants(hass)
    if store is None:
        return {}
    preferred = store.data.get(store.async_get_preferred_item())
    engine = preferred.tts_engine if preferred else None
    if preferred is None or engine is None or not engine.startswith(f"{Platform.TTS}."):
        return {}
    language = preferred.tts_language
    return {
        ATTR_ENTITY_ID: engine,
        **({"language": language} if language else {}),
    }


async def async_play(
    hass: HomeAssistant, speaker_id: str, text: str, language: str
) -> bool:
    """Have a speaker say a text, over what it plays, and return whether it began to."""
    data = {
        **speech_engine(hass),
        "media_player_entity_id": speaker_id,
        ATTR_MESSAGE: speakable(text, language),
    }
    try:
        async with asyncio.timeout(_PLAYING_TIMEOUT):
            await hass.services.async_call(
                Platform.TTS, "speak", data, blocking=True, context=Context()
            )
    except Exception as error:  # noqa: BLE001  # any integration may raise anything
        LOGGER.warning(
            "Could not speak at %s: %s", speaker_id, str(error) or type(error).__name__
        )
        return False
    return True


async def async_notify(
    hass: HomeAssistant, news: News, *, has_buttons: bool = False
) -> bool:
    """Notify the phones of the person; return whether there is one.

    A reminder `has_buttons`, until it is silently replaced by one without.
    """
    phones = phones_of(hass, news.asker.user_id)
    sentences = await async_get_sentences(hass, news.language)
    actions: list[JsonValue] = [
        {
            "action": f"{news.secret}_{button}",
            "title": sentences[button],
            "authenticationRequired": button is Button.CANCEL,
        }
        for button in buttons_of(news)
    ]
    if not has_buttons:
        data = OUTCOME_DATA
    elif actions:
        data = {"actions": actions}
    else:
        data = {}
    for phone_id in phones:
        await async_send(
            hass,
            phone_id,
            {
                ATTR_MESSAGE: news.text,
                ATTR_DATA: {
                    "tag": news.id,
                    **data,
                },
            },
            Context(),
        )
    return bool(phones)
