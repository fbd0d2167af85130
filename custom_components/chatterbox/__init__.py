"""Chatterbox: a voice conversation agent with an agentic loop.

Sets up the integration, and sets up, reloads, unloads and removes config entries.
`runtime/composition.py` builds the contents of an entry.
"""

from collections.abc import Collection
from typing import Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigEntryState,
)
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.typing import ConfigType

from .actions import async_register_actions
from .agent.errors import ProviderError
from .approvals.audit import async_audit_questions
from .approvals.notifications import ApprovalNotifications
from .approvals.pin_tries import async_get_pin_tries
from .calendars import async_setup_calendars
from .const import CONF_RESPONSES_API, DOMAIN, ENTRY_VERSION, SUBENTRY_AI_TASK
from .effects.device_intents import async_register_device_intents
from .entity import async_remove_entities
from .evaluate import async_setup_evaluate
from .evaluate.trials import async_get_trials
from .history.retention import async_forget_agents, async_schedule_retention
from .history.stores import async_get_histories
from .later import async_forget_plans, async_setup_later
from .memory import async_setup_memory
from .memory.facts import async_get_memories
from .panel import async_setup_panel
from .people.speakers import async_get_context_watch
from .repairs import async_report_newer_entries
from .responses.views import async_load_api, async_register_api
from .runtime.agents import (
    ChatterboxConfigEntry,
    service_of,
)
from .runtime.composition import async_build, async_build_agent
from .runtime.earlier_agents import async_get_earlier_agents
from .runtime.health import async_check_health
from .runtime.moved_parts import async_report_moved
from .runtime.recent_turns import async_get_recent_turns
from .runtime.references import MissingReferences, async_follow_entities
from .settings.rules import async_get_home_rules
from .settings.stored_file import remove_copies
from .speech.sentences import as_setup_error
from .tools.own.guest_mode import async_setup_guest_mode
from .turns.guarded_api import async_offer_guarded_api
from .usage.tracker import async_get_usage_tracker

CONFIG_SCHEMA: Final = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS: Final = (
    Platform.CONVERSATION,
    Platform.SENSOR,
    Platform.SWITCH,
    Platform.TODO,
)
"""Platforms of every entry."""


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:  # noqa: ARG001  # Home Assistant's signature
    """Set up what all entries share, before any agent exists whose calls must be recorded."""
    await async_get_home_rules(hass).async_load()
    entries = hass.config_entries.async_entries(DOMAIN)
    async_report_newer_entries(
        hass, [entry.title for entry in entries if entry.version > ENTRY_VERSION]
    )
    async_get_context_watch(hass)
    async_audit_questions(hass)
    async_follow_entities(hass)
    MissingReferences(hass).async_start()
    async_get_recent_turns(hass)
    await async_get_usage_tracker(hass).async_start()
    async_register_actions(hass)
    async_register_device_intents(hass)
    async_setup_evaluate(hass)
    async_setup_later(hass)
    async_setup_memory(hass)
    async_setup_calendars(hass)
    async_setup_guest_mode(hass)
    async_get_earlier_agents(hass).async_start()
    _async_follow_removals(hass)
    async_register_api(hass)
    await async_setup_panel(hass)
    async_at_started(hass, async_report_moved)
    return True


async def async_migrate_entry(
    hass: HomeAssistant, entry: ChatterboxConfigEntry
) -> bool:
    """Raise the version of an entry. Home Assistant refuses those of a later version by itself."""
    hass.config_entries.async_update_entry(entry, version=ENTRY_VERSION)
    return True


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
) -> bool:
    """Check the service of an entry and start its agents.

    A service may be down if another one stands in for it in every agent. Otherwise
    raises `ConfigEntryAuthFailed` for a rejected key, and `ConfigEntryNotReady` for
    every other failure that may pass.
    """
    # First, so that no change is missed in the meantime.
    entry.async_on_unload(entry.add_update_listener(_async_follow_changes))
    async_schedule_retention(hass, entry)  # also while the service is down
    try:
        entry.runtime_data = await async_build(hass, entry)
    except ProviderError as error:
        raise as_setup_error(error, entry.title) from error
    entry.async_on_unload(entry.runtime_data.async_end_all)
    await hass.config_entries.async_forward_entry_setups(entry, _platforms_of(entry))
    entry.async_on_unload(await async_offer_guarded_api(hass))
    entry.runtime_data.health.async_start()
    ApprovalNotifications(hass, entry).async_start()
    if entry.options.get(CONF_RESPONSES_API):
        await async_load_api(hass)
    return True


