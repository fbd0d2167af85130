"""Diagnostics of a service or an agent: its settings and its recent turns, without secrets.

Keys and prompts are redacted. Words are included only if the owner of the service has
chosen that. `docs/diagnosing.md` explains diagnostics.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import __version__ as home_assistant_version
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.loader import async_get_integration

from .agent.conversation.prompt_fitter import PromptFitter, PromptSize
from .agent.messages import JsonObject, JsonValue, canonical_json, described_tools
from .agent.providers.managed_provider import ManagedProvider
from .const import DOMAIN
from .history.store.records import StoreUnavailable
from .history.stores import async_get_histories
from .repairs import unreadable_files
from .runtime.agents import ChatterboxConfigEntry
from .runtime.recent_turns import async_get_recent_turns
from .settings.agent import AgentSettings, existing_agents
from .settings.redaction import known_secrets, without_secrets
from .settings.rules import async_get_home_rules, home_rules_to_json
from .tools.llm_apis import context_without_speaker
from .tools.turn_tools import async_offer_common_tools, for_models
from .turns.prepare import PromptSources, async_write_prompt


async def _async_weigh_prompt(
    hass: HomeAssistant, settings: AgentSettings, model: PromptFitter
) -> JsonObject:
    """Return the estimated tokens of the parts of an agent's prompt, and of each tool, the largest first.

    `instructions` are the agent's own, `home` is the text of the LLM APIs, `tools` are
    all tools together, `total` is the sum, `window` is the context window of the model,
    and `last_request` is the size of the last request. Takes as long as the LLM APIs
    do, but no longer than they may in a turn.
    """
    nobody = context_without_speaker(hass)
    offer = await async_offer_common_tools(hass, settings)
    prompt = async_write_prompt(
        hass, nobody, PromptSources(settings.prompt, offer.prompt, offer.context)
    )
    estimate = model.estimate
    home = estimate.of_text(offer.prompt)
    instructions = max(
        estimate.of_text(prompt.instructions) - home,
        0,
    )
    sent = (
        (str(tool["name"]), canonical_json(tool))
        for tool in described_tools(for_models(offer.definitions))
    )
    each = sorted((-estimate.of_text(text), name, len(text)) for name, text in sent)
    tools = -sum(tokens for tokens, *_ in each)
    return {
        "instructions": instructions,
        "home": home,
        "tools": tools,
        "total": instructions + home + tools,
        "window": model.context_window,
        "last_request": _request(model.last_size),
        "each_tool": [
            {
                "name": name,
                "tokens": -tokens,
                "characters": length,
            }
            for tokens, name, length in each
        ],
    }


def _request(size: PromptSize | None) -> JsonObject | None:
    if size is None:
        return None
    return {
        "tools": size.tools,
        "instructions": size.instructions,
        "conversation": size.history,
        "percent_of_window": round(100 * size.share),
        "messages_left_out": size.dropped,
        "counted_by_server": size.is_reported,
    }


_MEGABYTE: Final = 1_000_000


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: ChatterboxConfigEntry
) -> dict[str, Any]:
    """Return diagnostics of a service and its agents."""
    return await _async_diagnose(
        hass,
        entry,
        entry.subentries.values(),
    )


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: ChatterboxConfigEntry, device: dr.AnyDeviceEntry
) -> dict[str, Any]:
    """Return diagnostics of the agent of a device."""
    agents = (
        agent
        for agent in entry.subentries.values()
        if (DOMAIN, agent.subentry_id) in device.identifiers
    )
    return await _async_diagnose(
        hass,
        entry,
        agents,
    )


async def _async_diagnose(
    hass: HomeAssistant, entry: ChatterboxConfigEntry, agents: Iterable[ConfigSubentry]
) -> dict[str, Any]:
    integration = await async_get_integration(hass, DOMAIN)
    secrets = known_secrets(hass)
    unreadable = unreadable_files(hass)
    parts = {
        "versions": {
            "chatterbox": str(integration.version),
            "home_assistant": home_assistant_version,
        },
        "entry": {
            "title": entry.title,
            "version": f"{entry.version}.{entry.minor_version}",
            "state": entry.state.value,
            "data": entry.data,
            "options": entry.options,
        },
        "unreadable_files": unreadable,
        "home_rules": None
        if "home_rules" in unreadable
        else home_rules_to_json(async_get_home_rules(hass).stored),
        "history": await _async_history(hass, entry),
        "agents": [await _async_agent(hass, entry, agent) for agent in agents],
    }
    return {name: without_secrets(part, secrets) for name, part in parts.items()}


async def _async_agent(
    hass: HomeAssistant, entry: ChatterboxConfigEntry, agent: ConfigSubentry
) -> dict[str, object]:
    is_loaded = entry.state is ConfigEntryState.LOADED
    running = entry.runtime_data.agents.get(agent.subentry_id) if is_loaded else None
    model = entry.runtime_data.models.get(agent.subentry_id) if is_loaded else None
    if running and model:
        prompt = await _async_weigh_prompt(
            hass,
            running.settings,
            model.fitter,
        )
    else:
        prompt = None
    titles = {agent_id: one.title for agent_id, one in existing_agents(hass).items()}
    return {
        "title": agent.title,
        "type": agent.subentry_type,
        "data": agent.data,
        "chain": [_provider(model) for model in running.chain.models()]
        if running
        else [],
        "entities": _entities(
            hass,
            entry,
            agent,
        ),
        "prompt_tokens": prompt,
        "turns": [
            turn.as_json(titles)
            for turn in async_get_recent_turns(hass).of(agent.subentry_id)
        ],
    }


async def _async_history(
    hass: HomeAssistant, entry: ChatterboxConfigEntry
) -> JsonObject | None:
    """Return the state of a service's history. Its response count is None while it is down; None if it is not open."""
    store = async_get_histories(hass).of(entry)
    if store is None:
        return None
    state = store.state
    responses: JsonObject | None = None
    if state.trouble is None:
        with suppress(StoreUnavailable):
            count, size = await store.response_totals(entry.subentries)
            responses = {
                "count": count,
                "megabytes": round(
                    size / _MEGABYTE,
                    1,
                ),
            }
    return {
        "database": store.where,
        "trouble": state.trouble.value if state.trouble else None,
        "waiting": state.waiting,
        "dropped": state.dropped,
        "put_aside": state.put_aside or None,
        "responses": responses,
    }


def _entities(
    hass: HomeAssistant, entry: ChatterboxConfigEntry, agent: ConfigSubentry
) -> list[JsonValue]:
    entities = er.async_entries_for_config_entry(
        er.async_get(hass),
        entry.entry_id,
    )
    return [
        {
            "entity_id": entity.entity_id,
            "disabled_by": entity.disabled_by,
            "state": state.state
            if (state := hass.states.get(entity.entity_id))
            else None,
        }
        for entity in entities
        if entity.config_subentry_id == agent.subentry_id
    ]


def _provider(model: ManagedProvider) -> JsonObject:
    breaker = model.breaker
    return {
        "name": model.name,
        "circuit": breaker.state.value,
        "failures": breaker.failures,
        "last_error": breaker.last_error.__name__ if breaker.last_error else None,
        "seconds_until_probe": round(breaker.seconds_until_probe),
        "read_ahead": model.ahead.results.get(model.model),
    }
