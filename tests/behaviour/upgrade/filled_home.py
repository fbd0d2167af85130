"""A home in which everything is stored that Chatterbox stores, and its account of that.

Knows the dialogs, sentences and actions that fill it; must not know how anything is
stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import aiohttp
from pydantic import BaseModel, JsonValue

from custom_components.chatterbox.const import CONF_RESPONSES_API
from custom_components.chatterbox.flows.service_options import SECTION_API
from demo.config_flow_client import Step, answer, choose, open_flow
from demo.evaluating import evaluate
from demo.web_api import HomeAssistantClient

FACT: Final = "the spare key is at the neighbours"
PLANS: Final = ("water the plants", "feed the cat")
SENTENCE: Final = "Good morning."
PIN: Final = "7391"
HELPER: Final = "conversation.helper"
"""The agent without a model."""
LAMP: Final = "light.bedside_lamp"
_RULE: Final[dict[str, JsonValue]] = {
    "verdict": "deny",
    "entities": [LAMP],
}
_CONFIG: Final = "/api/config/config_entries/"
_SENTENCES: Final = (
    f"remind me every day at 7 am to {PLANS[0]}",
    f"remind me every Sunday at 10 am to {PLANS[1]}",
    "unlock the front door",
    "1111",
)
"""Said to the agent without a model, in one conversation; the last is a wrong PIN."""


class _Entry(BaseModel):
    entry_id: str
    title: str
    state: str


class _Entity(BaseModel):
    entity_id: str
    unique_id: str
    platform: str
    config_entry_id: str | None


class _Issue(BaseModel):
    domain: str
    translation_key: str | None


class _Issues(BaseModel):
    issues: list[_Issue]


class _Exported(BaseModel):
    service_response: dict[str, JsonValue]


class _Permissions(BaseModel):
    version: str
    rules: list[dict[str, JsonValue]]
    has_pin: bool = False


class Conditions(NamedTuple):
    """How a home is after its start."""

    states: set[str]
    """Of the entries."""
    issues: set[str]


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a running home gives of its stored data."""

    exported: str
    """Turns and facts."""
    planned: str
    """The answer to what is planned."""
    entities: Mapping[str, str]
    """Entity ids by unique id."""
    rules: list[dict[str, JsonValue]]
    trials: int

    @property
    def same(self) -> tuple[object, ...]:
        """The part that use does not change."""
        return self.planned, self.entities, self.rules, self.trials


async def say(
    session: aiohttp.ClientSession, agent: str, text: str, conversation: str = "filling"
) -> str:
    """Return the answer to a sentence."""
    query = {
        "text": text,
        "agent_id": agent,
        "language": "en",
        "conversation_id": conversation,
    }
    async with session.post("/api/conversation/process", json=query) as response:
        speech: str = (await response.json())["response"]["speech"]["plain"]["speech"]
        return speech


async def fill(
    client: HomeAssistantClient, session: aiohttp.ClientSession, agent: str
) -> list[str]:
    """Fill a home that has one agent with a model, and return the answers to what was said."""
    menu = await choose(client, await open_flow(client, "chatterbox"), "offline")
    await answer(client, menu, {"name": "Helper"})
    await _remember_facts(client, agent)
    permissions = await client.command(
        "chatterbox/permissions/get", _Permissions, language="en"
    )
    permissions = await client.command(
        "chatterbox/permissions/set_rules",
        _Permissions,
        language="en",
        version=permissions.version,
        rules=[_RULE],
    )
    await client.command(
        "chatterbox/permissions/set_pin",
        _Permissions,
        language="en",
        version=permissions.version,
        new_password=PIN,
        uses=["unlock"],
    )
    for entry in await _entries(client):
        await _offer_api(client, entry.entry_id)
    answers = [await say(session, HELPER, text) for text in _SENTENCES]
    answers.append(await say(session, agent, SENTENCE, "morning"))
    await remember(session, FACT)
    body = {"model": agent, "input": "Hello.", "store": True}
    async with session.post("/api/chatterbox/v1/responses", json=body) as response:
        answers.append(str((await response.json())["status"]))
    await evaluate(client, 2, answers.append, as_json=True)
    return answers


async def tell(
    client: HomeAssistantClient, session: aiohttp.ClientSession, agent: str
) -> Account:
    """Ask a home for what it knows."""
    entities = await client.command("config/entity_registry/list", list[_Entity])
    permissions = await client.command(
        "chatterbox/permissions/get", _Permissions, language="en"
    )
    exported = await client.post(
        "/api/services/chatterbox/export?return_response",
        {"everything": True, "facts": True, "as_response": True},
        _Exported,
    )
    trials = await client.subscribe("chatterbox/evaluate/subscribe")
    results = (await trials.next(dict[str, JsonValue], 60.0))["results"]
    return Account(
        entities={
            one.unique_id: one.entity_id
            for one in entities
            if one.platform == "chatterbox"
        },
        rules=permissions.rules,
        exported=str(exported.service_response),
        planned=await say(session, agent, "what is planned?", "asking"),
        trials=len(results) if isinstance(results, list) else 0,
    )


async def conditions(client: HomeAssistantClient) -> Conditions:
    """Return the states of the entries, and the translation keys of our issues."""
    issues = await client.command("repairs/list_issues", _Issues)
    keys = (
        str(one.translation_key) for one in issues.issues if one.domain == "chatterbox"
    )
    return Conditions({one.state for one in await _entries(client)}, {*keys})


async def remember(session: aiohttp.ClientSession, fact: str) -> None:
    """Add a fact of the household to its list."""
    item = {"entity_id": "todo.household_facts", "item": fact}
    async with session.post("/api/services/todo/add_item", json=item) as response:
        response.raise_for_status()


async def _entries(client: HomeAssistantClient) -> list[_Entry]:
    return await client.command("config_entries/get", list[_Entry], domain="chatterbox")


async def _remember_facts(client: HomeAssistantClient, agent: str) -> None:
    """Let an agent remember facts."""
    entities = await client.command("config/entity_registry/list", list[_Entity])
    (entity,) = [one for one in entities if one.entity_id == agent]
    start: dict[str, JsonValue] = {
        "handler": [entity.config_entry_id, "conversation"],
        "subentry_id": entity.unique_id,
    }
    step = await client.post(f"{_CONFIG}subentries/flow", start, Step)
    settings: dict[str, JsonValue] = {
        "name": "Chatterbox",
        "model": "scripted-model",
        "llm_hass_api": ["assist"],
        "remember_facts": True,
    }
    for form in ({"next_step_id": "settings"}, settings):
        flow = f"{_CONFIG}subentries/flow/{step.flow_id}"
        step = await client.post(flow, form, Step)


async def _offer_api(client: HomeAssistantClient, entry_id: str) -> None:
    """Switch the Responses API on."""
    start = {"handler": "chatterbox", "entry_id": entry_id}
    step = await client.post(f"{_CONFIG}flow", start, Step)
    if step.type == "menu":
        step = await choose(client, step, "options")
    await answer(client, step, {SECTION_API: {CONF_RESPONSES_API: True}})
