"""Writes states in the form of the list of the home: rooms, then entities by domain, with the same facts in less text.

Pure text of the result of Home Assistant's own tool. Must not know states itself.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from .description import quoted
from .entities import Home

_LOADER: Final = getattr(
    yaml,
    "CSafeLoader",
    yaml.SafeLoader,
)
_GUIDE: Final = "The states now, by room:"
_NO_ROOM: Final = "(in no room)"
_MOST_BRIGHT: Final = 255
_BRIGHTNESS: Final = frozenset({"brightness", "brightness_pct"})


class _Entry(BaseModel):
    """One entity. Source: `homeassistant.components.homeassistant.llm.async_get_exposed_entities`."""

    model_config = ConfigDict(
        extra="forbid",
        coerce_numbers_to_str=True,
        frozen=True,
    )

    names: str
    domain: str
    state: str
    areas: str = ""
    attributes: Mapping[str, str | None] = {}


_ENTRIES: Final = TypeAdapter(tuple[_Entry, ...])


def short_states(
    text: str,
    home: Home,
    floor_id: str | None = None,
) -> str:
    """Return the result of `GetLiveContext` in short, of one floor or of all; `text` itself if it has another form."""
    try:
        entries = _ENTRIES.validate_python(yaml.load(text.partition("\n")[2], _LOADER))  # noqa: S506  # a safe loader
    except ValidationError, yaml.YAMLError:
        return text
    areas = {}
    for room in home.rooms:
        areas[room.area_id] = ", ".join(room.names)
    names = {
        (
            ", ".join(one.names),
            one.domain,
            areas.get(one.area_id or "", ""),
        ): one.listed_name
        for one in home.entities
    }
    on_floor = {areas[one.area_id] for one in home.rooms if one.floor_id == floor_id}
    rooms: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        if floor_id and entry.areas not in on_floor:
            continue
        short = names.get((entry.names, entry.domain, entry.areas)) or entry.names
        kind = " ".join(
            filter(
                None,
                (entry.domain, entry.attributes.get("device_class")),
            )
        )
        rooms.setdefault(entry.areas.partition(", ")[0], {}).setdefault(
            kind, []
        ).append(_state(entry, short))
    return "\n".join((_GUIDE, *_lines(rooms)))


def _lines(rooms: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    for room, kinds in sorted(
        rooms.items(), key=lambda one: (not one[0], one[0].casefold())
    ):
        yield quoted(room) if room else _NO_ROOM
        yield from (
            f" {kind}: {', '.join(states)}" for kind, states in sorted(kinds.items())
        )


def _state(entry: _Entry, name: str) -> str:
    """Write the state of an entity. The device class is written with the domain."""
    present = {
        key: value
        for key, value in entry.attributes.items()
        if value is not None and key != "device_class"
    }
    unit = present.pop("unit_of_measurement", None)
    bright = present.get("brightness", "")
    facts = [
        f"{key} {quoted(value)}"
        for key, value in sorted(present.items())
        if key not in _BRIGHTNESS
    ]
    if bright.isdigit() and entry.state == "on":  # a light that is off has none
        share = round(int(bright) / _MOST_BRIGHT * 100)
        percentage = present.get("brightness_pct", max(share, 1))
        facts.insert(0, f"{percentage} %")
    words = [quoted(name), quoted(entry.state)]
    if unit:
        words.append(quoted(unit))
    if facts:
        words.append(f"({', '.join(facts)})")
    return " ".join(words)
