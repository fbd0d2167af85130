"""Which tools are offered, and how: one good name for each, and nothing bad takes the others along."""

import gc
import json
from weakref import ref

import probatio
import pytest
import voluptuous as vol
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.components.media_player.llm import MediaPlayTool, MediaSearchTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, config_validation as cv, intent, llm
from homeassistant.helpers.typing import ConfigType
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import ToolAnnotations, ToolDefinition
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE
from custom_components.chatterbox.settings.rules import Policy, ToolSource, TrustLevel
from custom_components.chatterbox.tools.turn_tools import async_offer_tools
from tests.support.llm_apis import (
    LISTED,
    StubApi,
    StubTool,
    error_of,
    llm_context_of,
    offer_of,
    register,
    run,
    satellite,
)
from tests.support.versions import OF_NOBODY


async def test_the_assist_tools_are_offered_sorted_under_their_own_names(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    names = [definition.name for definition in offer.definitions]
    assert names == sorted(names)
    assert {
        "intent__HassTurnOn",
        "light__HassLightSet",
        "homeassistant__GetLiveContext",
    } <= set(names)
    assert all(definition.description for definition in offer.definitions)


async def test_music_is_not_content_from_outside_but_whatever_is_only_called_so_is(
    home: HomeAssistant,
) -> None:
    register(home, "mcp-1", MediaSearchTool(), MediaPlayTool(), name="House")
    register(home, "mcp-2", StubTool(name="media_player__search_media"), name="Web")

    offer = await offer_of(home, "mcp-1", "mcp-2")

    (play,) = (
        tool for tool in offer.definitions if tool.name == "media_player__play_media"
    )
    searches = [tool for tool in offer.definitions if tool is not play]
    assert play.annotations == ToolAnnotations(open_world=False)
    assert {
        tool.description.split()[-1]: tool.annotations.open_world for tool in searches
    } == {
        "House.": False,
        "Web.": True,
    }


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("get_weather", True),
        ("listEvents", True),
        ("find_file", True),
        ("brave_web_search", True),
        ("HTTPLookup", True),
        ("get_or_create_list", False),
        ("search_and_replace", False),
        ("shopping_list", False),
        ("order_pizza", False),
        ("12", False),
    ],
)
async def test_a_tool_that_says_nothing_of_itself_is_taken_by_its_name(
    home: HomeAssistant, name: str, *, reads: bool
) -> None:
    declaring = StubTool(name=f"{name}_", description="It declares.")
    declaring.annotations = llm.ToolAnnotations(open_world=False)
    register(home, "mcp-1", StubTool(name=name), declaring)
    register(home, "mcp-2", StubTool(name=name, description="Another."))

    offer = await offer_of(home, "mcp-1", "mcp-2")

    alike = [tool for tool in offer.definitions if "declares" not in tool.description]
    assert [tool.annotations.read_only for tool in alike] == [reads, reads]
    assert all(tool.annotations.open_world for tool in alike)
    assert not any(
        tool.annotations.read_only for tool in offer.definitions if tool not in alike
    )


async def test_no_source_offers_a_tool_under_the_name_of_the_understanding_of_sentences(
    home: HomeAssistant,
) -> None:
    register(
        home, "mcp-1", StubTool(name="get_news"), StubTool(name=PROCESS_SENTENCE.name)
    )

    offer = await async_offer_tools(home, ["mcp-1"], llm_context_of())

    assert offer.labels == {"get_news": "mcp-1"}


async def test_a_source_that_only_reads_offers_nothing_that_changes_something(
    home: HomeAssistant,
) -> None:
    register(home, "mcp-1", StubTool(name="get_news"), StubTool(name="send_mail"))
    scripts: ConfigType = {"calm": {"sequence": []}, "party": {"sequence": []}}
    assert await async_setup_component(home, "script", {"script": scripts})
    for script in scripts:
        async_expose_entity(
            home, conversation.DOMAIN, f"script.{script}", should_expose=True
        )
    reads = ToolSource(TrustLevel.READ)
    policy = Policy(sources={"mcp-1": reads, "script.party": reads})

    offer = await async_offer_tools(
        home, ["mcp-1", llm.LLM_API_ASSIST], llm_context_of(), policy=policy
    )
    everything = Policy(
        sources={llm.LLM_API_ASSIST: reads, "script.calm": ToolSource(TrustLevel.ASK)}
    )
    reading = await async_offer_tools(
        home, [llm.LLM_API_ASSIST], llm_context_of(), policy=everything
    )

    names = {tool.name for tool in offer.definitions}
    assert {"get_news", "script__calm", "intent__HassTurnOn"} <= names
    assert names.isdisjoint({"send_mail", "script__party"})
    assert "To act, always call a tool" in offer.prompt
    assert [
        tool.name for tool in reading.definitions if not tool.annotations.read_only
    ] == ["script__calm"]
    assert "homeassistant__GetLiveContext" in {
        tool.name for tool in reading.definitions
    }
    assert "To act, always call a tool" not in reading.prompt


