"""Assistants that go round the rules of their agent are reported, and a dialog of Repairs stops that."""

from collections.abc import Mapping
from datetime import timedelta
from unittest.mock import ANY

import pytest
from homeassistant.components.assist_pipeline.pipeline import (
    async_get_pipelines,
    async_update_pipeline,
)
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.repairs import repairs_flow_manager
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.const import DOMAIN
from tests.support.config_entries import offline_entry, set_up
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT, move_into_the_demo_home


def issues(hass: HomeAssistant) -> list[ir.IssueEntry]:
    """Return the reports about assistants."""
    return [
        issue
        for (_, key), issue in ir.async_get(hass).issues.items()
        if key.startswith("unguarded_")
    ]


async def prefer_local(
    hass: HomeAssistant, agent_id: str = AGENT, *, is_wanted: bool = True
) -> None:
    """Have the only assistant handle commands before it asks an agent."""
    (pipeline,) = async_get_pipelines(hass)
    await async_update_pipeline(
        hass, pipeline, conversation_engine=agent_id, prefer_local_intents=is_wanted
    )
    await hass.async_block_till_done()


async def later(hass: HomeAssistant) -> None:
    """Let the time pass that a change of the home may take to be noticed."""
    await hass.async_block_till_done()
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=3))
    await hass.async_block_till_done()


async def expose_nothing_risky(hass: HomeAssistant) -> None:
    """Expose only what the default rules allow."""
    for state in hass.states.async_all(
        ["lock", "cover", "valve", "script", "scene", "alarm_control_panel"]
    ):
        async_expose_entity(hass, "conversation", state.entity_id, should_expose=False)
    await later(hass)


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    assert await async_setup_component(hass, "assist_pipeline", {})
    assert await async_setup_component(hass, "repairs", {})
    return hass


async def test_an_assistant_that_asks_nobody_is_reported_and_repaired(
    home: HomeAssistant,
) -> None:
    await set_up(home, offline_entry())
    assert issues(home) == []

    await prefer_local(home)

    (issue,) = issues(home)
    assert issue.is_fixable
    sent = {
        "assistant": ANY,
        "request": "Unlock Front Door",
        "action": "unlock Front Door",
    }
    assert issue.translation_placeholders == sent
    flows = repairs_flow_manager(home)
    assert flows is not None
    step = await flows.async_init(DOMAIN, context={"issue_id": issue.issue_id})
    assert step["type"] is FlowResultType.FORM
    assert async_get_pipelines(home)[0].prefer_local_intents

    done = await flows.async_configure(step["flow_id"], {})
    await home.async_block_till_done()

    assert done["type"] is FlowResultType.CREATE_ENTRY
    (pipeline,) = async_get_pipelines(home)
    assert (pipeline.prefer_local_intents, pipeline.conversation_engine) == (
        False,
        AGENT,
    )
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


async def test_an_agent_that_asks_about_nothing_there_is_not_reported(
    home: HomeAssistant,
) -> None:
    await prefer_local(home)
    await set_up(home, offline_entry(rules=[{"verdict": "allow"}]))
    assert issues(home) == []


async def test_what_is_exposed_decides_whether_there_is_something_to_report(
    home: HomeAssistant,
) -> None:
    await prefer_local(home)
    await set_up(home, offline_entry())
    await expose_nothing_risky(home)
    assert issues(home) == []

    async_expose_entity(home, "conversation", "lock.front_door", should_expose=True)
    await later(home)
    assert len(issues(home)) == 1


