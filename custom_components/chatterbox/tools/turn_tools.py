"""The tools of a turn: those of the chosen LLM APIs, the agent's own, and the built-in understanding of sentences.

They are merged into one `llm.API`, which the ChatLog is given: Home Assistant sees the
same tools under the same names as the model.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol, Self

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from lru import LRU

from ..agent.joined_tools import names_shown, shown_tools
from ..agent.messages import (
    JsonObject,
    Repair,
    ToolCall,
    ToolDefinition,
    ToolOutcome,
    Tools,
)
from ..agent.protocols import ToolDispatcher
from ..const import DOMAIN, LOGGER, home_singleton
from ..effects.effect import Effects
from ..home.description import AS_USUAL, GUIDE_TO_CALLS
from ..home.entities import Home, async_get_home
from ..home.request import Request
from ..internals.intent import control_guide
from ..offline.dispatcher import OfflineDispatcher
from ..offline.provider import PROCESS_SENTENCE
from ..people.speakers import NOBODY, Asking, Speaker
from ..settings.agent import AgentSettings, HomeDetail
from ..settings.rules import NO_RULES, Policy, async_get_home_rules
from ..settings.tool_names import SENTENCE_TOOL
from .annotations import annotations_of
from .dispatch import LlmToolDispatcher
from .llm_apis import (
    ApiOffer,
    async_ask_api,
    async_may_use,
    context_without_speaker,
    merge_apis,
    rename_tools,
    tool_sources,
)
from .own.own_tool import OwnCall
from .own.past import SpokenPast
from .own.registry import OwnDispatcher, offered_to, with_own_tools
from .repair.intent_calls import CallRepairs
from .repair.short_names import NameResolver

_NO_POLICY: Final = Policy()
UNRESPONSIVE_FOR: Final = 60.0
"""Seconds for which no turn waits for an API."""


class _Mark(NamedTuple):
    """An API that no turn waits for until it answers a trial, or until `UNRESPONSIVE_FOR` has passed."""

    api: llm.API
    end: float
    """In seconds of `time.monotonic`."""
    trial: asyncio.Task[None]


_marks: Final = home_singleton("turn_tools", lambda _: dict[str, _Mark]())
"""Returns the marks by the ids of the APIs."""


def is_unresponsive(
    hass: HomeAssistant,
    api: llm.API,
) -> bool:
    """Return whether an API is marked as unresponsive. Another API that was registered in its place is not."""
    mark = _marks(hass).get(api.id)
    return mark is not None and mark.api is api and time.monotonic() < mark.end


async def _async_try(
    hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, api_timeout: float
) -> None:
    """Ask an unresponsive API again, and end its mark if it answers within `api_timeout` seconds."""
    began = hass.loop.time()
    try:
        async with asyncio.timeout(UNRESPONSIVE_FOR):
            await api.async_get_api_instance(llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and no turn waits for this answer
        LOGGER.debug(
            "LLM API %s failed in its trial with %s", api.id, type(error).__name__
        )
    if hass.loop.time() - began <= api_timeout and is_unresponsive(hass, api):
        del _marks(hass)[api.id]


_MOST_OFFERS: Final = 64
type _Offers = LRU[tuple[object, ...], ApiOffer]
_last_offers: Final[Callable[[HomeAssistant], _Offers]] = home_singleton(
    "last_offers", lambda _: LRU(_MOST_OFFERS)
)
"""Returns what APIs have offered last, by API and speaker; the latest offers."""


def _offer_key(
    api: llm.API, llm_context: llm.LLMContext, home: HomeDetail
) -> tuple[object, ...]:
    context = llm_context.context
    language = llm_context.language
    user_id = context and context.user_id
    device_id = llm_context.device_id
    return api.id, user_id, device_id, language, llm_context.assistant, home


def _last_offer(
    api: llm.API, llm_context: llm.LLMContext, home: HomeDetail
) -> ApiOffer | None:
    """Return what an API that is late has offered last to the speaker, or else to nobody in particular."""
    contexts = (llm_context, context_without_speaker(api.hass))
    keys = (_offer_key(api, context, home) for context in contexts)
    offers = filter(
        None,
        map(_last_offers(api.hass).get, keys),
    )
    return next(
        (offer for offer in offers if offer.api is api),
        None,
    )


API_TIMEOUT: Final = 10.0
"""Seconds the APIs may take to name their tools."""

_SILENT: Final = "The tools of {} cannot be used at the moment."
_NOT_THERE: Final = "it is chosen for an agent, but Home Assistant does not have it"
_CANCELLED: Final = "it could not name its tools: it was cancelled"
_LATE: Final = (
    "it did not name its tools in time, and until it does, agents have those that it "
    "named last, if any"
)


class EffectDispatcher(ToolDispatcher, Protocol):
    """Runs tools, and predicts the effects of a call."""

    async def async_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        """Return the effects that a call would have, without running it. May raise anything."""


class TurnTools(NamedTuple):
    """The tools of an agent in one turn."""

    llm_context: llm.LLMContext
    """The speaker, as Home Assistant's tools see it."""
    instance: llm.APIInstance | None
    """The tools for Home Assistant's ChatLog, without the agent's own. None if no API has answered."""
    definitions: Tools
    """Sorted by name. Those of Assist are the same for every device, person and language."""
    dispatcher: EffectDispatcher
    repair: Repair
    """Repairs calls of these tools."""
    own: OwnDispatcher
    """Runs the agent's own tools, and is the first hook of the turn."""
    name_resolver: NameResolver
    """The hook after it."""
    home: Home
    """The home that the prompt lists."""
    request: Request
    """The words of the person, with which calls are compared; they are empty if they are not known."""
    missing_apis: tuple[str, ...]
    """Ids of chosen LLM APIs that Home Assistant does not have."""
    prompt: str
    """The part of the APIs' prompt that is the same for every speaker."""
    context: str
    """The part for this speaker or this moment."""
    labels: Mapping[str, str]
    """Ids of the APIs by the names of their tools. The agent's own tools have none."""
    home_is_large: bool
    """Whether the prompt only sums up the home, so that an agent needs a tool that finds entities."""
    own_prompt: str = ""
    """The sections of the prompt that the agent's own tools add; see `OwnTool.prompt`."""
    done_keys: Mapping[str, str] = MappingProxyType({})
    """Explained at `OwnTool.done`, by the names of the agent's own tools."""

    def told_of(self, definitions: Tools) -> Self:
        """Return these tools in the place of its own, and the prompt with the names by which a model sees them."""
        names = names_shown(without_sentence_tool(definitions))
        return self._replace(
            definitions=definitions,
            prompt=rename_tools(self.prompt, names),
            own_prompt=rename_tools(self.own_prompt, names),
        )


