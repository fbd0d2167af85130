"""The tools that an agent is offered in a turn, from each LLM API in its time, and merged into one.

They are merged into one `llm.API`, which the ChatLog is given: Home Assistant sees the same tools under the same names
as the model.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from homeassistant.components.llm import AssistAPI
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..agent.messages import JsonObject, ToolDefinition
from ..agent.protocols import ToolDispatcher
from ..const import LOGGER
from ..data import singleton
from ..effects.effect import Effects
from ..home.description import AS_USUAL
from ..home.entities import async_get_home
from ..settings.agent import HomeDetail
from .dispatch import LlmToolDispatcher
from .llm_apis import ApiOffer, async_ask_api
from .merge import merge_apis
from .name_resolver import NameResolver

UNRESPONSIVE_FOR: Final = 60.0
"""Seconds for which no turn waits for an API."""


class _Mark(NamedTuple):
    api: llm.API
    end: float
    """In seconds of `time.monotonic`."""
    trial: asyncio.Task[None]


@singleton
def _marks(_hass: HomeAssistant) -> dict[str, _Mark]:
    """Return the marks by the ids of the APIs."""
    return {}


@callback
def is_unresponsive(hass: HomeAssistant, api: llm.API) -> bool:
    """Tell whether an API is marked as unresponsive. Another API that was registered in its place is not."""
    mark = _marks(hass).get(api.id)
    return mark is not None and mark.api is api and time.monotonic() < mark.end


@callback
def async_mark_unresponsive(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float) -> None:
    """Mark an API until it answers within `api_timeout` seconds, but for `UNRESPONSIVE_FOR` seconds at most."""
    trial = hass.async_create_background_task(
        _async_try(hass, api, llm_context, api_timeout), f"chatterbox trial of LLM API {api.id}", eager_start=False
    )
    _marks(hass)[api.id] = _Mark(api, time.monotonic() + UNRESPONSIVE_FOR, trial)


async def _async_try(hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float) -> None:
    """Ask an API, and end the mark if the answer comes in time. The answer itself is not used."""
    began = hass.loop.time()
    try:
        async with asyncio.timeout(UNRESPONSIVE_FOR):
            await api.async_get_api_instance(llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and no turn waits for this answer
        LOGGER.debug("LLM API %s failed in its trial with %s", api.id, type(error).__name__)
    if hass.loop.time() - began <= api_timeout and is_unresponsive(hass, api):
        del _marks(hass)[api.id]


API_TIMEOUT: Final = 10.0
"""Seconds the APIs may take to name their tools."""

_NOT_THERE: Final = "it is chosen for an agent, but Home Assistant does not have it"
_CANCELLED: Final = "it could not name its tools: it was cancelled"
_LATE: Final = "it did not name its tools in time, and agents do without them until it does"


type _Answer = tuple[ApiOffer | None, str | None]
"""The answer of an API, or None and the reason why there is none."""


class EffectDispatcher(ToolDispatcher, Protocol):
    """Runs tools, and predicts the effects of a call."""

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return the effects that a call would have, without running it. May raise anything."""
        ...


class TurnTools(NamedTuple):
    """The tools of an agent in one turn."""

    llm_context: llm.LLMContext
    """The speaker, as Home Assistant's tools see it."""
    instance: llm.APIInstance | None
    """The tools for Home Assistant's ChatLog, without the agent's own. None if no API has answered."""
    definitions: tuple[ToolDefinition, ...]
    """Sorted by name. Those of Assist are the same for every device, person and language."""
    dispatcher: EffectDispatcher
    missing_apis: tuple[str, ...] = ()
    """Ids of chosen LLM APIs that Home Assistant does not have."""
    prompt: str = ""
    """The part of the APIs' prompt that is the same for every speaker."""
    context: str = ""
    """The part for this speaker or this moment."""
    memories: str = ""
    """The section of the prompt about the facts of the speaker."""
    labels: Mapping[str, str] = MappingProxyType({})
    """Ids of the APIs by the names of their tools. The agent's own tools have none."""
    home_is_large: bool = False
    """Whether the prompt only sums up the home, so that an agent needs a tool that finds entities."""
    name_resolver: NameResolver | None = None
    """The first hook of the turn, if the prompt describes the home in short names."""


