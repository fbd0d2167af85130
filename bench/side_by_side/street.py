"""Eight homes like that of `script/demo` in one, each with names of its own, which `street.toml` lists.

Knows the home file and the table of names; must not know how a home is set up.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml
from pydantic import JsonValue, TypeAdapter

from demo.translated import HOME_FILE

type _HomeFile = dict[str, list[dict[str, JsonValue]]]

_HOME: Final = TypeAdapter[_HomeFile](dict[str, list[dict[str, JsonValue]]])
_NAMES: Final = TypeAdapter(dict[str, list[str]]).validate_python(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
)
_REFERENCES: Final = ("id", "area", "floor", "device")
HOMES: Final = 1 + min(map(len, _NAMES.values()))


def describe_street() -> _HomeFile:
    """Return the home file of all of them."""
    street: _HomeFile = {}
    for number in range(HOMES):
        text = HOME_FILE.read_text("utf-8")
        home = _HOME.validate_python(yaml.load(text, yaml.CSafeLoader))
        names = {name: [name, *others][number] for name, others in _NAMES.items()}
        for kind, parts in home.items():
            street.setdefault(kind, []).extend(
                _moved(part, names, f"_{number}" if number else "") for part in parts
            )
    return street


def _moved(
    part: dict[str, JsonValue], names: Mapping[str, str], suffix: str
) -> dict[str, JsonValue]:
    """Return a floor, room, device or entity with its names and ids in one of the homes."""
    moved = part | {key: f"{part[key]}{suffix}" for key in _REFERENCES if key in part}
    moved["name"] = _named(str(part["name"]), names)
    if isinstance(aliases := part.get("aliases"), list):
        moved["aliases"] = [_named(str(alias), names) for alias in aliases]
    return moved


def _named(name: str, names: Mapping[str, str]) -> str:
    """Return a name whose beginning is the longest one that is listed."""
    known = [one for one in names if f"{name} ".startswith(f"{one} ")]
    begin = max(known, key=len)
    return names[begin] + name.removeprefix(begin)