async def async_offer_tools(  # noqa: PLR0913  # each of these alone changes the tools or the prompt
    hass: HomeAssistant,
    api_ids: Iterable[str],
    llm_context: llm.LLMContext,
    api_timeout: float = API_TIMEOUT,
    *,
    brought: llm.API | None = None,
    home: HomeDetail = AS_USUAL,
    policy: Policy = _NO_POLICY,
    text: str = "",
) -> TurnTools:
    """Ask the chosen LLM APIs concurrently for their tools; they have `api_timeout` seconds.

    Those for administrators are left out for everybody else, and tools that change
    something where `policy` says that their source only reads. An API that is `brought`
    need not be registered, and replaces one with its id. Whatever is missing is logged
    once, and the model is told of it; nothing is raised. `text` holds the words of the
    person.
    """
    chosen = _chosen(hass, api_ids, brought)
    missing = tuple(api_id for api_id, api in chosen.items() if api is None)
    apis = filter(None, chosen.values())
    answers = await _async_ask_all(hass, apis, llm_context, api_timeout, home)
    offers = [_permitted(one.offer, policy) for one in answers if one.offer]
    notes = [_SILENT.format(one.api.name) for one in answers if one.offer is None]
    exposed = async_get_home(hass, llm_context.assistant)
    merged = merge_apis(hass, offers, exposed.told_classes if home.is_compact else None)
    _log_problems(hass, answers, missing, merged.problems)
    instance = await merged.api.async_get_api_instance(llm_context)
    dispatcher = LlmToolDispatcher(instance)
    area_id = llm.async_get_match_preferences(hass, llm_context).area_id
    request = Request(hass, text, area_id, llm_context.language or hass.config.language)
    repairs = CallRepairs(hass, llm_context.assistant, merged.intents, request)
    return TurnTools(
        llm_context,
        instance=instance if offers else None,
        definitions=merged.definitions,
        repair=repairs.repaired,
        dispatcher=dispatcher,
        home=exposed,
        prompt=merged.prompt,
        context="\n".join(filter(None, (*notes, merged.context))),
        missing_apis=missing,
        labels=merged.labels,
        home_is_large=home.sums_up(len(exposed.entities))
        and any(one.api.id == llm.LLM_API_ASSIST for one in offers),
        own=OwnDispatcher({}, OwnCall(hass, llm_context, {})),
        name_resolver=NameResolver(hass, llm_context, dispatcher.tools),
        request=request,
    )


