"""Home Assistant's LLM APIs → tool definitions, and a dispatcher that runs them.

Knows `homeassistant.helpers.llm`. Must not know the loop, a provider or a surface. The tools of the chosen APIs become
one `llm.API`, which the ChatLog is given: Home Assistant sees the same tools under the same names as the model.
"""

import asyncio
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..agent.json.text import copied
from ..agent.messages import JsonObject, ToolCall, ToolDefinition, ToolOutcome, canonical_json
from ..const import LOGGER
from ..data import singleton
from ..effects.effect import Effects, Touches
from ..home.changes import async_house_state
from ..home.description import AS_USUAL
from ..records.tool_answer import result_content
from ..settings.agent import HomeTelling
from .api_offer import ApiOffer, async_ask_api
from .call_effects import async_call_effects, call_effects, later_command
from .errors import explain_failure
from .merged_api import MergedApi
from .name_resolver import ToldNames
from .tool_cache import Asker, async_get_kept_offers
from .unresponsive_apis import async_leave_alone, is_left_alone

_ACTS_ELSEWHERE: Final = frozenset({"automation", "button", "input_button", "scene", "script"})
"""Domains whose entities change something other than themselves."""


def targets_of(effects: Effects) -> frozenset[str] | None:
    """Return the ids of the entities that a call with these effects may change, or None when it cannot be told.

    Members of groups are among them. It can be told for the intents that act on entities by name, area, floor, domain
    or device class.
    """
    if not isinstance(effects, Touches) or not effects.actions:
        return None
    if not _ACTS_ELSEWHERE.isdisjoint([action.domain for action in effects.actions]):
        return None
    return frozenset([action.entity_id for action in effects.actions])


API_TIMEOUT: Final = 10.0
"""Seconds the APIs may take to name their tools."""

UNREADABLE: Final = "The tool did run, but its answer cannot be read. Do not run it again."

_NOT_THERE: Final = "it is chosen for an agent, but Home Assistant does not have it"
_CANCELLED: Final = "it could not name its tools: it was cancelled"
_LATE: Final = "it did not name its tools in time, and agents do without them until it does"


@singleton
def _complaints(_hass: HomeAssistant) -> set[str]:
    """Return the problems that were logged and still exist, so that each is logged once."""
    return set()


type _Answer = tuple[ApiOffer | None, str | None]
"""What an API offers; None and the reason when it has nothing to give."""


class ToolOffer(NamedTuple):
    """The tools of one turn."""

    instance: llm.APIInstance | None
    """The tools for Home Assistant's ChatLog, those that `dispatcher` runs; None when there is nothing to offer."""
    definitions: tuple[ToolDefinition, ...]
    """Sorted by name, and the same for every device, person and language."""
    dispatcher: LlmToolDispatcher
    prompt: str = ""
    """What the APIs say that holds for everybody in the house."""
    context: str = ""
    """What the APIs say that holds for who asks, or at this moment."""
    missing_apis: tuple[str, ...] = ()
    """Ids of chosen APIs that Home Assistant does not have, or not any more."""
    labels: Mapping[str, str] = MappingProxyType({})
    """Ids of the APIs that the tools come from, by the names of the tools."""
    home_is_large: bool = False
    """Whether the home has more things than are listed, and an agent needs a tool of its own that finds them."""
    names: ToldNames | None = None
    """Who has to see calls before anybody else, where the home is told in names of its own."""


async def async_offer_tools(  # noqa: PLR0913  # each of these alone changes what is offered or told
    hass: HomeAssistant,
    api_ids: Iterable[str],
    llm_context: llm.LLMContext,
    patience: float = API_TIMEOUT,
    *,
    brought: llm.API | None = None,
    home: HomeTelling = AS_USUAL,
) -> ToolOffer:
    """Gather the tools of the chosen LLM APIs for one turn: all are asked at once, and have `patience` seconds.

    One that is `brought` along need not be known to Home Assistant; it takes the place of one with its id. The `home`
    is told as that says.

    Never raises for an API or a tool: what cannot be had is left out and logged once. Of an API that is there and
    cannot name its tools, the model is told. One that was late is not waited for again for a while.
    `llm_context` goes to every tool; its `device_id` is what makes commands mean the room they are spoken in.
    """
    chosen = tuple(dict.fromkeys((*api_ids, *([brought.id] if brought else []))))
    registered = {api.id: api for api in llm.async_get_apis(hass) if api.id in chosen}
    if brought is not None:
        registered[brought.id] = brought
    kept, asker = async_get_kept_offers(hass), Asker.of(llm_context, home)
    if len(chosen) == len(registered) == 1 and (merged := kept.async_find_merged(registered[chosen[0]], asker)):
        return _offer(hass, llm_context, home, merged)
    asked = await _async_ask_all(hass, registered, llm_context, patience, home)
    answers = {api_id: asked[api_id] for api_id in chosen if api_id in asked}
    offers = [offer for offer, _ in answers.values() if offer is not None]
    missing = [api_id for api_id in chosen if api_id not in answers]
    silent = [registered[api_id].name for api_id, (offer, _) in answers.items() if offer is None]
    findings = {f"LLM API {api_id}": finding for api_id, (_, finding) in answers.items()}
    findings |= {f"LLM API {api_id}": _NOT_THERE for api_id in missing}
    merged = kept.async_merge(hass, asker, offers)
    _log_changes(hass, {**findings, **merged.findings})
    offer = _offer(hass, llm_context, home, merged)
    context = "\n".join(filter(None, (_silence(silent), merged.context)))
    instance = offer.instance if offers else None
    return offer._replace(instance=instance, context=context, missing_apis=tuple(missing))


