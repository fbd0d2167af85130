"""Findings about a tool before it is called."""

from homeassistant.components.media_player.llm import MediaPlayTool
from homeassistant.components.script.llm import ScriptTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm
from homeassistant.helpers.typing import ConfigType
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.settings.rules import ToolSource
from custom_components.chatterbox.tools.findings import Finding, find_out, is_web_search
from tests.support.llm_apis import StubTool
from tests.support.one_home import in_one_home


class Foreign(intent.IntentHandler):
    """An intent of somebody else."""

    intent_type = "Sing"
    description = "Sings."


def stub(name: str, annotations: llm.ToolAnnotations | None = None) -> StubTool:
    tool = StubTool(name=name)
    tool.annotations = annotations or tool.annotations
    return tool


@in_one_home(
    ("tool", "finding"),
    [
        (stub("web", llm.ToolAnnotations(read_only=True)), Finding.READS),
        (
            stub("unlock_door", llm.ToolAnnotations(read_only=True)),
            Finding.CHANGES_BY_NAME,
        ),
        (stub("web_search"), Finding.READS_BY_NAME),
        (stub("web", llm.ToolAnnotations(destructive=False)), Finding.CHANGES),
        (stub("web"), Finding.SILENT),
    ],
)
async def test_a_tool_of_a_server_is_known_by_what_it_says_or_is_called(
    home: HomeAssistant, tool: StubTool, finding: Finding
) -> None:
    assert find_out(home, tool, {}) == (tool.name, finding, ())


async def test_tools_of_assist_act_on_what_they_are_called_with(
    home: HomeAssistant,
) -> None:
    intent.async_register(home, Foreign())
    handlers = {handler.intent_type: handler for handler in intent.async_get(home)}

    assert (
        find_out(home, llm.IntentTool("sing", handlers["Sing"]), {}).finding
        is Finding.SILENT
    )
    assert (
        find_out(home, llm.IntentTool("on", handlers["HassTurnOn"]), {}).finding
        is Finding.ACTS
    )
    assert find_out(home, MediaPlayTool(), {}).finding is Finding.ACTS


async def test_a_script_is_known_by_its_steps_or_by_what_its_owner_says(
    home: HomeAssistant,
) -> None:
    light = {"action": "light.turn_on", "entity_id": "light.kitchen"}
    some = {"action": "climate.turn_on", "target": {"entity_id": "{{ which }}"}}
    scripts: ConfigType = {
        "plain": {"alias": "Plain", "sequence": [light]},
        "some": {"sequence": [light, some]},
        "any": {"sequence": [light, {"action": "shell_command.any"}]},
    }
    assert await async_setup_component(home, "script", {"script": scripts})
    tools = {script: ScriptTool(home, f"script.{script}") for script in scripts}
    words = {"script.any": ToolSource(affects=frozenset({"climate.hallway"}))}

    heaters = ("climate.hallway", "climate.kitchen")
    assert find_out(home, tools["plain"], {}) == (
        "Plain",
        Finding.STEPS,
        ("light.kitchen",),
    )
    assert find_out(home, tools["some"], {})[1:] == (
        Finding.REACHES,
        (*heaters, "light.kitchen"),
    )
    assert find_out(home, tools["any"], {})[1:] == (Finding.OPAQUE, ())
    assert find_out(home, tools["any"], words)[1:] == (
        Finding.REACHES,
        ("climate.hallway", "light.kitchen"),
    )


def test_a_tool_that_searches_the_web_says_so_in_its_name_or_its_description() -> None:
    closed = stub("web_search", llm.ToolAnnotations(read_only=True, open_world=False))
    tools = [
        StubTool(name="brave_web_search"),
        StubTool(name="look_up", description="Searches the internet."),
        StubTool(name="web_search", description=None),
        StubTool(name="search_files"),
        StubTool(name="fetch_web_page"),
        closed,
    ]

    assert [is_web_search(tool) for tool in tools] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
