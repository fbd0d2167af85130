"""What agents were asked to remember, as a service call means it: whose facts with which agents.

Knows the facts of people. Must not know the history, in which none of them stands. Facts belong to no conversation, and
do not get old.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.conversation.const import ATTR_AGENT_ID, ATTR_CONVERSATION_ID
from homeassistant.const import ATTR_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from ..agent.history.selection import AllOf, Before, Everything, OneAgent, OneConversation, OnePerson, Selection
from ..agent.messages import JsonObject
from ..const import DOMAIN
from ..memory.facts import Keeper, NotRemembered, async_get_memories

ATTR_PERSON: Final = "person"
ATTR_OLDER_THAN_DAYS: Final = "older_than_days"
ATTR_EVERYTHING: Final = "everything"
ATTR_FACTS: Final = "facts"

_AGENT_DOMAINS: Final = frozenset({CONVERSATION_DOMAIN, "ai_task"})
"""Of the entities that are agents, or models for tasks; one that is disabled has a history, too."""
_DAY: Final = 86_400
"""Seconds."""
_MOST_DAYS: Final = 36_500

CHOICE_FIELDS: Final = {
    vol.Optional(ATTR_CONVERSATION_ID): cv.string,
    vol.Optional(ATTR_PERSON): cv.entity_domain("person"),
    vol.Optional(ATTR_AGENT_ID): cv.entity_id,
    vol.Optional(ATTR_OLDER_THAN_DAYS): vol.All(vol.Coerce(float), vol.Range(min=0, max=_MOST_DAYS)),
    vol.Optional(ATTR_EVERYTHING, default=False): cv.boolean,
    vol.Optional(ATTR_FACTS, default=False): cv.boolean,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a service call means."""

    selections: tuple[Selection, ...]
    """Have no record in common; what is meant is in one of them."""
    with_facts: bool
    """Whether what agents were asked to remember is meant, too."""
    agent: str | None
    """Subentry id of the only agent that is meant."""
    people: tuple[str, ...]
    """Ids of the only person that is meant; empty for all of them."""


@callback
def async_chosen(hass: HomeAssistant, data: Mapping[str, Any]) -> Choice:
    """Return what fits all fields that are given.

    Raises ServiceValidationError where none is, one names what is not there, or they do not go together.
    """
    agent = _agent(hass, data[ATTR_AGENT_ID]) if ATTR_AGENT_ID in data else None
    people = tuple(_ids_of_person(hass, data[ATTR_PERSON])) if ATTR_PERSON in data else ()
    with_facts, parts = data[ATTR_FACTS], tuple(_parts(data))
    if with_facts and parts:
        raise _invalid("history_facts_alone")
    if agent is not None:
        parts = (OneAgent(agent), *parts)
    if data[ATTR_EVERYTHING]:
        if parts or people:
            raise _invalid("history_everything_alone")
        return Choice((Everything(),), with_facts, agent, people)
    if not parts and not people:
        raise _invalid("history_nothing_chosen")
    selections = tuple(AllOf((OnePerson(person), *parts)) for person in people) if people else (AllOf(parts),)
    return Choice(selections, with_facts, agent, people)


def _parts(data: Mapping[str, Any]) -> Iterator[Selection]:
    if ATTR_CONVERSATION_ID in data:
        yield OneConversation(data[ATTR_CONVERSATION_ID])
    if ATTR_OLDER_THAN_DAYS in data:
        yield Before(dt_util.utcnow().timestamp() - data[ATTR_OLDER_THAN_DAYS] * _DAY)


@callback
def _agent(hass: HomeAssistant, entity_id: str) -> str:
    entity = er.async_get(hass).async_get(entity_id)
    is_agent = entity is not None and entity.platform == DOMAIN and entity.domain in _AGENT_DOMAINS
    if entity is None or not is_agent or entity.config_subentry_id is None:
        raise _invalid("agent_unknown", agent=entity_id)
    return entity.config_subentry_id


def _ids_of_person(hass: HomeAssistant, entity_id: str) -> Iterator[str]:
    """Yield the ids under which a person is known: their own, and that of their user from before they had one."""
    if (state := hass.states.get(entity_id)) is None:
        raise _invalid("history_person_unknown", person=entity_id)
    for name in (ATTR_ID, "user_id"):
        if isinstance(known := state.attributes.get(name), str):
            yield known


def _invalid(key: str, **placeholders: str) -> ServiceValidationError:
    return ServiceValidationError(
        translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders or None
    )


async def async_chosen_keepers(hass: HomeAssistant, choice: Choice) -> tuple[Keeper, ...]:
    """Return whose facts with which agents are meant. Raises HomeAssistantError where facts cannot be read."""
    if not choice.with_facts:
        return ()
    memories = async_get_memories(hass)
    try:
        await memories.async_load()
    except NotRemembered as error:
        raise _failure(error) from error
    agents = [choice.agent] if choice.agent else _agents(hass)
    known = [Keeper(agent, person) for agent in agents for person in memories.people(agent)]
    return tuple(keeper for keeper in known if not choice.people or keeper.person in choice.people)


async def async_forget_facts(hass: HomeAssistant, keepers: Iterable[Keeper]) -> int:
    """Forget facts, and return how many are gone. Raises HomeAssistantError where that cannot be stored."""
    memories, gone = async_get_memories(hass), 0
    for keeper in keepers:
        facts = memories.facts(keeper)
        try:
            await memories.async_forget(keeper, [fact.id for fact in facts])
        except NotRemembered as error:
            raise _failure(error) from error
        gone += len(facts)
    return gone


def facts_as_records(hass: HomeAssistant, keepers: Iterable[Keeper]) -> Iterator[JsonObject]:
    """Yield facts as records of the kind `fact`."""
    memories = async_get_memories(hass)
    for keeper in keepers:
        for fact in memories.facts(keeper):
            yield {
                "kind": "fact",
                "id": fact.id,
                "agent": keeper.agent,
                "person_id": keeper.person,
                "person": memories.people(keeper.agent)[keeper.person],
                "text": fact.text,
                "created": fact.created.isoformat(),
                "is_aside": fact.is_aside,
            }


@callback
def _agents(hass: HomeAssistant) -> list[str]:
    return [agent for entry in hass.config_entries.async_entries(DOMAIN) for agent in entry.subentries]


def _failure(error: NotRemembered) -> HomeAssistantError:
    return HomeAssistantError(translation_domain=DOMAIN, translation_key=error.problem.value)
