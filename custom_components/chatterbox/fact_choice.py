"""What agents were asked to remember, as a service call means it: whose facts with which agents.

Knows the facts of people. Must not know the history, in which none of them stands. Facts belong to no conversation, and
do not get old.
"""

from collections.abc import Iterable, Iterator

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError

from .agent.messages import JsonObject
from .const import DOMAIN
from .history_choice import Choice
from .memories import Keeper, NotRemembered, async_get_memories


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
