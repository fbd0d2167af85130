"""Answers questions in words and without a model: about the weather, the time elsewhere, lists, states and songs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from math import isfinite
from typing import Final, assert_never

from homeassistant.components.binary_sensor import DOMAIN as BINARY_SENSOR
from homeassistant.components.climate import DOMAIN as CLIMATE, PRESET_NONE
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
    ATTR_ENTITY_ID,
    ATTR_SUPPORTED_FEATURES,
    ATTR_TEMPERATURE,
    STATE_OFF,
    STATE_ON,
    STATE_PLAYING,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import dt as dt_util

from ..agent.text import compared, read_data_file
from ..effects.device_intents import RANGE, async_told_values, entity_target
from ..effects.reading import Answered
from ..home.entities import Home
from ..home.entity_matches import assist_name
from ..internals.conversation import async_texts
from ..internals.todo import items_on_list
from ..nlu.lexicon import WEEKDAYS
from ..nlu.modes import SETTING
from ..nlu.questions import ALONE, NOBODY, SUN
from ..nlu.requests import (
    Choice,
    EntityCommand,
    ListRequest,
    OpenQuestion,
    StateQuestion,
    WorldQuestion,
)
from ..speech.sentences import Sentences, async_get_sentences
from ..speech.text.times import (
    spoken_date,
    spoken_days,
    spoken_time,
    spoken_weekday,
)
from .handling import state_sentence, state_word, worded

_CONDITIONS: Final = read_data_file(__file__, dict[str, frozenset[str]])
"""The conditions of weather entities, by the topics of questions that they answer."""
NOT_SET: Final = "\N{EN DASH}"
_MOST_NAMED: Final = 9
"""Names in a question: more are too many to listen to."""
_LIKELY: Final = 50
"""Percent from which rain is to be expected."""
_WEEK: Final = 7
_NOW: Final = frozenset({"now"})
_NEAR: Final = timedelta(hours=3)
"""For how long a forecast of hours holds."""
_KINDS_OF_FORECASTS: Final = {
    "daily": WeatherEntityFeature.FORECAST_DAILY,
    "hourly": WeatherEntityFeature.FORECAST_HOURLY,
}


@dataclass(frozen=True, slots=True)
class _Forecast:
    """The forecast of a day, or of some hours."""

    begin: datetime
    condition: str
    high: float
    low: float
    """The same as `high` where it is not known."""
    rain: float

    def has(self, question: WorldQuestion) -> bool:
        """Return whether a day has what is asked about."""
        topic = question.topics[0]
        if topic == "above":
            return self.high > question.limit
        if topic == "below":
            return self.low < question.limit
        return self.condition in _CONDITIONS.get(topic, ()) or (
            topic == "rain" and self.rain >= _LIKELY
        )


@dataclass(frozen=True, slots=True)
class _Answers:
    """Answers to the questions of a sentence."""

    hass: HomeAssistant
    user_input: ConversationInput
    home: Home
    sentences: Sentences

    @property
    def language(self) -> str:
        """The language of the sentence."""
        return self.user_input.language

    async def async_answer(self, request: Answered) -> str | None:
        """Return the answer to a request; None if there is none."""
        match request:
            case WorldQuestion():
                return await self._async_world_answer(request)
            case ListRequest():
                return self._list_answer(request)
            case OpenQuestion(lacks=lacks):
                return self.sentences[f"which_{lacks}"]
            case StateQuestion():
                return None
            case EntityCommand(ids=ids, is_by=is_by):
                key = "unable_part" if is_by else "unable_robot"
                names = ", ".join(self._names_to_choose(ids))
                return self.sentences[key].format(names=names)
            case Choice(ids=ids):
                choices = self._names_to_choose(ids)
                if len(choices) > _MOST_NAMED:
                    return None
                return self.sentences["which_one"].format(names=", ".join(choices))
            case _:
                assert_never(request)

    async def _async_world_answer(self, question: WorldQuestion) -> str | None:
        """Return the answer to a question about the world around the home, or to a greeting."""
        topic = question.topics[0]
        on = question.on
        if topic == "song":
            players = [one for one in self.home.entities if one.domain == MEDIA_PLAYER]
            return _song(
                self.hass,
                [one.entity_id for one in players],
                self.sentences,
            )
        if topic in ALONE or topic == NOBODY:
            return self.sentences[f"spoken_{topic}"]
        if topic in SUN:
            return self._sun_answer(question)
        if topic == "until":
            if on is None:
                return None
            days = spoken_days((on - dt_util.now().date()).days, self.language)
            return f"{days}: {spoken_date(on, self.language, is_first=False)}"
        if topic == "date":
            on = on or next(_days(question.days, dt_util.now().date()))
            return spoken_date(on, self.language)
        zone = question.zone
        if zone:
            return await self._async_time_there(zone)
        return await self._async_weather_answer(question)

    def _sun_answer(self, question: WorldQuestion) -> str | None:
        """Return when the sun rises or sets on a day, or the next time; None where it does not."""
        now = dt_util.now()
        day = question.on or next(_days(question.days or ("0",), now.date()))
        due = get_astral_event_date(
            self.hass,
            question.topics[0],
            day,
        )
        if due and due < now and not (question.days or question.on):
            due = get_astral_event_date(
                self.hass,
                question.topics[0],
                day + timedelta(days=1),
            )
        if due is None:
            return None
        return spoken_time(
            due,
            now=now,
            language=self.language,
            has_distance=False,
        )

    def _names_to_choose(self, ids: frozenset[str]) -> Sequence[str]:
        """Return the names of entities of which one is meant, or of their rooms if they are too many to listen to."""
        if len(ids) > _MOST_NAMED:
            areas = {
                one.area_id for one in self.home.all_entities if one.entity_id in ids
            }
            return [room.name for room in self.home.rooms if room.area_id in areas]
        states = (self.hass.states.get(one) for one in sorted(ids))
        return [assist_name(self.hass, one) for one in states if one]

    async def _async_time_there(self, zone: str) -> str | None:
        """Return what time it is in a zone, in Home Assistant's words for a time."""
        there = dt_util.now().astimezone(await dt_util.async_get_time_zone(zone))
        texts = await async_texts(self.hass, self.language)
        templates = texts.intent_responses if texts else {}
        template = templates.get(intent.INTENT_GET_CURRENT_TIME, {}).get("default")
        if not template:
            return None
        time = state_sentence(
            self.hass,
            template,
            {"time": there.time()},
            intent.IntentResponse(self.language),
        )
        return self.sentences["time_there"].format(time=time)

    def _list_answer(self, request: ListRequest) -> str | None:
        """Return what is on a list, or which lists there are."""
        lists = self._lists(request.list_id)
        names = ", ".join(lists.values())
        if not lists:
            return None
        if request.is_all and not request.list_id:
            return self.sentences["list_names"].format(lists=names)
        if request.act in {"remove", "complete"}:
            return self.sentences["list_not_on"].format(
                item=", ".join(request.items), list=names
            )
        items = {
            name: [
                str(item.summary)
                for item in items_on_list(self.hass, list_id)
                if item.status is TodoItemStatus.NEEDS_ACTION
            ]
            for list_id, name in lists.items()
        }
        if request.act == "has":
            wanted = {*map(compared, request.items)}
            has_all = any(wanted <= {*map(compared, one)} for one in items.values())
            return self.sentences["answer_yes" if has_all else "answer_no"]
        if len(items) > 1:
            return self.sentences["which_one"].format(names=names)
        return self._items_answer(request.act, *items.popitem())

    def _lists(self, list_id: str) -> Mapping[str, str]:
        """Return the names of a list, or of all, by ids."""
        return {
            one.entity_id: one.names[0]
            for one in self.home.entities
            if one.domain == TODO and one.names and list_id in {"", one.entity_id}
        }

    def _items_answer(
        self,
        act: str,
        name: str,
        items: Sequence[str],
    ) -> str | None:
        """Return which items are on a list, or how many."""
        match act:
            case "read" if not items:
                return self.sentences["list_empty"].format(list=name)
            case "read" | "count":
                if act == "read":
                    spoken = ", ".join(items)
                else:
                    spoken = str(len(items))
                return self.sentences["list_items"].format(
                    list=name,
                    items=spoken,
                )
            case _:
                return None

    async def _async_weather_answer(self, question: WorldQuestion) -> str | None:
        """Return the answer to a question about the weather; None where the home does not know it."""
        state = self._weather()
        if state is None:
            return None
        sentences = await async_get_sentences(self.hass, self.language)
        conditions = await async_get_translations(
            self.hass, self.language, "entity_component", [WEATHER]
        )
        teller = _Teller(sentences, conditions, self.language)
        topic = question.topics[0]
        is_whether = question.is_whether and topic in _CONDITIONS
        has_time = question.on or question.hour
        if not has_time and {*question.days} <= _NOW:
            degrees = state.attributes["temperature"]
            now = _Forecast(dt_util.now(), state.state, degrees, degrees, 0)
            answer = teller.now(state)
            if is_whether:
                return f"{teller.whether(is_so=now.has(question))} {answer}"
            return answer
        tell = teller.day
        forecast = list[_Forecast]()
        hour = question.hour
        if hour:
            tell = partial(teller.at, hour)
            rows = await self._async_forecast(state, "hourly")
            forecast = _of_hour(rows, hour)
        if not forecast:
            rows = await self._async_forecast(state, "daily")
            tell = teller.day
            forecast = _of_days(rows, question)
        if not is_whether or not forecast:
            return " ".join(map(tell, forecast)) or None
        having = [one for one in forecast if one.has(question)]
        answers = map(tell, having or forecast[:1])
        return " ".join((teller.whether(is_so=bool(having)), *answers))

    def _weather(self) -> State | None:
        """Return the weather of the home, as far as it is known."""
        for entity in self.home.entities:
            state = self.hass.states.get(entity.entity_id)
            if entity.domain != WEATHER or state is None:
                continue
            is_known = state.state not in {STATE_UNAVAILABLE, STATE_UNKNOWN}
            if is_known and _number(state.attributes, "temperature") is not None:
                return state
        return None

    async def _async_forecast(
        self,
        state: State,
        kind: str,
    ) -> list[_Forecast]:
        features: object = state.attributes.get(ATTR_SUPPORTED_FEATURES)
        if not isinstance(features, int) or not features & _KINDS_OF_FORECASTS[kind]:
            return []
        data = {
            ATTR_ENTITY_ID: state.entity_id,
            "type": kind,
        }
        found = await self.hass.services.async_call(
            WEATHER,
            SERVICE_GET_FORECASTS,
            data,
            blocking=True,
            context=self.user_input.context,
            return_response=True,
        )
        entry = (found or {}).get(state.entity_id)
        if isinstance(entry, dict):
            rows = entry.get("forecast")
        else:
            rows = None
        if isinstance(rows, list):
            return [day for row in rows if isinstance(row, dict) and (day := _day(row))]
        return []


