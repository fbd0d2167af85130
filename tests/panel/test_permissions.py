"""Permissions on the page: the table of devices, the rules in plain words, the PIN, and sentences to try."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
)

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.settings.rules import (
    Rule,
    async_get_home_rules,
    home_rules_to_json,
)
from custom_components.chatterbox.settings.tool_names import SENTENCE_TOOL
from tests.demo_house.move_in import move_in
from tests.panel.conftest import OpenPage
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
from tests.support.page_tables import DOCS
from tests.support.sentences import sentence

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: garden, name: Garden }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Front Door, id: lock.door, area: hall, state: locked }
  - { name: Garage, id: cover.garage, area: garden, state: closed, attributes: { device_class: garage } }
  - { name: Blind, id: cover.blind, state: closed, attributes: { device_class: blind } }
  - { name: Attic, id: light.attic, state: "off" }
  - { name: Noise, id: sensor.noise, state: 4 }
"""
EXPOSED = ("light.lamp", "lock.door", "cover.garage", "cover.blind", "sensor.noise")
ENGLISH = {"language": "en"}
PIN = "7391058264"
NIGHT = {"after": "22:00:00", "before": "06:00:00"}
COMMANDS: dict[str, dict[str, object]] = {
    "get": {},
    "subscribe": {},
    "tools": {},
    "devices": {},
    "choose": {"version": "", "entity_id": "lock.door", "verdict": "allow"},
    "set_rules": {"version": "", "rules": []},
    "set_pin": {"version": "", "uses": []},
    "try": {"sentence": "turn on the lamp", "agent": ""},
}


