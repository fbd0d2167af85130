"""What Chatterbox keeps for as long as Home Assistant runs, all under one key of `hass.data`.

What belongs to a config entry is in its `runtime_data` instead.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN


@dataclass(frozen=True, slots=True)
class ChatterboxData:
    """The values of all functions that are decorated with `singleton`."""

    values: dict[Callable[[HomeAssistant], object], Any] = field(default_factory=dict)
    """By the decorated function."""


DATA: Final[HassKey[ChatterboxData]] = HassKey(DOMAIN)


def singleton[Value](make: Callable[[HomeAssistant], Value]) -> Callable[[HomeAssistant], Value]:
    """Decorate a function so that it makes its value once, and returns the same one from then on.

    Unlike `homeassistant.helpers.singleton` it needs no key for each value.
    """

    @wraps(make)
    def get(hass: HomeAssistant) -> Value:
        if DATA not in hass.data:
            hass.data[DATA] = ChatterboxData()
        values = hass.data[DATA].values
        if get not in values:
            values[get] = make(hass)
        value: Value = values[get]
        return value

    return get