async def async_answer(
    hass: HomeAssistant, request: Answered, user_input: ConversationInput, home: Home
) -> str | None:
    """Return the answer to a question, or the question that an unclear request needs; None if there is none."""
    sentences = await async_get_sentences(hass, user_input.language)
    return await _Answers(hass, user_input, home, sentences).async_answer(request)


def _song(
    hass: HomeAssistant,
    players: Iterable[str],
    sentences: Sentences,
) -> str:
    """Return what some players play; with their names, where they play different things."""
    states = map(hass.states.get, players)
    playing = [one for one in states if one and one.state == STATE_PLAYING]
    songs: dict[str, list[str]] = {}
    for one in playing:
        texts = map(
            one.attributes.get,
            (ATTR_MEDIA_TITLE, ATTR_MEDIA_ARTIST),
        )
        song = ", ".join(str(text) for text in texts if text)
        if song:
            name = assist_name(hass, one)
            songs.setdefault(song, []).append(name)
    answers = [*songs]
    if len(songs) > 1:
        answers = [f"{song} ({', '.join(names)})" for song, names in songs.items()]
    if not answers:
        return sentences["song_unknown" if playing else "song_none"]
    return sentences["song_playing"].format(song="; ".join(answers))


async def async_state_answer(
    hass: HomeAssistant, question: StateQuestion, language: str
) -> intent.IntentResponse:
    """Return the answer to a question about states, in Home Assistant's words."""
    if question.form == SETTING:
        return await _async_setting_answer(hass, question, language)
    texts = await async_texts(hass, language)
    templates = texts.intent_responses if texts else {}
    template = templates.get(intent.INTENT_GET_STATE, {}).get(
        question.form,
        "",
    )
    states = [state for one in sorted(question.ids) if (state := hass.states.get(one))]
    domains = {state.domain for state in states}
    words = await async_get_translations(hass, language, "entity_component", domains)

    def spoken(
        state: State,
        response: intent.IntentResponse,
    ) -> str:
        name = assist_name(hass, state)
        slots = {"name": name, "state": _asked_state(state, question, words)}
        return state_sentence(hass, template, slots, response)

    response = intent.IntentResponse(language)
    response.response_type = intent.IntentResponseType.QUERY_ANSWER
    matched = [
        state for state in states if not question.state or _is_in(state, question.state)
    ]
    response.async_set_states(
        matched, [state for state in states if state not in matched]
    )
    response.async_set_results([*map(entity_target, states)])
    if question.form != "one":
        speech = spoken(states[0], response) if states else ""
        is_told = question.form == "one_yesno" and speech
        response.async_set_speech(
            worded(speech, states[0], words) if is_told else speech
        )
        return response
    # Its template has the states as they are stored.
    spoken_states = []
    for state in states:
        own = intent.IntentResponse(language)
        own.async_set_states([state])
        spoken_states.append(worded(spoken(state, own), state, words))
    response.async_set_speech("; ".join(spoken_states))
    return response


