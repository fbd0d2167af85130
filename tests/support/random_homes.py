"""Random homes in a running `hass`, and what is really done in them.

A home has floors, areas, aliases, names that are given twice, groups of both kinds,
scenes and scripts of Home Assistant's own, and entities that work. What is done is what
Home Assistant itself reports: its calls of services, and the states that change.
"""

import json
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.effect import EntityAction, named_action
from tests.demo_house.move_in import move_in

type Writable = str | float | Sequence[Writable] | Mapping[str, Writable]

AREAS: Final = ("Kitchen", "Hall", "Garage", "Cellar", "Attic")
FLOORS: Final = ("Ground", "Upper")
NAMES: Final = (
    "Front Door",
    "Lamp",
    "Ceiling",
    "Gate",
    "Radio",
    "Tap",
    "Heater",
    "Blind",
    "Kettle",
    "Robot",
)
ALIASES: Final = (
    "Main Light",
    "Entrance",
    "Front Door",
    "the big one",
    "Kitchen",
    "Lamp",
)

_ON_OFF: Final = ("media_player.MediaPlayerEntityFeature.TURN_ON", "TURN_OFF")

_KINDS: Final[Sequence[tuple[str, str, dict[str, Writable]]]] = (
    ("light", "off", {}),
    ("light", "on", {"supported_color_modes": ["brightness"], "brightness": 80}),
    ("switch", "off", {"device_class": "outlet"}),
    ("lock", "locked", {"supported_features": ["OPEN"]}),
    ("lock", "unlocked", {}),
    ("cover", "closed", {"device_class": "garage"}),
    (
        "cover",
        "open",
        {
            "device_class": "blind",
            "supported_features": ["OPEN", "CLOSE", "STOP", "SET_POSITION"],
        },
    ),
    ("valve", "closed", {}),
    ("fan", "on", {"supported_features": ["SET_SPEED"], "percentage": 30}),
    ("climate", "heat", {"current_temperature": 20, "target_temperature": 21}),
    (
        "media_player",
        "playing",
        {"supported_features": ["PLAY", "PAUSE", "NEXT_TRACK", "VOLUME_SET", *_ON_OFF]},
    ),
    ("button", "unknown", {}),
    ("vacuum", "docked", {"supported_features": ["START", "RETURN_HOME", "STATE"]}),
    ("todo", "0", {}),
)


