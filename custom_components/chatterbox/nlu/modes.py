"""Understands how devices are to be set: what heats and cools, sources, and the order and groups of players.

A value is one that a device of the home has; the words say which device, unless only
one in the room, or at home, has it.
"""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from itertools import pairwise
from typing import Final

from .kinds import KINDS, domains_by
from .lexicon import SILENT, SMALL, Role
from .reading import ACTING, NAMING, Parts, PhraseSpan, Spans
from .requests import Choice, DeviceSetting, PlayerGroup, StateQuestion
from .targets import CLIMATE, MODE, PLAYER, CommandTargets, Meant
from .vocabulary import TOLD, is_mode

SETTING: Final = "setting"
"""The form of a question how devices are set."""
_HVAC: Final = "hvac_mode"
_PRESET: Final = "preset_mode"
_FAN: Final = "fan_mode"
_RANGE: Final = ("target_temp_low", "target_temp_high")
_HEAT_AND_COOL: Final = ("heat", "cool")
_ORDERS: Final[Mapping[str, tuple[str, str | bool, str | bool]]] = {
    "shuffle": (
        "shuffle",
        True,
        False,
    ),
    "repeat_one": (
        "repeat",
        "one",
        "off",
    ),
    "repeat_all": (
        "repeat",
        "all",
        "off",
    ),
}
"""Ways of playing: what is set, to what, and to what if it is turned off."""
_ROLES: Final = (
    SILENT
    | ACTING
    | NAMING
    | {
        Role.QUANTIFIER,
        Role.PRONOUN,
        Role.ASPECT,
        Role.AMOUNT,
        Role.MODE,
        Role.STATE,
    }
)
_SETTING: Final = frozenset({"set", "turn", "change", "on", "start"})
_SLOTS: Final = {
    "mode": (_HVAC, _PRESET),
    "preset": (_PRESET,),
    "fan_mode": (_FAN,),
    "speed": (_FAN,),
}
"""The slots of a mode, by the property that is named."""
_SOURCES: Final = frozenset({"source", "sound_mode"})
_FANS: Final = frozenset({"fan", "fans"})
_DEGREES: Final = frozenset({"", "degrees", "celsius", "fahrenheit"})
_TEMPERATURES: Final = frozenset({"celsius", "fahrenheit"})
_BETWEEN: Final = frozenset({"between", "from"})
_JOINING: Final = frozenset({"with", "to"})

_ASKED: Final = domains_by("asked")
"""The domains of the devices, by the property that is asked about."""
_OF_QUESTIONS: Final = (
    SMALL
    | NAMING
    | {
        Role.QUESTION,
        Role.BE,
        Role.TOPIC,
        Role.DAY,
        Role.ASPECT,
        Role.QUANTIFIER,
        Role.PRONOUN,
    }
)
_MOST_DEVICES: Final = 3
_MEASURED: Final = frozenset({"temperature", "humidity"})

type Requested = DeviceSetting | PlayerGroup | Choice


def device_settings(parts: Parts) -> Sequence[Requested]:
    """Return what all words ask to be set; empty if they ask for nothing of that kind."""
    acts = parts.acts
    is_known = KINDS.keys() >= {*parts.values(Role.KIND)}
    is_explained = is_known and _ROLES.issuperset(parts.by_role)
    if not is_explained or (parts.all(*ACTING) and not acts):
        return ()
    request = _Request(
        parts.spans,
        parts.reading,
        parts.surroundings,
    )
    if acts and acts[0] in {"join", "part"}:
        return request.groups(acts[0])
    for understand in (request.of_player, request.of_climate):
        found = understand()
        if found:
            return found
    return ()


def setting_question(parts: Parts) -> StateQuestion | None:
    """Return the question how devices are set, or what plays in a room, that all words ask."""
    aspect = _asked_about(parts)
    aspects = parts.values(Role.ASPECT)
    if not aspect:
        return None
    domains = _ASKED[aspect]
    is_humidity = aspect == "setting" and "humidity" in aspects
    able = parts.names.able("humidity") if is_humidity else None
    found = CommandTargets(
        parts,
        MODE,
        domains,
        able,
    ).found()
    ids = found.ids if isinstance(found, Choice) else found
    if not ids or len(ids) > _MOST_DEVICES:
        return None
    return StateQuestion(
        ids,
        SETTING,
        aspect="humidity" if is_humidity else aspect,
    )


