"""The names of the demo's home, as sentences are read in it."""

from functools import cache

from pydantic import BaseModel
from yaml import CSafeLoader, load

from custom_components.chatterbox.nlu.lexicon import Lexicon
from custom_components.chatterbox.nlu.vocabulary import (
    HomeVocabulary,
    KnownEntity,
    NamedPlace,
)
from demo.translated import translated_home


class _Part(BaseModel):
    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str | None = None
    area: str | None = None
    device: str | None = None
    attributes: dict[str, object] = {}


class _Home(BaseModel):
    floors: list[_Part]
    areas: list[_Part]
    devices: list[_Part]
    entities: list[_Part]


@cache
def demo_names(language: str, words: Lexicon) -> HomeVocabulary:
    """Return the names of the demo's home in a language."""
    home = _Home.model_validate(load(translated_home(language), CSafeLoader))
    areas = {device.id: device.area for device in home.devices}
    entities = tuple(
        KnownEntity(
            one.id,
            one.id.partition(".")[0],
            (one.name, *one.aliases),
            str(one.attributes.get("device_class") or ""),
            one.area or areas.get(one.device or ""),
        )
        for one in home.entities
    )
    rooms = tuple(
        NamedPlace((area.name, *area.aliases), frozenset({area.id}))
        for area in home.areas
    )
    floors = tuple(
        NamedPlace(
            (floor.name, *floor.aliases),
            frozenset(area.id for area in home.areas if area.floor == floor.id),
        )
        for floor in home.floors
    )
    return HomeVocabulary(entities, rooms + floors, words)
