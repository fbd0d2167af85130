"""Reads what a person said as intents of Home Assistant, for words that its own sentences do not know."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypedDict, assert_never

from homeassistant.components import conversation
from homeassistant.components.climate import ATTR_MAX_TEMP, ATTR_MIN_TEMP
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.cover import ATTR_CURRENT_POSITION
from homeassistant.components.fan import ATTR_PERCENTAGE, ATTR_PERCENTAGE_STEP
from homeassistant.components.light import (
    ATTR_BRIGHTNESS,
    ATTR_SUPPORTED_COLOR_MODES,
    DOMAIN as LIGHT,
)
from homeassistant.components.light.const import ColorMode
from homeassistant.components.media_player import (
    DOMAIN as MEDIA_PLAYER,
    INTENT_MEDIA_SEARCH_AND_PLAY,
    MediaPlayerEntityFeature,
)
from homeassistant.components.media_player.const import ATTR_GROUP_MEMBERS
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_TEMPERATURE,
    STATE_OFF,
    STATE_ON,
    STATE_PAUSED,
    STATE_PLAYING,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    UnitOfTemperature,
)
from homeassistant.core import HomeAssistant, State, split_entity_id
from homeassistant.helpers import area_registry as ar, intent
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import TemperatureConverter

from ..agent.messages import JsonValue
from ..agent.text import base_language, compared, read_data_file
from ..const import home_singleton
from ..home.entities import Home, async_get_home
from ..home.entity_matches import entities_by_name
from ..internals.todo import items_on_list
from ..nlu.happenings import Happening, happening_lexicon, happenings
from ..nlu.lexicon import Lexicon, Role, lexicon, tokens
from ..nlu.messages import SpokenMessage, spoken_message
from ..nlu.past import PastQuestion, past_lexicon, past_question
from ..nlu.questions import MOST_TOLD
from ..nlu.reading import Reading, read, telling_text
from ..nlu.requests import (
    Choice,
    DeviceSetting,
    EntityCommand,
    ListRequest,
    OpenQuestion,
    PlayerGroup,
    PlayRequest,
    SpokenRequest,
    StateQuestion,
    Surroundings,
    TimerRequest,
    UnknownName,
    WorldQuestion,
)
from ..nlu.targets import with_chosen
from ..nlu.understanding import is_assumed, understand
from ..nlu.vocabulary import HomeVocabulary, KnownEntity, KnownMode, NamedPlace
from ..nlu.zones import zones
from ..people.speakers import async_speaker_area
from ..speech.text.times import (
    prepare,
    resolve_time,
    times_in,
    with_feasts,
)
from .device_intents import (
    JOIN_PLAYERS,
    MEMBERS,
    PART_PLAYERS,
    RANGE,
    SET_CLIMATE,
    SET_PLAYER,
    SETTINGS,
    choices_of,
    features_of,
    has_setting,
)
from .intents import Slots, intent_effects, items_meant

_STEP: Final = 20
"""Percent by which a light becomes brighter or darker."""
_OPEN: Final = 100
"""The position of what is fully open."""
_DEGREE: Final = 1
_COLOURS: Final = {
    "warm_white": 2700,
    "cold_white": 4000,
    "daylight": 6500,
}
"""Colour temperatures that have a name, in kelvin."""
_COLOURED: Final = frozenset(
    {
        ColorMode.HS,
        ColorMode.RGB,
        ColorMode.RGBW,
        ColorMode.RGBWW,
        ColorMode.XY,
    }
)
_SEARCHING: Final = (
    MediaPlayerEntityFeature.SEARCH_MEDIA | MediaPlayerEntityFeature.PLAY_MEDIA
)
_ROBOTS: Final = frozenset({"vacuum", "lawn_mower"})
_IDLE: Final = frozenset({STATE_OFF, STATE_UNAVAILABLE, STATE_UNKNOWN, "standby"})


class IntentCall(NamedTuple):
    """An intent with its slots, and the key of Home Assistant's answer to it."""

    intent: str
    slots: Slots
    response: str = "default"
    spoken: Mapping[str, JsonValue] = {}
    """The words for its slots, where they are others than their values."""


type Answered = (
    WorldQuestion | StateQuestion | ListRequest | Choice | OpenQuestion | EntityCommand
)
"""Requests that are answered in words. Of commands, those that nothing at home can do."""
type RequestBefore = EntityCommand | WorldQuestion | StateQuestion | None
"""The last request of a conversation, to which another one may add: "and the kitchen"."""