def _asked_about(parts: Parts) -> str:
    """Return what of devices is asked about; empty if the words do not ask for it."""
    is_asked = not {"what", "which"}.isdisjoint(parts.values(Role.QUESTION))
    is_known = KINDS.keys() >= {*parts.values(Role.KIND)}
    topics = parts.values(Role.TOPIC)
    aspects = parts.values(Role.ASPECT)
    answered = [one for one in (*aspects, *topics) if one not in _MEASURED]
    kinds = {*parts.values(Role.KIND)} - {"music", "radio"}
    is_placed = bool(kinds or parts.all(Role.ENTITY, Role.PLACE))
    is_explained = is_known and _OF_QUESTIONS.issuperset(parts.by_role)
    is_whole = is_explained and (is_placed or not topics)
    is_one = len(answered) == 1 and answered[0] in _ASKED
    if is_asked and is_whole and is_one:
        return answered[0]
    return ""


class _Request(Parts):
    """The words of a request."""

    @property
    def modes(self) -> list[str]:
        """The modes that are named."""
        return [one.removesuffix(TOLD) for one in self.values(Role.MODE)]

    @property
    def aspects(self) -> list[str]:
        return self.values(Role.ASPECT)

    @property
    def is_off(self) -> bool:
        """Whether a mode is to be left."""
        return "off" in self.acts or self.values(Role.STATE) == ["off"]

    @property
    def is_set(self) -> bool:
        """Whether a mode is to be set, by an act or by its name alone."""
        states = self.values(Role.STATE)
        return states in ([], ["on"]) and (
            not self.acts or not _SETTING.isdisjoint(self.acts)
        )

    def _targets(
        self,
        domains: AbstractSet[str],
        able: frozenset[str],
        without: AbstractSet[str] = frozenset(),
    ) -> Meant:
        """Return the devices that are meant: among those that can do it, else the ones that are named."""
        spans = [
            span
            for span in self.spans
            if not (span.role is Role.KIND and span.value in without)
        ]
        parts = Parts(
            spans,
            self.reading,
            self.surroundings,
        )
        every = frozenset(
            one.entity_id for one in self.names.entities if one.domain in domains
        )
        is_named = bool(parts.all(Role.ENTITY, Role.KIND))
        for among in (able, every) if is_named else (able,):
            found = CommandTargets(
                parts,
                MODE,
                domains,
                among,
            ).found()
            if found:
                return found
        return None

    def of_player(self) -> Sequence[Requested]:
        """Return an order of playing or a source."""
        if len(self.modes) != 1 or self.all(Role.AMOUNT):
            return ()
        mode = self.modes[0]
        if mode in _ORDERS:
            return self._order(mode)
        return self._source(mode)

    def _order(self, mode: str) -> Sequence[Requested]:
        slot, value, off = _ORDERS[mode]
        is_told = self.is_off or self.is_set or "play" in self.acts
        if not is_told or self.aspects:
            return ()
        ids = self._targets(
            PLAYER,
            self.names.able(slot),
        )
        return _settings(
            ids,
            {slot: off if self.is_off else value},
        )

    def _source(self, mode: str) -> Sequence[Requested]:
        """Return a source or a sound mode, of what is named or by an act: "Netflix" alone may be anything."""
        if self.aspects:
            aspect = self.aspects[0]
        else:
            aspect = "source"
        able = self.names.able(aspect, mode)
        is_named = bool(self.all(*NAMING, Role.PRONOUN))
        is_told = self.is_set and bool(self.acts or is_named)
        if aspect not in _SOURCES or not able or not is_told:
            return ()
        return _settings(
            self._targets(PLAYER, able),
            {aspect: mode},
        )

    def of_climate(self) -> Sequence[Requested]:
        """Return modes, temperatures or a humidity of what heats and cools."""
        kinds = {*self.values(Role.KIND)}
        if not kinds <= {*_FANS, "thermostat", "thermostats"}:
            return ()
        amounts = self.all(Role.AMOUNT)
        if "humidity" in self.aspects:
            return self._humidity(amounts)
        if any(one.value not in _DEGREES for one in amounts):
            return ()
        if len(amounts) == len(_RANGE):
            return self._range(amounts)
        if len(self.all(Role.MODE)) != 1 or len(amounts) > 1 or self._is_change:
            return ()
        return self._mode(
            self.modes[0],
            amounts,
            is_fan=not kinds.isdisjoint(_FANS),
        )

    @property
    def _is_change(self) -> bool:
        """Whether a mode may be the one to leave: "out of eco mode", "the AC from cool to heat"."""
        [mode] = self.all(Role.MODE)
        named = self.all(*NAMING)
        is_before = any(one.start < mode.start for one in named)
        kinds = self.all(Role.KIND)
        is_after = any(one.start > mode.start for one in kinds)
        is_left = "from" in self.values(Role.PREPOSITION)
        return is_left or (is_before and is_after)

    def _humidity(self, amounts: Spans) -> Sequence[Requested]:
        if len(amounts) != 1 or self.modes or amounts[0].value not in {"", "percent"}:
            return ()
        is_told = not _SETTING.isdisjoint(self.acts) or "to" in self.values(
            Role.PREPOSITION
        )
        if not is_told or not amounts[0].number.is_integer():
            return ()
        domains = CLIMATE | {"humidifier"}
        able = self.names.able("humidity")
        ids = self._targets(domains, able)
        return _settings(
            ids,
            {"humidity": int(amounts[0].number)},
        )

    def _range(self, amounts: Spans) -> Sequence[Requested]:
        """Return two temperatures: "between 20 and 23", "heat to 21 and cool to 25"."""
        if not self.is_set:
            return ()
        numbers = [one.number for one in amounts]
        modes = self.all(Role.MODE)
        if {*self.modes} == {*_HEAT_AND_COOL}:
            ends = _paired(modes, amounts)
            if ends is None:
                return ()
            low, high = ends
        elif not modes and self._is_range(amounts):
            low, high = numbers
        else:
            return ()
        if low >= high:
            return ()
        ids = self._targets(
            CLIMATE,
            self.names.able(_RANGE[0]),
        )
        return _settings(
            ids,
            dict(
                zip(
                    _RANGE,
                    (low, high),
                    strict=True,
                )
            ),
            amounts,
        )

    def _is_range(self, amounts: Spans) -> bool:
        """Return whether two numbers are the ends of a range of temperatures, and nothing else."""
        first, last = amounts
        between = [one for one in self.spans if first.end <= one.start < last.start]
        before = {one.value for one in self.all(Role.PREPOSITION)}
        is_climate = bool(self.all(Role.KIND, Role.ENTITY))
        is_told = not before.isdisjoint(_BETWEEN) or bool(last.value) or is_climate
        return is_told and SILENT.issuperset(one.role for one in between)

    def _mode(
        self,
        mode: str,
        amounts: Spans,
        *,
        is_fan: bool,
    ) -> Sequence[Requested]:
        """Return one mode, with the temperature that is to be kept in it."""
        slots = self._slots(amounts, is_fan=is_fan)
        able = {slot: self.names.able(slot, mode) for slot in slots}
        if is_fan:
            without = _FANS
        else:
            without = frozenset[str]()
        ids = self._targets(
            CLIMATE,
            frozenset[str]().union(*able.values()),
            without,
        )
        if not isinstance(ids, frozenset) or (is_fan and self._means_fan()):
            if not is_fan:
                return _choice(ids)
            return ()
        found = list[Requested]()
        for one in sorted(ids):
            slot = next(
                (slot for slot in slots if one in able[slot]),
                slots[0],
            )
            if not self._is_told(slot, mode, amounts):
                return ()
            values = self._values(
                one,
                slot,
                mode,
                amounts,
            )
            found.append(
                DeviceSetting(
                    frozenset({one}),
                    values,
                    _unit(amounts),
                )
            )
        return found

    def _slots(
        self,
        amounts: Spans,
        *,
        is_fan: bool,
    ) -> Sequence[str]:
        """Return what a mode may be of; the fan last, and only of a device that is named."""
        if is_fan:
            return (_FAN,)
        if self.aspects == ["temperature"]:
            if amounts:
                return (_HVAC,)
            return ()
        if self.aspects:
            if len(self.aspects) == 1:
                return _SLOTS.get(
                    self.aspects[0],
                    (),
                )
            return ()
        if self.all(Role.ENTITY, Role.KIND):
            return (
                _HVAC,
                _PRESET,
                _FAN,
            )
        return (_HVAC, _PRESET)

    def _is_told(
        self,
        slot: str,
        mode: str,
        amounts: Spans,
    ) -> bool:
        """Return whether the words ask for a mode: "the heating" alone names a device, and "away" may be anything."""
        if mode == "off" and not self.all(Role.ENTITY, Role.KIND):
            return False  # "turn it off"
        if self.is_off:
            return slot == _PRESET and not amounts
        is_switched = not {"on", "start"}.isdisjoint(self.acts)
        is_device = mode == "heat" and is_switched  # "turn on the heat"
        is_set_to = {"to", "on"}.intersection(self.values(Role.PREPOSITION))
        is_mode_told = any(  # "eco mode", "Sparmodus"
            one.endswith(TOLD) for one in self.values(Role.MODE)
        )
        is_named = self.acts or self.aspects or is_mode_told
        is_told = bool(is_named or amounts or is_set_to)
        has_numbers = not amounts or slot != _FAN
        return self.is_set and is_told and has_numbers and not is_device

    def _means_fan(self) -> bool:
        """Return whether a fan that is none of a climate device is meant."""
        if "thermostat" in self.values(Role.KIND):
            return False
        fans = frozenset({"fan"})
        return bool(
            CommandTargets(
                self,
                MODE,
                fans,
            ).found()
        )

    def _values(
        self,
        entity_id: str,
        slot: str,
        mode: str,
        amounts: Spans,
    ) -> dict[str, str | float | bool]:
        """Return the values of a device, in its words."""
        if self.is_off:
            return {_PRESET: "none"}
        own = (
            one.value
            for one in self.names.modes
            if (one.entity_id, one.slot) == (entity_id, slot)
            and is_mode(one.value, mode)
        )
        values: dict[str, str | float | bool] = {
            slot: next(
                own,
                mode,
            )
        }
        if amounts:
            values["temperature"] = amounts[0].number
        return values

    def groups(self, act: str) -> Sequence[Requested]:
        """Return players that are to play together, or no longer."""
        able = self.names.able("members")
        if act == "part":
            ids = self._targets(PLAYER, able)
            if isinstance(ids, frozenset):
                return [PlayerGroup(ids)]
            return _choice(ids)
        named = list[frozenset[str]]()
        for group in _pieces(self.spans):
            found = CommandTargets(
                self.of(group),
                MODE,
                PLAYER,
                able,
            ).found()
            if not isinstance(found, frozenset):
                return _choice(found)
            named.append(found)
        ids = frozenset[str]().union(*named)
        if len(ids) > 1:
            return [PlayerGroup(ids, self._leader(ids, named[-1]))]
        return ()

    def _leader(
        self,
        ids: frozenset[str],
        last: frozenset[str],
    ) -> str:
        """Return the player that the others follow: what plays, else the one named last, else the one of the room."""
        surroundings = self.surroundings
        playing = ids & surroundings.playing
        near = self.names.within(
            ids,
            {surroundings.area_id},
        )
        for found in (playing, last, near):
            if len(found) == 1:
                return next(iter(found))
        return min(playing or ids)


