"""A tool of our own is asked about, audited or run as it says."""

from dataclasses import replace

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.messages import (
    ToolAnnotations,
    ToolDefinition,
)
from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import EVENT_CHANGE
from custom_components.chatterbox.effects.effect import Effects, EntityAction
from custom_components.chatterbox.tools.own.own_tool import (
    READS,
    OwnCall,
    OwnTool,
    SharedWith,
    ToolAnswer,
    parameters,
)
from custom_components.chatterbox.tools.own.registry import (
    own_tools,
)
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
        return Effects(frozenset({EntityAction("lock.front_door", "lock.unlock")}))

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
