"""Intents of our own for what heats, cools and plays: modes, ranges, presets, sources, order and groups of players.

A device is asked first whether it can do all that a call sets; none is set in part
because of what it lacks. Home Assistant has intents for temperatures and volumes alone.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, override

import probatio
from homeassistant.components.climate import (
    ATTR_HUMIDITY,
    ATTR_HVAC_MODE,
    ATTR_MAX_HUMIDITY,
    ATTR_MAX_TEMP,
    ATTR_MIN_HUMIDITY,
    ATTR_MIN_TEMP,
    ATTR_TARGET_TEMP_HIGH,
    ATTR_TARGET_TEMP_LOW,
    DOMAIN as CLIMATE,
    PRESET_NONE,
    HVACMode,
)
from homeassistant.components.media_player import (
    DOMAIN as MEDIA_PLAYER,
    MediaPlayerEntityFeature,
    RepeatMode,
)
from homeassistant.components.media_player.const import ATTR_GROUP_MEMBERS
from homeassistant.const import (
    ATTR_ENTITY_ID,
    ATTR_SUPPORTED_FEATURES,
    ATTR_TEMPERATURE,
    PERCENTAGE,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import config_validation as cv, intent
from homeassistant.helpers.translation import async_get_translations

from ..agent.text import compared, read_data_file
from ..const import DOMAIN
from ..home.entity_matches import assist_name, matching_states
from ..speech.sentences import async_get_sentences

_LOGGER: Final = logging.getLogger(intent.__name__)
SET_CLIMATE: Final = "ChatterboxSetClimate"
SET_PLAYER: Final = "ChatterboxSetPlayer"
JOIN_PLAYERS: Final = "ChatterboxJoinPlayers"
PART_PLAYERS: Final = "ChatterboxPartPlayers"
RANGE: Final = (ATTR_TARGET_TEMP_LOW, ATTR_TARGET_TEMP_HIGH)
_OFRANGES: Final = (HVACMode.HEAT_COOL, HVACMode.AUTO)
"""Modes in which a device keeps between two temperatures, the best first."""
_LIMITS: Final = {
    **dict.fromkeys(
        (ATTR_TEMPERATURE, *RANGE),
        (
            ATTR_MIN_TEMP,
            ATTR_MAX_TEMP,
            "temp_out_of_range",
            ("check", "temp"),
        ),
    ),
    ATTR_HUMIDITY: (
        ATTR_MIN_HUMIDITY,
        ATTR_MAX_HUMIDITY,
        "humidity_out_of_range",
        ("", "humidity"),
    ),
}


type DeviceValues = Mapping[str, Any]
"""Values of a device by their slots."""


class DeviceValue(NamedTuple):
    """A value of a device."""

    service: str
    kind: str = "text"
    feature: int = 0
    """The features that the device needs for it."""
    choices: str = ""
    """The attribute with all that it may be set to."""

    @property
    def validator(self) -> object:
        """The validator of the value."""
        return _VALIDATORS[self.kind]


_VALIDATORS: Final = {
    "text": cv.string,
    "names": probatio.All(cv.ensure_list, [cv.string]),
    "number": probatio.Coerce(float),
    "integer": probatio.Coerce(int),
    "switch": bool,
    "repetition": probatio.In([*map(str, RepeatMode)]),
}
SETTINGS: Final = read_data_file(__file__, dict[str, dict[str, DeviceValue]])
MEMBERS: Final = "members"
_GROUPING: Final = MediaPlayerEntityFeature.GROUPING


def features_of(state: State | None) -> int:
    """Return what a device can do; nothing if it is not there."""
    features: object = state.attributes.get(ATTR_SUPPORTED_FEATURES) if state else None
    if isinstance(features, int):
        return features
    return 0


def choices_of(
    state: State,
    setting: DeviceValue,
) -> Sequence[str]:
    """Return what a device may be set to, as it writes it."""
    listed: object = state.attributes.get(setting.choices)
    if isinstance(listed, list | tuple):
        return [*map(str, listed)]
    return []


def has_setting(
    state: State,
    setting: DeviceValue,
) -> bool:
    """Return whether a device has a value that can be set."""
    is_able = features_of(state) & setting.feature == setting.feature
    return is_able and (not setting.choices or bool(choices_of(state, setting)))


@dataclass(eq=False)
class DeviceIntent(intent.IntentHandler):
    """Sets values of devices of one domain, each by an action of its own."""

    intent_type: str
    domain: str
    settings: Mapping[str, DeviceValue]
    """By slot."""
    description: str | None = None
    title: str = ""
    service: str = ""
    """The action of an intent that sets no value."""

    def __post_init__(self) -> None:
        """Name the domain as Home Assistant's handlers do."""
        self.platforms = {self.domain}

    @property
    @override
    def slot_schema(self) -> dict[Any, Any]:
        """Return the slots of the device, and those of its values."""
        where = {
            probatio.Optional(slot): intent.non_empty_string
            for slot in ("name", "area", "floor")
        }
        near = {
            probatio.Optional(slot): cv.string
            for slot in ("preferred_area_id", "preferred_floor_id")
        }
        values = {
            probatio.Optional(slot): one.validator
            for slot, one in self.settings.items()
        }
        return {
            **where,
            **values,
            **near,
        }

    def is_for(self, state: State) -> bool:
        """Return whether a device can do any of it."""
        if self.service:
            return bool(features_of(state) & _GROUPING)
        return any(has_setting(state, one) for one in self.settings.values())

    def actions(
        self, hass: HomeAssistant, values: DeviceValues, assistant: str | None
    ) -> Iterator[tuple[str, DeviceValues]]:
        """Yield the actions with their data, before it is known for which devices."""
        if self.service:
            yield self.service, {}
        members = values.get(MEMBERS)
        if members:
            found = _players(
                hass,
                members,
                assistant,
            )
            yield "join", {ATTR_GROUP_MEMBERS: [one.entity_id for one in found]}
        given = [slot for slot in self.settings if slot in values and slot != MEMBERS]
        for service in dict.fromkeys(self.settings[slot].service for slot in given):
            slots = [one for one in given if self.settings[one].service == service]
            yield service, {slot: values[slot] for slot in slots}

    @override
    async def async_handle(self, intent_obj: intent.Intent) -> intent.IntentResponse:
        """Set what a call gives, on each device that it names, if these can do it."""
        hass = intent_obj.hass
        slots = self.async_validate_slots(intent_obj.slots)
        values = {slot: slots[slot]["value"] for slot in self.settings if slot in slots}
        if not values and not self.service:
            raise ServiceValidationError(
                translation_domain=DOMAIN, translation_key="device_no_value"
            )
        states = self._matched(
            hass,
            slots,
            values,
            intent_obj.assistant,
        )
        each = [
            (state, await self._async_fitted(hass, state, values, intent_obj.language))
            for state in states
        ]
        able = [(state, fitted) for state, fitted in each if isinstance(fitted, dict)]
        problems: dict[str, Exception] = {
            state.entity_id: fitted
            for state, fitted in each
            if isinstance(fitted, Exception)
        }
        done = await self._async_set_each(
            intent_obj,
            able,
            problems,
        )
        if not done:
            raise next(iter(problems.values()))
        response = await self._async_response(intent_obj, done)
        for state in states:
            problem = problems.get(state.entity_id)
            if problem:
                # As Home Assistant's handlers do; the reason is read from there.
                _LOGGER.error(
                    "%s was not set",
                    state.entity_id,
                    exc_info=problem,
                )
                response.failed_results.append(entity_target(state))
        return response

    async def _async_set_each(
        self,
        intent_obj: intent.Intent,
        able: Sequence[tuple[State, DeviceValues]],
        problems: dict[str, Exception],
    ) -> Sequence[tuple[State, DeviceValues]]:
        """Set the values of each device; return those that were set, and add the problems of the others."""
        ended = await asyncio.gather(
            *(self._async_set(intent_obj, state, fitted) for state, fitted in able),
            return_exceptions=True,
        )
        for (state, _), end in zip(able, ended, strict=True):
            match end:
                case None:
                    pass
                case Exception():
                    problems[state.entity_id] = end
                case _:
                    raise end
        return [one for one in able if one[0].entity_id not in problems]

    def _matched(
        self,
        hass: HomeAssistant,
        slots: Mapping[str, DeviceValues],
        values: Mapping[str, object],
        assistant: str | None,
    ) -> Sequence[State]:
        """Return the devices that a call means: all of a place, else one. Raises `MatchFailedError`."""
        name, area, floor, near, near_floor = (
            slots.get(slot, {}).get("value")
            for slot in (
                "name",
                "area",
                "floor",
                "preferred_area_id",
                "preferred_floor_id",
            )
        )
        is_group = MEMBERS in values
        features = _GROUPING if self.service else 0
        for slot in values:
            features |= self.settings[slot].feature
        constraints = intent.MatchTargetsConstraints(
            name,
            area,
            floor,
            {self.domain},
            assistant=assistant,
            features=features or None,
            single_target=is_group or not (area or floor),
        )
        preferences = intent.MatchTargetsPreferences(near, near_floor)
        found = intent.async_match_targets(
            hass,
            constraints,
            preferences,
        )
        if not found.is_match:
            raise intent.MatchFailedError(
                found,
                constraints,
                preferences,
            )
        return found.states

    async def _async_fitted(
        self,
        hass: HomeAssistant,
        state: State,
        values: DeviceValues,
        language: str,
    ) -> dict[str, Any] | ServiceValidationError:
        """Return the values as a device writes them, with the mode that a range needs, or why it cannot take them."""
        fitted = dict(values)
        for slot, value in values.items():
            setting = self.settings[slot]
            if not setting.choices:
                continue
            choices = choices_of(state, setting)
            alike = [one for one in choices if compared(one) == compared(str(value))]
            if not alike:
                words = [
                    await async_value_word(hass, language, self.domain, slot, one)
                    for one in choices
                ]
                return ServiceValidationError(
                    translation_domain=DOMAIN,
                    translation_key="device_no_choice",
                    translation_placeholders={
                        "name": assist_name(hass, state),
                        "value": await async_value_word(
                            hass, language, self.domain, slot, str(value)
                        ),
                        "choices": ", ".join(words),
                    },
                )
            fitted[slot] = alike[0]
        problem = _out_of_limits(state, values)
        if problem:
            return problem
        modes = choices_of(state, SETTINGS[CLIMATE][ATTR_HVAC_MODE])
        needed = next(
            (one for one in _OFRANGES if one in modes),
            None,
        )
        if not fitted.keys().isdisjoint(RANGE) and state.state not in _OFRANGES:
            if needed:
                given = {ATTR_HVAC_MODE: needed}
            else:
                given = {}
            fitted = given | fitted
        return fitted

    async def _async_set(
        self, intent_obj: intent.Intent, state: State, values: DeviceValues
    ) -> None:
        hass = intent_obj.hass
        for service, data in self.actions(hass, values, intent_obj.assistant):
            await hass.services.async_call(
                self.domain,
                service,
                {
                    ATTR_ENTITY_ID: state.entity_id,
                    **data,
                },
                blocking=True,
                context=intent_obj.context,
            )

    async def _async_response(
        self,
        intent_obj: intent.Intent,
        able: Sequence[tuple[State, DeviceValues]],
    ) -> intent.IntentResponse:
        """Return what was set; in words for a sentence."""
        hass = intent_obj.hass
        language = intent_obj.language
        response = intent_obj.create_response()
        response.async_set_results([entity_target(one) for one, _ in able])
        response.async_set_states(
            [hass.states.get(one.entity_id) or one for one, _ in able]
        )
        if not intent_obj.text_input:
            return response
        sentences = await async_get_sentences(hass, language)
        spoken = list[str]()
        for state, values in able:
            names = [assist_name(hass, state)]
            if MEMBERS in values or self.service:
                players = _players(
                    hass,
                    values.get(MEMBERS, ()),
                    intent_obj.assistant,
                )
                names += [assist_name(hass, one) for one in players]
                key = "players_parted" if self.service else "players_joined"
                spoken.append(sentences[key].format(names=", ".join(names)))
                continue
            words = await async_told_values(
                hass,
                language,
                self.domain,
                values,
            )
            spoken.append(f"{names[0]}: {', '.join(words)}.")
        response.async_set_speech(" ".join(spoken))
        return response


