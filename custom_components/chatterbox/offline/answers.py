"""Answers questions in words and without a model: about the weather, the time elsewhere, lists, states and songs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import isfinite
from typing import Final, assert_never

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR
from homeassistant.components.climate import DOMAIN as CLIMATE
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.media_player import (
    ATTR_MEDIA_ARTIST,
    ATTR_MEDIA_TITLE,
    DOMAIN as MEDIA_PLAYER,
)
from homeassistant.components.todo.const import DOMAIN as TODO, TodoItemStatus
from homeassistant.components.weather import (
    DOMAIN as WEATHER,
    SERVICE_GET_FORECASTS,
    WeatherEntityFeature,
)
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_ENTITY_ID,
    ATTR_SUPPORTED_FEATURES,
    STATE_OFF,
    STATE_ON,
    STATE_PLAYING,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import dt as dt_util

from ..agent.text import compared
from ..effects.reading import Answered
from ..home.entities import Home
from ..home.entity_matches import assist_name
from ..internals.conversation import async_texts
from ..internals.todo import items_on_list
from ..nlu.commands import Choice, OpenQuestion
from ..nlu.questions import StateQuestion, WorldQuestion
from ..nlu.understanding import ListRequest
from ..speech.sentences import async_get_sentences
from ..speech.text.times import spoken_date, spoken_weekday
from .handling import state_sentence

_CONDITIONS: Final[Mapping[str, frozenset[str]]] = {
    "rain": frozenset({"rainy", "pouring", "lightning-rainy", "snowy-rainy"}),
    "snow": frozenset({"snowy", "snowy-rainy"}),
    "sun": frozenset({"sunny"}),
    "wind": frozenset({"windy", "windy-variant"}),
    "fog": frozenset({"fog"}),
    "clouds": frozenset({"cloudy", "partlycloudy"}),
    "storm": frozenset({"lightning", "lightning-rainy", "hail", "exceptional"}),
}
_MOST_NAMED: Final = 9
"""Names in a question: more are too many to listen to."""
_LIKELY: Final = 50
"""Percent from which rain is to be expected."""
_WEEK: Final = 7
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NOW: Final = frozenset({"now"})


@dataclass(frozen=True, slots=True)
class _Day:
    """The forecast of a day."""

    day: date
    condition: str
    high: float
    low: float | None
    rain: float

    def has(self, topic: str) -> bool:
        """Return whether a day has what was asked about."""
        return self.condition in _CONDITIONS.get(topic, ()) or (
            topic == "rain" and self.rain >= _LIKELY
        )


async def async_answer(
    hass: HomeAssistant, request: Answered, user_input: ConversationInput, home: Home
) -> str | None:
    """Return the answer to a question, or the question that an unclear request needs; None if there is none."""
    sentences = await async_get_sentences(hass, user_input.language)
    match request:
        case WorldQuestion(topics=("song" | "help" as topic,)):
            return (
                _song(hass, home, sentences)
                if topic == "song"
                else sentences["spoken_can_do"]
            )
        case WorldQuestion(topics=("date",), on=on) if on:
            return spoken_date(on, user_input.language)
        case WorldQuestion(zone=zone) if zone:
            return await _async_time_there(hass, zone, user_input.language, sentences)
        case WorldQuestion():
            return await async_weather_answer(hass, request, user_input, home)
        case ListRequest():
            return _list_answer(hass, request, home, sentences)
        case OpenQuestion(lacks=lacks):
            return sentences[f"which_{lacks}"]
        case StateQuestion():
            return None
        case Choice(ids=ids):
            names = _names_to_choose(hass, ids, home)
            return (
                sentences["which_one"].format(names=", ".join(names))
                if len(names) <= _MOST_NAMED
                else None
            )
        case _:
            assert_never(request)


def _names_to_choose(
    hass: HomeAssistant, ids: frozenset[str], home: Home
) -> Sequence[str]:
    """Return the names of entities of which one is meant, or of their rooms if they are too many to listen to."""
    if len(ids) > _MOST_NAMED:
        areas = {one.area_id for one in home.all_entities if one.entity_id in ids}
        return [room.name for room in home.rooms if room.area_id in areas]
    states = (hass.states.get(one) for one in sorted(ids))
    return [assist_name(hass, one.entity_id, one.name) for one in states if one]


def _song(hass: HomeAssistant, home: Home, sentences: Mapping[str, str]) -> str:
    """Return what is playing at home."""
    states = (
        hass.states.get(one.entity_id)
        for one in home.entities
        if one.domain == MEDIA_PLAYER
    )
    playing = [one for one in states if one and one.state == STATE_PLAYING]
    titles = [
        ", ".join(
            str(text)
            for key in (ATTR_MEDIA_TITLE, ATTR_MEDIA_ARTIST)
            if (text := one.attributes.get(key))
        )
        for one in playing
    ]
    songs = "; ".join(filter(None, titles))
    return (
        sentences["song_playing"].format(song=songs)
        if songs
        else sentences["song_unknown" if playing else "song_none"]
    )


async def _async_time_there(
    hass: HomeAssistant, zone: str, language: str, sentences: Mapping[str, str]
) -> str | None:
    """Return what time it is in a zone, in Home Assistant's words for a time."""
    there = dt_util.now().astimezone(await dt_util.async_get_time_zone(zone))
    texts = await async_texts(hass, language)
    template = (
        texts.intent_responses.get(intent.INTENT_GET_CURRENT_TIME, {}).get("default")
        if texts
        else None
    )
    if not template:
        return None
    time = state_sentence(
        hass, template, {"time": there.time()}, intent.IntentResponse(language)
    )
    return sentences["time_there"].format(time=time)


