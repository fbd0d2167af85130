"""The tools of Assist as a model sees them: fewer and shorter, and each call is still that of the real tool."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er, llm
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.joined_tools import as_shown
from custom_components.chatterbox.agent.loop.calls import fit_call
from custom_components.chatterbox.agent.loop.turn import Resolved, Runnable
from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    NamedTool,
    ToolCall,
    ToolDefinition,
    UserMessage,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.chatterbox.later.plans import async_get_plans
from custom_components.chatterbox.memory.facts import HOUSEHOLD, async_get_memories
from custom_components.chatterbox.settings.rules import Policy, ToolSource, TrustLevel
from custom_components.chatterbox.tools.turn_tools import (
    TurnTools,
    async_offer_tools,
    for_models,
    without_sentence_tool,
)
from tests.support.api_clients import ASSIST, ApiClient, a_user, enable_api
from tests.support.doubles import ScriptedProvider
from tests.support.llm_apis import (
    LISTED,
    StubTool,
    llm_context_of,
    offer_of,
    register,
    satellite,
)
from tests.support.one_home import in_one_home
from tests.support.prefixes import prefix_of
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    Serve,
    messages_of,
    move_into_the_demo_home,
    say,
)

pytestmark = pytest.mark.usefixtures("whole_home")

_TV: Final = "media_player.tv"


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    """Return the demo home, in which one device has timers."""
    await move_into_the_demo_home(hass)
    area = next(iter(ar.async_get(hass).async_list_areas()))
    async_register_timer_handler(hass, satellite(hass, area.id), lambda *_: None)
    return hass


def names(tools: Sequence[ToolDefinition]) -> set[str]:
    return {tool.name for tool in tools}


def arguments_of(tool: ToolDefinition) -> set[str]:
    properties = tool.parameters["properties"]
    assert isinstance(properties, dict)
    return {*properties}


async def test_a_model_sees_one_tool_for_players_lists_vacuums_and_timers(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    visible = {tool.name: tool for tool in for_models(offer.definitions)}
    assert {"media_player", "todo", "vacuum", "timer"} <= visible.keys()
    assert not any("__" in name for name in visible)
    assert [name for name in visible if "Timer" in name] == []
    assert "GetDateTime" not in visible
    assert "llm__GetDateTime" in names(offer.definitions)
    assert arguments_of(visible["todo"]) == {"action", "name", "item", "status"}
    every = [part for tool in visible.values() for part in tool.parts.values()]
    parts = [one.name for one in every if one.part]
    assert len(parts) == len({*parts}) == 10 + 4 + 3 + 8


async def test_each_action_is_that_of_its_tool_and_is_read_back_as_such(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)
    visible = for_models(offer.definitions)

    for joined in visible:
        for real in joined.parts.values():
            given = _some_of(real)
            call = ToolCall("1", real.name, canonical_json(given))
            [message] = as_shown((AssistantMessage(tool_calls=(call,)),), visible)
            assert isinstance(message, AssistantMessage)
            [written] = message.tool_calls
            assert written.name == joined.name
            direct, again = (
                fit_call(one, offer.definitions, None, (), repair=offer.repair)
                for one in (call, written)
            )
            assert isinstance(direct, Runnable), direct
            assert again == direct
            assert isinstance(again, Runnable)
            assert again.tool == real
            assert again.note == direct.note


def _some_of(tool: ToolDefinition) -> JsonObject:
    """Return valid arguments: what is required, and a time."""
    required = tool.parameters.get("required", [])
    properties = tool.parameters["properties"]
    assert isinstance(required, list)
    assert isinstance(properties, dict)
    given: JsonObject = {}
    for name in map(str, required):
        match properties[name]:
            case {"enum": [one, *_]}:
                given[name] = one
            case {"type": "integer" | "number"}:
                given[name] = 7
            case {"anyOf": _}:
                given[name] = "up"
            case _:
                given[name] = "Chores" if name == "name" else "Kitchen"
    return given | ({"minutes": 5} if "minutes" in properties else {})


@in_one_home(
    ("tool", "arguments", "meant"),
    [
        (
            "media_player",
            {"action": "set_volume", "name": "TV", "volume_level": "30%"},
            ("media_player__HassSetVolume", {"name": "TV", "volume_level": 30}),
        ),
        (
            "media_player",
            {"action": "change_volume", "area": "Living Room", "volume_step": "-10"},
            (
                "media_player__HassSetVolumeRelative",
                {"area": "Living Room", "volume_step": -10},
            ),
        ),
        (
            "media_player",
            {
                "action": "search",
                "name": "Speaker",
                "search_query": "Abba",
                "media_content_id": "a1",
            },
            (
                "media_player__search_media",
                {
                    "player_name": "Speaker",
                    "search_query": "Abba",
                    "within_media_content_id": "a1",
                },
            ),
        ),
        (
            "media_player__play_media",
            {
                "media_content_id": "a1",
                "media_content_type": "album",
                "player_name": "TV",
            },
            (
                "media_player__play_media",
                {
                    "media_content_id": "a1",
                    "media_content_type": "album",
                    "player_name": "TV",
                },
            ),
        ),
        (
            "HassMediaPause",
            {"name": "TV"},
            ("media_player__HassMediaPause", {"name": "TV"}),
        ),
        (
            "media_player",
            {"action": "pause", "name": "TV", "domain": ["media_player"]},
            (
                "media_player__HassMediaPause",
                {"name": "TV", "domain": ["media_player"]},
            ),
        ),
        (
            "todo",
            {"action": "get", "name": "shopping list"},
            ("todo__get_items", {"todo_list": "Shopping List"}),
        ),
        (
            "todo",
            {"action": "add", "name": "Chores", "item": "Sweep"},
            ("todo__HassListAddItem", {"name": "Chores", "item": "Sweep"}),
        ),
        (
            "todo_get_items",
            {"todo_list": "Chores"},
            ("todo__get_items", {"todo_list": "Chores"}),
        ),
        (
            "vacuum",
            {"action": "clean_area", "area": "Kitchen"},
            ("vacuum__HassVacuumCleanArea", {"area": "Kitchen"}),
        ),
        (
            "timer",
            {"action": "start", "minutes": 5, "name": "eggs"},
            ("intent__HassStartTimer", {"minutes": 5, "name": "eggs"}),
        ),
        ("llm__GetDateTime", {}, ("llm__GetDateTime", {})),
        ("media_player", {"action": "pause", "volume_level": 30}, None),
        ("media_player", {"action": "delete", "name": "TV"}, None),
        ("media_player", {"name": "TV"}, None),
        ("vacuum", {"action": "unlock", "name": "Front Door"}, None),
    ],
)
async def test_a_call_means_one_real_tool_or_none(
    home: HomeAssistant,
    tool: str,
    arguments: JsonObject,
    meant: tuple[str, JsonObject] | None,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    call = ToolCall("1", tool, canonical_json(arguments))
    fitted = fit_call(call, offer.definitions, None, (), repair=offer.repair)

    if meant is None:
        assert isinstance(fitted, Resolved)
        return
    assert isinstance(fitted, Runnable), fitted
    given = {
        name: value for name, value in fitted.arguments.items() if name != "status"
    }
    assert (fitted.call.name, given) == meant


async def test_tools_of_others_and_of_a_home_told_at_length_stay_as_they_are(
    home: HomeAssistant,
) -> None:
    register(home, "mcp", StubTool(name="HassMediaPause"), StubTool(name="pause"))

    listed = await offer_of(home, llm.LLM_API_ASSIST, home=LISTED)
    both = await offer_of(home, llm.LLM_API_ASSIST, "mcp")

    assert names(for_models(listed.definitions)) == names(listed.definitions)
    visible = names(for_models(both.definitions))
    assert {"HassMediaPause", "pause", "media_player"} <= visible


async def test_a_list_is_offered_under_its_latest_names(home: HomeAssistant) -> None:
    def lists(offer: TurnTools) -> set[str]:
        [tool] = [one for one in offer.definitions if one.name == "todo__get_items"]
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        todo_list = properties["todo_list"]
        assert isinstance(todo_list, dict)
        assert isinstance(todo_list["enum"], list)
        return {*map(str, todo_list["enum"])}

    before = lists(await offer_of(home, llm.LLM_API_ASSIST))
    registry = er.async_get(home)
    registry.async_update_entity("todo.chores", name="Housework")
    await home.async_block_till_done()
    renamed = lists(await offer_of(home, llm.LLM_API_ASSIST))
    async_expose_entity(home, "conversation", "todo.chores", should_expose=False)
    hidden = lists(await offer_of(home, llm.LLM_API_ASSIST))

    others = {"Shopping List", "Groceries"}
    assert before == others | {"Chores"}
    assert renamed == others | {"Housework"}
    assert hidden == others


async def test_a_source_that_only_reads_has_no_actions(home: HomeAssistant) -> None:
    reads = Policy(sources={llm.LLM_API_ASSIST: ToolSource(TrustLevel.READ)})

    offer = await async_offer_tools(
        home, [llm.LLM_API_ASSIST], llm_context_of(), policy=reads
    )

    visible = for_models(offer.definitions)
    assert "todo__get_items" in names(visible)
    assert all(tool.annotations.read_only for tool in visible), names(visible)


async def test_a_tool_that_has_to_be_called_is_seen_under_its_own_name(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)
    provider = ManagedProvider(
        "model", ScriptedProvider(), CircuitBreaker(), tools=without_sentence_tool
    )
    request = CompletionRequest("", (UserMessage("Pause."),), offer.definitions)

    usual = provider.request(request)
    pause = "media_player__HassMediaPause"
    forced = provider.request(replace(request, tool_choice=NamedTool(pause)))
    missing = provider.request(replace(request, tool_choice=NamedTool("todo")))

    assert usual is not None
    assert pause not in names(usual.tools)
    assert forced is not None
    assert pause in names(forced.tools)
    assert missing is None


PAUSE: Final = ScriptedCall(
    name="media_player", arguments={"action": "pause", "name": "TV"}
)


async def test_all_but_the_model_sees_the_real_tool(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = (
        ScriptedAnswer(tool_calls=(PAUSE,)),
        ScriptedAnswer(content="Paused."),
        ScriptedAnswer(content="You are welcome."),
    )
    server = await serve(Script(answers=answers), rules=[{"verdict": "allow"}])
    tv = hass.states.get(_TV)
    assert tv is not None
    hass.states.async_set(_TV, "playing", tv.attributes)
    events = async_capture_events(hass, EVENT_TURN_FINISHED)

    await say(hass, "pause the TV")
    await say(hass, "thanks")

    [call] = events[0].data["tool_calls"]
    assert (call["name"], call["is_error"]) == ("media_player__HassMediaPause", False)
    for request in server.requests[-2:]:
        written = [str(message.get("tool_calls")) for message in messages_of(request)]
        calls = [one for one in written if one != "None"]
        assert len(calls) == 1
        assert "'media_player'" in calls[0]
        assert '"action":"pause"' in calls[0]


@in_one_home(
    "rule",
    [
        {"verdict": "deny", "tools": ["media_player__HassMediaPause"]},
        {"verdict": "deny", "entities": [_TV]},
        {"verdict": "deny", "actions": ["media_player.media_pause"]},
    ],
    puts_back=True,
)
async def test_a_rule_holds_for_the_real_tool(
    hass: HomeAssistant, serve: Serve, rule: JsonObject
) -> None:
    answers = ScriptedAnswer(tool_calls=(PAUSE,)), ScriptedAnswer(content="Paused.")
    await serve(Script(answers=answers), rules=[rule])
    events = async_capture_events(hass, EVENT_TURN_FINISHED)
    calls = async_capture_events(hass, "call_service")

    await say(hass, "pause the TV")

    assert [one for one in calls if one.data["domain"] == "media_player"] == []
    assert [one["is_error"] for one in events[0].data["tool_calls"]] == [True]


async def test_a_plan_keeps_the_real_tool(hass: HomeAssistant, serve: Serve) -> None:
    later: dict[str, JsonValue] = {
        "kind": "act",
        "when": "in 20 minutes",
        "tool": "media_player",
        "arguments": {"action": "pause", "name": "TV"},
    }
    planned = ScriptedCall(name="chatterbox__later", arguments=later)
    answers = ScriptedAnswer(tool_calls=(planned,)), ScriptedAnswer(content="Later.")
    await serve(Script(answers=answers), rules=[{"verdict": "allow"}])

    await say(hass, "pause the TV in 20 minutes")

    [plan] = async_get_plans(hass).stored.plans
    assert plan.call is not None
    assert plan.call.tool == "media_player__HassMediaPause"


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_prompt_names_a_tool_as_it_is_seen_and_never_one_of_somebody_else(
    hass: HomeAssistant, serve: Serve, *, is_there: bool
) -> None:
    await move_into_the_demo_home(hass)
    bare = "GetLiveContext", "find_entities", "memory"
    whole = [f"chatterbox__{name}" for name in bare[1:]]
    whole = ["homeassistant__GetLiveContext", *whole]
    register(hass, "web", *(StubTool(name=name) for name in bare if is_there))
    settings = {"most_listed": 10, "remember_facts": True}
    server = await serve(
        Script(answers=(ScriptedAnswer(content="Yes."),)),
        llm_hass_api=[llm.LLM_API_ASSIST, "web"],
        **settings,
    )
    for number in range(12):
        await async_get_memories(hass).async_add(HOUSEHOLD, f"Fact {number}.", "")

    await say(hass, "is anything on?", context=Context(user_id=a_user(hass).id))

    [request] = server.requests
    text = " ".join(str(one["content"]) for one in messages_of(request))
    looks, finds, lists = whole if is_there else bare
    assert f"call {looks}." in text
    assert f"with {finds}: never guess" in text
    assert f"more: {lists} lists all" in text
    assert all(f'"name": "{name}"' in json.dumps(request.body) for name in bare)


async def test_a_prompt_never_sends_a_model_to_a_function_of_a_client(
    hass: HomeAssistant, serve: Serve
) -> None:
    await move_into_the_demo_home(hass)
    server = await serve(Script(answers=(ScriptedAnswer(content="Yes."),)))
    await enable_api(hass)
    function = ToolDefinition("GetLiveContext", "", {"type": "object"}, client=True)

    await ApiClient(hass, a_user(hass)).says(
        "is anything on?", hosted=(ASSIST,), functions=(function,)
    )

    assert "call homeassistant__GetLiveContext." in prefix_of(server.requests[0].body)
