"""The state of Chatterbox for as long as Home Assistant runs, all under one key of `hass.data`.

The state of a config entry is in its `runtime_data` instead.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN

DATA: Final[HassKey[dict[Callable[[HomeAssistant], object], Any]]] = HassKey(DOMAIN)
"""The values of all functions that are decorated with `singleton`, by the decorated function."""


def singleton[Value](make: Callable[[HomeAssistant], Value]) -> Callable[[HomeAssistant], Value]:
    """Decorate a function or a class so that it creates its value once, and returns the same value from then on.

    Unlike `homeassistant.helpers.singleton`, it needs no key for each value.
    """

    @wraps(make, updated=())
    def get(hass: HomeAssistant) -> Value:
        values = hass.data.setdefault(DATA, {})
        if get not in values:
            values[get] = make(hass)
        value: Value = values[get]
        return value

    return get
