"""The list of our own tools, and the ways in which agents get and run them."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Final, assert_never, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm
from probatio import from_openapi

from ...agent.loop.calls import fit_call
from ...agent.loop.turn import ClientCall, Resolved, Runnable
from ...agent.messages import (
    WEB_SEARCH,
    JsonObject,
    Repair,
    ToolCall,
    ToolDefinition,
    ToolOutcome,
    Tools,
    as_written,
    canonical_json,
)
from ...agent.protocols import Ask, Deny, Hooks, Rewrite
from ...const import DOMAIN, home_singleton
from ...effects.effect import Effects, TimedCall
from ...effects.intents import filled
from ...records.turn_record import FailedTarget, result_content
from ...settings.agent import AgentSettings
from ...settings.tool_names import SENTENCE_TOOL
from ..schema import short_parameters, without_arguments
from .find_entities import FIND
from .get_forecast import GET_FORECAST
from .look import LOOK
from .own_tool import (
    Approval,
    Offered,
    OwnCall,
    OwnTool,
    Prepare,
    SharedWith,
    ToolAnswer,
    own_name,
)
from .past import GET_PAST
from .search_history import SEARCH_HISTORY
from .search_web import SEARCH_WEB

own_tools: Final = home_singleton(
    "own_tools",
    lambda _: [FIND, GET_FORECAST, GET_PAST, LOOK, SEARCH_HISTORY, SEARCH_WEB],
)
"""Returns the registered tools. One that is added is offered, judged and audited from then on."""


def offered_to(
    hass: HomeAssistant,
    settings: AgentSettings,
    *,
    home_is_large: bool = False,
    to_guest: bool = False,
) -> tuple[OwnTool, ...]:
    """Return those of our tools that an agent has for itself. `home_is_large` is explained at `TurnTools`."""
    own = [tool for tool in own_tools(hass) if tool.shared is None]
    if to_guest:
        own = [tool for tool in own if not tool.is_private]
    agent = Offered(
        hass,
        settings,
        home_is_large,
    )
    return tuple([tool for tool in own if tool.needs is None or tool.needs(agent)])


def planning_call(
    hass: HomeAssistant,
    sentence: str,
    seconds: int,
) -> tuple[str, JsonObject] | None:
    """Return the name and the arguments of our tool that plans a sentence, if one does; see `OwnTool.plans`."""
    for tool in own_tools(hass):
        if tool.plans:
            return tool.definition.name, tool.plans(sentence, seconds)
    return None


def can_act(offered: Offered) -> bool:
    """Return whether an agent acts in the home: by tools of Home Assistant, or by its sentences without a model."""
    return bool(offered.settings.llm_apis) or not offered.settings.model


def with_own_tools(
    hass: HomeAssistant, offered: Sequence[ToolDefinition], own: Collection[OwnTool]
) -> Tools:
    """Add the agent's own tools to those that are `offered`, sorted by name. They replace others of the same name."""
    if not own:
        return tuple(offered)
    tools = {tool.name: tool for tool in offered}
    for tool in own:
        one = tool.definition
        short = one.short_parameters or short_parameters(one.parameters)
        # Some services have a web_search of their own, and get_events tells of nothing.
        is_bare = one.name != WEB_SEARCH and (
            one.part is None or one.name.startswith(own_name(""))
        )
        if tool.needless:
            short = without_arguments(short, tool.needless(hass))
        tools[one.name] = replace(
            one,
            short_parameters=short,
            is_bare=is_bare,
        )
    return tuple(tools[name] for name in sorted(tools))


_BY_CLIENT: Final = "Not run: the caller runs this tool itself, and only now."
_ENOUGH: Final = (
    "Not run: it has been used as often as is allowed for one request. Answer with what "
    "is known, and say what is not."
)
_CHANGED: Final = (
    "Not run: it would be another call than the one that was asked about. Ask again."
)


