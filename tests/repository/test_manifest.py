"""The manifest and `hacs.json` are as Home Assistant's own checker and HACS want them."""

import ast
import json
import struct
import tomllib
from pathlib import Path

import homeassistant
import pytest
from awesomeversion import AwesomeVersion
from homeassistant.components.brands.const import ALLOWED_IMAGES
from homeassistant.const import Platform, __version__ as running_version
from homeassistant.core import HomeAssistant
from homeassistant.loader import async_get_integration
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import custom_components

_REPOSITORY = Path(custom_components.__file__).parents[1]
_INTEGRATION = _REPOSITORY / "custom_components" / "chatterbox"
_CONSTRAINTS = Path(homeassistant.__file__).parent / "package_constraints.txt"

# What an integration may import undeclared: words of entity platforms, what needs no
# set-up or is there before us, and what itself asks for the module that imports it.
_ALWAYS_THERE = {
    "diagnostics",
    "homeassistant",
    "llm",
    "repairs",
    "websocket_api",
    *Platform,
}
_ASKED_FOR_WHERE_LOADED = {"mobile_app"}
"""Imports that run only on use: declared, they would have every home install what a cloud needs."""

_MANIFEST = json.loads((_INTEGRATION / "manifest.json").read_bytes())


def _components_imported() -> set[str]:
    """The integrations of Home Assistant that our code imports by name."""
    modules: set[str] = set()
    for path in _INTEGRATION.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Import(names=names):
                    modules |= {name.name for name in names}
                case ast.ImportFrom(module="homeassistant.components", names=names):
                    modules |= {
                        f"homeassistant.components.{name.name}" for name in names
                    }
                case ast.ImportFrom(module=str(module), level=0):
                    modules.add(module)
                case _:
                    pass
    return {
        module.split(".")[2]
        for module in modules
        if module.startswith("homeassistant.components.")
    }


def test_keys_are_those_of_a_custom_integration_in_the_order_that_home_assistant_asks_for() -> (
    None
):
    assert list(_MANIFEST) == [
        *(
            "domain",
            "name",
            "after_dependencies",
            "codeowners",
            "config_flow",
            "dependencies",
            "documentation",
        ),
        *("integration_type", "iot_class", "issue_tracker", "requirements", "version"),
    ]


def test_version_is_the_one_of_the_project() -> None:
    project = (_REPOSITORY / "pyproject.toml").read_text()
    assert f'\nversion = "{_MANIFEST["version"]}"\n' in project
    locked = (_REPOSITORY / "uv.lock").read_text()
    assert f'\nname = "chatterbox"\nversion = "{_MANIFEST["version"]}"\n' in locked
    assert AwesomeVersion(_MANIFEST["version"]).strategy == "SemVer"


@pytest.mark.usefixtures("enable_custom_integrations")
async def test_home_assistant_finds_the_integration_as_a_service_with_images(
    hass: HomeAssistant,
) -> None:
    integration = await async_get_integration(hass, "chatterbox")

    assert integration.file_path == _INTEGRATION
    assert integration.name == "Chatterbox"
    assert integration.config_flow
    assert integration.integration_type == "service"
    assert integration.has_branding


def test_every_component_that_is_imported_is_declared() -> None:
    declared = {*_MANIFEST["dependencies"], *_MANIFEST["after_dependencies"]}
    assert _components_imported() - declared <= _ALWAYS_THERE | _ASKED_FOR_WHERE_LOADED


@pytest.mark.parametrize(
    "requirement", map(Requirement, _MANIFEST["requirements"]), ids=str
)
def test_requirement_admits_what_home_assistant_pins(requirement: Requirement) -> None:
    pins = {
        canonicalize_name(pin.name): pin.specifier
        for line in _CONSTRAINTS.read_text().splitlines()
        if line and not line.startswith("#")
        for pin in [Requirement(line)]
    }
    [pinned] = [
        str(pin.version)
        for pin in pins[canonicalize_name(requirement.name)]
        if pin.operator == "=="
    ]
    assert requirement.specifier.contains(pinned)


def test_hacs_offers_the_archive_to_the_versions_that_are_tested() -> None:
    hacs = json.loads((_REPOSITORY / "hacs.json").read_bytes())

    assert set(hacs) == {
        "name",
        "filename",
        "hide_default_branch",
        "homeassistant",
        "zip_release",
    }
    assert hacs["name"] == _MANIFEST["name"]
    assert hacs["zip_release"]
    assert hacs["filename"] == "chatterbox.zip"
    assert AwesomeVersion(hacs["homeassistant"]) <= AwesomeVersion(running_version)
    groups = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text())[
        "dependency-groups"
    ]
    assert f"homeassistant=={hacs['homeassistant']}" in groups["oldest"], (
        "which is tested"
    )


@pytest.mark.parametrize(
    ("stem", "width", "height"),
    [
        ("icon", 256, 256),
        ("dark_icon", 256, 256),
        ("logo", 808, 128),
        ("dark_logo", 808, 128),
    ],
)
@pytest.mark.parametrize("scale", [1, 2])
def test_image_has_the_size_that_home_assistant_shows(
    stem: str, width: int, height: int, scale: int
) -> None:
    name = f"{stem}{'' if scale == 1 else '@2x'}.png"
    image = (_INTEGRATION / "brand" / name).read_bytes()

    assert name in ALLOWED_IMAGES
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", image[16:24]) == (width * scale, height * scale)