def _pieces(spans: Spans) -> Sequence[Spans]:
    """Return the spans of each player that is named: "the kitchen and the bath with the office" are three."""
    pieces: list[list[PhraseSpan]] = [[]]
    for span in spans:
        is_joining = span.role is Role.PREPOSITION and span.value in _JOINING
        if span.role is Role.AND or is_joining:
            pieces.append([])
        elif span.role in NAMING | {Role.QUANTIFIER}:
            pieces[-1].append(span)
    return [one for one in pieces if one]


def _paired(
    modes: Spans,
    amounts: Spans,
) -> tuple[float, float] | None:
    """Return the temperatures to which to heat and to cool, each of which follows its mode."""
    ordered = sorted(
        (*modes, *amounts),
        key=lambda span: span.start,
    )
    if [one.role for one in ordered] != [Role.MODE, Role.AMOUNT] * len(_RANGE):
        return None
    ends = {
        mode.value.removesuffix(TOLD): amount.number
        for mode, amount in pairwise(ordered)
        if mode.role is Role.MODE
    }
    return ends["heat"], ends["cool"]


def _settings(
    ids: Meant,
    values: dict[str, str | float | bool],
    amounts: Spans = (),
) -> Sequence[Requested]:
    if isinstance(ids, frozenset):
        return [
            DeviceSetting(
                ids,
                values,
                _unit(amounts),
            )
        ]
    return _choice(ids)


def _unit(amounts: Spans) -> str:
    """Return the unit of temperatures; empty for that of the home."""
    return next(
        (one.value for one in amounts if one.value in _TEMPERATURES),
        "",
    )


def _choice(ids: Meant) -> Sequence[Choice]:
    if isinstance(ids, Choice):
        return [ids]
    return ()
