"""The tool that speaks a message at home: in rooms, to people, or everywhere. It replaces Home Assistant's own.

A message reaches satellites and phones as the news of plans do: busy satellites are
waited for, the night is kept, and what nobody heard is told when they speak next. In a
room without a satellite, a speaker says it.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    ConversationInput,
)
from homeassistant.components.homeassistant import async_should_expose
from homeassistant.components.media_player import (
    DOMAIN as MEDIA_PLAYER,
    MediaPlayerDeviceClass,
    MediaPlayerEntityFeature,
)
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_ID,
    STATE_HOME,
    STATE_PLAYING,
    STATE_UNAVAILABLE,
    STATE_UNKNOWN,
    Platform,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    floor_registry as fr,
    intent,
)
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.util import dt as dt_util

from ..agent.messages import (
    ToolAnnotations,
    ToolDefinition,
)
from ..agent.text import compared, plain_name
from ..approvals.notifications import can_announce, phones_of
from ..const import REDACTED_PIN
from ..effects.device_intents import features_of
from ..effects.effect import NOTHING, Effects, EntityAction
from ..effects.reading import async_spoken_message
from ..effects.recognition import RecognizedRequest, tool_request
from ..home.entity_matches import area_name, areas_of_entities, entity_name
from ..internals.conversation import async_recognized, slots_of
from ..offline.local_commands import Talk
from ..people.speakers import async_speaker_area
from ..settings.rules import async_get_home_rules
from ..settings.tool_names import BROADCAST_TOOL
from ..speech.sentences import async_get_sentences, joined_texts
from ..speech.text.times import TimeInSentence, times_in
from ..tools.own.own_tool import (
    Offered,
    OwnCall,
    OwnTool,
    ToolAnswer,
    error_answer,
    parameters,
)
from ..tools.own.registry import can_act
from .plans import LONGEST_TEXT, Asker, News
from .schedule import async_get_schedule
from .telling import IDLE, PERSON, async_play, speech_engine

_MESSAGE: Final = "message"
_TO: Final = "to"
URGENT: Final = "urgent"
"""The argument of tools for what is told at night, too."""
_SATELLITE: Final = Platform.ASSIST_SATELLITE
_PHONES: Final = "voip"
"""The integration of telephones. Source: `EXCLUDED_DOMAINS` (homeassistant.components.assist_satellite.intent)."""
_ANNOUNCE: Final = f"{_SATELLITE}.announce"
_PLAY: Final = f"{MEDIA_PLAYER}.play_media"
_ALL: Final = frozenset({"all", "everyone", "everybody", "everywhere", "home", "house"})
_GONE: Final = frozenset({STATE_UNAVAILABLE, STATE_UNKNOWN})
_MODEL: Final = parameters(
    {
        _MESSAGE: ("string", ""),
        _TO: ("string", ""),
        URGENT: ("boolean", "At night, too"),
    },
    _MESSAGE,
)


class _Unheard(Exception):
    """A message reaches nobody. The text tells why, in the language of the speaker."""


class _Listener(NamedTuple):
    """A place or a person that is to hear a message."""

    name: str
    entity_id: str
    """The satellite or the speaker; empty for a person whose phone is told."""
    asker: Asker
    """Where the message is delivered, in the words of the delivery of plans."""

    @property
    def is_speaker(self) -> bool:
        """Return whether a speaker plays it."""
        return self.entity_id.startswith(f"{MEDIA_PLAYER}.")


class _Named(NamedTuple):
    """The rooms and people that a message is for; none for all."""

    rooms: Mapping[str, AbstractSet[str]] = MappingProxyType({})
    """Ids of areas by the name of a room or a floor."""
    people: tuple[State, ...] = ()

    @property
    def area_ids(self) -> frozenset[str]:
        """The ids of all areas."""
        return frozenset[str]().union(*self.rooms.values())

    def rooms_without(self, spoken_in: AbstractSet[str | None]) -> Sequence[str]:
        """Return the names of the rooms and floors that have none of some areas."""
        return [name for name, ids in self.rooms.items() if ids.isdisjoint(spoken_in)]


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of a home in which a message can be heard."""

    hass: HomeAssistant
    areas: Mapping[str, str | None]
    """Of all entities."""

    def listeners(self) -> Iterator[_Listener]:
        """Yield the satellites that announce, but for phones, and a speaker of each other room that can speak."""
        registry = er.async_get(self.hass)
        taken: set[str | None] = {None}
        for state in self.hass.states.async_all(_SATELLITE):
            entry = registry.async_get(state.entity_id)
            is_phone = entry is not None and entry.platform == _PHONES
            if can_announce(self.hass, state.entity_id) and not is_phone:
                taken.add(self.areas.get(state.entity_id))
                device_id = entry.device_id if entry else None
                yield self._listener(
                    state, Asker(device_id=device_id, satellite_id=state.entity_id)
                )
        for state in (
            self.hass.states.async_all(MEDIA_PLAYER) if speech_engine(self.hass) else ()
        ):
            area_id = self.areas.get(state.entity_id)
            if area_id not in taken and self._can_speak(state):
                taken.add(area_id)
                yield self._listener(state, Asker())

    def _can_speak(self, state: State) -> bool:
        """Return whether a speaker can say something beside its music."""
        features = features_of(state)
        if not _is_speaker(state):
            return False
        if not features & MediaPlayerEntityFeature.PLAY_MEDIA:
            return False
        is_mixing = features & MediaPlayerEntityFeature.MEDIA_ANNOUNCE
        if state.state in _GONE or (state.state == STATE_PLAYING and not is_mixing):
            return False
        return async_should_expose(
            self.hass,
            CONVERSATION,
            state.entity_id,
        )

    def _listener(
        self,
        state: State,
        asker: Asker,
    ) -> _Listener:
        """Return a satellite or a speaker as a listener, called like its room."""
        place = area_name(self.hass, state.entity_id)
        return _Listener(
            place or entity_name(self.hass, state.entity_id),
            state.entity_id,
            asker,
        )