async def test_the_chat_log_gets_the_same_tools_and_the_same_prompt_as_from_home_assistant(
    home: HomeAssistant,
) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST, home=LISTED)
    prompts: list[conversation.Content] = []
    assert offer.instance is not None
    for api in (offer.instance.api, llm.LLM_API_ASSIST):
        with (
            chat_session.async_get_chat_session(home, **OF_NOBODY) as session,
            conversation.async_get_chat_log(home, session) as chat_log,
        ):
            await chat_log.async_provide_llm_data(llm_context_of(), api)
            assert chat_log.llm_api is not None
            assert sorted(tool.name for tool in chat_log.llm_api.tools) == [
                tool.name for tool in offer.definitions
            ]
            prompts.append(chat_log.content[0])

    ours, theirs = prompts
    assert isinstance(ours, conversation.SystemContent)
    assert isinstance(theirs, conversation.SystemContent)
    assert ours.content == theirs.content


async def test_no_top_level_of_any_tool_has_what_openai_refuses(
    home: HomeAssistant,
) -> None:
    device_id = satellite(home, "kitchen")
    async_register_timer_handler(home, device_id, lambda *_: None)

    offer = await offer_of(home, llm.LLM_API_ASSIST, device_id=device_id)

    tools = {definition.name: definition for definition in offer.definitions}
    for tool in tools.values():
        assert tool.parameters["type"] == "object"
        assert isinstance(tool.parameters["properties"], dict)
        assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & set(tool.parameters)
    assert tools["intent__HassStartTimer"].description.endswith(
        "Give at least one of: hours; minutes; seconds."
    )


async def test_tools_say_how_they_behave(home: HomeAssistant) -> None:
    offer = await offer_of(home, llm.LLM_API_ASSIST)

    tools = {definition.name: definition for definition in offer.definitions}
    assert tools["homeassistant__GetLiveContext"].annotations.read_only
    assert tools["light__HassLightSet"].annotations == ToolAnnotations(
        idempotent=True, open_world=False
    )
    assert {tool.name for tool in offer.definitions if tool.repeatable} == {
        "media_player__HassMediaNext",
        "media_player__HassMediaPrevious",
        "media_player__HassSetVolumeRelative",
    }


async def test_an_undeclared_tool_is_taken_for_the_least_safe(
    home: HomeAssistant,
) -> None:
    register(home, "mcp-1", StubTool(name="order_pizza"))

    assert (await offer_of(home, "mcp-1")).definitions[
        0
    ].annotations == ToolAnnotations()


async def test_two_apis_with_one_title_keep_their_tools_apart(
    home: HomeAssistant,
) -> None:
    """Invariant 53."""
    first, second = (
        StubTool(name="search", answer={"from": 1}),
        StubTool(name="search", answer={"from": 2}),
    )
    register(home, "mcp-1", first)
    register(home, "mcp-2", second, StubTool(name="read"))

    offer = await offer_of(home, "mcp-1", "mcp-2")

    names = [definition.name for definition in offer.definitions]
    assert "read" in names
    assert len(names) == len(set(names)) == 3
    answers = {
        name: json.loads((await run(offer, name, query="x")).content)
        for name in names
        if name != "read"
    }
    assert sorted(answer["from"] for answer in answers.values()) == [1, 2]
    assert first.calls == second.calls == [("search", {"query": "x"})]


async def test_nothing_is_kept_of_tools_that_are_offered_no_more(
    home: HomeAssistant,
) -> None:
    (handler, *_) = intent.async_get(home)
    api = register(home, "mcp-1", llm.IntentTool("files.read", handler))
    tool = ref(api.tools[0])
    await offer_of(home, "mcp-1")
    assert tool()

    api.tools = ()
    await offer_of(home, "mcp-1")
    gc.collect()
    assert tool() is None


async def test_the_order_of_the_apis_changes_nothing_about_their_tools(
    home: HomeAssistant,
) -> None:
    for api_id in ("mcp-1", "mcp-2"):
        names = ("search", "files.read", f"write_{api_id}")
        register(
            home,
            api_id,
            *(StubTool(name=name, description=f"At {api_id}.") for name in names),
        )

    first, second = (
        await offer_of(home, "mcp-1", "mcp-2"),
        await offer_of(home, "mcp-2", "mcp-1"),
    )

    assert repr(first.definitions) == repr(second.definitions)


async def test_a_tool_of_an_intent_is_told_of_as_it_is_by_then(
    home: HomeAssistant,
) -> None:
    (handler, *_) = intent.async_get(home)
    tool = llm.IntentTool("files.read", handler)
    api = register(home, "mcp-1", tool, name="Files")

    async def definition_now() -> ToolDefinition:
        [definition] = (await offer_of(home, "mcp-1")).definitions
        return definition

    assert (await definition_now()).description.endswith("Provided by Files.")
    api.name = "Papers"
    assert (await definition_now()).description.endswith("Provided by Papers.")
    tool.description = "Reads a file."
    assert (await definition_now()).description.startswith("Reads a file. ")
    tool.annotations = llm.ToolAnnotations(read_only=True, open_world=False)
    assert (await definition_now()).annotations.read_only
    tool.parameters = probatio.Schema({probatio.Required("path"): str})
    assert (await definition_now()).parameters["required"] == ["path"]