def _offer(hass: HomeAssistant, llm_context: llm.LLMContext, home: HomeTelling, merged: MergedApi) -> ToolOffer:
    """Offer what was gathered to who asks now."""
    instance = merged.api.instance(llm_context)
    dispatcher = LlmToolDispatcher(instance)
    return ToolOffer(
        instance=instance,
        definitions=merged.definitions,
        dispatcher=dispatcher,
        prompt=merged.prompt,
        context=merged.context,
        labels=merged.labels,
        home_is_large=merged.home_is_large,
        names=ToldNames(hass, llm_context, dispatcher.tools) if home.is_compact else None,
    )


async def _async_ask_all(
    hass: HomeAssistant, apis: Mapping[str, llm.API], llm_context: llm.LLMContext, patience: float, home: HomeTelling
) -> Mapping[str, _Answer]:
    """Ask all APIs at once, but for those of which it is known what they would say."""
    kept, asker = async_get_kept_offers(hass), Asker.of(llm_context, home)
    answers: dict[str, _Answer] = {
        api_id: (offer, None) for api_id, api in apis.items() if (offer := kept.async_find(api, asker))
    }
    async with asyncio.TaskGroup() as asking:
        tasks = {
            api_id: asking.create_task(_async_ask(hass, api, llm_context, patience, home))
            for api_id, api in apis.items()
            if api_id not in answers
        }
    return answers | {api_id: task.result() for api_id, task in tasks.items()}


async def _async_ask(
    hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, patience: float, home: HomeTelling
) -> _Answer:
    """Ask an API for its tools."""
    if is_left_alone(hass, api):
        return None, _LATE
    state = async_house_state(hass, llm_context.assistant)
    asking = hass.async_create_background_task(
        async_ask_api(hass, api, llm_context, patience, home), f"chatterbox question to LLM API {api.id}"
    )
    try:
        # An API may be deaf to its own cancellation.
        await asyncio.wait({asking}, timeout=patience)
        if not asking.done():
            async_leave_alone(hass, api, llm_context, patience)
            return None, _LATE
        if asking.cancelled():
            return None, _CANCELLED
        await async_get_kept_offers(hass).async_keep(Asker.of(llm_context, home), state, asking.result())
        return asking.result(), None
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and the others are still good
        reason = str(error) if isinstance(error, HomeAssistantError) else type(error).__name__
        return None, f"it could not name its tools: {reason}"
    finally:
        asking.cancel()


def _silence(names: Iterable[str]) -> str:
    """Tell a model which tools it does without."""
    return "\n".join(f"The tools of {name} cannot be used at the moment." for name in names)


@callback
def _log_changes(hass: HomeAssistant, findings: Mapping[str, str | None]) -> None:
    """Log each problem when it begins; None ends it."""
    complaints = _complaints(hass)
    for subject, problem in findings.items():
        if problem is None:
            complaints.discard(subject)
        elif subject not in complaints:
            complaints.add(subject)
            LOGGER.warning("%s: %s", subject, problem)


class LlmToolDispatcher:
    """The `ToolDispatcher` of Home Assistant's tools. Natives are `llm.ToolResult`, also for failures."""

    def __init__(self, instance: llm.APIInstance) -> None:
        """Run the tools of `instance`."""
        self._instance = instance
        self._hass = instance.api.hass
        self.tools: Final[Mapping[str, llm.Tool]] = {tool.name: tool for tool in instance.tools}
        """By name."""
        self._judged: dict[tuple[str, str], Effects] = {}
        """What calls of this turn would do at once, as it was found out last, by name and arguments."""

    @callback
    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        """Return the ids of the entities that a call may change, or None when it cannot be told."""
        effects = self._judged.get((name, canonical_json(arguments)))
        if effects is None and (tool := self.tools.get(name)):
            effects = call_effects(self._hass, self._instance.llm_context, tool, arguments)
        return targets_of(effects) if effects else None

    async def async_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return what a call would do. Raises KeyError for a tool that is not offered."""
        tool = self.tools[name]
        if later_command(tool, arguments):
            return await async_call_effects(self._hass, self._instance.llm_context, tool, arguments)
        effects = call_effects(self._hass, self._instance.llm_context, tool, arguments)
        self._judged[name, canonical_json(arguments)] = effects
        return effects

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run a tool; whatever it raises becomes an outcome with `is_error`, cancellation passes."""
        # A tool may change what it is given, and the loop records these arguments.
        tool_input = llm.ToolInput(tool_name=call.name, tool_args=copied(arguments), id=call.id)
        try:
            result = await self._instance.async_call_tool(tool_input)
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return self._failure(call, error)
        except Exception as error:  # noqa: BLE001 a tool may be anybody's code; the model is told, and the log
            return self._failure(call, error)
        try:
            return ToolOutcome(result_content(result), is_error=result.error, native=result)
        except (TypeError, ValueError) as error:
            LOGGER.warning("The tool %s answered something that is not JSON: %s", call.name, error)
            return _failed(UNREADABLE)

    def _failure(self, call: ToolCall, error: Exception | asyncio.CancelledError) -> ToolOutcome:
        return _failed(explain_failure(self._hass, self._instance.llm_context.assistant, call.name, error))


def _failed(text: str) -> ToolOutcome:
    native = llm.ToolResult(data={"error": text}, error=True)
    return ToolOutcome(result_content(native), is_error=True, native=native)
