"""The fields of an agent that are about long conversations."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import ServiceKind
from custom_components.chatterbox.settings.agent import (
    SUMMARY_LIST,
    SUMMARY_OWN_MODEL,
    settings_of,
)
from tests.flows.agent_forms import advanced, change, submit
from tests.flows.test_agent_flow import suggested
from tests.support.config_entries import only_agent, server_entry, set_up
from tests.support.servers.dialects import ScriptedOllama
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script

pytestmark = pytest.mark.usefixtures("socket_enabled")


def fields_of(step: Any) -> dict[str, Any]:
    """Return the fields of the section, by name."""
    return {
        str(name): field
        for name, field in step["data_schema"]
        .schema["long_conversations"]
        .schema.schema.items()
    }


async def test_they_are_shown_with_their_defaults_and_stored(
    hass: HomeAssistant,
) -> None:
    async with serving_script(Script()) as address:
        entry = await set_up(hass, server_entry(address))
        step = await change(hass, entry, "advanced")
        assert suggested(step)["long_conversations"] == {
            "history_tokens": 12_000,
            "summary": SUMMARY_LIST,
            "continue_minutes": 0,
        }
        chosen = {
            "history_tokens": 4_000,
            "context_window": 8_192,
            "summary": SUMMARY_OWN_MODEL,
            "continue_minutes": 5,
        }
        await submit(hass, step, advanced(long_conversations=chosen))
        assert (
            suggested(await change(hass, entry, "advanced"))["long_conversations"]
            == chosen
        )
    settings = settings_of(only_agent(entry).data)
    assert (settings.history_tokens, settings.context_window, settings.summary) == (
        4_000,
        8_192,
        SUMMARY_OWN_MODEL,
    )


async def test_a_model_of_ollama_has_a_context_size_in_place_of_a_window(
    hass: HomeAssistant,
) -> None:
    async with serving_script(Script(), ScriptedOllama) as address:
        entry = await set_up(hass, server_entry(address, kind=ServiceKind.OLLAMA_CHAT))
        assert fields_of(await change(hass, entry, "advanced")).keys() == {
            *("history_tokens", "num_ctx", "summary", "continue_minutes")
        }


async def test_another_agents_model_can_sum_up_until_it_is_gone(
    hass: HomeAssistant,
) -> None:
    async with (
        serving_script(Script()) as address,
        serving_script(Script()) as other_address,
    ):
        other = await set_up(hass, server_entry(other_address))
        entry = await set_up(hass, server_entry(address))
        writer = only_agent(other).subentry_id
        step = await change(hass, entry, "advanced")
        choices = fields_of(step)["summary"].config["options"]
        assert {"value": writer, "label": "Talker (The server)"} in choices
        assert only_agent(entry).subentry_id not in [
            choice["value"] for choice in choices
        ]
        await submit(hass, step, advanced(long_conversations={"summary": writer}))
        assert (
            suggested(await change(hass, entry, "advanced"))["long_conversations"][
                "summary"
            ]
            == writer
        )

        await hass.config_entries.async_remove(other.entry_id)
        await hass.async_block_till_done()
        assert (
            "summary"
            not in suggested(await change(hass, entry, "advanced"))[
                "long_conversations"
            ]
        )
    assert settings_of(only_agent(entry).data).summary == writer
