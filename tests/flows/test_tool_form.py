"""The dialog "What the agent may use", in a real Home Assistant: what it shows, stores and refuses."""

from collections.abc import AsyncIterator

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.helpers.typing import ConfigType
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.flows.approval_page import MOST_ROWS
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    ToolSource,
    TrustLevel,
    async_get_home_rules,
)
from tests.demo_house.move_in import move_in
from tests.flows.agent_forms import choose, open_menu, submit
from tests.flows.rule_forms import approvals, open_approvals, placeholders
from tests.flows.test_agent_flow import suggested, text_of_error
from tests.support.config_entries import offline_entry, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.llm_apis import ASSIST_NAME, StubTool, register
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.in_process import serving_script
from tests.support.service_dialogs import TALKING

pytestmark = pytest.mark.usefixtures("socket_enabled")
HOME = """
entities:
  - { name: Lamp, id: light.lamp, state: "off" }
  - { name: Door, id: lock.door, state: locked }
"""
MANY = MOST_ROWS + 2
BY_TOOL, FREE, ASK, READ = (
    sentence(f"common.trust_{key}") for key in ("by_tool", "free", "ask", "read")
)


@pytest.fixture
async def entry(hass: HomeAssistant) -> AsyncIterator[MockConfigEntry]:
    """An agent with Assist and a server of tools, in a home with a lamp, a door and scripts."""
    await move_in(hass, HOME)
    scripts: ConfigType = {
        "night": {
            "alias": "Night",
            "sequence": [{"action": "light.turn_off", "entity_id": "light.lamp"}],
        },
        "party": {"alias": "Party", "sequence": [{"action": "shell_command.party"}]},
        **{
            f"one_{number}": {
                "sequence": [
                    {"action": "light.turn_on", "entity_id": f"light.x_{number}"}
                ]
            }
            for number in range(MANY)
        },
    }
    assert await async_setup_component(hass, "script", {"script": scripts})
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    for entity_id in ("light.lamp", "lock.door", "script.night", "script.party"):
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    register(
        hass, "mcp-1", StubTool(name="get_news"), StubTool(name="or|der"), name="News*"
    )
    async with serving_script(TALKING) as address:
        yield await set_up(
            hass, server_entry(address, llm_hass_api=["assist", "mcp-1", "gone"])
        )


