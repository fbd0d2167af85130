"""The life of a config entry in a real Home Assistant: checked, set up, reloaded, unloaded, removed."""

import json
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox import async_setup
from custom_components.chatterbox.approvals.questions import (
    Question,
    async_get_approvals,
)
from custom_components.chatterbox.const import (
    DOMAIN,
    ENTRY_VERSION,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
)
from custom_components.chatterbox.memory.facts import Keeper, async_get_memories
from tests.support.config_entries import (
    offline_entry,
    only_agent,
    server_entry,
    set_up,
    state_of,
)
from tests.support.home_rules import set_home_rules
from tests.support.servers.in_process import (
    address_without_server,
    always,
    serving,
    serving_untrusted_tls,
    with_list,
)
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.service_dialogs import TALKING
from tests.support.talk import AGENT, LIGHT_ON, Serve, add_agent, messages_of, say
from tests.support.waiting_questions import question

pytestmark = pytest.mark.usefixtures("socket_enabled")
GUARDED = TALKING.model_copy(update={"api_key": "right-key"})


async def test_the_service_is_asked_for_its_models_and_no_more(
    hass: HomeAssistant,
) -> None:
    async with serving(with_list(TALKING, 200, '{"data": []}')) as address:
        entry = await set_up(hass, server_entry(address, model="gone-model"))

    assert entry.state is ConfigEntryState.LOADED


async def test_a_service_that_is_down_is_tried_again(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address_without_server(), llm_hass_api=[]))
    assert state_of(entry) is ConfigEntryState.SETUP_RETRY
    assert entry.error_reason_translation_key == "provider_unreachable"

    hass.config_entries.async_update_entry(
        entry, data={**entry.data, "base_url": address}
    )
    await hass.config_entries.async_reload(entry.entry_id)

    assert entry.state is ConfigEntryState.LOADED


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("status", "body", "content_type", "reason"),
    [
        (404, "<html>Not found</html>", "text/html", "provider_reply_invalid"),
        (200, "<html>Hello</html>", "text/html", "provider_reply_invalid"),
        (429, "{}", "application/json", "provider_busy"),
        (500, "{}", "application/json", "provider_failed"),
        (418, "{}", "application/json", "provider_rejected_request"),
    ],
)
async def test_a_service_with_a_fault_is_tried_again_and_says_which(
    hass: HomeAssistant, status: int, body: str, content_type: str, reason: str
) -> None:
    async with serving(always(status, body, content_type)) as address:
        entry = await set_up(hass, server_entry(address, llm_hass_api=[]))

    assert entry.state is ConfigEntryState.SETUP_RETRY
    assert entry.error_reason_translation_key == reason


async def test_a_certificate_that_is_not_trusted_is_named(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    with serving_untrusted_tls(tmp_path) as address:
        entry = await set_up(hass, server_entry(address, llm_hass_api=[]))

    assert entry.state is ConfigEntryState.SETUP_RETRY
    assert entry.error_reason_translation_key == "certificate_invalid"


async def test_a_refused_key_starts_reauth_and_is_not_logged(
    hass: HomeAssistant, guarded_address: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    entry = await set_up(
        hass, server_entry(guarded_address, "very-wrong-key", llm_hass_api=[])
    )

    assert "very-wrong-key" not in caplog.text

    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert entry.error_reason_translation_key == "provider_rejected_key"
    assert entry.error_reason_translation_placeholders == {"service": "The server"}
    assert [
        flow["context"]["source"]
        for flow in entry.async_get_active_flows(hass, {"reauth"})
    ] == ["reauth"]


async def test_a_removed_entry_leaves_nothing_and_may_be_added_again(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())

    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()

    assert hass.states.get(AGENT) is None
    assert not er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    assert not dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)

    again = await set_up(hass, offline_entry())
    assert state_of(again) is ConfigEntryState.LOADED
    assert (state := hass.states.get(AGENT)) is not None
    assert state.state != STATE_UNAVAILABLE


async def test_entries_of_another_version_are_migrated_or_refused_with_a_word(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())
    assert (state_of(entry), entry.version) == (ConfigEntryState.LOADED, ENTRY_VERSION)
    await hass.config_entries.async_unload(entry.entry_id)
    hass.config_entries.async_update_entry(entry, version=ENTRY_VERSION + 1)

    assert await async_setup(hass, {})
    await hass.config_entries.async_setup(entry.entry_id)

    assert state_of(entry) is ConfigEntryState.MIGRATION_ERROR
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "newer_entries")
    assert issue
    assert issue.translation_placeholders == {"services": entry.title}

    before = entry.as_dict()
    await set_home_rules(hass, notify=["notify.phone"])
    changed = await entry.start_reconfigure_flow(hass)
    assert (changed["type"], changed["reason"]) == ("abort", "newer_entry")
    assert entry.as_dict() == before


