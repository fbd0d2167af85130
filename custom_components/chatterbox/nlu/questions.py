"""Understands questions: about the world around the home, and about the states of its entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from .commands import KINDS, Surroundings, places_of
from .lexicon import Role
from .reading import Parts, Reading
from .vocabulary import HomeVocabulary, KnownEntity


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question about the world around the home: the time, the date, the weather."""

    topics: tuple[str, ...]
    days: tuple[str, ...] = ()
    is_whether: bool = False
    """Whether its answer begins with yes or no."""
    zone: str = ""
    """The time zone of the place whose time is asked for; empty for here."""
    on: date | None = None
    """The date that is asked about, if it is none of the `days`."""


@dataclass(frozen=True, slots=True)
class StateQuestion:
    """A question about the states of entities."""

    ids: frozenset[str]
    form: str
    """The key of Home Assistant's answer."""
    state: str = ""
    """The state that is asked for, a value of the lexicon; empty for any."""
    spoken_state: str = ""
    """The same, as it was said."""


_WEATHER: Final = frozenset(
    {"weather", "rain", "snow", "sun", "wind", "fog", "clouds", "storm", "feel"}
)
_CLOCK: Final = frozenset({"time", "date"})
_NOW: Final = frozenset({"0", "now"})
_SILENT: Final = frozenset({Role.FILLER, Role.PREPOSITION, Role.AND})
_OF_QUESTIONS: Final = _SILENT | {
    *(
        Role.QUESTION,
        Role.BE,
        Role.TOPIC,
        Role.ZONE,
        Role.DAY,
        Role.QUANTIFIER,
        Role.PLACE,
        Role.PRONOUN,
    ),
}
_OF_STATES: Final = _SILENT | {
    *(
        Role.QUESTION,
        Role.BE,
        Role.STATE,
        Role.ENTITY,
        Role.KIND,
        Role.PLACE,
        Role.QUANTIFIER,
        Role.ASPECT,
        Role.PRONOUN,
    ),
}
_ON: Final = frozenset(
    {
        "light",
        "switch",
        "fan",
        "media_player",
        "climate",
        "humidifier",
        "input_boolean",
        "siren",
        "water_heater",
    }
)
_OPEN: Final = frozenset({"cover", "valve", "binary_sensor"})
_BY_STATE: Final = {
    **dict.fromkeys(("on", "off"), _ON),
    **dict.fromkeys(("open", "closed"), _OPEN),
    **dict.fromkeys(("locked", "unlocked"), frozenset({"lock"})),
    **dict.fromkeys(("docked", "cleaning"), frozenset({"vacuum"})),
    "playing": frozenset({"media_player"}),
    "home": frozenset({"person", "device_tracker"}),
}
"""The domains of entities that may be in a state."""
_OPENINGS: Final = frozenset({"door", "garage_door", "opening", "window"})
"""The classes of sensors that tell whether something is open."""
_SHUT: Final = frozenset({"off", "closed", "locked"})
"""States that are wanted of all: "are the lights off?"."""
_ANY: Final = frozenset({"anything", "everything"})
MOST_TOLD: Final = 3
"""Entities whose states are told in one answer."""


def state_question(
    parts: Parts, reading: Reading, names: HomeVocabulary, surroundings: Surroundings
) -> StateQuestion | None:
    """Return the question about states that all words ask."""
    forms, states = parts.values(Role.QUESTION), parts.all(Role.STATE)
    begin = next(
        (span.role for span in parts.spans if span.role is not Role.FILLER), None
    )
    is_asked = begin in {Role.QUESTION, Role.BE} or (
        reading.is_asked and bool(parts.all(Role.BE))
    )
    if not is_asked or not _OF_STATES.issuperset(parts.by_role) or len(states) > 1:
        return None
    state = states[0].value.removeprefix("turned_") if states else ""
    spoken = reading.text(states[0].start, states[0].end) if states else ""
    is_named = bool(parts.all(Role.ENTITY) or parts.all(Role.PRONOUN))
    is_whether = {*forms} <= {"is"}
    ids = _asked_about(parts, state, names, surroundings, is_whether=is_whether)
    if not ids:
        return None
    if not states:
        is_value = (is_named or bool(parts.all(Role.ASPECT))) and not parts.all(
            Role.KIND
        )
        return (
            StateQuestion(ids, "one")
            if is_value and "what" in forms and len(ids) <= MOST_TOLD
            else None
        )
    is_plural = any(
        kind.is_plural
        for value in parts.values(Role.KIND)
        if (kind := KINDS.get(value))
    )
    if is_whether and (is_named or (len(ids) == 1 and not is_plural)):
        return StateQuestion(ids, "one_yesno", state, spoken) if len(ids) == 1 else None
    if is_whether:
        is_all = state in _SHUT or "all" in parts.values(Role.QUANTIFIER)
        form = "all" if is_all and "any" not in parts.values(Role.QUANTIFIER) else "any"
        return StateQuestion(ids, form, state, spoken) if parts.all(Role.KIND) else None
    is_some = (
        not is_named
        and (bool(parts.all(Role.KIND)) or state in {"on", "open"})
        and bool(parts.all(Role.BE) or "what" in forms)
    )
    form = next(
        (one for one in ("how_many", "which") if one in forms),
        "which" if forms == ["what"] else "",
    )
    return StateQuestion(ids, form, state, spoken) if form and is_some else None


