"""Names inside Home Assistant, and the ability that is off without them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from types import ModuleType
from typing import Final, Literal, cast

from homeassistant.const import MAJOR_VERSION, MINOR_VERSION
from homeassistant.core import HomeAssistant
from homeassistant.helpers.importlib import async_import_module

# fmt: off
type Ability = Literal[
    "api_sockets", "assistants", "calendar_events", "conversations", "debug_view", "foresight", "home_in_short",
    "home_kept", "list_items", "past", "past_authors", "phones", "pins", "profile_language", "scenes", "script_errors",
    "scripts", "sentences",
]
# fmt: on
"""The part of Chatterbox that is off when a name is missing. Its text has the key `ability_` and this one."""

_RELEASE: Final = (MAJOR_VERSION, MINOR_VERSION)


@dataclass(frozen=True, slots=True)
class Reliance[Owner = ModuleType]:
    """Names of one module or object inside Home Assistant."""

    ability: Ability
    module: str
    """Its full name. It is not imported: Home Assistant loads what a home uses."""
    names: tuple[str, ...]
    """Attributes of the module or object, dotted for those of an attribute."""
    owner: Callable[[HomeAssistant], object] | None = None
    """Returns the object with the names; None if the home has none. Without this function, the module has the names."""
    since: tuple[int, int] = (0, 0)
    """The first release that has the names, and in which they are needed."""

    def find(self, hass: HomeAssistant) -> Owner | None:
        """Return the module or object; None if it is not there, or has not all of the names."""
        if self.owner:
            found = self.owner(hass)
        else:
            found = sys.modules.get(self.module)
        if found is None or self._missing_in(found):
            return None
        return cast("Owner", found)

    async def async_missing(self, hass: HomeAssistant) -> tuple[str, ...]:
        """Return the names that this release does not have, none for a component that is not set up."""
        _, kind, component = self.module.split(".")[:3]
        if self.since > _RELEASE or (
            kind == "components" and component not in hass.config.components
        ):
            return ()
        try:
            if self.owner:
                found = self.owner(hass)
            else:
                found = await async_import_module(hass, self.module)
        except ImportError:
            return self.names
        if found is None:
            return ()
        return self._missing_in(found)

    def _missing_in(self, owner: object) -> tuple[str, ...]:
        required = self.names if self.since <= _RELEASE else ()
        return tuple(name for name in required if _attribute(owner, name) is ...)


def _attribute(owner: object, name: str) -> object:
    return reduce(
        lambda found, part: getattr(found, part, ...),
        name.split("."),
        owner,
    )
