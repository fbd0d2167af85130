"""The names that homes, automations and API clients rely on are those of `public_names.json`.

`python -m pytest tests/repository/test_public_names.py --write-pages` writes the file
anew. A name that a release has had stays for two more, with a repair where it is used
(CONTRIBUTING.md, "Names that others use"); then it is listed in `_WITHDRAWN`.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, MATCH_ALL
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox import agent
from custom_components.chatterbox.const import (
    BASE_PATH,
    CONF_BASE_URL,
    CONF_KIND,
    DOMAIN,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.tools.own.registry import own_tools
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import (
    LIGHT_ON,
    SATELLITE,
    move_into_the_demo_home,
    say,
)

FILE: Final = Path(__file__).with_name("public_names.json")
RELEASES: Final = Path(__file__).parents[1] / "fixtures" / "releases"
_PRODUCT: Final = Path(agent.__file__).parents[1]
_NOTICE: Final = 2
"""Minor releases for which a deprecated name stays."""
_WITHDRAWN: Final[Mapping[str, tuple[str, str]]] = {}
"""The releases in which a name was deprecated and withdrawn, by the name."""
_SCRIPT: Final = Script(
    answers=(
        ScriptedAnswer(tool_calls=(LIGHT_ON,)),
        ScriptedAnswer(content="It is on."),
    )
)

type Names = dict[str, list[str]]


def fields_of(data: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """Yield the fields of an event, and those of the objects in them."""
    for name, value in data.items():
        yield prefix + name
        match value:
            case dict() if not prefix and name not in {"arguments", "result"}:
                yield from fields_of(value, f"{name}.")
            case [dict(part), *_] if not prefix:
                yield from fields_of(part, f"{name}.")
            case _:
                pass


async def events(hass: HomeAssistant) -> Names:
    """Return the fields of our events, as turns and plans fire them."""
    found = defaultdict[str, set[str]](set)

    @callback
    def note(event: Event) -> None:
        if (name := str(event.event_type)).startswith(f"{DOMAIN}_"):
            found[name].update(fields_of(event.data))

    stop = hass.bus.async_listen(MATCH_ALL, note)
    for sentence in (
        "Do something.",
        "unlock the front door",
        "remind me in ten minutes to call Mum",
    ):
        await say(hass, sentence, sentence, SATELLITE)
    await hass.async_block_till_done(wait_background_tasks=True)
    stop()
    return {name: sorted(fields) for name, fields in found.items()}


def actions() -> Names:
    """Return the fields of the actions."""
    described = yaml.safe_load((_PRODUCT / "services.yaml").read_text("utf-8"))
    return {
        f"{DOMAIN}.{name}": sorted((action or {}).get("fields", {}))
        for name, action in described.items()
        if not name.startswith(("_", "."))
    }


def entities(hass: HomeAssistant) -> list[str]:
    """Return the platforms and unique ids of the entities of an agent and an AI task."""
    registry = er.async_get(hass)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    roles = {one.subentry_id: one.subentry_type for one in entry.subentries.values()}
    found = er.async_entries_for_config_entry(registry, entry.entry_id)
    return sorted(
        re.sub(
            "|".join(roles),
            lambda match: f"<{roles[match[0]]}>",
            f"{one.domain}: {one.unique_id}",
        )
        for one in found
    )


def routes(hass: HomeAssistant) -> list[str]:
    """Return the methods and paths of the API."""
    return sorted(
        f"{route.method} {route.resource.canonical}"
        for route in hass.http.app.router.routes()
        if route.resource
        and route.resource.canonical.startswith(BASE_PATH)
        and route.method not in {"*", "OPTIONS"}
    )


def library() -> list[str]:
    """Return the names at the top of the library."""
    stub = ast.parse((_PRODUCT / "agent" / "__init__.pyi").read_text("utf-8"))
    return sorted(
        str(name.asname)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    )


async def public_names(hass: HomeAssistant) -> dict[str, object]:
    """Return all names."""
    return {
        "actions": actions(),
        "entities": entities(hass),
        "events": await events(hass),
        "library": library(),
        "LLM APIs": sorted(
            api.id for api in llm.async_get_apis(hass) if DOMAIN in api.id
        ),
        "routes": routes(hass),
        "tools": sorted(tool.definition.name for tool in own_tools(hass)),
    }


def _entry(address: str) -> MockConfigEntry:
    """Return a service with an agent that has every kind of entity, and an AI task."""
    model = {CONF_MODEL: "scripted-model"}
    talker = {**model, CONF_LLM_HASS_API: ["assist"], "remember_facts": True}
    return MockConfigEntry(
        domain=DOMAIN,
        data={CONF_KIND: ServiceKind.OPENAI_CHAT, CONF_BASE_URL: address},
        subentries_data=[
            {"subentry_type": kind, "title": name, "unique_id": None, "data": data}
            for kind, name, data in (
                (SUBENTRY_CONVERSATION, "Talker", talker),
                (SUBENTRY_AI_TASK, "Worker", model),
            )
        ],
    )


def flat(names: object, place: str = "") -> Iterator[str]:
    """Yield the names of a file, each with its place."""
    match names:
        case dict():
            for key, part in names.items():
                yield f"{place}{key}"
                yield from flat(part, f"{place}{key}/")
        case list():
            yield from (f"{place}{name}" for name in names)
        case _:
            raise TypeError(names)


def minor(version: str) -> int:
    """Return the number of a release; a major one counts as ten minor ones."""
    major, number, *_ = version.split(".")
    return 10 * int(major) + int(number)


def lost_names(
    released: set[str], now: set[str], withdrawn: Mapping[str, tuple[str, str]]
) -> set[str]:
    """Return released names that are gone without notice: deprecated two releases before."""
    noticed = {
        name
        for name, (deprecated, gone) in withdrawn.items()
        if minor(gone) - minor(deprecated) >= _NOTICE
    }
    return released - now - noticed


def test_a_released_name_is_withdrawn_only_after_two_releases() -> None:
    now = {*flat(json.loads(FILE.read_text("utf-8")))}
    for file in RELEASES.glob("*/public_names.json"):
        released = {*flat(json.loads(file.read_text("utf-8")))}
        assert lost_names(released, now, _WITHDRAWN) == set(), file.parent.name
    assert lost_names({"a"}, set(), {}) == {"a"}
    assert lost_names({"a"}, set(), {"a": ("1.2.0", "1.3.0")}) == {"a"}
    assert lost_names({"a"}, set(), {"a": ("1.2.0", "1.4.0")}) == set()


@pytest.mark.usefixtures("socket_enabled")
async def test_names_change_only_with_their_list(
    hass: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    await move_into_the_demo_home(hass)
    person = {"id": "anna", "name": "Anna"}
    for component, settings in (("http", {}), ("person", [person])):
        assert await async_setup_component(hass, component, {component: settings})
    async with serving_script(_SCRIPT) as address:
        entry = _entry(address)
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)
        found = json.loads(json.dumps(await public_names(hass), sort_keys=True))
    if pytestconfig.getoption("--write-pages"):
        FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")

    assert found == json.loads(FILE.read_text("utf-8")), (
        f"see the first lines of {Path(__file__).name}"
    )