def _list_answer(
    hass: HomeAssistant, request: ListRequest, home: Home, sentences: Mapping[str, str]
) -> str | None:
    """Return what is on a list, or which lists there are."""
    lists = {
        one.entity_id: one.names[0]
        for one in home.entities
        if one.domain == TODO and one.names
    }
    named = {key: name for key, name in lists.items() if request.list_id in {"", key}}
    names = ", ".join(named.values())
    if not named:
        return None
    if request.is_all and not request.list_id:
        return sentences["list_names"].format(lists=names)
    if request.act in {"remove", "complete"}:
        return sentences["list_not_on"].format(
            item=", ".join(request.items), list=names
        )
    if len(named) > 1:
        return sentences["which_one"].format(names=names)
    ((list_id, name),) = named.items()
    items = [
        str(item.summary)
        for item in items_on_list(hass, list_id)
        if item.status is TodoItemStatus.NEEDS_ACTION
    ]
    return _items_answer(request, name, items, sentences)


def _items_answer(
    request: ListRequest, name: str, items: Sequence[str], sentences: Mapping[str, str]
) -> str | None:
    """Return which items are on a list, how many, or whether some are."""
    match request.act:
        case "has":
            known = {compared(item) for item in items}
            return sentences[
                "answer_yes"
                if known.issuperset(map(compared, request.items))
                else "answer_no"
            ]
        case "read" if items:
            return sentences["list_items"].format(list=name, items=", ".join(items))
        case "count":
            return sentences["list_items"].format(list=name, items=str(len(items)))
        case "read":
            return sentences["list_empty"].format(list=name)
        case _:
            return None


