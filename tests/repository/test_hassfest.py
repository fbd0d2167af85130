"""The rules of Home Assistant's own checker, hassfest, for what a custom integration has, and those of HACS.

Neither comes with Home Assistant, nor can HACS be asked without a network: GitHub runs
both. These are their rules for the manifest, actions, icons, translations and files.
`test_manifest.py`, `test_translations.py` and `test_quality_scale.py` have the others.
"""

import ast
import json
import re
from pathlib import Path
from typing import Final

import pytest
import yaml
from homeassistant.helpers.selector import validate_selector
from yarl import URL

import custom_components

_REPOSITORY: Final = Path(custom_components.__file__).parents[1]
_INTEGRATION: Final = _REPOSITORY / "custom_components" / "chatterbox"
_MDI: Final = re.compile(r"mdi:[a-z0-9]+(-[a-z0-9]+)*")
_ISSUE_PARTS: Final = ({"title", "description"}, {"title", "fix_flow"})
_SCHEMA_NAMES: Final = {"CONFIG_SCHEMA", "PLATFORM_SCHEMA"}


def _json(name: str) -> dict[str, dict[str, dict[str, object]]]:
    content: dict[str, dict[str, dict[str, object]]] = json.loads(
        (_INTEGRATION / name).read_bytes()
    )
    return content


_TEXTS: Final = _json("translations/en.json")
_ICONS: Final = _json("icons.json")
_MANIFEST: Final = json.loads((_INTEGRATION / "manifest.json").read_bytes())
_ACTIONS: Final = {
    name: (action or {}).get("fields", {})
    for name, action in yaml.safe_load(
        (_INTEGRATION / "services.yaml").read_text("utf-8")
    ).items()
}


def test_addresses_of_the_manifest_are_whole() -> None:
    for key in ("documentation", "issue_tracker"):
        address = URL(_MANIFEST[key])
        assert (address.scheme, bool(address.host)) == ("https", True), key
    assert _MANIFEST["domain"] == _INTEGRATION.name
    assert all(re.fullmatch(r"@[\w-]+", owner) for owner in _MANIFEST["codeowners"])
    for key in ("dependencies", "after_dependencies", "requirements"):
        assert _MANIFEST[key] == sorted({*_MANIFEST[key]}), key
    assert not {*_MANIFEST["dependencies"]} & {*_MANIFEST["after_dependencies"]}


def test_an_integration_that_yaml_may_name_says_what_yaml_may_say() -> None:
    module = ast.parse((_INTEGRATION / "__init__.py").read_bytes())
    names = {
        node.target.id
        for node in module.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert names & _SCHEMA_NAMES
    assert _MANIFEST["config_flow"] is (_INTEGRATION / "config_flow.py").is_file()


@pytest.mark.parametrize("action", _ACTIONS)
def test_an_action_has_texts_an_icon_and_fields_that_can_be_shown(action: str) -> None:
    texts = _TEXTS["services"][action]
    fields = _ACTIONS[action]

    assert texts["name"]
    assert texts["description"]
    described = texts.get("fields", {})
    assert isinstance(described, dict)
    assert described.keys() == fields.keys()
    for name, field in fields.items():
        assert described[name].keys() >= {"name", "description"}, name
        assert field.keys() <= {"required", "default", "example", "selector"}, name
        validate_selector(field["selector"])
    assert _MDI.fullmatch(str(_ICONS["services"][action]["service"]))


def test_only_actions_have_texts_and_icons_of_actions() -> None:
    assert _TEXTS["services"].keys() == _ICONS["services"].keys() == _ACTIONS.keys()


def test_every_entity_has_an_icon_that_its_state_may_change() -> None:
    named = {
        (platform, key) for platform, keys in _TEXTS["entity"].items() for key in keys
    }
    drawn = {
        (platform, key) for platform, keys in _ICONS["entity"].items() for key in keys
    }
    assert named <= drawn
    for platform, key in drawn:
        icons = _ICONS["entity"][platform][key]
        assert isinstance(icons, dict)
        states = icons.get("state", {})
        assert isinstance(states, dict)
        assert icons.keys() <= {"default", "state"}, key
        assert icons["default"] not in states.values(), key
        for icon in (icons["default"], *states.values()):
            assert _MDI.fullmatch(str(icon)), icon


def test_every_issue_says_what_to_do() -> None:
    for key, issue in _TEXTS["issues"].items():
        assert issue.keys() in _ISSUE_PARTS, key


def test_every_exception_has_a_message_alone() -> None:
    assert {
        key for key, one in _TEXTS["exceptions"].items() if one.keys() != {"message"}
    } == set()


def test_hacs_finds_what_it_shows() -> None:
    """The checks of HACS that need no network: the others are about the settings of the repository on GitHub."""
    names = {
        "codeowners",
        "documentation",
        "domain",
        "issue_tracker",
        "name",
        "version",
    }
    assert names <= _MANIFEST.keys()
    assert [
        path.name
        for path in (_REPOSITORY / "custom_components").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    ] == ["chatterbox"]
    assert (_INTEGRATION / "brand" / "icon.png").is_file()
    readme = (_REPOSITORY / "README.md").read_text("utf-8")
    assert "<img" in readme or "![" in readme
    assert (_REPOSITORY / "LICENSE").is_file()
