"""The home file: floors, areas, devices and entities of one home, read from YAML and checked.

Knows the format; must not know how Home Assistant is told about it. The format is that
of the homes in allenporter/home-assistant-datasets, extended by floors and aliases.
What an entity may say beyond its name and its place depends on its kind:
`home_appliances.py`, `home_information.py`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Self

import yaml
from pydantic import (
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from .fields import Written
from .home_appliances import (
    HomeClimate,
    HomeCover,
    HomeFan,
    HomeLight,
    HomeLock,
    HomeMediaPlayer,
    HomeSwitch,
    HomeVacuum,
    HomeValve,
)
from .home_entity import HomeEntity
from .home_information import (
    HomeBinarySensor,
    HomeButton,
    HomeCalendar,
    HomeCamera,
    HomeNumber,
    HomeScene,
    HomeSelect,
    HomeSensor,
    HomeTodoList,
    HomeWeather,
)


def _domain(entity: object) -> str:
    """Return the part of an entity id that tells the kind of the entity."""
    return str(entity.get("id") if isinstance(entity, dict) else "").partition(".")[0]


type AnyHomeEntity = Annotated[
    Annotated[HomeBinarySensor, Tag("binary_sensor")]
    | Annotated[HomeButton, Tag("button")]
    | Annotated[HomeCalendar, Tag("calendar")]
    | Annotated[HomeCamera, Tag("camera")]
    | Annotated[HomeClimate, Tag("climate")]
    | Annotated[HomeCover, Tag("cover")]
    | Annotated[HomeFan, Tag("fan")]
    | Annotated[HomeLight, Tag("light")]
    | Annotated[HomeLock, Tag("lock")]
    | Annotated[HomeMediaPlayer, Tag("media_player")]
    | Annotated[HomeNumber, Tag("number")]
    | Annotated[HomeScene, Tag("scene")]
    | Annotated[HomeSelect, Tag("select")]
    | Annotated[HomeSensor, Tag("sensor")]
    | Annotated[HomeSwitch, Tag("switch")]
    | Annotated[HomeTodoList, Tag("todo")]
    | Annotated[HomeVacuum, Tag("vacuum")]
    | Annotated[HomeValve, Tag("valve")]
    | Annotated[HomeWeather, Tag("weather")],
    Discriminator(_domain),
]
"""An entity of one of the kinds there are, which its id tells."""


class HomeFileError(Exception):
    """A home file, or what is merged into it, does not describe a home; the text says where and why."""


class Floor(Written):
    """One floor; `level` counts from the ground floor, 0."""

    id: str
    name: str
    level: int | None = None
    aliases: tuple[str, ...] = ()


class Area(Written):
    """One room or place; `floor` is the id of its floor."""

    id: str
    name: str
    floor: str | None = None
    aliases: tuple[str, ...] = ()


class ProductInfo(Written):
    """The manufacturer and the model of a device."""

    manufacturer: str | None = None
    model: str | None = None
    sw_version: str | None = None


class Device(Written):
    """One device; `area` is the id of the area it stands in."""

    id: str
    name: str
    area: str | None = None
    info: ProductInfo = ProductInfo()


class Home(Written):
    """A whole home, in which every reference leads somewhere."""

    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = ()
    devices: tuple[Device, ...] = ()
    entities: tuple[AnyHomeEntity, ...] = Field(min_length=1)

    def entities_of[EntityT: HomeEntity](
        self, kind: type[EntityT]
    ) -> Iterator[EntityT]:
        """Yield the entities of one kind, in the order of the file."""
        return (entity for entity in self.entities if isinstance(entity, kind))

    def device(self, device_id: str | None) -> Device | None:
        """Return the device with this id, None for None."""
        return next((device for device in self.devices if device.id == device_id), None)

    @model_validator(mode="after")
    def _references_lead_somewhere(self) -> Self:
        floors = _unique("floor", [floor.id for floor in self.floors])
        areas = _unique("area", [area.id for area in self.areas])
        devices = _unique("device", [device.id for device in self.devices])
        _unique("entity", [entity.id for entity in self.entities])
        for area in self.areas:
            _refer(f"area {area.id}", "floor", area.floor, floors)
        for device in self.devices:
            _refer(f"device {device.id}", "area", device.area, areas)
        for entity in self.entities:
            _refer(entity.id, "area", entity.area, areas)
            _refer(entity.id, "device", entity.device, devices)
        return self

    @model_validator(mode="after")
    def _entities_are_called_after_their_device(self) -> Self:
        for entity in self.entities:
            device = self.device(entity.device)
            if device and not f"{entity.name} ".startswith(f"{device.name} "):
                raise ValueError(
                    f"{entity.id} is called {entity.name!r}, but Home Assistant puts the name of its device first:"
                    f" {device.name!r}"
                )
        return self


def read_home(text: str, setup: Mapping[str, JsonValue] | None = None) -> Home:
    """Read a home from the text of its file, with `setup` merged into it.

    `setup` maps an entity id of the file to what differs there: `{"state": …,
    "attributes": {…}}`, both optional. Raises `HomeFileError` when the outcome is not a
    home.
    """
    try:
        written = _written(text)
    except yaml.YAMLError as error:
        raise HomeFileError(f"it is not YAML: {error}") from error
    if setup:
        written = _merged(written, setup)
    try:
        return Home.model_validate(written)
    except ValidationError as error:
        raise HomeFileError("; ".join(_sentences(error))) from error


@lru_cache(maxsize=8)
def _written(text: str) -> object:
    """Parse the text of a file. What is written is only read, so that homes of one text share it."""
    written: object = yaml.load(text, yaml.CSafeLoader)
    return written


class _SetUpEntity(Written):
    """The fields of a `setup` mapping about one entity."""

    state: JsonValue = None
    attributes: dict[str, JsonValue] | None = None


_SETUP = TypeAdapter(dict[str, _SetUpEntity])
_WRITTEN_HOME = TypeAdapter(dict[str, list[dict[str, object]]])


def _merged(
    written: object, setup: Mapping[str, JsonValue]
) -> dict[str, list[dict[str, object]]]:
    try:
        home = _WRITTEN_HOME.validate_python(written)
        differing = _SETUP.validate_python(dict(setup))
    except ValidationError as error:
        raise HomeFileError("; ".join(_sentences(error))) from error
    if unknown := differing.keys() - {
        str(entity.get("id")) for entity in home.get("entities", [])
    }:
        raise HomeFileError(
            f"the setup names entities that the home has not: {', '.join(sorted(unknown))}"
        )
    entities = [
        _merged_entity(entity, differing.get(str(entity.get("id"))))
        for entity in home.get("entities", [])
    ]
    return home | {"entities": entities}


def _merged_entity(
    entity: dict[str, object], differing: _SetUpEntity | None
) -> dict[str, object]:
    if differing is None:
        return entity
    attributes = entity.get("attributes")
    return (
        entity
        | ({} if differing.state is None else {"state": differing.state})
        | {
            "attributes": (attributes if isinstance(attributes, dict) else {})
            | (differing.attributes or {})
        }
    )


def _unique(kind: str, ids: list[str]) -> set[str]:
    if twice := {one for one in ids if ids.count(one) > 1}:
        raise ValueError(f"there is more than one {kind} {', '.join(sorted(twice))}")
    return set(ids)


def _refer(who: str, kind: str, reference: str | None, known: set[str]) -> None:
    if reference is not None and reference not in known:
        raise ValueError(f"{who} is in {kind} {reference}, which the home has not")


def _sentences(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        yield f"{place}: {message}" if place else message