class ReadSentence(NamedTuple):
    """The requests of a sentence, as it was read: intents, or one that is answered in words."""

    calls: Sequence[IntentCall] = ()
    answered: Answered | None = None
    unknown: Sequence[UnknownName] = ()
    """Names that nothing at home has. All else that was asked for is done."""
    is_elliptic: bool = False
    """Whether a command names nothing. In a conversation it may mean something else."""
    last: RequestBefore = None
    """The last request."""

    @property
    def is_understood(self) -> bool:
        """Return whether anything is to be done or answered."""
        return bool(self.calls or self.answered)


NOTHING_READ: Final = ReadSentence()
_RUN: Final = frozenset({"scene", "script"})
"""The domains of what may change anything."""
_REFERRED: Final = (
    EntityCommand,
    WorldQuestion,
    StateQuestion,
)
"""Requests to which the next one may add."""
_CLOCK: Final = {
    "time": intent.INTENT_GET_CURRENT_TIME,
    "date": intent.INTENT_GET_CURRENT_DATE,
}


class _Tables(TypedDict):
    """The tables in `reading.toml`, by which commands are done."""

    acts: dict[str, dict[str, str]]
    items: dict[str, tuple[str, str]]
    settings: dict[str, tuple[str, str]]
    steps: dict[str, int]
    responses: dict[str, str]


_TABLES: Final = read_data_file(__file__, _Tables)
_OF_ITEMS: Final = _TABLES["items"]
"""The intents that change lists, and the keys of their answers."""


async def async_read(
    hass: HomeAssistant,
    user_input: ConversationInput,
    last: frozenset[str] = frozenset(),
    before: RequestBefore = None,
) -> ReadSentence:
    """Return what a sentence asks for; empty if it is not understood. `last` is what the request `before` was about."""
    names = await _async_vocabulary(hass, user_input.language)
    if names is None:
        return NOTHING_READ
    if _names_hidden(hass, user_input.text, names):
        return NOTHING_READ
    area = async_speaker_area(hass, user_input)
    surroundings = replace(
        _surroundings(hass, names),
        area_id=area.id if area else None,
        last=last,
        before=before,
    )
    requests = understand(
        user_input.text,
        names,
        surroundings,
    )
    if not requests:
        return _read_date(user_input, names)
    return _Composer(hass, names, area).read(requests)