def entity_target(state: State) -> intent.IntentResponseTarget:
    """Return an entity as the target of a response."""
    kind = intent.IntentResponseTargetType.ENTITY
    return intent.IntentResponseTarget(
        state.name,
        kind,
        state.entity_id,
    )


def _out_of_limits(state: State, values: DeviceValues) -> ServiceValidationError | None:
    """Return Home Assistant's error for a number that a device does not take, which it raises after other actions."""
    low, high = (values.get(slot) for slot in RANGE)
    key = ""
    placeholders = dict[str, str]()
    if low is not None and high is not None and low > high:
        key = "low_temp_higher_than_high_temp"
    for slot, (least, most, problem, (prefix, suffix)) in _LIMITS.items():
        ends = state.attributes.get(least), state.attributes.get(most)
        value = values.get(slot)
        if value is None or None in ends or ends[0] <= value <= ends[1]:
            continue
        key = problem
        if prefix:
            checked = f"{prefix}_{suffix}"
        else:
            checked = suffix
        names = (
            checked,
            least,
            most,
        )
        placeholders = dict(zip(names, map(str, (value, *ends)), strict=True))
    if not key:
        return None
    return ServiceValidationError(
        translation_domain=CLIMATE,
        translation_key=key,
        translation_placeholders=placeholders,
    )