def _chosen(
    hass: HomeAssistant, api_ids: Iterable[str], brought: llm.API | None
) -> Mapping[str, llm.API | None]:
    """Return the chosen APIs and the one that is brought by their ids; None for one that is not there."""
    known = {**tool_sources(hass)}
    if brought:
        known[brought.id] = brought
        api_ids = (*api_ids, brought.id)
    return {api_id: known.get(api_id) for api_id in api_ids}


def without_sentence_tool(
    tools: Iterable[ToolDefinition],
) -> Tools:
    """Return the tools that a model may call: all but the one by which Home Assistant understands a sentence."""
    return tuple([tool for tool in tools if tool.name != SENTENCE_TOOL])


def for_models(tools: Iterable[ToolDefinition]) -> Tools:
    """Return the tools as a model sees them."""
    return shown_tools(without_sentence_tool(tools))


def _permitted(offer: ApiOffer, policy: Policy) -> ApiOffer:
    """Leave out tools that have the name of ours, and those that change something where their source may only read."""
    tools = [tool for tool in offer.tools if tool.name != PROCESS_SENTENCE.name]
    only_reading = policy.only_reading(
        ["", *(tool.name for tool in tools)], offer.api.id
    )
    permitted = tuple(
        tool
        for tool in tools
        if tool.name not in only_reading or annotations_of(tool).read_only
    )
    prompt = offer.prompt
    if "" in only_reading:
        for guide in (GUIDE_TO_CALLS, control_guide(offer.api.hass)):
            prompt = prompt.replace(guide, "").strip()
    if policy.only_reads:
        prompt = f"{prompt}\n{NO_RULES}"
    return offer._replace(tools=permitted, prompt=prompt)


class _Answer(NamedTuple):
    """The answer of an API."""

    api: llm.API
    offer: ApiOffer | None = None
    """Its last offer if it has not answered; None without one."""
    problem: str | None = None
    """Why it has not answered."""


async def _async_ask_all(
    hass: HomeAssistant,
    apis: Iterable[llm.API],
    llm_context: llm.LLMContext,
    api_timeout: float,
    home: HomeDetail,
) -> Sequence[_Answer]:
    """Ask APIs for their tools, but those that the speaker may not use."""
    allowed = [api for api in apis if await async_may_use(api, llm_context)]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                _async_ask(hass, api, llm_context, api_timeout, home), eager_start=True
            )
            for api in allowed
        ]
    return [task.result() for task in tasks]


async def _async_ask(
    hass: HomeAssistant,
    api: llm.API,
    llm_context: llm.LLMContext,
    api_timeout: float,
    home: HomeDetail,
) -> _Answer:
    """Ask an API for its tools."""
    if is_unresponsive(hass, api):
        return _Answer(api, _last_offer(api, llm_context, home), _LATE)
    question = hass.async_create_background_task(
        async_ask_api(api, llm_context, home),
        f"chatterbox question to LLM API {api.id}",
    )
    try:
        # An API may ignore its own cancellation, so a timeout around it would not be
        # enough.
        if not question.done():  # most have nothing to wait for
            await asyncio.wait({question}, timeout=api_timeout)
        if not question.done():
            trial = _async_try(hass, api, llm_context, api_timeout)
            task = hass.async_create_background_task(
                trial, f"chatterbox trial of LLM API {api.id}", eager_start=False
            )
            _marks(hass)[api.id] = _Mark(
                api,
                time.monotonic() + UNRESPONSIVE_FOR,
                task,
            )
            return _Answer(api, _last_offer(api, llm_context, home), _LATE)
        if question.cancelled():
            return _Answer(api, problem=_CANCELLED)
        offer = question.result()
        _last_offers(hass)[_offer_key(api, llm_context, home)] = offer
        return _Answer(api, offer)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and the others are still good
        if isinstance(error, HomeAssistantError):
            reason = str(error)
        else:
            reason = type(error).__name__
        return _Answer(api, problem=f"it could not name its tools: {reason}")
    finally:
        question.cancel()


_logged_problems: Final = home_singleton("logged_problems", lambda _: set[str]())
"""Returns the subjects of the problems that still hold, so that each is logged once."""


def _log_problems(
    hass: HomeAssistant,
    answers: Iterable[_Answer],
    missing: Iterable[str],
    of_tools: Mapping[str, str | None],
) -> None:
    """Log each problem when it begins. None ends it."""
    problems = {one.api.id: one.problem for one in answers}
    problems |= dict.fromkeys(missing, _NOT_THERE)
    of_apis = {f"LLM API {api_id}": problem for api_id, problem in problems.items()}
    logged = _logged_problems(hass)
    for subject, problem in (of_apis | {**of_tools}).items():
        if problem is None:
            logged.discard(subject)
        elif subject not in logged:
            logged.add(subject)
            LOGGER.warning(
                "%s: %s",
                subject,
                problem,
            )