@dataclass(slots=True)
class RandomHome:
    """A home, and how to speak of what is in it."""

    hass: HomeAssistant
    random: Random
    entity_ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    named: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names by domain."""

    async def build(self) -> None:
        """Move in, and set up groups, scenes and scripts over what is there."""
        random = self.random
        entities: list[Writable] = []
        kinds = [
            _KINDS[0],
            _KINDS[3],
            _KINDS[5],
            *random.choices(_KINDS, k=random.randint(5, 21)),
        ]
        for number, (domain, state, attributes) in enumerate(kinds):
            entity_id = f"{domain}.thing_{number}"
            name = random.choice(NAMES) + (
                f" {number}" if random.random() < 0.6 else ""
            )
            entity: dict[str, Writable] = {"id": entity_id, "name": name}
            self.names.append(name)
            self.named[domain].append(name)
            if domain not in {"button", "todo", "vacuum"}:
                entity["state"] = state
            if attributes:
                entity["attributes"] = attributes
            if random.random() < 0.8:
                entity["area"] = random.choice(AREAS).lower()
            if random.random() < 0.4:
                entity["aliases"] = [random.choice(ALIASES)]
            entities.append(entity)
            self.entity_ids.append(entity_id)
        areas = [
            {"id": name.lower(), "name": name, "floor": random.choice(FLOORS).lower()}
            for name in AREAS
        ]
        floors = [
            {"id": name.lower(), "name": name, "level": level}
            for level, name in enumerate(FLOORS)
        ]
        await move_in(
            self.hass,
            json.dumps({"floors": floors, "areas": areas, "entities": entities}),
        )
        assert await async_setup_component(self.hass, conversation.DOMAIN, {})
        self._label()
        await self._set_up_groups()
        await self._set_up_scenes_and_scripts()
        await self.hass.async_block_till_done()
        for entity_id in self.hass.states.async_entity_ids():
            async_expose_entity(
                self.hass, conversation.DOMAIN, entity_id, random.random() < 0.85
            )

    def _label(self) -> None:
        label = lr.async_get(self.hass).async_create("Outside")
        registry = er.async_get(self.hass)
        for entity_id in self.some(3):
            registry.async_update_entity(entity_id, labels={label.label_id})

    async def _set_up_groups(self) -> None:
        """Set up a group of the old kind, and one of locks and one of lights where there are any."""
        old = {
            "group": {
                "mixed": {"name": self.random.choice(NAMES), "entities": self.some(4)}
            }
        }
        assert await async_setup_component(self.hass, "group", old)
        for domain in ("lock", "light", "cover"):
            members = [
                entity_id
                for entity_id in self.entity_ids
                if entity_id.startswith(f"{domain}.")
            ]
            if members:
                platform = {
                    "platform": "group",
                    "name": f"All {domain}s",
                    "entities": members,
                }
                assert await async_setup_component(
                    self.hass, domain, {domain: [platform]}
                )
                await self.hass.async_block_till_done()
                await self._add_platform(domain, platform)

    async def _add_platform(self, domain: str, platform: Mapping[str, object]) -> None:
        """Set up a platform of a component that runs already."""
        component = self.hass.data[domain]
        await component.async_setup({domain: [platform]})
        await self.hass.async_block_till_done()

    async def _set_up_scenes_and_scripts(self) -> None:
        scenes = [
            {"name": f"Mood {number}", "entities": self._states()}
            for number in range(3)
        ]
        assert await async_setup_component(self.hass, "scene", {"scene": scenes})
        await self.hass.async_block_till_done()
        scripts = {
            f"routine_{number}": {"sequence": [self._step(2) for _ in range(2)]}
            for number in range(4)
        }
        assert await async_setup_component(self.hass, "script", {"script": scripts})

    def some(self, number: int) -> list[str]:
        """Return a few entities."""
        return self.random.sample(self.entity_ids, min(number, len(self.entity_ids)))

    def _states(self) -> dict[str, Writable]:
        without = ("button", "todo", "vacuum", "valve")
        return {
            entity_id: self._a_state(entity_id)
            for entity_id in self.some(4)
            if not entity_id.startswith(without)
        }

    def _a_state(self, entity_id: str) -> Writable:
        match entity_id.partition(".")[0]:
            case "lock":
                return self.random.choice(["locked", "unlocked"])
            case "cover":
                position: Writable = {"state": "open", "current_position": 40}
                states: list[Writable] = ["open", "closed", position]
                return self.random.choice(states)
            case _:
                return self.random.choice(["on", "off"])

    def _step(self, depth: int) -> dict[str, Writable]:
        random = self.random
        choice = random.randrange(8 if depth else 5)
        if choice == 0:
            return {
                "action": "scene.turn_on",
                "target": {"entity_id": f"scene.mood_{random.randrange(3)}"},
            }
        if choice == 1:
            action = random.choice(["lock.unlock", "cover.open_cover", "light.turn_on"])
            return {"action": action, "target": self._target()}
        if choice == 2:
            return {
                "action": f"homeassistant.turn_{random.choice(['on', 'off'])}",
                "target": self._target(),
            }
        if choice == 3:
            return {"action": f"script.routine_{random.randrange(4)}"}
        if choice == 4:
            return {"scene": f"scene.mood_{random.randrange(3)}"}
        inner = [self._step(depth - 1)]
        true: dict[str, Writable] = {
            "condition": "template",
            "value_template": "{{ true }}",
        }
        if choice == 5:
            return {"if": [true], "then": inner}
        if choice == 6:
            return {"parallel": [{"sequence": inner}, self._step(0)]}
        return {"choose": [{"conditions": [true], "sequence": inner}]}

    def _target(self) -> dict[str, Writable]:
        area = self.random.choice(AREAS).lower()
        chosen: list[dict[str, Writable]] = [
            {"entity_id": list[Writable](self.some(2))},
            {"entity_id": "group.mixed"},
            {"area_id": area},
            {"floor_id": self.random.choice(FLOORS).lower()},
            {"label_id": "outside"},
            {"entity_id": f"{{{{ {self.some(2)} }}}}"},
        ]
        return self.random.choice(chosen)


@dataclass(slots=True)
class RecordedActions:
    """The actions that were really done."""

    called: set[EntityAction] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    """Entities whose state or attributes are others now."""


@contextmanager
def recorded(hass: HomeAssistant) -> Generator[RecordedActions]:
    """Record what is done."""
    actions = RecordedActions()

    def on_call(event: Event) -> None:
        actions.called |= _called(
            hass,
            event.data["domain"],
            event.data["service"],
            event.data["service_data"],
        )

    def on_change(event: Event[EventStateChangedData]) -> None:
        actions.changed.add(event.data["entity_id"])

    stop_calls = hass.bus.async_listen(EVENT_CALL_SERVICE, on_call)
    stop_changes = hass.bus.async_listen(EVENT_STATE_CHANGED, on_change)
    try:
        yield actions
    finally:
        stop_calls()
        stop_changes()


def _called(
    hass: HomeAssistant, domain: str, service: str, data: dict[str, object]
) -> set[EntityAction]:
    """Return what one call of a service is for; `homeassistant.turn_on` and the like call others in turn."""
    if domain == "homeassistant":
        return set()
    if domain == "script" and service.startswith("routine_"):
        return {EntityAction(f"script.{service}", "script.turn_on")}
    listed = {
        key: list(value) if isinstance(value, set) else value
        for key, value in data.items()
    }
    selected = async_extract_referenced_entity_ids(hass, TargetSelection(listed))
    found = selected.referenced | selected.indirectly_referenced
    return {
        EntityAction(entity_id, named_action(domain, service, data))
        for entity_id in found
        if entity_id.startswith(f"{domain}.") and hass.states.get(entity_id)
    }


def place_device(hass: HomeAssistant) -> str:
    """Place a device that asks in the first area, and return its id."""
    area = next(iter(ar.async_get(hass).async_list_areas()))
    entry = next(iter(hass.config_entries.async_entries()))
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("satellite", "one")}
    )
    dr.async_get(hass).async_update_device(device.id, area_id=area.id)
    return device.id