async def open_tools(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    """Open the form."""
    return await choose(hass, await open_menu(hass, entry), "tools")


def form(**changes: object) -> dict[str, object]:
    """Return the form when nothing is said, with changes."""
    gone = sentence("common.source_absent", source="gone")
    return {
        ASSIST_NAME: BY_TOOL,
        "News*": BY_TOOL,
        gone: BY_TOOL,
        "scripts": [],
    } | changes


async def test_each_source_is_shown_with_its_tools_and_what_is_known_of_them(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    step = await open_tools(hass, entry)

    assert suggested(step) == form()
    tools = placeholders(step)["tools"]
    assist, _, news = tools.partition("**News\\***")
    assert f"| {sentence('common.tool_steps', targets='Lamp')} | Night |" in assist
    assert "| Party |" in assist
    assert f"| {sentence('common.tool_reads_by_name')} | get\\_news |" in news
    assert "or\\|der |" in news


async def test_tools_of_home_assistant_have_names_in_the_language_of_the_home(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config.language = "de"
    assist, *_ = placeholders(await open_tools(hass, entry))["tools"].partition("News")

    cells = [row.split("|")[2] for row in assist.splitlines() if row.count("|") == 3]
    names = {name.strip() for cell in cells for name in cell.split(",")}
    assert {"Einschalten", "Licht einstellen", "Aktuelle Zustände lesen"} <= names
    assert (
        names
        & {
            "Turn on",
            "Turn off",
            "Set light",
            "Read current states",
            "Get date and time",
        }
        == set()
    )


async def test_what_is_said_of_sources_is_stored_judged_and_shown_again(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    rows = [
        {"script": "script.party", "level": BY_TOOL, "affects": ["light.lamp"]},
        {"script": "scene.cosy", "level": FREE, "affects": []},
    ]
    values = form(**{ASSIST_NAME: ASK, "News*": READ, "scripts": rows})
    home = await submit(hass, await open_tools(hass, entry), values)

    assert home["step_id"] == "home"
    assert (
        f"| Turn on Lamp | {sentence('common.verdict_ask')} |"
        in placeholders(home)["examples"]
    )
    assert placeholders(home)["allow"] == "0"
    approved = await submit(hass, await choose(hass, home, "approvals"), approvals())
    await choose(hass, approved, "save_approvals")
    assert async_get_home_rules(hass).current.policy.sources == {
        "assist": ToolSource(TrustLevel.ASK),
        "mcp-1": ToolSource(TrustLevel.READ),
        "script.party": ToolSource(affects=frozenset({"light.lamp"})),
        "scene.cosy": ToolSource(TrustLevel.FREE),
    }
    assert suggested(await open_tools(hass, entry)) == values
    assert suggested(await open_approvals(hass, entry)) == approvals()


async def test_a_search_of_the_web_is_an_example_only_where_a_tool_searches(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    example = sentence("common.example_search_and_unlock", name="Door")
    before = await submit(hass, await open_tools(hass, entry), form())
    register(
        hass,
        "gone",
        StubTool(name="look_up", description="Searches the internet."),
        name="Web",
    )
    after = await submit(hass, await open_tools(hass, entry), {})

    assert [example in placeholders(home)["examples"] for home in (before, after)] == [
        False,
        True,
    ]


async def test_nothing_is_stored_where_nothing_is_said(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await set_home_rules(
        hass, tool_sources={"assist": {"level": "ask"}, "left": {"level": "free"}}
    )
    step = await open_tools(hass, entry)
    left = sentence("common.source_absent", source="left")
    assert suggested(step) == form(**{ASSIST_NAME: ASK, left: FREE})

    home = await submit(hass, step, {"News*": BY_TOOL})
    await choose(hass, home, "save_approvals")

    assert async_get_home_rules(hass).current == HomeRules()


@in_one_home(
    ("rows", "error", "row"),
    [
        ([{"level": FREE}], "script_missing", 1),
        (["script.night"], "script_missing", 1),
        ([{"script": "night"}], "script_missing", 1),
        (
            [{"script": "script.night", "level": FREE}, {"script": "script.night"}],
            "script_twice",
            2,
        ),
        ([{"script": "script.night", "level": "Sometimes"}], "script_unfit", 1),
        ({"script": "script.night", "affects": ["script.party"]}, "script_unfit", 1),
    ],
)
async def test_a_row_that_cannot_be_meant_is_refused(
    hass: HomeAssistant, entry: MockConfigEntry, rows: object, error: str, row: int
) -> None:
    step = await submit(hass, await open_tools(hass, entry), form(scripts=rows))

    assert text_of_error(step, "scripts") == sentence(
        f"config_subentries.conversation.error.{error}", row=str(row)
    )
    assert suggested(step) == form(scripts=rows)


async def test_what_a_script_affects_is_shortened(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    lamps = [f"light.lamp_{number}" for number in range(9)]
    await set_home_rules(hass, tool_sources={"script.party": {"affects": lamps}})

    assert "lamp 4 and 4 more" in placeholders(await open_tools(hass, entry))["tools"]


async def test_only_so_many_scripts_are_shown(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    for number in range(MANY):
        async_expose_entity(
            hass, conversation.DOMAIN, f"script.one_{number}", should_expose=True
        )
    tools = placeholders(await open_tools(hass, entry))["tools"]

    assert 0 < tools.count("one_") + tools.count("one\\_") < MANY
    assert "Not listed here: " in tools


async def test_an_offline_agent_has_assist_alone(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())

    step = await open_tools(hass, entry)

    assert list(suggested(step)) == [ASSIST_NAME, "scripts"]
    assert not placeholders(step)["tools"]


async def test_the_source_of_device_control_has_a_name_in_the_language_of_the_user(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config.language = "de"
    step = await open_tools(hass, entry)

    german = "Gerätesteuerung" if ASSIST_NAME == "Device control" else ASSIST_NAME
    assert step["data_schema"] is not None
    assert german in step["data_schema"].schema
    assert f"**{german}**" in placeholders(step)["tools"]