async def async_state_answer(
    hass: HomeAssistant, question: StateQuestion, language: str
) -> intent.IntentResponse:
    """Return the answer to a question about states, in Home Assistant's words."""
    response, texts = intent.IntentResponse(language), await async_texts(hass, language)
    response.response_type = intent.IntentResponseType.QUERY_ANSWER
    states = [state for one in sorted(question.ids) if (state := hass.states.get(one))]
    matched = [
        state for state in states if not question.state or _is_in(state, question.state)
    ]
    response.async_set_states(
        matched, [state for state in states if state not in matched]
    )
    kind = intent.IntentResponseTargetType.ENTITY
    response.async_set_results(
        [intent.IntentResponseTarget(one.name, kind, one.entity_id) for one in states]
    )
    answer = (
        texts.intent_responses.get(intent.INTENT_GET_STATE, {}).get(question.form, "")
        if texts
        else ""
    )
    answers = [response]
    if question.form == "one":
        answers = [intent.IntentResponse(language) for _ in states]
        for one, state in zip(answers, states, strict=True):
            one.async_set_states([state])
    slots = (
        {
            "name": assist_name(hass, one.entity_id, one.name),
            "state": question.spoken_state,
        }
        for one in states
    )
    speech = [
        state_sentence(hass, answer, slot, one)
        for slot, one in zip(slots, answers, strict=False)
    ]
    if question.form == "one":  # it has the states as they are stored
        domains = {one.domain for one in states}
        known = await async_get_translations(
            hass, language, "entity_component", domains
        )
        speech = [
            _worded(one, state, known)
            for one, state in zip(speech, states, strict=True)
        ]
    response.async_set_speech("; ".join(speech))
    return response


def _worded(speech: str, state: State, translations: Mapping[str, str]) -> str:
    """Return an answer with the state in the words of its language."""
    kind = state.attributes.get(ATTR_DEVICE_CLASS) or "_"
    key = f"component.{state.domain}.entity_component.{kind}.state.{state.state}"
    word = translations.get(key) or translations.get(key.replace(f".{kind}.", "._."))
    return (
        re.sub(rf"(?<![a-z]){re.escape(state.state)}(?![a-z])", word.lower(), speech)
        if word
        else speech
    )


def _is_in(state: State, wanted: str) -> bool:
    """Return whether an entity is in a state of the lexicon."""
    match wanted:
        case "on" if state.domain in {CLIMATE, MEDIA_PLAYER}:
            return state.state not in {STATE_OFF, STATE_UNAVAILABLE, STATE_UNKNOWN}
        case "open" | "closed" if state.domain == BINARY_SENSOR:
            return state.state == (STATE_ON if wanted == "open" else STATE_OFF)
        case _:
            return state.state == wanted


async def async_weather_answer(
    hass: HomeAssistant,
    question: WorldQuestion,
    user_input: ConversationInput,
    home: Home,
) -> str | None:
    """Return the answer to a question about the weather; None where the home does not know it."""
    states = (
        hass.states.get(one.entity_id) for one in home.entities if one.domain == WEATHER
    )
    unknown = {STATE_UNAVAILABLE, STATE_UNKNOWN}
    known = (
        one
        for one in states
        if one
        and one.state not in unknown
        and _number(one.attributes, "temperature") is not None
    )
    state = next(known, None)
    if state is None:
        return None
    teller = await _async_teller(hass, user_input.language)
    topic, now = question.topics[0], dt_util.now()
    if question.on is None and {*question.days} <= _NOW:
        is_so = state.state in _CONDITIONS.get(topic, ())
        yes_or_no = (
            teller.whether(is_so=is_so)
            if question.is_whether and topic in _CONDITIONS
            else ""
        )
        return f"{yes_or_no} {teller.now(state)}".strip()
    forecast = {one.day: one for one in await _async_forecast(hass, state, user_input)}
    named = [question.on] if question.on else _days(question.days, now.date())
    days = [forecast[day] for day in named if day in forecast]
    if not days:
        return None
    if not question.is_whether or topic not in _CONDITIONS:
        return " ".join(map(teller.day, days))
    having = [day for day in days if day.has(topic)]
    return " ".join(
        (teller.whether(is_so=bool(having)), *map(teller.day, having or days[:1]))
    )