async def _async_setting_answer(
    hass: HomeAssistant, question: StateQuestion, language: str
) -> intent.IntentResponse:
    """Return how devices are set, or what some players play."""
    states = [state for one in sorted(question.ids) if (state := hass.states.get(one))]
    speech = []
    for state in states:
        values = _settings_of(
            state,
            _ASKED.get(
                question.aspect,
                (question.aspect,),
            ),
        )
        words = await async_told_values(
            hass,
            language,
            state.domain,
            values,
        )
        name = assist_name(hass, state)
        speech.append(f"{name}: {', '.join(words) or NOT_SET}.")
    if question.aspect == "song":
        sentences = await async_get_sentences(hass, language)
        speech = [_song(hass, sorted(question.ids), sentences)]
    response = intent.IntentResponse(language)
    response.response_type = intent.IntentResponseType.QUERY_ANSWER
    response.async_set_states(states)
    response.async_set_speech(" ".join(speech))
    return response


_ASKED: Final = {
    "setting": (
        "hvac_mode",
        "temperature",
        "preset_mode",
        "fan_mode",
    ),
    "mode": ("hvac_mode", "preset_mode"),
    "preset": ("preset_mode",),
}
"""The values that are told of a device, by what is asked about."""


def _settings_of(
    state: State,
    slots: Iterable[str],
) -> Mapping[str, object]:
    """Return the values to which a device is set."""
    low, high = (state.attributes.get(slot) for slot in RANGE)
    has_range = state.attributes.get(ATTR_TEMPERATURE) is None and low is not None
    values = dict[str, object]()
    for slot in slots:
        if slot == "hvac_mode":
            values[slot] = state.state
        elif slot == ATTR_TEMPERATURE and has_range and high is not None:
            values |= dict(zip(RANGE, (low, high), strict=True))
        elif state.attributes.get(slot) not in (None, PRESET_NONE):
            values[slot] = state.attributes[slot]
    is_off = state.state == STATE_OFF
    if is_off and "hvac_mode" in values:
        return {"hvac_mode": STATE_OFF}
    return values