def _players(
    hass: HomeAssistant,
    names: Any,
    assistant: str | None,
) -> Sequence[State]:
    """Return the players that are to play along, by their names or rooms. Raises `MatchFailedError`."""
    found = dict[str, State]()
    for name in names:
        named, placed = (
            intent.MatchTargetsConstraints(
                **where,
                domains={MEDIA_PLAYER},
                assistant=assistant,
                features=_GROUPING,
            )
            for where in ({"name": name}, {"area_name": name})
        )
        result = intent.async_match_targets(hass, named)
        if not result.is_match and any(matching_states(hass, placed)):
            result = intent.async_match_targets(hass, placed)
        if not result.is_match:
            raise intent.MatchFailedError(result, named)
        found |= {one.entity_id: one for one in result.states}
    return [*found.values()]


async def async_value_word(
    hass: HomeAssistant,
    language: str,
    domain: str,
    slot: str,
    value: str,
) -> str:
    """Return Home Assistant's word for a value of a device; the value itself where it has none."""
    words = await async_get_translations(
        hass,
        language,
        "entity_component",
        {domain},
    )
    if slot == ATTR_HVAC_MODE:
        part = "state"
    else:
        part = f"state_attributes.{slot}.state"
    return words.get(
        f"component.{domain}.entity_component._.{part}.{value}",
        value,
    )


