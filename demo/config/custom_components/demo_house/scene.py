"""Scenes of a demo house."""

from typing import Any, override

from homeassistant.components.scene import Scene
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.state import async_reproduce_state
from pydantic import JsonValue

from . import DemoHouseConfigEntry
from .entity import DemoHouseEntity
from .home_information import HomeScene


async def async_setup_entry(
    _hass: HomeAssistant,
    entry: DemoHouseConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the scenes of the home."""
    async_add_entities(
        DemoScene(entry, scene) for scene in entry.runtime_data.entities_of(HomeScene)
    )


class DemoScene(DemoHouseEntity, Scene):
    """A scene that brings entities into the states of the home file."""

    def __init__(self, entry: DemoHouseConfigEntry, scene: HomeScene) -> None:
        """Take the states of the home file."""
        super().__init__(entry, scene)
        self._states = [
            _state(entity_id, written) for entity_id, written in scene.entities.items()
        ]

    @override
    async def async_activate(self, **kwargs: Any) -> None:
        """Bring every entity of the scene into its state."""
        await async_reproduce_state(self.hass, self._states, context=self._context)


def _state(entity_id: str, written: JsonValue) -> State:
    attributes = dict(written) if isinstance(written, dict) else {"state": written}
    state = attributes.pop("state")
    if isinstance(state, bool):  # YAML reads on and off as truth values
        state = "on" if state else "off"
    return State(entity_id, str(state), attributes)