async def async_offer_tools(  # noqa: PLR0913  # each of these alone changes the tools or the prompt
    hass: HomeAssistant,
    api_ids: Iterable[str],
    llm_context: llm.LLMContext,
    api_timeout: float = API_TIMEOUT,
    *,
    brought: llm.API | None = None,
    home: HomeDetail = AS_USUAL,
) -> TurnTools:
    """Ask the chosen LLM APIs concurrently for their tools; they have `api_timeout` seconds.

    An API that is `brought` by the caller need not be registered, and replaces a registered one with its id. `home`
    says how to describe the home. `llm_context` is passed to every tool.

    Never raises for an API or a tool: whatever cannot be had is left out and logged once, and the model is told which
    APIs do not answer.
    """
    chosen = tuple(dict.fromkeys((*api_ids, *([brought.id] if brought else []))))
    registered = {api.id: api for api in llm.async_get_apis(hass)} | ({brought.id: brought} if brought else {})
    apis = [registered[api_id] for api_id in chosen if api_id in registered]
    missing = tuple(api_id for api_id in chosen if api_id not in registered)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_async_ask(hass, api, llm_context, api_timeout, home)) for api in apis]
    answers = [task.result() for task in tasks]
    offers = [offer for offer, _ in answers if offer is not None]
    merged = merge_apis(hass, offers)
    problems = {f"LLM API {api.id}": problem for api, (_, problem) in zip(apis, answers, strict=True)}
    problems |= {f"LLM API {api_id}": _NOT_THERE for api_id in missing}
    _log_problems(hass, {**problems, **merged.problems})
    silent = [api.name for api, (offer, _) in zip(apis, answers, strict=True) if offer is None]
    notes = [f"The tools of {name} cannot be used at the moment." for name in silent]
    instance = merged.api.instance(llm_context)
    dispatcher = LlmToolDispatcher(instance)
    lists_home = any(isinstance(offer.api, AssistAPI) for offer in offers)
    return TurnTools(
        llm_context,
        instance=instance if offers else None,
        definitions=merged.definitions,
        dispatcher=dispatcher,
        prompt=merged.prompt,
        context="\n".join(filter(None, (*notes, merged.context))),
        missing_apis=missing,
        labels=merged.labels,
        home_is_large=lists_home and home.sums_up(len(async_get_home(hass, llm_context.assistant).entities)),
        name_resolver=NameResolver(hass, llm_context, dispatcher.tools) if home.is_compact else None,
    )


async def _async_ask(
    hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float, home: HomeDetail
) -> _Answer:
    """Ask an API for its tools."""
    if is_unresponsive(hass, api):
        return None, _LATE
    question = hass.async_create_background_task(
        async_ask_api(api, llm_context, home), f"chatterbox question to LLM API {api.id}"
    )
    try:
        # An API may ignore its own cancellation, so a timeout around it would not be enough.
        await asyncio.wait({question}, timeout=api_timeout)
        if not question.done():
            async_mark_unresponsive(hass, api, llm_context, api_timeout)
            return None, _LATE
        return (None, _CANCELLED) if question.cancelled() else (question.result(), None)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and the others are still good
        reason = str(error) if isinstance(error, HomeAssistantError) else type(error).__name__
        return None, f"it could not name its tools: {reason}"
    finally:
        question.cancel()


@singleton
def _logged_problems(_hass: HomeAssistant) -> set[str]:
    """Return the subjects of the problems that still hold, so that each is logged once."""
    return set()


@callback
def _log_problems(hass: HomeAssistant, problems: Mapping[str, str | None]) -> None:
    """Log each problem when it begins. None ends it."""
    logged = _logged_problems(hass)
    for subject, problem in problems.items():
        if problem is None:
            logged.discard(subject)
        elif subject not in logged:
            logged.add(subject)
            LOGGER.warning("%s: %s", subject, problem)