async def async_told_values(
    hass: HomeAssistant, language: str, domain: str, values: DeviceValues
) -> Sequence[str]:
    """Return the values of a device in words: "Cool", "21 °C", "Fan mode Auto"."""
    names = await async_get_translations(
        hass,
        language,
        "entity_component",
        {domain},
    )
    unit = hass.config.units.temperature_unit
    low, high = (values.get(slot) for slot in RANGE)
    words = list[str]()
    for slot, value in values.items():
        name = names.get(
            f"component.{domain}.entity_component._.state_attributes.{slot}.name", slot
        )
        match slot:
            case "hvac_mode" | "source" | "sound_mode" | "preset_mode" if (
                slot,
                value,
            ) != ("preset_mode", PRESET_NONE):
                word = await async_value_word(hass, language, domain, slot, value)
            case "temperature":
                word = f"{value:g} {unit}"
            case "target_temp_low" if high is not None:
                word = f"{low:g}\N{EN DASH}{high:g} {unit}"
            case "target_temp_low":
                word = f"≥ {low:g} {unit}"
            case "target_temp_high" if low is not None:
                continue
            case "target_temp_high":
                word = f"≤ {high:g} {unit}"
            case "humidity":
                word = f"{name} {value:g} {PERCENTAGE}"
            case _:
                given = str(value).lower() if isinstance(value, bool) else str(value)
                spoken = await async_value_word(
                    hass,
                    language,
                    domain,
                    slot,
                    given,
                )
                word = f"{name} {spoken}"
        words.append(word)
    return words


DEVICE_INTENTS: Final = (
    DeviceIntent(
        SET_CLIMATE,
        CLIMATE,
        SETTINGS[CLIMATE],
        "Sets thermostats and air conditioners",
        "Set heating and cooling",
    ),
    DeviceIntent(
        SET_PLAYER,
        MEDIA_PLAYER,
        SETTINGS[MEDIA_PLAYER],
        "Sets how a player plays",
        "Set player options",
    ),
    DeviceIntent(
        JOIN_PLAYERS,
        MEDIA_PLAYER,
        SETTINGS["grouping"],
        "Has others play along",
        "Group players",
    ),
    DeviceIntent(
        PART_PLAYERS,
        MEDIA_PLAYER,
        {},
        "Takes a player out of its group",
        "Ungroup player",
        "unjoin",
    ),
)


def async_register_device_intents(hass: HomeAssistant) -> None:
    """Register the intents."""
    for one in DEVICE_INTENTS:
        intent.async_register(hass, one)
