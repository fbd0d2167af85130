"""The inside of `homeassistant.components.http`: signed paths."""

from collections.abc import Collection
from typing import Final

from homeassistant.core import HomeAssistant

from .reliance import Reliance

_AUTH: Final = Reliance(
    "api_sockets", "homeassistant.components.http.auth", ("SIGN_QUERY_PARAM",)
)


def may_be_signed(
    hass: HomeAssistant,
    parameters: Collection[str],
) -> bool:
    """Return whether a path with these parameters may be a signed one. Source: `auth.SIGN_QUERY_PARAM`."""
    found = _AUTH.find(hass)
    if found:
        return found.SIGN_QUERY_PARAM in parameters
    return bool(parameters)