@dataclass(frozen=True, slots=True)
class _Composer:
    """Composes the intents of requests that are read in a home."""

    hass: HomeAssistant
    names: HomeVocabulary
    area: ar.AreaEntry | None
    """The room of the speaker."""

    def _states(self, ids: Iterable[str]) -> Sequence[State]:
        return [state for one in sorted(ids) if (state := self.hass.states.get(one))]

    def read(self, requests: Sequence[SpokenRequest]) -> ReadSentence:
        """Return the intents of some requests, or what is answered in words."""
        calls = list[IntentCall]()
        answered = list[Answered]()
        unknown = list[UnknownName]()
        changed = frozenset[str]()
        for read_request in requests:
            request = self._after_changes(read_request, changed)
            if request is None:
                return NOTHING_READ
            if isinstance(request, EntityCommand):
                changed |= request.ids
            if isinstance(request, UnknownName):
                unknown.append(request)
            elif found := [*self._intents(request)]:
                calls += found
            elif answerable := self._answerable(request):
                answered.append(answerable)
            else:
                return NOTHING_READ
        # One answer is given, and a question of ours waits for one alone.
        is_open = any(isinstance(one, Choice | OpenQuestion) for one in answered)
        if len(answered) > 1 or (is_open and len(requests) > 1):
            return NOTHING_READ
        is_elliptic = any(
            isinstance(one, EntityCommand) and one.is_elliptic for one in requests
        )
        last = requests[-1]
        return ReadSentence(
            tuple(calls),
            next(iter(answered), None),
            unknown,
            is_elliptic,
            last if isinstance(last, _REFERRED) else None,
        )

    def _after_changes(
        self, request: SpokenRequest, changed: frozenset[str]
    ) -> SpokenRequest | None:
        """Return a request after others of its sentence have changed entities; None if states of then tell it.

        "Turn on the lamp and dim it" would be composed from the light that is off. A scene
        changes anything.
        """
        match request:
            case StateQuestion(ids=ids):
                is_value = False
            case EntityCommand(act=act, ids=ids, is_by=is_by) if is_by or act in _STEPS:
                is_value = not is_by and request.amount is not None
            case _:
                return request
        is_any = not _RUN.isdisjoint(self.names.domains(changed))
        if ids.isdisjoint(changed) and not is_any:
            return request
        if isinstance(request, EntityCommand) and is_value:
            return replace(request, act="set")
        return None

    def _answerable(self, request: SpokenRequest) -> Answered | None:
        """Return the request that is answered in words in place of intents; None if there is none.

        Lights that are off do not become darker, and what is open does not open further:
        their states are told.
        """
        match request:
            case EntityCommand(act=act, ids=ids, is_by=is_by):
                states = self._states(ids)
                has_moved = any(
                    ATTR_CURRENT_POSITION in one.attributes for one in states
                )
                is_stepped = act in _STEPS or (is_by and has_moved)
                if is_stepped:
                    if len(ids) <= MOST_TOLD:
                        return StateQuestion(ids, "one")
                    return None
                is_robot = {one.domain for one in states} <= _ROBOTS
                return request if is_by or is_robot else None
            case PlayRequest():
                return Choice(self._players_for(request))
            case TimerRequest() | UnknownName() | DeviceSetting() | PlayerGroup():
                return None
            case _:
                return request

    def _intents(self, request: SpokenRequest) -> Iterator[IntentCall]:
        """Yield the intents that do what a request asks for; none for one that is answered in words."""
        match request:
            case WorldQuestion(topics=topics, zone="", days=(), on=None):
                known = (_CLOCK[topic] for topic in topics if topic in _CLOCK)
                yield from (IntentCall(intent_type, {}) for intent_type in known)
            case ListRequest():
                yield from self._list_calls(request)
            case PlayRequest():
                yield from self._play_calls(request)
            case DeviceSetting():
                yield from self._device_calls(request)
            case PlayerGroup():
                yield from self._group_calls(request)
            case EntityCommand():
                yield from self._calls(request)
            case TimerRequest(durations, name):
                named = {"name": name} if name else {}
                yield IntentCall(
                    intent.INTENT_START_TIMER,
                    {**durations, **named},
                )
            case StateQuestion(ids=ids, aspect="temperature") if self.names.domains(
                ids
            ) == {"climate"}:
                yield from (
                    IntentCall(intent.INTENT_GET_TEMPERATURE, {"name": one})
                    for one in sorted(ids)
                )
            case (
                WorldQuestion()
                | Choice()
                | OpenQuestion()
                | StateQuestion()
                | UnknownName()
            ):
                pass
            case _:
                assert_never(request)

    def _play_calls(self, request: PlayRequest) -> Iterator[IntentCall]:
        """Yield an intent for each room that plays; none if one of several players in a room is meant."""
        players = [self._players_for(one) for one in self._by_room(request)]
        for found in players if all(len(one) <= 1 for one in players) else ():
            slots: dict[str, JsonValue] = {"search_query": request.words}
            slots |= dict(zip(("name",), found, strict=False))
            yield IntentCall(INTENT_MEDIA_SEARCH_AND_PLAY, slots)

    def _group_calls(self, request: PlayerGroup) -> Iterator[IntentCall]:
        """Yield the intent that has players play together, or those that part them: of several, those in a group."""
        ids = request.ids
        if request.leader:
            members: list[JsonValue] = [*sorted(ids - {request.leader})]
            slots: dict[str, JsonValue] = {
                "name": request.leader,
                MEMBERS: members,
            }
            yield IntentCall(JOIN_PLAYERS, slots)
            return
        states = self._states(ids)
        grouped = {
            state.entity_id
            for state in states
            if _is_of_several(state.attributes.get(ATTR_GROUP_MEMBERS))
        }
        for one in sorted(grouped or ids):
            yield IntentCall(PART_PLAYERS, {"name": one})

    def _device_calls(self, request: DeviceSetting) -> Iterator[IntentCall]:
        """Yield the intents that set values, temperatures in the unit of the home."""
        unit = self.hass.config.units.temperature_unit
        spoken = _TEMPERATURES.get(request.unit, unit)
        values: dict[str, JsonValue] = {
            slot: round(_converted(float(value), spoken, unit) * 2) / 2
            if spoken != unit and slot in {ATTR_TEMPERATURE, *RANGE}
            else value
            for slot, value in request.values.items()
        }
        for one in sorted(request.ids):
            slots = {
                "name": one,
                **values,
            }
            match self.names.by_id[one].domain:
                case "humidifier":
                    yield IntentCall("HassHumidifierSetpoint", slots)
                case "climate":
                    yield IntentCall(SET_CLIMATE, slots)
                case _:
                    yield IntentCall(SET_PLAYER, slots)

    def _can_search(self, entity_id: str) -> bool:
        state = self.hass.states.get(entity_id)
        return state is not None and features_of(state) & _SEARCHING == _SEARCHING

    def _by_room(self, request: PlayRequest) -> Sequence[PlayRequest]:
        """Return a request for each room in which something is to be played."""
        if not request.is_each:
            return (request,)
        rooms: dict[str | None, set[str]] = {}
        able = {one for one in request.ids if self._can_search(one)}
        for one in able or request.ids:
            rooms.setdefault(self.names.by_id[one].area_id, set()).add(one)
        return [replace(request, ids=frozenset(ids)) for ids in rooms.values()]

    def _players_for(self, request: PlayRequest) -> frozenset[str]:
        """Return the players that can play what is searched for: those named, else those of the room, or of the home.

        Of several, the only one that plays is meant.
        """
        players = [one for one in self.names.entities if one.domain == MEDIA_PLAYER]
        here = {
            one.entity_id
            for one in players
            if self.area and one.area_id == self.area.id
        }
        able = {one.entity_id for one in players if self._can_search(one.entity_id)}
        found = able & (request.ids or here or able)
        playing = {
            one for one in found if self.hass.states.is_state(one, STATE_PLAYING)
        }
        return frozenset(playing if len(playing) == 1 else found)

    def _list_calls(self, request: ListRequest) -> Iterator[IntentCall]:
        """Yield the intents that change a list; none unless one list is meant, or has each item that leaves it."""
        intent_type, response = _OF_ITEMS.get(
            request.act,
            ("", ""),
        )
        lists = [
            entity
            for entity in self.names.entities
            if entity.domain == "todo" and request.list_id in {"", entity.entity_id}
        ]
        found = list[IntentCall]()
        for item in request.items if intent_type else ():
            each = [
                IntentCall(
                    intent_type,
                    {
                        "item": known,
                        "name": entity.names[0],
                    },
                    response,
                )
                for entity in lists
                for known in self._items_of(intent_type, entity, item)
            ]
            if len(each) != 1:
                return
            found += each
        yield from found

    def _items_of(
        self, intent_type: str, entity: KnownEntity, item: str
    ) -> Sequence[str]:
        """Return what an item is on a list, if it is one of it; as it was said, if it is to be added."""
        if intent_type == _OF_ITEMS["add"][0]:
            return (item,)
        slots: dict[str, JsonValue] = {
            "item": item,
            "name": entity.names[0],
        }
        meant = items_meant(
            self.hass,
            intent_type,
            slots,
            conversation.DOMAIN,
        )
        on_list = items_on_list(self.hass, entity.entity_id)
        known = [*meant, *(item for one in on_list if one.summary == item)]
        if len(known) == 1:
            return known
        return ()

    def _calls(self, command: EntityCommand) -> Iterator[IntentCall]:
        """Yield the intents of a command, after a look at the states where it depends on them."""
        states = self._states(command.ids)
        command = _in_unit(
            command,
            self.hass.config.units.temperature_unit,
        )
        if command.act in _STEPS:
            yield from _stepped(states, command)
            return
        if command.is_by:
            yield from _moved(states, command)
            return
        if command.act == "set":
            for state in _able(states, command):
                yield from _set(state, command)
            return
        whole = self._at_once(command)
        if whole:
            yield whole
            return
        is_played = {one.domain for one in states} == {MEDIA_PLAYER}
        plays = any(
            self.hass.states.is_state(one.entity_id, STATE_PLAYING)
            for one in self.names.entities
            if one.domain == MEDIA_PLAYER
        )
        if command.act == "pause" and is_played and not plays:
            yield IntentCall(
                _INTENTS[MEDIA_PLAYER]["pause"], {}
            )  # it says that nothing plays
            return
        for state in states:
            yield from _switched(state, command.act)

    def _at_once(self, command: EntityCommand) -> IntentCall | None:
        """Return one intent for all lights of a room, or of the home; None for other entities."""
        entities = [self.names.by_id[one] for one in command.ids]
        domains = {entity.domain for entity in entities}
        if len(entities) == 1 or domains != {LIGHT} or command.act not in _ON | _OFF:
            return None
        areas = {entity.area_id for entity in entities}
        slots: dict[str, JsonValue] = {"domain": LIGHT}
        key = "light_all"
        room = ar.async_get(self.hass).async_get_area(min(map(str, areas)))
        if room and len(areas) == 1:
            slots["area"] = room.name
            key = "lights_area"
        is_on = command.act in _ON
        intent_type = intent.INTENT_TURN_ON if is_on else intent.INTENT_TURN_OFF
        effects = intent_effects(
            self.hass,
            intent_type,
            slots,
            conversation.DOMAIN,
        )
        is_same = effects.entity_ids == command.ids
        if is_same:
            return IntentCall(
                intent_type,
                slots,
                key,
            )
        return None


