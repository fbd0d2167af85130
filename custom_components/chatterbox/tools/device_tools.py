"""Tools for what heats, cools and plays: intents of our own, with arguments for what the exposed devices can do."""

from collections.abc import Iterable, Iterator
from typing import Final

import probatio
from homeassistant.components.climate import DOMAIN as CLIMATE
from homeassistant.components.media_player import DOMAIN as MEDIA_PLAYER
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..effects.device_intents import (
    DEVICE_INTENTS,
    SET_CLIMATE,
    DeviceIntent,
    DeviceValue,
    choices_of,
    has_setting,
)
from ..home.entity_matches import exposed_states
from .own.own_tool import own_name

_ANNOTATIONS: Final = llm.ToolAnnotations(
    idempotent=True,
    open_world=False,
)
_NAMES: Final = {SET_CLIMATE: "climate"}
_MOST_CHOICES: Final = 12
"""Of a value, that a model is told beforehand. A call that gives another one is told them all."""


class DeviceTool(llm.IntentTool):
    """An intent of our own, whose arguments are what some devices can do."""

    def __init__(
        self,
        handler: DeviceIntent,
        able: Iterable[State],
    ) -> None:
        """Describe the intent."""
        name = own_name(_NAMES.get(handler.intent_type, handler.intent_type))
        super().__init__(
            name,
            handler,
            title=handler.title,
            integration=DOMAIN,
            annotations=_ANNOTATIONS,
        )
        states = [*able]
        settings = handler.settings
        slots = {str(marker): value for marker, value in self.parameters.schema.items()}
        self.parameters = probatio.Schema(
            {
                probatio.Optional(slot): _validator(settings[slot], states)
                if slot in settings
                else value
                for slot, value in slots.items()
                if slot not in settings
                or any(has_setting(one, settings[slot]) for one in states)
            }
        )


def _validator(
    setting: DeviceValue,
    states: Iterable[State],
) -> object:
    """Return what a value may be: a choice of what devices have, unless these are many."""
    choices = {one for state in states for one in choices_of(state, setting)}
    if not choices or len(choices) > _MOST_CHOICES:
        return setting.validator
    return probatio.In(sorted(choices))


def device_tools(
    hass: HomeAssistant,
    assistant: str,
) -> Iterator[llm.Tool]:
    """Yield the tools for which a device is exposed that can do any of it."""
    states = exposed_states(
        hass,
        assistant,
        {CLIMATE, MEDIA_PLAYER},
    )
    for handler in DEVICE_INTENTS:
        able = [
            one
            for one in states
            if one.domain == handler.domain and handler.is_for(one)
        ]
        if able:
            yield DeviceTool(handler, able)