@in_one_home(
    ("rule", "request_named"),
    [
        (
            {"verdict": "ask", "entities": ["light.kitchen_pendant"]},
            "Turn on Kitchen Pendant",
        ),
        ({"verdict": "deny", "areas": ["kids_room"]}, "Turn on Kids Room Light"),
        (
            {"verdict": "ask", "domains": ["fan"], "users": ["somebody"]},
            "Turn on Bathroom Fan",
        ),
        (
            {"verdict": "ask", "domains": ["fan"], "devices": ["satellite"]},
            "Turn on Bathroom Fan",
        ),
        ({"verdict": "ask", "actions": ["light.turn_off"]}, ""),
        ({"verdict": "pin", "actions": ["switch.turn_off"]}, ""),
        ({"verdict": "ask", "actions": ["climate.set_hvac_mode"]}, ""),
        ({"verdict": "ask", "tools": ["intent__HassTurnOff"]}, ""),
        ({"verdict": "ask", "entities": ["lock.front_door"]}, None),
        ({"verdict": "ask", "tools": ["shop__order"]}, None),
    ],
)
async def test_every_rule_about_an_exposed_device_counts(
    home: HomeAssistant, rule: Mapping[str, object], request_named: str | None
) -> None:
    await expose_nothing_risky(home)
    await set_up(home, offline_entry(rules=[rule]))
    await prefer_local(home)

    sent = [
        (one.translation_key, (one.translation_placeholders or {})["request"])
        for one in issues(home)
    ]
    key = "unguarded" if request_named else "unguarded_rules"
    assert sent == ([] if request_named is None else [(key, request_named)])


async def test_a_rule_for_a_time_of_the_day_counts_all_day(home: HomeAssistant) -> None:
    await expose_nothing_risky(home)
    now = dt_util.now()
    hours = {
        "after": f"{now + timedelta(hours=1):%H:%M}",
        "before": f"{now + timedelta(hours=2):%H:%M}",
    }
    fans = {"domains": ["fan"], "window": hours}
    entry = await set_up(home, offline_entry(rules=[{"verdict": "ask", **fans}]))
    await prefer_local(home)
    assert len(issues(home)) == 1
    assert await home.config_entries.async_remove(entry.entry_id)

    await set_up(
        home,
        offline_entry(
            rules=[{"verdict": "allow", **fans}, {"verdict": "ask", "domains": ["fan"]}]
        ),
    )
    await prefer_local(home)
    assert len(issues(home)) == 1


async def test_devices_that_come_later_are_noticed(home: HomeAssistant) -> None:
    await expose_nothing_risky(home)
    await set_up(home, offline_entry())
    await prefer_local(home)
    assert issues(home) == []

    gate = er.async_get(home).async_get_or_create(
        "cover", "demo", "gate", original_name="Back Gate"
    )
    home.states.async_set(gate.entity_id, "closed", {"friendly_name": "Back Gate"})
    await later(home)
    assert issues(home) == []
    home.states.async_set(
        gate.entity_id, "closed", {"friendly_name": "Back Gate", "device_class": "gate"}
    )
    await later(home)
    (issue,) = issues(home)
    assert (issue.translation_placeholders or {})["request"] == "Open Back Gate"

    home.states.async_remove(gate.entity_id)
    await later(home)
    assert issues(home) == []


async def test_the_request_is_told_in_the_present_language(home: HomeAssistant) -> None:
    await set_up(home, offline_entry())
    await prefer_local(home)

    await home.config.async_update(language="de")
    await later(home)

    (issue,) = issues(home)
    assert (issue.translation_placeholders or {})[
        "request"
    ] == "Schließe Front Door auf"


async def test_a_report_stays_ignored_until_it_no_longer_holds(
    home: HomeAssistant,
) -> None:
    await prefer_local(home)
    entry = await set_up(home, offline_entry())
    ir.async_ignore_issue(home, DOMAIN, issues(home)[0].issue_id, ignore=True)

    assert await home.config_entries.async_reload(entry.entry_id)
    await later(home)
    assert [issue.dismissed_version is not None for issue in issues(home)] == [True]

    await prefer_local(home, is_wanted=False)
    await prefer_local(home)
    assert [issue.dismissed_version for issue in issues(home)] == [None]


async def test_an_assistant_that_has_another_agent_by_now_is_left_alone(
    home: HomeAssistant,
) -> None:
    await set_up(home, offline_entry())
    await prefer_local(home)
    flows = repairs_flow_manager(home)
    assert flows is not None
    step = await flows.async_init(
        DOMAIN, context={"issue_id": issues(home)[0].issue_id}
    )

    await prefer_local(home, "conversation.home_assistant")
    await flows.async_configure(step["flow_id"], {})

    assert async_get_pipelines(home)[0].prefer_local_intents