async def test_an_entry_that_a_later_version_has_stored_disturbs_no_other(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator
) -> None:
    unknown = {"model": 5, "llm_hass_api": {"a": 1}, "remember_facts": "some"}
    later = MockConfigEntry(
        domain=DOMAIN,
        title="Later",
        version=ENTRY_VERSION + 1,
        data={"places": [1]},
        options={"more": 7},
        subentries_data=[
            {"subentry_type": kind, "title": kind, "unique_id": None, "data": unknown}
            for kind in (SUBENTRY_CONVERSATION, SUBENTRY_AI_TASK, "robot")
        ],
    )
    later.add_to_hass(hass)
    before = later.as_dict()
    for component in ("homeassistant", "conversation", "frontend"):
        assert await async_setup_component(hass, component, {})
    entry = await set_up(hass, offline_entry())
    await hass.async_block_till_done(wait_background_tasks=True)
    assert (state_of(entry), state_of(later)) == (
        ConfigEntryState.LOADED,
        ConfigEntryState.MIGRATION_ERROR,
    )

    assert (await say(hass, "what time is it")).response.response_type.value == (
        "action_done"
    )
    flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})
    assert flow["type"] == "menu"
    form = await entry.start_subentry_reconfigure_flow(
        hass, only_agent(entry).subentry_id
    )
    assert form["type"] == "menu"
    everything = {"everything": True, "as_response": True}
    assert await hass.services.async_call(
        DOMAIN, "export", everything, blocking=True, return_response=True
    )
    socket = await hass_ws_client()
    for command in ("page", "permissions/get", "permissions/tools", "turns/list"):
        language = {"language": "en"} if command == "permissions/get" else {}
        await socket.send_json_auto_id({"type": f"{DOMAIN}/{command}", **language})
        assert (await socket.receive_json())["success"], command

    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert later.as_dict() == before


def databases_in(folder: str) -> str:
    return "".join(
        path.read_text("latin-1") for path in Path(folder).glob("chatterbox.db*")
    )


async def first_database(hass: HomeAssistant, storage: dict[str, Any]) -> str:
    """Return what lies on the disk for Chatterbox, once all of it is written."""
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=20))
    await hass.async_block_till_done(wait_background_tasks=True)
    databases = await hass.async_add_executor_job(databases_in, hass.config.config_dir)
    return "".join(
        (
            databases,
            *(
                json.dumps(content, default=repr)
                for name, content in storage.items()
                if DOMAIN in name
            ),
        )
    )


async def test_a_service_that_was_used_is_gone_when_it_is_removed_and_begins_anew_when_it_is_added_again(
    hass: HomeAssistant, serve: Serve, hass_storage: dict[str, Any]
) -> None:
    """It was talked to, has changed something, remembers something, waits for an answer, and has an issue."""
    unlock = ScriptedCall(
        name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": "lock"}
    )
    calls = [
        ScriptedCall(name="intent__HassTurnOn", arguments=LIGHT_ON.arguments),
        unlock,
    ]
    answers = [
        answer
        for call in calls
        for answer in (
            ScriptedAnswer(tool_calls=(call,)),
            ScriptedAnswer(content="Hi."),
        )
    ]
    options = {"llm_hass_api": ["assist", "gone"], "remember_facts": True}
    server = await serve(
        Script(answers=tuple(answers), after_last="start again"), **options
    )
    entry = hass.config_entries.async_entries(DOMAIN)[0]
    agent = only_agent(entry).subentry_id
    await say(hass, "light, a sentence to be found")
    await async_get_memories(hass).async_add(
        Keeper(agent, "anna"), "Has a cat.", "Anna"
    )
    await say(hass, "unlock the front door", satellite_id="assist_satellite.kitchen")

    traces = [agent, "sentence to be found", "Has a cat."]
    before = await first_database(hass, hass_storage)
    assert [trace for trace in traces if trace in before] == traces
    assert async_get_approvals(hass).waiting
    assert [
        issue for issue in ir.async_get(hass).issues.values() if issue.domain == DOMAIN
    ]

    await hass.config_entries.async_remove(entry.entry_id)

    after = await first_database(hass, hass_storage)
    assert [trace for trace in traces if trace in after] == []
    assert hass_storage["chatterbox.usage"]["data"] == {"agents": {}, "turns": []}
    assert not async_get_approvals(hass).waiting
    assert not [
        issue for issue in ir.async_get(hass).issues.values() if issue.domain == DOMAIN
    ]
    assert not [
        known
        for known in er.async_get(hass).entities.values()
        if known.platform == DOMAIN
    ]
    assert hass.states.get(AGENT) is None

    server.start_again()
    asked_before = len(server.requests)
    await add_agent(hass, dict(entry.data), options)
    await say(hass, "light!", "another-talk")

    assert [
        message["role"] for message in messages_of(server.requests[asked_before])
    ] == ["system", "user"]
    assert "Has a cat." not in str(server.requests[asked_before].body)
    assert AGENT in hass.states.async_entity_ids()