def _is_of_several(members: object) -> bool:
    return isinstance(members, list | tuple) and len(members) > 1


async def _async_likeliest(
    hass: HomeAssistant, sentence: str, language: str
) -> Reading | None:
    """Return the likeliest reading of a sentence; None without the words of its language."""
    names = await _async_vocabulary(hass, language)
    readings = read(sentence, names) if names else ()
    return next(iter(readings), None)


async def async_chosen(
    hass: HomeAssistant, choice: Choice, answer: ConversationInput
) -> str:
    """Return the sentence of a choice with the entity that an answer means; see `with_chosen`."""
    names = await _async_vocabulary(hass, answer.language)
    return with_chosen(choice, answer.text, names) if names else ""


async def async_unexplained(
    hass: HomeAssistant, sentence: str, language: str
) -> frozenset[str]:
    """Return the words of a sentence that neither the lexicon of a language nor a name at home explains."""
    likeliest = await _async_likeliest(
        hass,
        sentence,
        language,
    )
    return frozenset(likeliest.unknown if likeliest else ())


async def async_is_explained(
    hass: HomeAssistant, user_input: ConversationInput, *, has_names: bool
) -> bool:
    """Return whether a lexicon has all words of a sentence but numbers, so that none of them was misheard.

    Without `has_names`, those of the home are not known for certain, either.
    """
    likeliest = await _async_likeliest(
        hass,
        user_input.text,
        user_input.language,
    )
    doubted = {Role.UNKNOWN, Role.AMOUNT}
    if not has_names:
        doubted.add(Role.ENTITY)
    return likeliest is not None and doubted.isdisjoint(
        span.role for span in likeliest.spans
    )


