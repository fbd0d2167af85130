"""The files of each release are read by this version: nothing is missing, and nothing is reported."""

import gzip
import json
import re
from pathlib import Path
from typing import Final

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.approvals.pin_tries import Wrong, async_get_pin_tries
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.evaluate.trials import async_get_trials
from custom_components.chatterbox.history.stores import async_get_histories
from custom_components.chatterbox.later.plans import async_get_plans
from custom_components.chatterbox.memory.facts import HOUSEHOLD, async_get_memories
from custom_components.chatterbox.settings.rules import async_get_home_rules
from custom_components.chatterbox.usage.tracker import async_get_usage_tracker
from tests.behaviour.durability.killed_home import SCRIPT
from tests.behaviour.upgrade.filled_home import FACT, LAMP, PIN, PLANS, SENTENCE
from tests.behaviour.upgrade.taken_files import ENTITIES, PUBLIC_NAMES, RELEASES
from tests.support.own_home import own_home
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving

_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")
FOLDERS: Final = sorted(RELEASES.iterdir())


def unpack(release: Path, home: Path, address: str) -> None:
    """Put the files of a release where Home Assistant has them; the model's server has another address now."""
    storage = home / ".storage"
    storage.mkdir()
    for file in release.iterdir():
        if file.suffix == ".gz":
            (home / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        elif file.name not in {ENTITIES, PUBLIC_NAMES.name}:
            text = _ADDRESS.sub(address, file.read_text("utf-8"))
            (storage / file.name).write_text(text, "utf-8")


async def set_up(hass: HomeAssistant, release: Path) -> None:
    """Set up what is stored, with the person that it names."""
    stored = (release / "chatterbox.later").read_text("utf-8")
    (user_id,) = set(re.findall(r'"user_id": "(\w+)"', stored))
    MockUser(id=user_id).add_to_hass(hass)
    person = {"id": "demo", "name": "Demo", "user_id": user_id}
    assert await async_setup_component(hass, "person", {"person": [person]})
    hass.states.async_set(LAMP, "off")
    await hass.config_entries.async_initialize()
    for component in ("homeassistant", "conversation", DOMAIN):
        assert await async_setup_component(hass, component, {})
    await hass.async_block_till_done(wait_background_tasks=True)


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("release", FOLDERS, ids=[one.name for one in FOLDERS])
async def test_what_a_release_stored_is_read(
    release: Path, tmp_path: Path, freezer: FrozenDateTimeFactory
) -> None:
    stored = json.loads((release / "core.config_entries").read_bytes())
    freezer.move_to(stored["data"]["entries"][-1]["modified_at"])
    server = ScriptedChatCompletions(SCRIPT)
    async with serving(server.application()) as address, own_home(tmp_path) as hass:
        unpack(release, tmp_path, address.removesuffix("/v1"))
        await set_up(hass, release)

        entries = hass.config_entries.async_entries(DOMAIN)
        assert [one.state for one in entries] == [ConfigEntryState.LOADED] * 2
        assert [key for key in ir.async_get(hass).issues if key[0] == DOMAIN] == []

        rules = async_get_home_rules(hass).current
        assert rules.pin
        assert [str(rule.verdict) for rule in rules.policy.rules] == ["deny", "pin"]
        assert await async_get_pin_tries(hass).async_try(
            "", rules.pin, PIN[::-1]
        ) == Wrong(3)

        plans = async_get_plans(hass)
        await plans.async_load()
        assert [plan.text for plan in plans.stored.plans] == [*PLANS]
        memories = async_get_memories(hass)
        await memories.async_load()
        assert [fact.text for fact in memories.facts(HOUSEHOLD)] == [FACT]
        assert len(await async_get_trials(hass).async_results()) == 1

        known = json.loads((release / ENTITIES).read_bytes())
        found = {
            one.unique_id: one.entity_id
            for one in er.async_get(hass).entities.values()
            if one.platform == DOMAIN
        }
        assert known.items() <= found.items()
        (agent,) = (
            one for one, name in known.items() if name == "conversation.chatterbox"
        )
        assert async_get_usage_tracker(hass).usage(agent).inferences > 0
        (store,) = async_get_histories(hass).all
        turns = await store.turns("morning")
        assert SENTENCE in str(turns)
