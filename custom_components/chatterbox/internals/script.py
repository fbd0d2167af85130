"""The inside of the entities of `homeassistant.components.script` and `automation`: the actions that they run."""

from functools import partial
from types import MappingProxyType
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_component import EntityComponent
from homeassistant.helpers.script import Script

from .reliance import Reliance

_ATTRIBUTES: Final = MappingProxyType(
    {
        "script": "script",
        "automation": "action_script",
    }
)


def _valid_entity(domain: str, hass: HomeAssistant) -> object:
    """Return any entity with a valid configuration."""
    component = hass.data.get(domain)
    if isinstance(component, EntityComponent):
        entities = component.entities
    else:
        entities = ()
    return next(
        (
            entity
            for entity in entities
            if isinstance(entity, Entity) and entity.available
        ),
        None,
    )


ENTITIES: Final = tuple(
    Reliance[Entity](
        "scripts",
        f"homeassistant.components.{domain}",
        (name,),
        partial(_valid_entity, domain),
    )
    for domain, name in _ATTRIBUTES.items()
)


def script_of(
    hass: HomeAssistant,
    entity_id: str,
) -> Script | None:
    """Return what a script or automation runs; None if that is unknown. Source: `ScriptEntity`, `AutomationEntity`."""
    domain = entity_id.partition(".")[0]
    component = hass.data.get(domain)
    if isinstance(component, EntityComponent):
        script: object = getattr(
            component.get_entity(entity_id),
            _ATTRIBUTES.get(domain, ""),
            None,
        )
        if isinstance(script, Script):
            return script
    return None