def _asked_about(
    parts: Parts,
    state: str,
    names: HomeVocabulary,
    surroundings: Surroundings,
    *,
    is_whether: bool,
) -> frozenset[str]:
    """Return the entities that a question means, none if its words mean none together."""
    aspects, kinds = (
        parts.values(Role.ASPECT),
        [KINDS.get(one) for one in parts.values(Role.KIND) if one not in _ANY],
    )
    able = {one.entity_id for one in names.entities if not state or _may_be(one, state)}
    if "who" in parts.values(Role.QUESTION):
        able = {one for one in able if names.by_id[one].domain == "person"}
    if aspects:
        able = {
            one
            for one in able
            if names.by_id[one].domain == "sensor"
            and names.by_id[one].device_class in aspects
        }
    for kind in kinds:
        sensed = (
            {"garage_door" if one == "garage" else one for one in kind.device_classes}
            if kind
            else ()
        )
        able = {
            one
            for one in able
            if kind
            and (
                kind.has(names.by_id[one])
                or (
                    names.by_id[one].domain == "binary_sensor"
                    and names.by_id[one].device_class in sensed
                )
            )
        }
    for areas in (
        places := places_of(
            parts.spans, parts.values(Role.QUANTIFIER), names, surroundings
        )
    ):
        able = {one for one in able if names.by_id[one].area_id in areas}
    if "others" in parts.values(Role.QUANTIFIER):
        return frozenset()
    if parts.all(Role.PRONOUN):
        return frozenset(surroundings.last & able)
    named = [span.named.ids for span in parts.all(Role.ENTITY) if span.named]
    found = frozenset(able).intersection(*named)
    near = frozenset(
        one for one in found if names.by_id[one].area_id == surroundings.area_id
    )
    is_singular = bool(kinds) and not any(kind.is_plural for kind in kinds if kind)
    is_here = (
        is_whether
        and is_singular
        and not (places or named or parts.all(Role.QUANTIFIER))
    )
    return near if near and is_here else found


def _may_be(entity: KnownEntity, state: str) -> bool:
    """Return whether an entity may be in a state."""
    if entity.domain not in _BY_STATE.get(state, ()):
        return False
    return entity.domain != "binary_sensor" or entity.device_class in _OPENINGS


def world_question(parts: Parts, *, is_marked: bool) -> WorldQuestion | None:
    """Return the question about the time or the weather that all words ask."""
    topics = parts.values(Role.TOPIC)
    is_elsewhere = any(span.named for span in parts.all(Role.PLACE))
    is_told = parts.spans[0].role is Role.PRONOUN  # "it is cold"
    if (
        not topics
        or is_elsewhere
        or is_told
        or not _OF_QUESTIONS.issuperset(parts.by_role)
    ):
        return None
    if topics == ["help"]:
        return (
            WorldQuestion(("help",))
            if {*parts.by_role} <= {Role.TOPIC, Role.FILLER}
            else None
        )
    if _CLOCK.issuperset(topics):
        return _about_clock(parts, topics)
    if topics == ["song"]:
        return (
            WorldQuestion(("song",))
            if _NOW.issuperset(parts.values(Role.DAY)) and not parts.all(Role.ZONE)
            else None
        )
    is_indoors = bool(parts.all(Role.QUANTIFIER)) and "feel" in topics
    if parts.all(Role.ZONE) or is_indoors or not is_about_weather(topics):
        return None
    forms = parts.values(Role.QUESTION)
    days = (
        parts.values(Role.DAY)
        or ["week"] * ("when" in forms)
        or ["0"] * (not {"will", "need"}.isdisjoint(forms))
    )
    phenomena = tuple(topic for topic in topics if topic != "weather")
    is_whether = (
        bool(parts.all(Role.BE) or not {"is", "need", "when", "will"}.isdisjoint(forms))
        and "what" not in forms
    )
    is_whether = is_whether or bool(
        is_marked and phenomena and not forms
    )  # "¿llueve mañana?"
    is_told = topics == ["feel"] and not (forms or is_marked)  # "hace frío"
    is_asked = (is_whether and not is_told) or bool(forms)
    if (is_whether and len(phenomena) > 1) or not (
        is_asked or days or topics == ["weather"] or len(parts.spans) == 1
    ):
        return None
    return WorldQuestion(phenomena or ("weather",), tuple(days), is_whether)


def is_about_weather(topics: Sequence[str]) -> bool:
    """Return whether the topics of a question are the weather."""
    return _WEATHER.issuperset(topics)


def _about_clock(parts: Parts, topics: Sequence[str]) -> WorldQuestion | None:
    zones = parts.values(Role.ZONE)
    is_asked = (
        bool(parts.all(Role.QUESTION) or parts.all(Role.BE))
        or parts.spans[0].role is Role.TOPIC
    )
    if (
        not is_asked
        or parts.all(Role.PLACE)
        or not _NOW.issuperset(parts.values(Role.DAY))
    ):
        return None
    if len(zones) > 1 or (zones and topics != ["time"]):
        return None
    return WorldQuestion(tuple(topics), zone=zones[0] if zones else "")