async def async_is_assumed(
    hass: HomeAssistant,
    user_input: ConversationInput,
    intent_type: str,
    slots: Slots,
) -> bool:
    """Return whether Home Assistant takes a sentence for what its words do not mean.

    Where they name only a place, it assumes things there, Italian sentences that turn
    off a TV mute it, and texts that may be anything hold a "no": "add no milk".
    """
    if intent_type in _READ_FIRST:
        calls = (await async_read(hass, user_input)).calls
        is_played = intent_type == INTENT_MEDIA_SEARCH_AND_PLAY
        is_other = intent_type not in {call.intent for call in calls}
        # "play jazz in the kitchen and the bath" is for more than Home Assistant finds
        if len(calls) > 1:
            return True
        if calls and not is_played:
            return is_other
    names = await _async_vocabulary(hass, user_input.language)
    if names is None:
        return False
    words = names.words
    if words.begins_negated(str(slots.get("item", ""))):
        return True
    query = str(slots.get("search_query", ""))
    if words.is_reversing(telling := telling_text(query, words)) and telling != query:
        return True  # "play no music"
    if not {"area", "floor"} & slots.keys() or "name" in slots:
        return False
    touched = intent_effects(hass, intent_type, slots, conversation.DOMAIN).actions
    domains = frozenset(split_entity_id(one.entity_id)[0] for one in touched)
    return bool(domains) and is_assumed(user_input.text, names, domains)


async def async_lexicon(
    hass: HomeAssistant,
    language: str,
) -> Lexicon | None:
    """Return the words of a language, if there are any."""
    return lexicon(await _async_loaded(hass, language))


async def async_past_question(
    hass: HomeAssistant, sentence: str, language: str
) -> PastQuestion | None:
    """Return what a sentence asks about what was; None for any other one."""
    names = await _async_vocabulary(hass, language, past_lexicon)
    return past_question(sentence, names) if names else None


async def async_happenings(
    hass: HomeAssistant, sentence: str, language: str
) -> Sequence[Happening]:
    """Return what a sentence may want to be done when something happens; none for any other sentence."""
    names = await _async_vocabulary(hass, language, happening_lexicon)
    return [*happenings(sentence, names)] if names else ()


async def async_spoken_message(
    hass: HomeAssistant, sentence: str, language: str
) -> SpokenMessage | None:
    """Return the message that a sentence wants to be spoken at home; None for any other sentence."""
    names = await _async_vocabulary(hass, language)
    return spoken_message(sentence, names) if names else None


async def _async_loaded(
    hass: HomeAssistant,
    language: str,
) -> str:
    """Load what is needed to read sentences of a language, and return its code."""
    code = base_language(language)
    if code not in _loaded_languages:
        await hass.async_add_executor_job(_load, code)
    return code


def _names_hidden(
    hass: HomeAssistant,
    sentence: str,
    names: HomeVocabulary,
) -> bool:
    """Return whether a sentence names what is not exposed, with words that would be taken for something else."""
    found = tokens(sentence)
    known = entities_by_name(hass)
    heard = [token.word for token in found]
    for start, first in enumerate(found):
        for end, named in names.found(heard, start):
            ids = known.get(compared(sentence[first.start : found[end - 1].end]))
            if ids and named.role is Role.ENTITY and ids.isdisjoint(names.by_id):
                return True
    return False