async def async_unload_entry(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
) -> bool:
    """Stop the agents of an entry."""
    return await hass.config_entries.async_unload_platforms(
        entry,
        _platforms_of(entry),
    )


def _platforms_of(entry: ChatterboxConfigEntry) -> tuple[Platform, ...]:
    """Return the platforms that an entry needs. AI Task depends on the camera integration, so it is added on demand."""
    if entry.runtime_data.tasks:
        return (*PLATFORMS, Platform.AI_TASK)
    return PLATFORMS


async def async_remove_entry(
    hass: HomeAssistant, entry: ChatterboxConfigEntry
) -> None:  # Home Assistant's signature
    """Delete what is stored for the agents of an entry that is removed."""
    await _async_forget(
        hass,
        entry,
        entry.subentries,
    )
    await async_get_histories(hass).async_release(entry)


def _async_follow_removals(hass: HomeAssistant) -> None:
    """Follow the removal of agents from entries, whether or not these are loaded at that time."""
    known = {
        entry.entry_id: frozenset(entry.subentries)
        for entry in hass.config_entries.async_entries(DOMAIN)
    }

    @callback
    def async_follow(change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry.domain != DOMAIN:
            return
        before = known.pop(entry.entry_id, frozenset())
        if change is ConfigEntryChange.REMOVED:
            return  # see `async_remove_entry`
        known[entry.entry_id] = frozenset(entry.subentries)
        gone = before - known[entry.entry_id]
        if gone:
            forgetting = _async_forget(
                hass,
                entry,
                gone,
            )
            _ = hass.async_create_background_task(
                forgetting, "chatterbox removed agents"
            )  # Home Assistant keeps it

    async_dispatcher_connect(
        hass,
        SIGNAL_CONFIG_ENTRY_CHANGED,
        async_follow,
    )


async def _async_forget(
    hass: HomeAssistant, entry: ConfigEntry, agents: Collection[str]
) -> None:
    """Free the assistants of agents of an entry, and delete what is stored for them; by their subentry ids."""
    await async_get_earlier_agents(hass).async_put_back()
    is_used = bool(hass.config_entries.async_entries(DOMAIN, include_ignore=False))
    if not is_used:  # the last one
        await async_get_home_rules(hass).async_remove()
        await async_get_pin_tries(hass).async_remove()
        await async_get_trials(hass).async_remove()
        await hass.async_add_executor_job(remove_copies, hass.config.config_dir)
    await async_get_memories(hass).async_forget_removed(keeps_household=is_used)
    await async_forget_plans(hass)
    async_get_usage_tracker(hass).async_forget_removed()
    await async_forget_agents(
        hass,
        entry,
        agents,
    )


async def _async_follow_changes(
    hass: HomeAssistant, entry: ChatterboxConfigEntry
) -> None:
    """Rebuild the agents that were changed; all of them after a change of their service."""
    async with entry.setup_lock:
        if entry.state is ConfigEntryState.LOADED and _has_same_service(entry):
            await _async_renew(hass, entry)
            return
    await hass.config_entries.async_reload(entry.entry_id)


def _has_same_service(entry: ChatterboxConfigEntry) -> bool:
    """Return whether the service is unchanged, and the AI Task platform is needed as before."""
    has_tasks = any(
        one.subentry_type == SUBENTRY_AI_TASK for one in entry.subentries.values()
    )
    runtime = entry.runtime_data
    return runtime.service == service_of(entry) and bool(runtime.tasks) == has_tasks


async def _async_renew(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
) -> None:
    runtime = entry.runtime_data
    for agent_id in runtime.built.keys() - entry.subentries.keys():
        runtime.async_end(agent_id)  # Home Assistant has removed its entities
    for subentry in [*entry.subentries.values()]:
        if runtime.built.get(subentry.subentry_id) != (subentry.title, subentry.data):
            await async_remove_entities(
                hass,
                entry,
                subentry.subentry_id,
            )
            runtime.async_end(subentry.subentry_id)
            await async_build_agent(
                hass,
                entry,
                runtime,
                subentry,
            )
            runtime.async_add(subentry)
    async_check_health(hass)