def _days(named: Sequence[str], today: date) -> Iterator[date]:
    """Yield the days that are named, each once."""
    after: dict[date, None] = {}
    for name in named:
        match name:
            case "week" | "next_week" if len(named) > 1:
                pass  # "on Monday this week"
            case "week":
                after |= dict.fromkeys(
                    today + timedelta(days=at) for at in range(_WEEK)
                )
            case "next_week":
                monday = _WEEK - today.weekday()
                after |= dict.fromkeys(
                    today + timedelta(days=monday + at) for at in range(_WEEK)
                )
            case "weekend":
                sunday = _WEEK - 1 - today.weekday()
                after |= dict.fromkeys(
                    today + timedelta(days=at)
                    for at in range(max(0, sunday - 1), sunday + 1)
                )
            case "1" | "2":
                after[today + timedelta(days=int(name))] = None
            case name if name in _WEEKDAYS:
                after[
                    today
                    + timedelta(days=(_WEEKDAYS.index(name) - today.weekday()) % _WEEK)
                ] = None
            case _:
                after[today] = None
    yield from after


async def _async_forecast(
    hass: HomeAssistant, state: State, user_input: ConversationInput
) -> list[_Day]:
    features: object = state.attributes.get(ATTR_SUPPORTED_FEATURES)
    if (
        not isinstance(features, int)
        or not features & WeatherEntityFeature.FORECAST_DAILY
    ):
        return []
    data = {ATTR_ENTITY_ID: state.entity_id, "type": "daily"}
    found = await hass.services.async_call(
        WEATHER,
        SERVICE_GET_FORECASTS,
        data,
        blocking=True,
        context=user_input.context,
        return_response=True,
    )
    entry = (found or {}).get(state.entity_id)
    rows = entry.get("forecast") if isinstance(entry, dict) else None
    return (
        [day for row in rows if isinstance(row, dict) and (day := _day(row))]
        if isinstance(rows, list)
        else []
    )


def _number(row: Mapping[str, object], key: str) -> float | None:
    return (
        float(value)
        if isinstance(value := row.get(key), (int, float)) and isfinite(value)
        else None
    )


def _day(row: Mapping[str, object]) -> _Day | None:
    begin = (
        dt_util.parse_datetime(written)
        if isinstance(written := row.get("datetime"), str)
        else None
    )
    high, low, rain = (
        _number(row, key)
        for key in ("temperature", "templow", "precipitation_probability")
    )
    if begin is None or high is None:
        return None
    return _Day(
        dt_util.as_local(begin).date(),
        str(row.get("condition") or ""),
        high,
        low,
        rain or 0,
    )


@dataclass(frozen=True, slots=True)
class _Teller:
    """Puts weather into words."""

    sentences: Mapping[str, str]
    conditions: Mapping[str, str]
    language: str

    def whether(self, *, is_so: bool) -> str:
        """Return a yes or a no."""
        return self.sentences["answer_yes" if is_so else "answer_no"]

    def now(self, state: State) -> str:
        """Return how it is now."""
        temperature = state.attributes["temperature"]
        return self.sentences["weather_now"].format(
            condition=self._condition(state.state), temperature=f"{temperature:g} °"
        )

    def day(self, day: _Day) -> str:
        """Return how a day will be."""
        temperatures = [value for value in (day.low, day.high) if value is not None]
        key = "weather_day" if len(temperatures) > 1 else "weather_day_one"
        low, high = (temperatures * 2)[:2]
        return self.sentences[key].format(
            day=spoken_weekday(day.day, self.language),
            condition=self._condition(day.condition),
            low=f"{low:g}",
            high=f"{high:g} °",
        )

    def _condition(self, condition: str) -> str:
        return self.conditions.get(
            f"component.weather.entity_component._.state.{condition}", condition
        ).lower()


async def _async_teller(hass: HomeAssistant, language: str) -> _Teller:
    sentences = await async_get_sentences(hass, language)
    conditions = await async_get_translations(
        hass, language, "entity_component", [WEATHER]
    )
    return _Teller(sentences, conditions, language)