def _divided_at_dates(
    text: str,
    names: HomeVocabulary,
) -> Iterator[tuple[str, str]]:
    """Yield the words of each date in a question, and the question without it."""
    language = names.words.language
    counting = (
        one.text(span.start, span.end)
        for one in read(text, names)[:1]
        for span in one.spans
        if span.value == "until"
    )
    counted = next(counting, "")  # its "days until" would belong to the time
    dated = text.replace(counted, " ", 1)
    for question in dict.fromkeys((dated, with_feasts(dated, language))):
        for time in times_in(question, language, joined=True, has_days=bool(counted)):
            yield time.words, f"{time.rest} {counted}".strip()


def _read_date(
    user_input: ConversationInput,
    names: HomeVocabulary,
) -> ReadSentence:
    """Return a question about a date that is not one of the days of the lexicon: "the twenty second of March"."""
    now = dt_util.now()
    for words, rest in _divided_at_dates(user_input.text, names):
        match understand(rest, names, Surroundings()):
            case [WorldQuestion(days=() | ("0",)) as question] if question.topics != (
                "time",
            ):
                moment = resolve_time(
                    words,
                    now=now,
                    language=user_input.language,
                    sun=lambda _event, _day: None,
                )
                if moment is None:
                    continue
                is_hour = moment.names_hour and question.topics != ("date",)
                timed = replace(
                    question,
                    days=(),
                    hour=moment.due if is_hour else None,
                    on=None if is_hour else moment.due.date(),
                )
                return ReadSentence(answered=timed, last=timed)
            case _:
                pass
    return NOTHING_READ


_SET: Final = {
    **SETTINGS,
    MEDIA_PLAYER: SETTINGS[MEDIA_PLAYER] | SETTINGS["grouping"],
}
"""All values of devices, by domain."""
_MOST_VALUES: Final = 60
"""Of one device. A longer list is one of stations or apps."""
_loaded_languages: Final[set[str]] = set()


def _load(language: str) -> None:
    """Load what is needed to read sentences of a language."""
    zones()
    lexicon(language)
    past_lexicon(language)
    happening_lexicon(language)
    prepare(language)
    _loaded_languages.add(language)


_vocabularies: Final = home_singleton(
    "vocabularies", lambda _: dict[Lexicon, tuple[Home, HomeVocabulary]]()
)
"""Returns the names of the home by the words with which they are read."""


async def _async_vocabulary(
    hass: HomeAssistant,
    language: str,
    lexicon_of: Callable[[str], Lexicon | None] = lexicon,
) -> HomeVocabulary | None:
    """Return the names of the home with the words of a language; None if it has none.

    They are indexed once, and not in the event loop: that takes long in a large home.
    """
    words = lexicon_of(await _async_loaded(hass, language))
    if words is None:
        return None
    home = async_get_home(hass, conversation.DOMAIN)
    known = _vocabularies(hass)
    if words not in known or known[words][0] is not home:
        known[words] = home, _indexed(hass, home, words)
    names = known[words][1]
    modes = _modes(hass, home)
    if modes != names.modes:
        names = names.with_modes(modes)
        known[words] = home, names
    if not names.is_indexed:
        await hass.async_add_executor_job(names.index)
    return names


def _modes(
    hass: HomeAssistant,
    home: Home,
) -> frozenset[KnownMode]:
    """Return all that the devices of the home may be set to."""
    found = set[KnownMode]()
    for entity in home.all_entities:
        entity_id = entity.entity_id
        state = hass.states.get(entity_id)
        if state and entity.domain == "humidifier":
            found.add(KnownMode(entity_id, "humidity"))
        if state is None or entity.domain not in _SET:
            continue
        for slot, setting in _SET[entity.domain].items():
            if not has_setting(state, setting):
                continue
            if setting.choices:
                values = choices_of(state, setting)
            else:
                values = ("",)
            is_told = len(values) <= _MOST_VALUES
            known = (KnownMode(entity_id, slot, one) for one in values if is_told)
            found |= {*known}
    return frozenset(found)


def _indexed(
    hass: HomeAssistant,
    home: Home,
    words: Lexicon,
) -> HomeVocabulary:
    states = {
        entity.entity_id: hass.states.get(entity.entity_id)
        for entity in home.all_entities
    }
    classes = {
        key: str(state.attributes.get(ATTR_DEVICE_CLASS) or "")
        for key, state in states.items()
        if state
    }
    entities = tuple(
        KnownEntity(
            one.entity_id,
            one.domain,
            one.names,
            classes.get(one.entity_id, ""),
            one.area_id,
        )
        for one in home.all_entities
        if one.names
    )
    rooms = (
        NamedPlace(
            room.names,
            frozenset({room.area_id}),
        )
        for room in home.rooms
    )
    on_floor = {
        floor.floor_id: frozenset(
            room.area_id for room in home.rooms if room.floor_id == floor.floor_id
        )
        for floor in home.floors
    }
    floors = (
        NamedPlace(
            floor.names,
            on_floor[floor.floor_id],
        )
        for floor in home.floors
    )
    return HomeVocabulary(entities, (*rooms, *floors), words)