def _is_speaker(state: State) -> bool:
    return state.attributes.get(ATTR_DEVICE_CLASS) == MediaPlayerDeviceClass.SPEAKER


def _listeners(call: OwnCall) -> tuple[Sequence[_Listener], Sequence[str]]:
    """Return those that a call is for, and the names of rooms in which nothing speaks.

    Raises `_Unheard` for names that nothing has.
    """
    hass = call.hass
    places = _Places(hass, areas_of_entities(hass))
    named = _named(
        hass,
        call.text(_TO),
    )
    here = {call.satellite_id, call.llm_context.device_id} - {None}
    found = [
        one
        for one in places.listeners()
        if (places.areas.get(one.entity_id) in named.area_ids)
        or not (any(named) or here & {one.asker.device_id, one.asker.satellite_id})
    ]
    silent = named.rooms_without({places.areas.get(one.entity_id) for one in found})
    for person in named.people:
        found += _of_person(hass, person)
    return list({one.entity_id or one.name: one for one in found}.values()), silent


def _of_person(
    hass: HomeAssistant,
    person: State,
) -> Iterator[_Listener]:
    """Yield the satellites of a person that is at home, or else the person, whose phone is told."""
    devices = {
        device_id
        for device_id, entity_id in async_get_home_rules(
            hass
        ).current.people_at_satellites.items()
        if entity_id == person.entity_id
    }
    asker = Asker(
        user_id=person.attributes.get("user_id"),
        person_id=person.attributes.get(ATTR_ID),
        name=person.name,
    )
    own = [
        entry
        for entry in er.async_get(hass).entities.values()
        if entry.domain == _SATELLITE and entry.device_id in devices
    ]
    near = [
        replace(
            asker,
            device_id=entry.device_id,
            satellite_id=entry.entity_id,
        )
        for entry in own
        if can_announce(hass, entry.entity_id)
    ]
    for one in near if person.state == STATE_HOME else ():
        yield _Listener(
            person.name,
            str(one.satellite_id),
            one,
        )
    if person.state != STATE_HOME or not near:
        yield _Listener(
            person.name,
            "",
            asker,
        )


def _named(hass: HomeAssistant, to: str) -> _Named:
    """Return the rooms and people with some names, divided by commas. Raises `_Unheard` with one that nothing has."""
    rooms_by_name = dict[str, AbstractSet[str]]()
    people = list[State]()
    for name in filter(None, map(str.strip, to.split(","))):
        if compared(name) in _ALL:
            return _Named()
        rooms = {area.id for area in intent.find_areas(name, ar.async_get(hass))}
        for floor in intent.find_floors(name, fr.async_get(hass)):
            rooms |= {
                area.id
                for area in ar.async_get(hass).async_list_areas()
                if area.floor_id == floor.floor_id
            }
        persons = [
            state
            for state in hass.states.async_all(PERSON)
            if compared(name) in map(compared, _names_of(hass, state))
        ]
        if not (rooms or persons):
            raise _Unheard(name)
        if rooms:
            rooms_by_name[name] = rooms
        people += persons
    return _Named(rooms_by_name, tuple(people))


