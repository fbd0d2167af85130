"""Assistants that go round the rules of their agent: Assist pipelines that prefer to handle commands locally.

Home Assistant then acts before the agent hears the sentence. Each is reported while it holds, with an example.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.components.homeassistant.exposed_entities import async_listen_entity_updates
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.collection import CollectionChange
from homeassistant.helpers.start import async_at_started

from ..home.entity_matches import entity_name
from ..repairs import PIPELINES, async_report_unguarded
from ..settings.agent import AgentSettings
from ..settings.rules import Verdict
from ..speech.sentences import async_get_sentences
from .examples import async_example_requests

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline


async def async_unguarded_request(hass: HomeAssistant, settings: AgentSettings) -> str | None:
    """Return a request that an agent would not simply do; None if there is none for what is exposed."""
    for example in await async_example_requests(hass, settings):
        if example.verdict is not Verdict.ALLOW and not example.key.startswith("search_"):
            sentences = await async_get_sentences(hass, hass.config.language)
            return sentences[f"example_{example.key}"].format(name=entity_name(hass, example.entity_id))
    return None


@callback
def async_unguarded_assistants(hass: HomeAssistant, agent_id: str) -> list[Pipeline]:
    """Return the assistants of an agent that handle commands before they ask it."""
    pipelines = hass.data.get(PIPELINES)
    every = pipelines.pipeline_store.data.values() if pipelines else ()
    return [one for one in every if one.conversation_engine == agent_id and one.prefer_local_intents]


@callback
def async_watch_assistants(hass: HomeAssistant, agent_id: str, settings: AgentSettings) -> Callable[[], None]:
    """Report the assistants of an agent that go round its rules, from now on; return what ends that."""
    reported: dict[str, Pipeline] = {}
    is_over = False

    async def check(_: object = None) -> None:
        request = await async_unguarded_request(hass, settings)
        found = async_unguarded_assistants(hass, agent_id) if request and not is_over else []
        for pipeline in [one for one in reported.values() if one.id not in {other.id for other in found}]:
            async_report_unguarded(hass, agent_id, reported.pop(pipeline.id), None)
        for pipeline in found:
            reported[pipeline.id] = pipeline
            async_report_unguarded(hass, agent_id, pipeline, request)

    async def follow(_changes: Iterable[CollectionChange]) -> None:
        await check()

    @callback
    def recheck() -> None:
        _ = hass.async_create_task(check(), f"chatterbox assistants of {agent_id}")

    ends = [async_at_started(hass, check), async_listen_entity_updates(hass, CONVERSATION, recheck)]
    if pipelines := hass.data.get(PIPELINES):
        ends.append(pipelines.pipeline_store.async_add_change_set_listener(follow))

    @callback
    def end() -> None:
        nonlocal is_over
        is_over = True
        for one in ends:
            one()
        for pipeline in reported.values():
            async_report_unguarded(hass, agent_id, pipeline, None)

    return end