@dataclass(slots=True)
class OwnDispatcher(Hooks):
    """The `ToolDispatcher` of the agent's own tools in one turn. Natives are `llm.ToolResult`.

    As the first hook of the turn, it prepares their calls, so that all others see what
    is meant. A call may stand for one of another tool at another time, which is fitted
    as if it ran now, and reviewed in its place.
    """

    tools: Mapping[str, OwnTool]
    """By name."""
    turn: OwnCall
    """A call of the turn without arguments: all calls have the rest of it."""
    names: Hooks | None = None
    """Resolves the names in calls of the other tools."""
    repair: Repair = as_written
    """Repairs calls of the other tools."""
    sentences: Hooks | None = None
    """Completes the sentences that Home Assistant is to understand."""
    offered: Sequence[ToolDefinition] = ()
    """The tools of the turn."""
    allowed: frozenset[str] | None = None
    """Names of the tools that may be called; None for all."""
    timed: dict[tuple[str, str], TimedCall] = field(default_factory=dict)
    """The calls for another time; see `TimedCalls`."""
    approval_of: Callable[[ToolCall], Approval | None] = lambda _: None
    """Returns the approval of a call for another time."""
    _runs: Counter[str] = field(default_factory=Counter)
    """How often tools have run."""

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        if tool.name == SENTENCE_TOOL and self.sentences:
            return await self.sentences.pre_tool_use(tool, arguments)
        prepare = self._prepare_of(tool)
        if prepare is None:
            return None
        # A model that sees resolved arguments in earlier calls may copy them.
        known = (tool.short_parameters or tool.parameters).get("properties")
        given = {
            name: value
            for name, value in arguments.items()
            if isinstance(known, dict) and name in known
        }
        prepared = await self._async_prepared(
            prepare,
            tool,
            given,
        )
        if prepared is None and given != arguments:
            return Rewrite(given)
        return prepared

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | None:
        prepare = self._prepare_of(tool)
        if prepare is None:
            return None
        prepared = await self._async_prepared(
            prepare,
            tool,
            arguments,
        )
        if isinstance(prepared, Rewrite):
            return Deny(_CHANGED)
        return prepared

    def _prepare_of(self, tool: ToolDefinition) -> Prepare | None:
        own = self.tools.get(tool.name)
        return own.prepare if own else None

    async def _async_prepared(
        self, prepare: Prepare, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Rewrite[JsonObject] | None:
        prepared = await prepare(self.call(arguments))
        if isinstance(prepared, Deny):
            return prepared
        given, acting = prepared
        if acting:
            self.timed[tool.name, canonical_json(given)] = acting
        if given != arguments:
            return Rewrite(given)
        return None

    async def _async_fit(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Deny | TimedCall:
        """Fit a call that another one stands for; such a call stands for none itself."""
        offered = [tool for tool in self.offered if self._prepare_of(tool) is None]
        call = ToolCall(
            "",
            name,
            canonical_json(arguments),
        )
        match fit_call(call, offered, self.allowed, (), repair=self.repair):
            case Resolved(_, result):
                return Deny(result.content, is_final=False)
            case ClientCall():
                return Deny(_BY_CLIENT)
            case Runnable(tool=tool, arguments=given):
                if self.names:
                    named = await self.names.pre_tool_use(tool, given)
                else:
                    named = None
                if isinstance(named, Rewrite):
                    return TimedCall(tool, named.value)
                if isinstance(named, Deny):
                    return named
                return TimedCall(tool, given)
            case _ as unreachable:
                assert_never(unreachable)

    def call(self, arguments: JsonObject) -> OwnCall:
        """Return a call of a tool in this turn."""
        return replace(
            self.turn,
            arguments=arguments,
            fit=self._async_fit,
        )

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:  # noqa: ARG002 demanded by the protocol
        """Return what a tool declares to change."""
        return self.tools[name].targets

    async def async_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        """Return the effects that a call would have."""
        return await self.tools[name].async_effects(self.call(arguments))

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Run a tool."""
        own = replace(
            self.call(arguments),
            approval=self.approval_of(call),
        )
        tool = self.tools[call.name]
        self._runs[call.name] += 1
        if 0 < tool.most < self._runs[call.name]:
            return ToolOutcome(_ENOUGH, is_error=True)
        answer = await tool.async_answer(own)
        native = _native(answer, own.language)
        return ToolOutcome(
            result_content(native),
            is_error=answer.is_error,
            native=native,
            open_world=answer.open_world,
            fee=answer.fee,
        )


class SharedTool(llm.Tool):
    """One of our tools as Home Assistant offers it to all agents with the Assist API."""

    integration = DOMAIN

    def __init__(
        self,
        tool: OwnTool,
        shared: SharedWith,
    ) -> None:
        """Describe a tool, whose arguments Home Assistant knows as a schema of its own."""
        definition = tool.definition
        self.tool = tool
        self.shared = shared
        self.title = shared.title
        self.name = definition.name
        self.description = definition.description
        self.parameters = from_openapi(definition.parameters)
        self.annotations = llm.ToolAnnotations(**asdict(definition.annotations))

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Run the tool with the arguments that are not blank."""
        given = filled(tool_input.tool_args)
        call = OwnCall(hass, llm_context, self.parameters(given))
        return _native(await self.tool.async_answer(call))


shared_tool: Final = cache(SharedTool)
"""Returns the tool that all agents are offered for one of ours."""


def _native(
    answer: ToolAnswer,
    language: str = "",
) -> llm.ToolResult:
    if not answer.speech:
        return llm.ToolResult(
            answer.data,
            error=answer.is_error,
        )
    response = intent.IntentResponse(language=language)
    if answer.is_error:
        reported = llm.IntentResponseDict(answer.data)
        unnamed = intent.IntentResponseTargetType.CUSTOM
        response.async_set_results(
            [], [FailedTarget("", unnamed, reason=answer.speech)]
        )
        reported.original = response
        return llm.ToolResult(reported, error=True)
    response.async_set_speech(answer.speech)
    return llm.ToolResult(llm.IntentResponseDict(response))