def _asked_state(
    state: State, question: StateQuestion, translations: Mapping[str, str]
) -> str:
    """Return the word for the state that is asked for. What was said may tell of an act: "did I turn it off?"."""
    word = state_word(
        state,
        _stored(state, question.state),
        translations,
    )
    return word.lower() or question.spoken_state


def _stored(state: State, wanted: str) -> str:
    """Return how an entity stores a state of the lexicon."""
    if state.domain == BINARY_SENSOR:
        if wanted in {"closed", "off"}:
            return STATE_OFF
        return STATE_ON
    return wanted


def _is_in(state: State, wanted: str) -> bool:
    """Return whether an entity is in a state of the lexicon."""
    if wanted == "on" and state.domain in {CLIMATE, MEDIA_PLAYER}:
        return state.state not in {STATE_OFF, STATE_UNAVAILABLE, STATE_UNKNOWN}
    return state.state == _stored(state, wanted)


def _of_hour(
    rows: Iterable[_Forecast],
    hour: datetime,
) -> list[_Forecast]:
    """Return the forecast that is nearest before an hour; none if none is near."""
    return [one for one in rows if timedelta() <= hour - one.begin < _NEAR][-1:]


def _of_days(
    rows: Iterable[_Forecast],
    question: WorldQuestion,
) -> list[_Forecast]:
    """Return the forecasts of the days that a question names."""
    on = question.hour.date() if question.hour else question.on
    named = [on] if on else _days(question.days, dt_util.now().date())
    of_day = {one.begin.date(): one for one in rows}
    return [of_day[day] for day in named if day in of_day]