def _names_of(
    hass: HomeAssistant,
    state: State,
) -> Sequence[str]:
    entry = er.async_get(hass).async_get(state.entity_id)
    if entry is None:
        return [state.name]
    return intent.async_get_entity_aliases(
        hass,
        entry,
        state=state,
    )


async def _async_effects(call: OwnCall) -> Effects:
    """Return the announcements that a call makes, as far as they are those of entities."""
    try:
        listeners, _ = _listeners(call)
    except _Unheard:
        return NOTHING
    actions = [
        EntityAction(
            one.entity_id,
            _PLAY if one.is_speaker else _ANNOUNCE,
        )
        for one in listeners
        if one.entity_id
    ]
    return Effects(
        actions=frozenset(actions),
        beside_entities=True,
    )


async def _async_run(call: OwnCall) -> ToolAnswer:
    """Deliver a message, and tell where it is heard."""
    sentences = await call.async_sentences()
    message = " ".join(call.text(_MESSAGE).split())
    if not message or len(message) > LONGEST_TEXT or REDACTED_PIN in message:
        return error_answer(
            f"Not said: a message has up to {LONGEST_TEXT} characters, and no PIN."
        )
    try:
        listeners, silent = _listeners(call)
    except _Unheard as error:
        why = sentences["spoken_unknown_thing"].format(name=error)
        return error_answer(why, why)
    is_urgent = bool(call.arguments.get(URGENT))
    delivery = _Delivery(
        call.hass,
        message,
        call.language,
        is_urgent,
    )
    groups = {**await delivery.async_deliver(listeners)}
    if silent:
        groups[_SILENT] = silent
    spoken_texts = [
        sentences[key].format(
            targets=joined_texts(
                sentences,
                dict.fromkeys(names),
            ),
            time=delivery.night_ends,
        )
        for key, names in groups.items()
    ]
    is_heard = bool(groups.keys() - {_UNREACHED, _SILENT})
    if not is_heard:
        why = " ".join(spoken_texts) or sentences["broadcast_nobody"]
        return error_answer(why, why)
    return ToolAnswer(
        {},
        speech=" ".join(spoken_texts),
    )