async def test_a_tool_that_two_apis_share_is_offered_once(home: HomeAssistant) -> None:
    shared = StubTool(name="llm__GetDateTime")
    register(home, "mcp-1", shared)
    register(home, "mcp-2", StubTool(name="llm__GetDateTime"))

    assert [
        tool.name for tool in (await offer_of(home, "mcp-1", "mcp-2")).definitions
    ] == ["llm__GetDateTime"]


async def test_prompts_and_descriptions_speak_of_tools_by_their_new_names(
    home: HomeAssistant,
) -> None:
    helper = StubTool(name="write", description="Needs what files.read gave.")
    register(
        home,
        "mcp-1",
        StubTool(name="files.read"),
        helper,
        name="Files",
        prompt="Call files.read first.",
    )

    offer = await offer_of(home, "mcp-1", llm.LLM_API_ASSIST)

    assert offer.instance is not None
    instance = await offer.instance.api.async_get_api_instance(llm_context_of())
    new_name = next(
        tool.name for tool in offer.definitions if tool.name.startswith("files")
    )
    names = {api.id: api.name for api in llm.async_get_apis(home)}
    assert f"About the tools of Files:\nCall {new_name} first." in instance.api_prompt
    assert f"About the tools of {names[llm.LLM_API_ASSIST]}:\n" in instance.api_prompt
    assert "files.read" not in instance.api_prompt
    tools = {
        definition.name: definition.description for definition in offer.definitions
    }
    assert tools["write"] == f"Needs what {new_name} gave."
    assert tools[new_name].endswith("Provided by Files.")


async def test_a_vanished_api_leaves_the_others_and_is_complained_about_once(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    register(home, "mcp-1", StubTool(name="search"))

    for _ in range(2):
        offer = await offer_of(home, "mcp-gone", "mcp-1")
        assert offer.missing_apis == ("mcp-gone",)
        assert [tool.name for tool in offer.definitions] == ["search"]

    assert caplog.text.count("LLM API mcp-gone") == 1

    unregister = llm.async_register_api(
        home, StubApi(hass=home, id="mcp-gone", name="Back", tools=[])
    )
    assert (await offer_of(home, "mcp-gone", "mcp-1")).missing_apis == ()
    unregister()
    await offer_of(home, "mcp-gone", "mcp-1")
    assert caplog.text.count("LLM API mcp-gone") == 2


async def test_with_nothing_to_offer_the_chat_log_gets_no_api(
    home: HomeAssistant,
) -> None:
    for offer in (await offer_of(home), await offer_of(home, "mcp-gone")):
        assert offer.instance is None
        assert offer.definitions == ()
        assert "not found" in error_of(await run(offer, "search"))


async def test_an_api_that_fails_leaves_the_others(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    """Invariant 51."""
    broken = register(home, "mcp-1", StubTool(name="search"))
    register(home, "mcp-2", StubTool(name="read"))
    broken.failure = RuntimeError("key=hunter2")

    offer = await offer_of(home, "mcp-1", "mcp-2")

    assert [tool.name for tool in offer.definitions] == ["read"]
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("bad", [vol.Schema([str]), vol.Schema(str)])
async def test_a_tool_that_cannot_be_described_leaves_the_others(
    home: HomeAssistant, caplog: pytest.LogCaptureFixture, bad: vol.Schema
) -> None:
    register(home, "mcp-1", StubTool(name="bad", parameters=bad), StubTool(name="good"))

    offer = await offer_of(home, "mcp-1")

    assert [tool.name for tool in offer.definitions] == ["good"]
    assert "Tool bad of Server" in caplog.text
    assert "not found" in error_of(await run(offer, "bad"))


async def test_a_tool_without_a_name_leaves_the_others(home: HomeAssistant) -> None:
    nameless = StubTool(name="gone")
    del nameless.name
    register(home, "mcp-1", nameless, StubTool(name="good"))

    assert [tool.name for tool in (await offer_of(home, "mcp-1")).definitions] == [
        "good"
    ]


async def test_home_assistant_can_describe_what_any_of_the_apis_can(
    home: HomeAssistant,
) -> None:
    register(home, "mcp-1", StubTool(name="search"))
    offer = await offer_of(home, "mcp-1", llm.LLM_API_ASSIST)
    assert offer.instance is not None

    serialize = offer.instance.custom_serializer

    assert serialize is not None
    assert serialize(cv.boolean) == {"type": "boolean"}
    assert serialize(str) is probatio.UNSUPPORTED