def _surroundings(
    hass: HomeAssistant,
    names: HomeVocabulary,
) -> Surroundings:
    """Return which players are playing, or else on."""
    players = [
        state
        for one in names.entities
        if one.domain == MEDIA_PLAYER and (state := hass.states.get(one.entity_id))
    ]
    playing = [state for state in players if state.state == STATE_PLAYING]
    active = playing or [state for state in players if state.state not in _IDLE]
    on, paused = (
        frozenset(state.entity_id for state in players if is_so(state))
        for is_so in (
            lambda one: one.state not in _IDLE,
            lambda one: one.state == STATE_PAUSED,
        )
    )
    return Surroundings(
        playing=frozenset(state.entity_id for state in active), on=on, paused=paused
    )


_INTENTS: Final = _TABLES["acts"]
_READ_FIRST: Final = frozenset(
    {
        *_INTENTS[MEDIA_PLAYER].values(),
        "HassClimateSetTemperature",
        "HassSetVolume",
        "HassSetVolumeRelative",
        INTENT_MEDIA_SEARCH_AND_PLAY,
    }
)
"""Intents whose sentences may mean more than Home Assistant finds in them."""
_STEPS: Final = _TABLES["steps"]
_DIRECTIONS: Final = _STEPS | {"open": 1, "close": -1}
_ON: Final = frozenset({"on", "open", "lock"})
_OFF: Final = frozenset({"off", "close", "unlock", "stop"})


def _in_unit(
    command: EntityCommand,
    unit: str,
) -> EntityCommand:
    """Return a command with a temperature in the unit of the home, to a half degree."""
    spoken_unit = _TEMPERATURES.get(command.unit, unit)
    if command.amount is None or spoken_unit == unit:
        return command
    converted = TemperatureConverter.convert_interval if command.is_by else _converted
    return replace(
        command, amount=round(converted(command.amount, spoken_unit, unit) * 2) / 2
    )


def _switched(
    state: State,
    act: str,
) -> Iterator[IntentCall]:
    name: dict[str, JsonValue] = {"name": state.entity_id}
    match state.domain:
        case domain if act in _INTENTS.get(domain, ()):
            yield IntentCall(_INTENTS[domain][act], name)
        case domain if domain in _ROBOTS:
            pass
        case domain:
            if act in _OFF:
                intent_type = intent.INTENT_TURN_OFF
            else:
                intent_type = intent.INTENT_TURN_ON
            yield IntentCall(
                intent_type,
                name | {"domain": domain},
                _TABLES["responses"].get(domain, "default"),
            )


_TEMPERATURES: Final = {
    "celsius": UnitOfTemperature.CELSIUS,
    "fahrenheit": UnitOfTemperature.FAHRENHEIT,
}
_converted: Final = TemperatureConverter.convert


def _able(
    states: Sequence[State],
    command: EntityCommand,
) -> Sequence[State]:
    """Return those of some lights that have colours, where a colour is set."""
    if not command.colour:
        return states
    modes = _COLOURED | (
        {ColorMode.COLOR_TEMP} if command.colour in {*_COLOURS, "white"} else set()
    )
    return [
        one
        for one in states
        if not modes.isdisjoint(one.attributes.get(ATTR_SUPPORTED_COLOR_MODES) or ())
    ]


_SETTING: Final = _TABLES["settings"]
"""The intents that set a value, and the slots that an amount is for, by domain."""


def _valued(
    state: State,
    value: JsonValue,
    slot: str = "",
) -> IntentCall:
    """Return the intent that sets a value of an entity."""
    intent_type, usual = _SETTING[state.domain]
    slots = {
        "name": state.entity_id,
        slot or usual: value,
    }
    if state.domain == LIGHT:
        response = slot or usual
    else:
        response = "default"
    return IntentCall(
        intent_type,
        slots,
        response,
    )


