"""The demo house with the names that people of a language give to rooms and devices.

Knows the home file and the tables of names; must not know how a home is set up.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml
from pydantic import JsonValue, TypeAdapter

from demo.configuration import REPOSITORY

HOME_FILE = REPOSITORY / "demo" / "home.yaml"
NAMES = REPOSITORY / "demo" / "names"
ENGLISH = "en"
CAMERA: dict[str, JsonValue] = {
    "name": "Garden Camera",
    "id": "camera.garden",
    "area": "garden",
    "attributes": {"picture": "garden.jpg"},
}
"""Beside the home file, since a home in which nothing is looked at needs none of Home Assistant's camera servers."""
_HOME = TypeAdapter(dict[str, list[dict[str, JsonValue]]])


def languages() -> list[str]:
    """Return the languages that have names for the demo house."""
    return sorted({ENGLISH, *(file.stem for file in NAMES.glob("*.toml"))})


def translated_home(language: str) -> str:
    """Return the home file and its camera, with the names of a language."""
    text = HOME_FILE.read_text("utf-8")
    home = _HOME.validate_python(yaml.load(text, yaml.CSafeLoader))
    home["entities"].append({**CAMERA})
    if language != ENGLISH:
        _translate(home, dict(_names(NAMES / f"{language}.toml")))
    return yaml.dump(
        {**home}, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False
    )


def _translate(
    home: dict[str, list[dict[str, JsonValue]]], names: dict[str, list[str]]
) -> None:
    for part in (one for parts in home.values() for one in parts):
        part["name"], *aliases = names[str(part["name"])]
        if "info" not in part:  # a device has no aliases
            part["aliases"] = [*aliases]
    devices = {device["id"]: device for device in home["devices"]}
    for entity in home["entities"]:
        device, attributes = (
            devices.get(entity.get("device", "")),
            entity.get("attributes"),
        )
        if device and not f"{entity['name']} ".startswith(f"{device['name']} "):
            del entity[
                "device"
            ]  # Home Assistant would put the name of the device first
            entity["area"] = device["area"]
        if isinstance(attributes, dict) and isinstance(
            items := attributes.get("todo_items"), list
        ):
            attributes["todo_items"] = [_item(item, names) for item in items]
        if isinstance(attributes, dict) and isinstance(
            events := attributes.get("events"), list
        ):
            attributes["events"] = [_item(event, names) for event in events]


def _names(file: Path) -> Iterator[tuple[str, list[str]]]:
    for name, texts in (
        TypeAdapter(dict[str, str])
        .validate_python(tomllib.loads(file.read_text("utf-8")))
        .items()
    ):
        yield name, [text.strip() for text in texts.split(",")]


def _item(item: JsonValue, names: dict[str, list[str]]) -> JsonValue:
    """Return an item of a list with its texts translated."""
    if isinstance(item, dict):
        return {key: names.get(str(value), [value])[0] for key, value in item.items()}
    return names[str(item)][0]
