"""A home with something to diagnose: an agent whose model answers once, and fails the second time.

What `docs/diagnosing.md` shows is a download from it. Knows what has to happen, and
how a page shows it; must not know what is expected of either.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_FALLBACKS,
    CONF_KIND,
    CONF_SERVER,
    DOMAIN,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.talk import LIGHT_ON, PART, move_into_the_demo_home, say

AGENT = "conversation.butler"
_MODEL = "qwen3-8b"
_WIDTH = 112
"""Characters of a line of an example."""


async def add_service(
    hass: HomeAssistant, address: str, title: str, agent: str, *fallbacks: str
) -> ConfigEntry:
    """Set up a service with one agent, whose id is its name."""
    data = {
        CONF_MODEL: _MODEL,
        CONF_LLM_HASS_API: ["assist"],
        "prompt": "You are a butler of few words.",
        CONF_FALLBACKS: list(fallbacks),
    }
    entry = MockConfigEntry(
        domain=DOMAIN,
        title=title,
        data={
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_SERVER: "llama_cpp",
            CONF_BASE_URL: address,
            "api_key": "sk-1",
        },
        subentries_data=[
            {
                "subentry_type": SUBENTRY_CONVERSATION,
                "subentry_id": agent.lower(),
                "title": agent,
                "unique_id": None,
                "data": data,
            }
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    return entry


async def live_in_it(hass: HomeAssistant, slowness: float = 0.0) -> ConfigEntry:
    """Take two turns with the butler, whose servers are slow by so many seconds or parts of them; return its entry."""
    butler = Script(
        models=(_MODEL,),
        answers=(
            ScriptedAnswer(
                tool_calls=(LIGHT_ON,),
                usage=_usage(5896, 24, 5865),
                delay_seconds=0.4 * slowness,
            ),
            ScriptedAnswer(
                content="With pleasure.",
                usage=_usage(5981, 5, 5920),
                delay_seconds=0.2 * slowness,
            ),
            ScriptedFailure(status=503, body="out of memory"),
            ScriptedFailure(status=503, body="out of memory"),
        ),
    )
    helper = ScriptedAnswer(
        content="It is on.", usage=_usage(6004, 5, 0), delay_seconds=2.6 * slowness
    )
    spare = Script(models=(_MODEL,), answers=(helper,))
    await move_into_the_demo_home(hass, PART)
    async with serving_script(butler) as first, serving_script(spare) as second:
        await add_service(hass, second, "Spare computer", "Helper")
        entry = await add_service(hass, first, "Big computer", "Butler", "helper")
        await say(hass, "Light, please.", agent_id=AGENT)
        await say(hass, "Is it on?", agent_id=AGENT)
    return entry


def _usage(tokens_read: int, written: int, cached: int) -> ScriptedUsage:
    return ScriptedUsage(
        prompt_tokens=tokens_read, completion_tokens=written, cached_tokens=cached
    )


def example_blocks(page: str) -> list[dict[str, Any]]:
    """Return the examples of a page, parsed."""
    return [
        json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    ]


def with_blocks(page: str, blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return a page with other examples in place of its own."""
    content = iter(blocks)
    return re.sub(
        r"```json\n.*?```",
        lambda _: f"```json\n{as_shown(next(content))}\n```",
        page,
        flags=re.DOTALL,
    )


def as_shown(value: object, indent: int = 0) -> str:
    """Write JSON with whatever fits into a line in one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if (
        (len(flat) + indent <= _WIDTH and indent)
        or not isinstance(value, dict | list)
        or not value
    ):
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(key)}: {as_shown(one, indent + 2)}"
            for key, one in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{' ' * indent}}}"
    parts = [f"{inner}{as_shown(one, indent + 2)}" for one in value]
    return "[\n" + ",\n".join(parts) + f"\n{' ' * indent}]"