def _set(
    state: State,
    command: EntityCommand,
) -> Iterator[IntentCall]:
    amount = command.amount or 0.0
    match state.domain:
        case "light" if command.colour:
            kelvin = _COLOURS.get(command.colour)
            slot, value = (
                ("temperature", kelvin) if kelvin else ("color", command.colour)
            )
            call = _valued(
                state,
                value,
                slot,
            )
            is_dimmed = command.amount is not None
            if is_dimmed:
                brightness = {_SETTING[LIGHT][1]: int(amount)}
            else:
                brightness = {}
            yield call._replace(slots={**call.slots, **brightness})
        case "light" if command.unit == "kelvin":
            yield _valued(
                state,
                int(amount),
                "temperature",
            )
        case "climate":
            yield _valued(state, amount)
        case domain if domain in _SETTING:
            yield _valued(state, int(amount))
        case _:
            pass


def _stepped(
    states: Sequence[State],
    command: EntityCommand,
) -> Iterator[IntentCall]:
    """Yield what changes entities by a step, by an amount, or to an amount.

    Of lights, those that are on change, or all of them if all are off and it is to be
    brighter; those that can only be switched do not, beside others.
    """
    able = [
        one
        for one in states
        if one.attributes.get(ATTR_SUPPORTED_COLOR_MODES) != [ColorMode.ONOFF]
    ]
    lights = [one for one in able or states if one.domain == LIGHT]
    lit = [light for light in lights if light.state == STATE_ON]
    for state in able or states:
        is_left_off = lit and state in lights and state not in lit
        step = _STEPPED.get(state.domain)
        if step and not is_left_off and (call := step(state, command)):
            yield call


def _dimmed(
    state: State,
    command: EntityCommand,
) -> IntentCall | None:
    is_on = state.state == STATE_ON
    if not is_on and (command.amount is None or command.is_by):
        slots: dict[str, JsonValue] = {
            "name": state.entity_id,
            "domain": LIGHT,
        }
        is_brighter = _STEPS[command.act] > 0
        if is_brighter:
            return IntentCall(intent.INTENT_TURN_ON, slots)
        return None
    full = 255 if is_on else 0  # of a light that is on, and does not tell
    now = round((state.attributes.get(ATTR_BRIGHTNESS) or full) * 100 / 255)
    value = min(
        100,
        max(
            1,
            int(_further(now, command, _STEP)),
        ),
    )
    if value == now:
        return None
    return _valued(state, value)


def _volume_changed(
    state: State,
    command: EntityCommand,
) -> IntentCall:
    amount = int(command.amount or 0)
    direction = _STEPS[command.act]
    if command.amount is not None and not command.is_by:
        return _valued(state, amount)
    step: JsonValue = amount * direction
    if command.amount is None:
        step = "up" if direction > 0 else "down"
    slots = {
        "name": state.entity_id,
        "volume_step": step,
    }
    return IntentCall("HassSetVolumeRelative", slots)


def _speed_changed(
    state: State,
    command: EntityCommand,
) -> IntentCall | None:
    now = float(state.attributes.get(ATTR_PERCENTAGE) or 0)
    if not now and _STEPS[command.act] < 0:
        return None
    least = max(
        float(state.attributes.get(ATTR_PERCENTAGE_STEP) or 0),
        _STEP,
    )
    speed = min(
        100,
        max(
            least,
            _further(now, command, least),
        ),
    )
    return _valued(state, round(speed))


def _temperature_changed(
    state: State,
    command: EntityCommand,
) -> IntentCall | None:
    target = state.attributes.get(ATTR_TEMPERATURE)
    if target is None:
        return None
    low, high, now = (
        float(state.attributes.get(key, target))
        for key in (ATTR_MIN_TEMP, ATTR_MAX_TEMP, ATTR_TEMPERATURE)
    )
    degrees = _further(
        now,
        command,
        _DEGREE,
    )
    if command.amount is None:  # an amount out of range is refused
        degrees = min(high, max(low, degrees))
    return _valued(state, degrees)


_STEPPED: Final = {
    LIGHT: _dimmed,
    MEDIA_PLAYER: _volume_changed,
    "fan": _speed_changed,
    "climate": _temperature_changed,
}


def _moved(
    states: Sequence[State],
    command: EntityCommand,
) -> Iterator[IntentCall]:
    """Yield the intents that move covers and valves by an amount, as far as they tell their position."""
    for state in states:
        now = state.attributes.get(ATTR_CURRENT_POSITION)
        if now is not None:
            position = min(
                _OPEN,
                max(
                    0,
                    int(_further(now, command, _STEP)),
                ),
            )
            if position != now:
                yield _valued(state, position)


def _further(
    now: float,
    command: EntityCommand,
    step: float,
) -> float:
    """Return the value after a command that changes one by a step, by an amount or to an amount."""
    if command.amount is not None and not command.is_by:
        return command.amount
    return now + _DIRECTIONS[command.act] * (
        step if command.amount is None else command.amount
    )
