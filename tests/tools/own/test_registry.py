"""The tools that are our own: which agent has them, and what becomes of one that is added."""

import json
import re
from dataclasses import replace

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import slugify
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.messages import (
    ToolAnnotations,
    ToolCall,
    ToolDefinition,
)
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import DOMAIN, EVENT_CHANGE
from custom_components.chatterbox.effects.effect import (
    Annotated,
    Effects,
    EntityAction,
    Touches,
)
from custom_components.chatterbox.memory import async_setup_memory
from custom_components.chatterbox.memory.fact_tools import (
    FORGET,
    LIST_MEMORIES,
    REMEMBER,
)
from custom_components.chatterbox.people.speakers import NOBODY
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.tools.own.find_entities import FIND
from custom_components.chatterbox.tools.own.look import LOOK
from custom_components.chatterbox.tools.own.own_tool import (
    READS,
    OwnCall,
    OwnTool,
    SharedWith,
    ToolAnswer,
    own_name,
    parameters,
)
from custom_components.chatterbox.tools.own.registry import (
    OwnDispatcher,
    offered_to,
    own_tools,
    with_own_tools,
)
from custom_components.chatterbox.tools.own.search_history import SEARCH_HISTORY
from custom_components.chatterbox.tools.own.search_web import SEARCH_WEB
from tests.support.own_tools import own_call
from tests.support.page_tables import DOCS
from tests.support.sentences import template
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, Serve, speech

SCHEMA = parameters({})
INSIDE = ToolAnnotations(destructive=True, open_world=False)
WIPES = Script(
    answers=(
        ScriptedAnswer(tool_calls=(ScriptedCall(name="chatterbox__wipe"),)),
        ScriptedAnswer(content="All gone."),
    )
)


class Wipe:
    """A tool that is added, and counts how often it ran."""

    def __init__(self, annotations: ToolAnnotations = INSIDE) -> None:
        self.runs = 0
        self.tool = OwnTool(
            definition=ToolDefinition(
                "chatterbox__wipe", "Wipes.", SCHEMA, annotations
            ),
            run=self.run,
        )

    async def run(self, _call: OwnCall) -> ToolAnswer:
        self.runs += 1
        return ToolAnswer({"wiped": True})


async def ask_to_wipe(hass: HomeAssistant, device_id: str | None = "the-hall") -> str:
    return speech(
        await conversation.async_converse(
            hass, "wipe it", "a-talk", Context(), "en", AGENT, device_id
        )
    )


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    "annotations",
    [INSIDE, ToolAnnotations(), replace(INSIDE, destructive=False, idempotent=True)],
)
async def test_one_that_changes_something_and_does_not_say_what_is_asked_about_and_audited(
    hass: HomeAssistant, serve: Serve, annotations: ToolAnnotations
) -> None:
    own_tools(hass).append((wipe := Wipe(annotations)).tool)
    changes = async_capture_events(hass, EVENT_CHANGE)
    await serve(WIPES)

    assert (await ask_to_wipe(hass)).endswith("?")
    (question,) = async_get_approvals(hass).waiting
    await hass.async_block_till_done()
    assert wipe.runs == 0
    assert [(change.data["name"], change.data["outcome"]) for change in changes] == [
        ("chatterbox__wipe", "waiting")
    ]

    answer = GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    assert await async_get_approvals(hass).answer(question.id, answer) == "All gone."
    await hass.async_block_till_done()
    assert wipe.runs == 1
    assert changes[-1].data["outcome"] == "done"


async def test_one_that_changes_something_does_not_run_where_nobody_can_be_asked(
    hass: HomeAssistant, serve: Serve
) -> None:
    own_tools(hass).append((wipe := Wipe()).tool)
    changes = async_capture_events(hass, EVENT_CHANGE)
    await serve(WIPES)

    await ask_to_wipe(hass, device_id=None)
    await hass.async_block_till_done()

    assert wipe.runs == 0
    assert [change.data["outcome"] for change in changes] == ["nobody_to_ask"]


async def test_one_that_only_reads_runs_at_once(
    hass: HomeAssistant, serve: Serve
) -> None:
    own_tools(hass).append((look := Wipe(READS)).tool)
    changes = async_capture_events(hass, EVENT_CHANGE)
    await serve(WIPES)

    assert await ask_to_wipe(hass) == "All gone."
    assert look.runs == 1
    assert changes == []


async def test_declared_effects_are_those_that_are_judged(
    hass: HomeAssistant, serve: Serve
) -> None:
    async def unlocks(_call: OwnCall) -> Effects:
        return Touches(frozenset({EntityAction("lock.front_door", "lock.unlock")}))

    wipe = Wipe(replace(INSIDE, destructive=False))
    own_tools(hass).append(replace(wipe.tool, effects=unlocks))
    await serve(WIPES)

    assert await ask_to_wipe(hass) == "Unlock the Front Door in the Hallway?"
    assert wipe.runs == 0