_NOW: Final = "broadcast_now"
_UNREACHED: Final = "spoken_unreachable_targets"
_SILENT: Final = "broadcast_silent"


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A message that is delivered."""

    hass: HomeAssistant
    message: str
    language: str
    is_urgent: bool

    @property
    def night_ends(self) -> str:
        """The time up to which nobody is told; empty by day, and of an urgent message."""
        night = async_get_home_rules(self.hass).current.night
        if night is None or self.is_urgent or not night.holds(dt_util.now().time()):
            return ""
        return f"{night.before:%H:%M}"

    async def async_deliver(
        self, listeners: Sequence[_Listener]
    ) -> Mapping[str, Sequence[str]]:
        """Deliver it, and return the names of the listeners by the key of the sentence that tells when they hear it."""
        if self.night_ends:
            speakers = []
        else:
            speakers = [one for one in listeners if one.is_speaker]
        others = [one for one in listeners if not one.is_speaker]
        reached = [one for one in others if not self._is_gone(one)]
        await async_get_schedule(self.hass).async_tell_all(
            News(
                text=self.message,
                language=self.language,
                asker=one.asker,
                is_urgent=self.is_urgent,
            )
            for one in reached
        )
        played = await asyncio.gather(
            *(
                async_play(
                    self.hass,
                    one.entity_id,
                    self.message,
                    self.language,
                )
                for one in speakers
            )
        )
        groups = dict[str, list[str]]()
        for one in reached:
            groups.setdefault(self._key(one), []).append(one.name)
        for one, is_played in zip(speakers, played, strict=True):
            groups.setdefault(_NOW if is_played else _UNREACHED, []).append(one.name)
        for one in others:
            if one not in reached:
                groups.setdefault(_UNREACHED, []).append(one.name)
        return groups

    def _is_gone(self, one: _Listener) -> bool:
        state = self.hass.states.get(one.entity_id)
        return state is not None and state.state in _GONE

    def _key(self, one: _Listener) -> str:
        """Return the key of the sentence that tells when a listener hears it."""
        if self.night_ends:
            return "broadcast_morning"
        if not one.entity_id:
            if phones_of(self.hass, one.asker.user_id):
                return _NOW
            return "broadcast_kept"
        if self.hass.states.is_state(one.entity_id, IDLE):
            return _NOW
        return "broadcast_soon"


async def async_recognize_broadcast(
    hass: HomeAssistant,
    user_input: ConversationInput,
    talk: Talk,
    found: RecognizedRequest | None,
) -> RecognizedRequest | None:
    """Return the request to speak a message, or else the one that Home Assistant has `found`."""
    is_other = found is not None and found.intent != intent.INTENT_BROADCAST
    if is_other or talk.agent is None:
        return found
    if await async_message_later(hass, user_input):
        return None
    arguments = await _async_arguments(hass, user_input)
    if found and not arguments:
        recognized = await async_recognized(hass, user_input)
        slots = slots_of(recognized) if recognized else {}
        arguments = {_MESSAGE: str(slots[_MESSAGE])} if _MESSAGE in slots else {}
    if not arguments:
        return found
    return tool_request(BROADCAST_TOOL, {**arguments})


async def async_message_later(
    hass: HomeAssistant, user_input: ConversationInput
) -> tuple[TimeInSentence, dict[str, str]] | None:
    """Return the time at which a sentence wants a message spoken, and the arguments of the call.

    A time at the end, or before words that nothing divides from it, is one of the
    message: "tell everyone at seven we leave".
    """
    if not _has_voices(hass):
        return None
    text = user_input.text
    language = user_input.language
    now = (await _async_arguments(hass, user_input)).get(
        _MESSAGE,
        "",
    )
    for time in times_in(text, language, joined=True):
        begun, _, ended = now.partition(time.words)
        if now and (begun or not ended):
            continue
        later = await _async_arguments(
            hass,
            replace(user_input, text=time.rest),
        )
        if later and not (now and plain_name(ended) == plain_name(later[_MESSAGE])):
            return time, later
    return None


async def _async_arguments(
    hass: HomeAssistant, user_input: ConversationInput
) -> dict[str, str]:
    """Return the arguments of the call that a sentence asks for; none for any other sentence."""
    request = await async_spoken_message(
        hass,
        user_input.text,
        user_input.language,
    )
    if request is None:
        return {}
    text = request.text
    if not text:
        sentences = await async_get_sentences(hass, user_input.language)
        area = async_speaker_area(hass, user_input)
        key = "broadcast_come_to" if area else "broadcast_come"
        text = sentences[key].format(area=area.name if area else "")
    areas = ar.async_get(hass)
    rooms = map(
        areas.async_get_area,
        sorted(request.listeners.area_ids),
    )
    names = [room.name for room in rooms if room]
    names += [entity_name(hass, one) for one in sorted(request.listeners.people)]
    return {
        _MESSAGE: text,
        **({_TO: ", ".join(names)} if names else {}),
    }


def urgency_without_night(hass: HomeAssistant) -> Collection[str]:
    """Return that argument where nothing waits for the morning."""
    if async_get_home_rules(hass).current.night:
        return ()
    return (URGENT,)


def _can_be_heard(offered: Offered) -> bool:
    """Return whether an agent acts in a home whose satellites or speakers can speak."""
    return can_act(offered) and _has_voices(offered.hass)


def _has_voices(hass: HomeAssistant) -> bool:
    """Return whether there is a satellite, or else a speaker and a voice for it, whatever they do at the moment."""
    if hass.states.async_entity_ids(_SATELLITE):
        return True
    return bool(speech_engine(hass)) and any(
        map(_is_speaker, hass.states.async_all(MEDIA_PLAYER))
    )


BROADCAST: Final = OwnTool(
    definition=ToolDefinition(
        BROADCAST_TOOL,
        "Speaks a message in the home. to: rooms, floors, people; else all. Tell where.",
        _MODEL,
        ToolAnnotations(
            read_only=False, destructive=False, idempotent=False, open_world=False
        ),
    ),
    run=_async_run,
    needs=_can_be_heard,
    needless=urgency_without_night,
    targets=frozenset({"chatterbox.broadcast"}),
    label=LLM_API_ASSIST,
    is_tried=True,
    effects=_async_effects,
)
"""The tool, of all agents that can act."""