@pytest.fixture(autouse=True)
async def home(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    assert entry.entry_id
    await move_in(hass, HOME)
    for state in hass.states.async_all():
        async_expose_entity(
            hass,
            conversation.DOMAIN,
            state.entity_id,
            should_expose=state.entity_id in EXPOSED,
        )


async def permissions(page: OpenPage) -> dict[str, Any]:
    """Return the rules as the page shows them."""
    found: dict[str, Any] = await page.ask("permissions/get", **ENGLISH)
    return found


async def change(page: OpenPage, command: str, **data: object) -> dict[str, Any]:
    """Change the rules that are shown, and return those that hold then."""
    version = (await permissions(page))["version"]
    found: dict[str, Any] = await page.ask(
        f"permissions/{command}", **ENGLISH, version=version, **data
    )
    return found


async def refusal(page: OpenPage, command: str, **data: object) -> tuple[str, str]:
    """Return the code and the text with which a change is refused."""
    version = (await permissions(page))["version"]
    answer = await page.send(
        f"permissions/{command}", **ENGLISH, version=version, **data
    )
    assert not answer["success"], answer
    return answer["error"]["code"], answer["error"]["message"]


async def devices(page: OpenPage, **data: object) -> dict[str, Any]:
    """Return the table by entity id."""
    found = await page.ask("permissions/devices", **ENGLISH, **data)
    return {row["entity_id"]: row for row in found["rows"]}


def stored(hass: HomeAssistant) -> JsonObject:
    """Return the rules of the home as they are stored."""
    return home_rules_to_json(async_get_home_rules(hass).stored)


async def test_the_table_tells_the_effective_verdict_of_each_exposed_device_and_why(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await set_home_rules(
        hass,
        rules=[
            {"verdict": "deny", "users": ["nobody"], "areas": ["garden"]},
            {"verdict": "ask", "areas": ["hall"], "domains": ["light"]},
        ],
    )

    found = await devices(page)

    assert [*found] == [
        "cover.garage",
        "lock.door",
        "light.lamp",
        "cover.blind",
    ]  # by area, then name
    assert {
        one: (row["area"], row["verdict"], row["why"], row["rule"])
        for one, row in found.items()
    } == {
        "cover.garage": ("Garden", "ask", "default", None),
        "lock.door": ("Hall", "ask", "default", None),
        "light.lamp": ("Hall", "ask", "rule", 2),
        "cover.blind": ("", "allow", "nothing", None),
    }
    assert found["lock.door"]["actions"] == ["Open lock", "Unlock lock"]
    assert found["cover.blind"]["actions"] == []
    assert found["cover.garage"]["more_actions"] > 0


async def test_the_table_is_searched_filtered_and_paged(page: OpenPage) -> None:
    assert [*await devices(page, search="hall LAMP")] == ["light.lamp"]
    assert [*await devices(page, search="moat")] == []
    assert [*await devices(page, verdict="ask")] == ["cover.garage", "lock.door"]
    second = await page.ask("permissions/devices", **ENGLISH, offset=1, limit=2)
    assert second["total"] == 4
    assert [row["entity_id"] for row in second["rows"]] == ["lock.door", "light.lamp"]


async def test_the_table_begins_with_the_strictest_and_counts_the_rest_by_area(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await set_home_rules(hass, rules=[{"verdict": "deny", "entities": ["cover.blind"]}])

    found = await page.ask("permissions/devices", **ENGLISH)

    assert [row["entity_id"] for row in found["rows"]] == [
        "cover.blind",
        "cover.garage",
        "lock.door",
        "light.lamp",
    ]
    assert found["rooms"] == [{"area": "Hall", "count": 1}]
    assert [*await devices(page, verdict="allow", area="Hall")] == ["light.lamp"]
    assert [*await devices(page, area="")] == ["cover.blind"]


async def test_the_rules_for_the_uses_of_the_pin_are_told_apart(page: OpenPage) -> None:
    light: JsonObject = {"verdict": "ask", "domains": ["light"]}
    await change(page, "set_rules", rules=[light])

    found = await change(page, "set_pin", new_password=PIN, uses=["unlock", "open"])

    assert [one["is_of_pin"] for one in found["rules"]] == [False, True, True, True]
    assert {one["is_of_pin"] for one in found["defaults"]} == {False}


async def test_a_choice_in_a_row_becomes_a_rule_and_the_next_one_replaces_it(
    hass: HomeAssistant, page: OpenPage
) -> None:
    found = await change(page, "choose", entity_id="light.lamp", verdict="deny")

    assert [one["text"] for one in found["rules"]] == ["Never use the Lamp."]
    row = (await devices(page))["light.lamp"]
    assert (row["verdict"], row["why"], row["rule"], row["chosen"]) == (
        "deny",
        "rule",
        1,
        "deny",
    )

    await change(page, "choose", entity_id="light.lamp", verdict="allow")
    assert stored(hass) == {"rules": [{"verdict": "allow", "entities": ["light.lamp"]}]}
    await change(page, "choose", entity_id="light.lamp", verdict=None)
    assert stored(hass) == {}


async def test_nothing_is_chosen_for_a_device_that_does_not_exist(
    hass: HomeAssistant, page: OpenPage
) -> None:
    assert (await refusal(page, "choose", entity_id="lock.moat", verdict="allow"))[
        0
    ] == "not_found"
    assert stored(hass) == {}


async def test_rules_are_written_in_plain_words(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await set_home_rules(
        hass,
        rules=[
            {
                "verdict": "deny",
                "device_classes": ["garage"],
                "actions": ["cover.open_cover"],
                "window": NIGHT,
            }
        ],
    )

    found = await permissions(page)
    german = await page.ask("permissions/get", language="de")

    assert [one["text"] for one in found["rules"]] == [
        "Between 22:00 and 06:00: never open anything of type Garage."
    ]
    assert [one["text"] for one in german["rules"]] == [
        "Zwischen 22:00 und 06:00 Uhr: niemals etwas vom Typ Garage öffnen."
    ]
    assert (
        found["defaults"][0]["text"] == "Unlock anything of type Lock only after a yes."
    )
    assert found["defaults"][-1]["text"] == "Never tell where people were."


async def test_a_rule_may_name_each_tool_that_agents_have_now(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await set_home_rules(
        hass, rules=[{"verdict": "ask", "tools": ["a_tool_that_is_gone"]}]
    )

    assert await page.ask("permissions/tools") == [
        {"id": SENTENCE_TOOL, "name": SENTENCE_TOOL}
    ]
    assert [one["id"] for one in (await permissions(page))["choices"]["tools"]] == [
        "a_tool_that_is_gone"
    ]


async def test_each_condition_can_be_chosen_and_is_described(page: OpenPage) -> None:
    found = await permissions(page)
    conditions = {field.name for field in fields(Rule)} - {"verdict", "window"}
    editor = (DOCS.parent / "frontend" / "src" / "rule_editor.ts").read_text("utf-8")
    lists = " ".join(
        re.findall(r"readonly Condition\[\] = \[(.*?)\]", editor, re.DOTALL)
    )
    described = " ".join(
        re.findall(
            r"^\| ([^|]+) \|",
            (DOCS / "permissions.md").read_text("utf-8"),
            re.MULTILINE,
        )
    )

    assert {*re.findall(r"\w+", lists)} == conditions
    assert found["choices"].keys() == conditions | {"verdicts"}
    assert [
        name
        for field, name in found["fields"].items()
        if field in conditions and name not in described
    ] == []


async def test_rules_are_added_moved_edited_and_deleted_as_one_list(
    hass: HomeAssistant, page: OpenPage
) -> None:
    lamp, door = (
        {"verdict": "allow", "entities": ["light.lamp"]},
        {"verdict": "ask", "entities": ["lock.door"]},
    )

    await change(page, "set_rules", rules=[lamp, door])
    assert stored(hass) == {"rules": [lamp, door]}
    await change(page, "set_rules", rules=[door, lamp | {"window": NIGHT}])
    assert stored(hass) == {"rules": [door, lamp | {"window": NIGHT}]}
    await change(page, "set_rules", rules=[door])
    assert stored(hass) == {"rules": [door]}


@in_one_home(
    ("rule", "text"),
    [
        ({"verdict": "maybe"}, "“maybe” is not valid in rule 1."),
        ({"verdict": "allow", "moat": ["deep"]}, "is not valid in rule 1."),
        ({"verdict": "allow", "entities": ["door"]}, "“door” is not valid in rule 1."),
        ({"verdict": "allow", "entities": []}, "is not valid in rule 1."),
        (
            {"verdict": "pin", "domains": ["lock"]},
            "Rule 1 requires the PIN, but none is set.",
        ),
        (
            {"verdict": "allow"},
            "Rule 1 has no conditions, so the rules after it never apply.",
        ),
    ],
)
async def test_a_rule_that_cannot_hold_is_refused_and_nothing_is_changed(
    hass: HomeAssistant, page: OpenPage, rule: object, text: str
) -> None:
    code, message = await refusal(
        page, "set_rules", rules=[rule, {"verdict": "ask", "entities": ["lock.door"]}]
    )

    assert code == "rules"
    assert text in message
    assert stored(hass) == {}


async def test_a_change_of_rules_that_others_have_changed_is_refused(
    hass: HomeAssistant, page: OpenPage
) -> None:
    version = (await permissions(page))["version"]
    await set_home_rules(hass, rules=[{"verdict": "deny", "entities": ["lock.door"]}])

    assert (
        await page.error("permissions/set_rules", **ENGLISH, version=version, rules=[])
        == "changed"
    )
    choice = {"entity_id": "lock.door", "verdict": "allow"}
    assert (
        await page.error("permissions/choose", **ENGLISH, version=version, **choice)
        == "changed"
    )
    assert stored(hass) == {"rules": [{"verdict": "deny", "entities": ["lock.door"]}]}


async def test_rules_that_change_while_they_are_listed_are_not_called_unreadable(
    hass: HomeAssistant, page: OpenPage
) -> None:
    listing = asyncio.create_task(
        page.ask("permissions/get", language="sv")
    )  # whose texts have to be read first
    for number in range(30):
        await set_home_rules(
            hass, rules=[{"verdict": "deny", "entities": ["lock.door"]}] * (number % 2)
        )
        await asyncio.sleep(0)

    assert not (await listing)["locked"]


async def test_an_administrator_is_told_that_the_rules_have_changed_elsewhere(
    hass: HomeAssistant, page: OpenPage, hass_admin_user: MockUser
) -> None:
    await page.ask("permissions/subscribe")
    await set_home_rules(hass, rules=[{"verdict": "deny", "entities": ["lock.door"]}])

    assert await page.event() == {}
    hass_admin_user.groups = []
    await set_home_rules(hass, rules=[])
    assert (
        await page.error("permissions/get", **ENGLISH) == "unauthorized"
    )  # no event comes before it


async def test_the_pin_is_set_changed_and_removed_and_told_to_nobody(
    hass: HomeAssistant, page: OpenPage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    found = await change(page, "set_pin", new_password=PIN, uses=["unlock"])
    set_first = async_get_home_rules(hass).stored.pin

    assert set_first
    assert set_first.matches(PIN)
    assert (found["has_pin"], found["pin_uses"]) == (True, ["unlock"])
    assert (await devices(page))["lock.door"]["verdict"] == "pin"

    found = await change(page, "set_pin", uses=["unlock", "open"])  # it stays
    assert async_get_home_rules(hass).stored.pin is set_first
    assert found["pin_uses"] == ["unlock", "open"]

    found = await change(page, "set_pin", new_password=None, uses=["unlock"])
    assert (found["has_pin"], found["pin_uses"], stored(hass)) == (False, [], {})
    logged = [
        one
        for one in caplog.records
        if not one.name.startswith("pytest_homeassistant_custom_component")
    ]
    assert PIN not in " ".join(one.getMessage() for one in logged)
    assert PIN not in json.dumps(found)


@in_one_home(
    "typed",
    ["123", "12a4", "1234", "12345678901", "", 73910, ["7391"], {"pin": "7391"}],
)
async def test_a_pin_that_cannot_be_one_is_refused_and_not_quoted(
    hass: HomeAssistant, page: OpenPage, typed: object
) -> None:
    code, message = await refusal(page, "set_pin", new_password=typed, uses=["unlock"])

    assert code == "rules"
    assert "PIN" in message
    assert "7391" not in message
    assert stored(hass) == {}


async def test_a_pin_that_would_do_nothing_is_refused(
    hass: HomeAssistant, page: OpenPage
) -> None:
    assert (
        "Nothing would need this PIN"
        in (await refusal(page, "set_pin", new_password=PIN, uses=[]))[1]
    )
    rules = [{"verdict": "allow", "domains": ["lock"]}]
    await set_home_rules(hass, rules=rules)
    assert (
        "Rule 1 already decides this"
        in (await refusal(page, "set_pin", new_password=PIN, uses=["unlock"]))[1]
    )
    assert stored(hass) == {"rules": rules}


async def test_a_rule_that_needs_the_pin_keeps_it(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await change(page, "set_pin", new_password=PIN, uses=["disarm"])
    await change(page, "choose", entity_id="lock.door", verdict="pin")

    assert (
        "requires the PIN, but none is set"
        in (await refusal(page, "set_pin", new_password=None, uses=[]))[1]
    )
    assert async_get_home_rules(hass).stored.pin


async def test_a_rule_cannot_be_moved_before_what_needs_the_pin(
    hass: HomeAssistant, page: OpenPage
) -> None:
    found = await change(page, "set_pin", new_password=PIN, uses=["unlock"])
    before = stored(hass)
    pin = [one["rule"] for one in found["rules"]]

    refused = await refusal(
        page, "set_rules", rules=[{"verdict": "allow", "domains": ["lock"]}, *pin]
    )

    assert (
        "Rule 1 already decides this, so it would be done without the PIN" in refused[1]
    )
    assert stored(hass) == before


async def test_rules_that_cannot_be_read_are_not_written_over(
    hass: HomeAssistant, page: OpenPage
) -> None:
    entry = hass.config_entries.async_entries("chatterbox")[0]
    agent = next(iter(entry.subentries.values()))
    hass.config_entries.async_update_subentry(
        entry, agent, data={**agent.data, "rules": []}
    )

    found = await permissions(page)
    assert found["locked"] is True
    assert {row["verdict"] for row in (await devices(page)).values()} == {"deny"}
    assert (await refusal(page, "set_rules", rules=[]))[0] == "rules_locked"


async def test_a_sentence_is_tried_without_doing_it(
    hass: HomeAssistant, page: OpenPage, agent: str
) -> None:
    await set_home_rules(
        hass, rules=[{"verdict": "deny", "entities": ["cover.garage"]}]
    )
    called, changed = (
        async_capture_events(hass, kind) for kind in ("call_service", "state_changed")
    )

    def outcome(found: Any) -> list[tuple[str, str, str, list[int]]]:
        return [
            (one["sentence"], one["outcome"], one["verdict"], one["rules"])
            for one in found["calls"]
        ]

    lamp = await page.ask(
        "permissions/try", **ENGLISH, sentence="turn on the lamp", agent=agent
    )
    door = await page.ask(
        "permissions/try", **ENGLISH, sentence="unlock the front door", agent=agent
    )
    garage = await page.ask(
        "permissions/try", **ENGLISH, sentence="open the garage", agent=agent
    )
    nothing = await page.ask(
        "permissions/try", **ENGLISH, sentence="sing a song", agent=agent
    )
    past = await page.ask(
        "permissions/try", **ENGLISH, sentence="was the lamp on yesterday", agent=agent
    )

    assert outcome(lamp) == [("turn on the Lamp in the Hall", "runs", "allow", [])]
    assert outcome(door) == [("unlock the Front Door in the Hall", "held", "ask", [])]
    assert door["text"] == "Unlock the Front Door in the Hall?"
    assert outcome(garage) == [
        ("open the Garage in the Garden", "refused", "deny", [1])
    ]
    assert garage["calls"][0]["why"] == "The rules of this home don't allow that."
    assert nothing["calls"] == []
    assert (past["text"], past["calls"]) == (sentence("common.spoken_past_unknown"), [])
    assert not called
    assert [one for one in changed if one.data["entity_id"] in EXPOSED] == []


async def test_a_sentence_cannot_be_tried_with_an_agent_that_is_gone(
    page: OpenPage,
) -> None:
    assert (
        await page.error(
            "permissions/try", **ENGLISH, sentence="turn on the lamp", agent="gone"
        )
        == "not_found"
    )


async def test_only_administrators_see_and_change_what_agents_may_do(
    hass: HomeAssistant, open_as_ben: Callable[[], Awaitable[OpenPage]]
) -> None:
    ben = await open_as_ben()

    for command, data in COMMANDS.items():
        assert (
            await ben.error(f"permissions/{command}", **ENGLISH, **data)
            == "unauthorized"
        )
    assert stored(hass) == {}


@in_one_home(
    ("command", "data"),
    [
        ("devices", {"limit": 201}),
        ("devices", {"limit": 0}),
        ("devices", {"offset": -1}),
        ("devices", {"verdict": "maybe"}),
        ("devices", {"search": "x" * 201}),
        ("choose", {"version": "", "entity_id": "door", "verdict": "ask"}),
        ("choose", {"version": "", "entity_id": "lock.door", "verdict": "maybe"}),
        ("set_rules", {"version": "", "rules": [{"verdict": "ask"}] * 201}),
        ("set_pin", {"version": "", "uses": ["everything"]}),
        ("try", {"sentence": "", "agent": "x"}),
        ("try", {"sentence": "x" * 501, "agent": "x"}),
    ],
)
async def test_what_is_out_of_bounds_is_refused(
    page: OpenPage, command: str, data: dict[str, object]
) -> None:
    assert (
        await page.error(f"permissions/{command}", **ENGLISH, **data)
        == "invalid_format"
    )
