"""The inside of `homeassistant.components.homeassistant`, scenes and which entities are exposed, and of `core`."""

from collections.abc import Callable, Collection
from copy import copy
from typing import Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceRegistry, State

from .reliance import Reliance

_EXPOSED: Final = Reliance(
    "home_kept",
    "homeassistant.components.homeassistant.exposed_entities",
    ("async_listen_entity_updates",),
)
_SCENES: Final = Reliance(
    "scenes",
    "homeassistant.components.homeassistant.scene",
    ("DATA_PLATFORM", "STATES_SCHEMA"),
)


def view_of(hass: HomeAssistant, services: ServiceRegistry) -> HomeAssistant:
    """Return a view of the running home with other services, which shares all else. Source: `core.HomeAssistant`."""
    home = object.__new__(HomeAssistant)
    vars(home).update(vars(hass))
    home.data = copy(
        hass.data
    )  # what is first needed now must not be made for this home
    home.services = services
    return home


def listen_exposure(
    hass: HomeAssistant, assistant: str, listener: Callable[[], None]
) -> bool:
    """Call a listener when entities become exposed or hidden; False if that is unknown. Source: `exposed_entities`."""
    found = _EXPOSED.find(hass)
    if found:
        found.async_listen_entity_updates(
            hass,
            assistant,
            listener,
        )
    return found is not None


def states_of_scene(
    hass: HomeAssistant,
    entity_id: str,
) -> Collection[State] | None:
    """Return the states in a scene of the user; None for other scenes. Source: `scene.HomeAssistantScene`."""
    found = _SCENES.find(hass)
    platform = hass.data.get(found.DATA_PLATFORM) if found else None
    config: object = getattr(
        platform.entities.get(entity_id) if platform else None, "scene_config", None
    )
    states: dict[str, State] | None = getattr(
        config,
        "states",
        None,
    )
    if states is None:
        return None
    return states.values()


def parsed_states(
    hass: HomeAssistant,
    entities: object,
) -> Collection[State] | None:
    """Return the states that `scene.apply` would reproduce; None if they are invalid. Source: `scene.STATES_SCHEMA`."""
    found = _SCENES.find(hass)
    try:
        states: dict[str, State] | None = (
            found.STATES_SCHEMA(entities) if found else None
        )
    except vol.Invalid:
        return None
    if states is None:
        return None
    return states.values()