async def async_offer_common_tools(
    hass: HomeAssistant, settings: AgentSettings, user_id: str | None = None
) -> TurnTools:
    """Return the tools and the prompt with which every turn of an agent begins, with the agent's own tools.

    With those for administrators if `user_id` is one.
    """
    timeout = min(API_TIMEOUT, settings.limits.preparation)
    context = context_without_speaker(hass, user_id)
    policy = async_get_home_rules(hass).current.policy
    offer = await async_offer_tools(
        hass, settings.llm_apis, context, timeout, home=settings.home, policy=policy
    )
    own = offered_to(
        hass,
        settings,
        home_is_large=offer.home_is_large,
    )
    return offer.told_of(with_own_tools(hass, offer.definitions, own))


async def async_gather_tools(  # noqa: PLR0913  # each of these alone changes which tools there are, or what they do
    hass: HomeAssistant,
    user_input: ConversationInput,
    conversation_id: str,
    settings: AgentSettings,
    *,
    understands_sentences: bool,
    has_own_tools: bool = True,
    agent: str = "",
    speaker: Speaker = NOBODY,
    brought: llm.API | None = None,
) -> TurnTools:
    """Gather the tools of a turn. `understands_sentences` adds Home Assistant's own understanding.

    Without `has_own_tools`, the agent has none of its own but those that belong to the
    tools of an LLM API.

    `agent` is the subentry id of the agent; memories and history are looked up by agent
    and speaker. An API that is `brought` by the caller is asked beside those of the
    settings.
    """
    llm_context = user_input.as_llm_context(DOMAIN)
    offer = await async_offer_tools(
        hass,
        settings.llm_apis,
        llm_context,
        min(API_TIMEOUT, settings.limits.preparation),
        brought=brought,
        home=settings.home,
        policy=async_get_home_rules(hass).current.policy,
        text=user_input.text,
    )
    offered = offered_to(
        hass,
        settings,
        home_is_large=offer.home_is_large,
        to_guest=speaker.is_guest,
    )
    own = {
        tool.definition.name: tool for tool in offered if has_own_tools or tool.label
    }
    call = OwnCall(
        hass,
        llm_context,
        {},
        settings,
        agent,
        speaker,
        user_input.satellite_id,
    )
    dispatcher = OwnDispatcher(
        own,
        call,
        names=offer.name_resolver,
        repair=offer.repair,
    )
    by_name: dict[str, EffectDispatcher] = dict.fromkeys(own, dispatcher)
    context = offer.context
    for line in [tool.makes_untrue for tool in own.values() if tool.makes_untrue]:
        context = context.replace(line, "").strip()
    labels = {name: label for name, label in offer.labels.items() if name not in own}
    labels |= {name: tool.label for name, tool in own.items() if tool.label}
    definitions = with_own_tools(hass, offer.definitions, own.values())
    if understands_sentences:
        sentences = OfflineDispatcher(
            hass,
            conversation_id,
            user_input.context,
            user_input.language,
            user_input.device_id,
            user_input.satellite_id,
            speaker.asking is Asking.PERSON,
            has_model=bool(settings.model),
            past=SpokenPast(hass, llm_context),
        )
        by_name[PROCESS_SENTENCE.name] = dispatcher.sentences = sentences
        definitions += (PROCESS_SENTENCE,)
    return offer._replace(
        definitions=definitions,
        dispatcher=_JoinedDispatcher(by_name, offer.dispatcher),
        own=dispatcher,
        context=context,
        own_prompt="\n".join(
            [
                await tool.prompt(hass, agent, speaker, user_input.text)
                for tool in own.values()
                if tool.prompt
            ]
        ),
        labels=labels,
        done_keys={name: tool.done for name, tool in own.items()},
    )


@dataclass(slots=True)
class _JoinedDispatcher:
    """Passes each call to the dispatcher of its tool."""

    by_name: Mapping[str, EffectDispatcher]
    otherwise: EffectDispatcher
    """Runs all other tools, and fails for unknown ones."""

    def targets(
        self,
        name: str,
        arguments: JsonObject,
    ) -> frozenset[str] | None:
        return self._of(name).targets(name, arguments)

    async def async_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        return await self._of(name).async_effects(
            name,
            arguments,
        )

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        return await self._of(call.name).dispatch(
            call,
            arguments,
        )

    def _of(self, name: str) -> EffectDispatcher:
        return self.by_name.get(name, self.otherwise)
