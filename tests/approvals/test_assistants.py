"""Assistants that go round the rules of their agent are reported, and a dialog of Repairs stops that."""

from unittest.mock import ANY

import pytest
from homeassistant.components.assist_pipeline.pipeline import async_get_pipelines, async_update_pipeline
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.repairs import repairs_flow_manager
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.const import DOMAIN
from tests.support.config_entries import offline_entry, set_up
from tests.support.talk import AGENT, move_into_the_demo_home


def issues(hass: HomeAssistant) -> list[ir.IssueEntry]:
    return [issue for issue in ir.async_get(hass).issues.values() if issue.domain == DOMAIN]


async def prefer_local(hass: HomeAssistant, agent_id: str = AGENT, *, is_wanted: bool = True) -> None:
    """Have the only assistant handle commands before it asks an agent."""
    (pipeline,) = async_get_pipelines(hass)
    await async_update_pipeline(hass, pipeline, conversation_engine=agent_id, prefer_local_intents=is_wanted)
    await hass.async_block_till_done()


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    assert await async_setup_component(hass, "assist_pipeline", {})
    assert await async_setup_component(hass, "repairs", {})
    return hass


async def test_an_assistant_that_asks_nobody_is_reported_and_repaired(home: HomeAssistant) -> None:
    await set_up(home, offline_entry())
    assert issues(home) == []

    await prefer_local(home)

    (issue,) = issues(home)
    assert issue.is_fixable
    told = {"assistant": ANY, "request": "Unlock Front Door", "action": "unlock Front Door"}
    assert issue.translation_placeholders == told
    flows = repairs_flow_manager(home)
    assert flows is not None
    step = await flows.async_init(DOMAIN, context={"issue_id": issue.issue_id})
    assert step["type"] is FlowResultType.FORM
    assert async_get_pipelines(home)[0].prefer_local_intents

    done = await flows.async_configure(step["flow_id"], {})
    await home.async_block_till_done()

    assert done["type"] is FlowResultType.CREATE_ENTRY
    (pipeline,) = async_get_pipelines(home)
    assert (pipeline.prefer_local_intents, pipeline.conversation_engine) == (False, AGENT)
    assert issues(home) == []


async def test_the_report_goes_when_it_no_longer_holds(home: HomeAssistant) -> None:
    await prefer_local(home)
    entry = await set_up(home, offline_entry())
    assert len(issues(home)) == 1

    await prefer_local(home, "conversation.home_assistant")
    assert issues(home) == []
    await prefer_local(home)
    assert len(issues(home)) == 1
    await prefer_local(home, is_wanted=False)
    assert issues(home) == []
    await prefer_local(home)
    assert await home.config_entries.async_unload(entry.entry_id)
    assert issues(home) == []


async def test_an_agent_that_asks_about_nothing_there_is_not_reported(home: HomeAssistant) -> None:
    await prefer_local(home)
    await set_up(home, offline_entry(rules=[{"verdict": "allow"}]))
    assert issues(home) == []


async def test_what_is_exposed_decides_whether_there_is_something_to_report(home: HomeAssistant) -> None:
    await prefer_local(home)
    await set_up(home, offline_entry())
    for state in home.states.async_all(["lock", "cover", "valve", "script", "scene", "alarm_control_panel"]):
        async_expose_entity(home, "conversation", state.entity_id, should_expose=False)
    await home.async_block_till_done()
    assert issues(home) == []

    async_expose_entity(home, "conversation", "lock.front_door", should_expose=True)
    await home.async_block_till_done()
    assert len(issues(home)) == 1