async def test_a_shared_one_is_asked_about_as_well(
    hass: HomeAssistant, serve: Serve
) -> None:
    wipe = Wipe()
    own_tools(hass).append(
        replace(wipe.tool, shared=SharedWith(frozenset({"lock"}), "Wipe"))
    )
    await serve(WIPES)

    assert (await ask_to_wipe(hass)).endswith("?")
    assert wipe.runs == 0
    context = llm.LLMContext("test", Context(), "en", conversation.DOMAIN, None)
    for lock in hass.states.async_entity_ids("lock"):
        async_expose_entity(hass, conversation.DOMAIN, lock, should_expose=False)
    offered = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    assert "chatterbox__wipe" not in [tool.name for tool in offered.tools]


async def test_each_of_ours_runs_without_any_effect_on_the_home(
    hass: HomeAssistant,
) -> None:
    async_setup_memory(hass)
    tools = {tool.definition.name: tool for tool in own_tools(hass)}
    context = own_call(hass, {}).llm_context
    dispatcher = OwnDispatcher(hass, tools, context, AgentSettings(), "agent-1", NOBODY)
    errors: dict[str, str] = {}
    for one in (REMEMBER, SEARCH_HISTORY, FIND):
        name = one.definition.name
        outcome = await dispatcher.dispatch(ToolCall("call_1", name, "{}"), {})
        assert outcome.native == llm.ToolResult(
            json.loads(outcome.content), error=outcome.is_error
        )
        errors[name] = outcome.content
    changing = {
        name
        for name, tool in tools.items()
        if not tool.definition.annotations.read_only
    }
    for name, tool in tools.items():
        effects = await dispatcher.async_effects(name, {})
        expected = (
            Touches(changes_memory=True)
            if name in changing
            else Annotated(tool.definition.annotations)
        )
        assert effects == expected
    assert changing == {REMEMBER.definition.name, FORGET.definition.name}
    assert {dispatcher.targets(name, {}) for name in changing} == {
        frozenset({"chatterbox.memories"})
    }

    assert "No automation" in errors[REMEMBER.definition.name]
    assert "No automation" in errors[SEARCH_HISTORY.definition.name]
    assert "Give words" in errors[FIND.definition.name]


async def test_the_tools_are_there_when_they_are_wanted_and_stay_inside(
    hass: HomeAssistant,
) -> None:
    async_setup_memory(hass)
    assert offered_to(hass, AgentSettings()) == ()
    tools = offered_to(hass, AgentSettings(remember_facts=True, search_history=True))

    assert tools == (SEARCH_HISTORY, FORGET, LIST_MEMORIES, REMEMBER)
    assert offered_to(hass, AgentSettings(search_history=True)) == (SEARCH_HISTORY,)
    assert offered_to(hass, AgentSettings(), home_is_large=True) == (FIND,)
    annotations = [tool.definition.annotations for tool in own_tools(hass)]
    assert not any(one.destructive for one in annotations)
    outside = [
        tool for tool in own_tools(hass) if tool.definition.annotations.open_world
    ]
    assert outside == [LOOK, SEARCH_WEB]
    offered = (FORGET.definition, FIND.definition)
    assert with_own_tools(hass, offered[::-1], ()) == offered[::-1]


def test_those_that_are_shared_have_titles_that_are_translated(
    hass: HomeAssistant,
) -> None:
    titles = [tool.shared.title for tool in own_tools(hass) if tool.shared]

    assert len(titles) == 2
    assert all(template(f"common.tool_title_{slugify(title)}") for title in titles)


async def test_each_of_ours_has_a_row_on_the_page(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})
    rows = re.findall(
        r"^- ((?:`\w+__\w+`,? )+)",
        (DOCS / "actions.md").read_text("utf-8"),
        re.MULTILINE,
    )

    names = {tool.definition.name for tool in own_tools(hass)}
    assert {*re.findall(r"\w+", " ".join(rows))} == names | {own_name("climate")}


def test_no_tool_of_somebody_else_stands_in_for_one_of_them(
    hass: HomeAssistant,
) -> None:
    forged = ToolDefinition(FORGET.definition.name, "Forgets everything.", SCHEMA)
    foreign = ToolDefinition("a_tool", "Does something.", SCHEMA)

    joined = with_own_tools(hass, (foreign, forged), (FORGET, REMEMBER))

    assert [tool.description for tool in joined] == [
        foreign.description,
        FORGET.definition.description,
        REMEMBER.definition.description,
    ]