async def test_a_removed_agent_leaves_nothing_and_the_others_stay(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())
    step = await hass.config_entries.subentries.async_init(
        (entry.entry_id, "conversation"), context={"source": "user"}
    )
    await hass.config_entries.subentries.async_configure(
        step["flow_id"], {"name": "Second"}
    )
    await hass.async_block_till_done()
    first = next(
        agent for agent in entry.subentries.values() if agent.title == "Talker"
    )

    hass.config_entries.async_remove_subentry(entry, first.subentry_id)
    await hass.async_block_till_done()

    assert hass.states.get(AGENT) is None
    assert (
        dr.async_get(hass).async_get_device_by_identifier(
            (DOMAIN, first.subentry_id), entry.entry_id
        )
        is None
    )
    assert hass.states.get("conversation.second")


async def two_agents(
    hass: HomeAssistant, address: str
) -> tuple[MockConfigEntry, ConfigSubentry, ConfigSubentry]:
    """Set up a service with two agents."""
    entry = await set_up(hass, server_entry(address))
    data = {**only_agent(entry).data, "remember_facts": True}
    second = ConfigSubentry(
        data=MappingProxyType(data),
        subentry_type=SUBENTRY_CONVERSATION,
        title="Second",
        unique_id=None,
    )
    first = only_agent(entry)
    hass.config_entries.async_add_subentry(entry, second)
    await hass.async_block_till_done()
    return entry, first, second


async def nothing_to_resume(_question: Question) -> str:
    """Stand for a turn."""
    return ""


async def test_saving_an_agent_leaves_its_siblings_and_their_questions_alone(
    hass: HomeAssistant, address: str
) -> None:
    entry, first, second = await two_agents(hass, address)
    pending = question(agent_id=AGENT)
    async_get_approvals(hass).ask(pending, 60, nothing_to_resume)
    own = question(agent_id="conversation.second", conversation_id="other")
    async_get_approvals(hass).ask(own, 60, nothing_to_resume)
    sibling, before = (
        entry.runtime_data.agents[first.subentry_id],
        hass.states.get(AGENT),
    )

    hass.config_entries.async_update_subentry(
        entry, second, title="Butler", data={**second.data, "deadline": 45}
    )
    await hass.async_block_till_done(wait_background_tasks=True)

    assert entry.runtime_data.agents[second.subentry_id].settings.limits.deadline == 45
    assert entry.runtime_data.agents[first.subentry_id] is sibling
    assert hass.states.get(AGENT) is before
    assert async_get_approvals(hass).waiting == (pending,), (
        "the agent that was changed asks no more"
    )
    device = dr.async_get(hass).async_get_device_by_identifier(
        (DOMAIN, second.subentry_id), entry.entry_id
    )
    assert device is not None
    assert device.name == "Butler"
    state = hass.states.get("conversation.second")
    assert state is not None
    assert state.state != STATE_UNAVAILABLE


async def test_an_agent_that_is_saved_often_leaves_nothing_behind(
    hass: HomeAssistant, address: str
) -> None:
    entry, _, second = await two_agents(hass, address)

    async def saved(seconds: int) -> int:
        hass.config_entries.async_update_subentry(
            entry, second, data={**second.data, "deadline": seconds}
        )
        await hass.async_block_till_done(wait_background_tasks=True)
        listeners = (
            hass.bus.async_listeners()
        )  # a store has one until its write, a second after a change
        return sum(
            count
            for event, count in listeners.items()
            if event != EVENT_HOMEASSISTANT_FINAL_WRITE
        )

    assert await saved(30) == await saved(31) == await saved(32)
    hass.config_entries.async_remove_subentry(entry, second.subentry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert list(entry.runtime_data.agents) == [only_agent(entry).subentry_id]
    assert set(entry.runtime_data.models) == set(entry.runtime_data.agents)
    assert hass.states.get("conversation.second") is None


async def test_a_service_that_is_changed_has_all_agents_built_anew(
    hass: HomeAssistant, address: str
) -> None:
    entry, first, _ = await two_agents(hass, address)
    sibling = entry.runtime_data.agents[first.subentry_id]
    hass.config_entries.async_update_entry(entry, title="Attic")
    await hass.async_block_till_done(wait_background_tasks=True)

    assert state_of(entry) is ConfigEntryState.LOADED
    assert entry.runtime_data.agents[first.subentry_id] is not sibling


async def test_the_first_task_of_a_service_is_there_as_soon_as_it_is_added(
    hass: HomeAssistant, address: str
) -> None:
    entry, _, _ = await two_agents(hass, address)
    for title in ("One", "Two"):
        task = ConfigSubentry(
            data=MappingProxyType({"model": "big-model"}),
            subentry_type=SUBENTRY_AI_TASK,
            title=title,
            unique_id=None,
        )
        hass.config_entries.async_add_subentry(entry, task)
        await hass.async_block_till_done(wait_background_tasks=True)
        assert hass.states.get(f"ai_task.{title.lower()}")
