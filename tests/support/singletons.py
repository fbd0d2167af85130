"""Values that live as long as Home Assistant runs, made anew as another start does."""

from collections.abc import Callable
from functools import _lru_cache_wrapper

from homeassistant.core import HomeAssistant


def forget(hass: HomeAssistant, get: Callable[[HomeAssistant], object]) -> None:
    """Make a function that is decorated with `homeassistant.helpers.singleton` create its value anew."""
    assert isinstance(get, _lru_cache_wrapper)
    value = get(hass)
    for key in [key for key, known in hass.data.items() if known is value]:
        del hass.data[key]
    get.cache_clear()