def _days(
    named: Sequence[str],
    today: date,
) -> Iterator[date]:
    """Yield the days that are named, each once."""
    after: dict[date, None] = {}
    weekday = today.weekday()
    for name in named:
        offsets: Sequence[int]
        match name:
            case "week" | "next_week" if len(named) > 1:
                offsets = ()  # "on Monday this week"
            case "week":
                offsets = range(_WEEK)
            case "next_week":
                offsets = range(
                    _WEEK - weekday,
                    2 * _WEEK - weekday,
                )
            case "weekend":
                sunday = _WEEK - 1 - weekday
                offsets = range(
                    max(0, sunday - 1),
                    sunday + 1,
                )
            case "1" | "2":
                offsets = (int(name),)
            case past if past.startswith("-"):
                since = weekday - WEEKDAYS.index(past[1:])
                offsets = (-(since % _WEEK or _WEEK),)
            case name if name in WEEKDAYS:
                offsets = ((WEEKDAYS.index(name) - weekday) % _WEEK,)
            case _:
                offsets = (0,)
        after |= dict.fromkeys(today + timedelta(days=at) for at in offsets)
    yield from after


def _number(
    row: Mapping[str, object],
    key: str,
) -> float | None:
    value = row.get(key)
    if isinstance(value, (int, float)) and isfinite(value):
        return float(value)
    return None


def _day(row: Mapping[str, object]) -> _Forecast | None:
    written = row.get("datetime")
    if isinstance(written, str):
        begin = dt_util.parse_datetime(written)
    else:
        begin = None
    high, low, rain = (
        _number(row, key)
        for key in ("temperature", "templow", "precipitation_probability")
    )
    if begin is None or high is None:
        return None
    return _Forecast(
        dt_util.as_local(begin),
        str(row.get("condition") or ""),
        high,
        high if low is None else low,
        rain or 0,
    )


@dataclass(frozen=True, slots=True)
class _Teller:
    """Puts weather into words."""

    sentences: Sentences
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

    def day(self, day: _Forecast) -> str:
        """Return how a day will be."""
        key = "weather_day" if day.low < day.high else "weather_day_one"
        return self.sentences[key].format(
            day=spoken_weekday(
                day.begin.date(),
                self.language,
            ),
            condition=self._condition(day.condition),
            low=f"{day.low:g}",
            high=f"{day.high:g} °",
        )

    def at(
        self,
        hour: datetime,
        row: _Forecast,
    ) -> str:
        """Return how it will be at an hour."""
        time = spoken_time(
            hour, now=dt_util.now(), language=self.language, has_distance=False
        )
        return self.sentences["weather_at"].format(
            time=time,
            condition=self._condition(row.condition),
            temperature=f"{row.high:g} °",
        )

    def _condition(self, condition: str) -> str:
        return self.conditions.get(
            f"component.weather.entity_component._.state.{condition}", condition
        ).lower()
