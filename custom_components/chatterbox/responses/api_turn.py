"""What a program brings to a turn beside words: its transcript, functions and wishes; and what of the house it gets.

Knows the seam of the Responses surface and the tools of a turn. Must not know HTTP, or how a turn is taken. A program
can only narrow what an agent is set up for: fewer tools, fewer calls, more questions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, override

from homeassistant.util.ulid import ulid_now

from ..agent.events import PendingApproval, TurnEvent, TurnFinished
from ..agent.loop.turn import Approved, Denied, Limits
from ..agent.messages import (
    AssistantMessage,
    JsonObject,
    NamedTool,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    Transcript,
    UserMessage,
)
from ..agent.protocols import Ask, Hooks
from ..agent.responses.backend import OWN_LABEL, BackendEvent, ToolsOffered, TurnRequest
from ..agent.responses.errors import invalid
from ..agent.responses.tools import AllowedTools, FunctionRef, HostedToolRef, HostedTools, ToolRef
from ..agent.transcript import TranscriptRecorder
from ..approvals.questions import Resume
from ..offline.provider import PROCESS_SENTENCE
from ..settings.agent import AgentSettings
from ..tools.own_tools import own_definitions
from ..tools.turn_tools import TurnTools

APPROVAL_SECONDS: Final = 600.0
"""For so long a program may say yes to what it was asked: it may have to ask somebody itself."""
_WANTED_BY_PROGRAM: Final = "wanted by the program"
_NO_TOOLS: Final = "It has no tools at the moment."


def _at_once() -> None:
    """Begin without more ado."""


@dataclass(frozen=True, slots=True)
class ProgramTools:
    """What a turn of a program may use."""

    offered: TurnTools
    """Of the house, as far as the program wants them."""
    functions: tuple[ToolDefinition, ...]
    """Those that the program runs itself."""
    choice: ToolChoice
    allowed: frozenset[str] | None

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Everything that a model is told of."""
        return (*self.offered.definitions, *self.functions)


@dataclass(frozen=True, slots=True)
class ProgramTurn:
    """A turn that a program wants taken."""

    request: TurnRequest
    tell: Callable[[BackendEvent], None]
    """Hears of everything that happens, but for the end."""
    decisions: Mapping[str, Approved | Denied] = field(default_factory=dict)
    """What it says to the calls of a question, by their ids."""
    answered: PendingApproval | None = None
    """What is answered by that."""
    begin: Callable[[], None] = _at_once
    """Called when all is in order, right before the turn begins. Raises `ApiError` where it cannot."""
    go_on: Resume | None = None
    """Takes the turn on if somebody else than the program answers its question."""
    spot_id: str = field(default_factory=ulid_now)
    """Where its question is asked: two responses that follow the same one have questions of their own."""
    _recorder: TranscriptRecorder = field(default_factory=TranscriptRecorder)

    @property
    def words(self) -> UserMessage | None:
        """What was said last; None where the turn goes on after something else."""
        transcript = self.request.transcript
        last = transcript[-1] if transcript else None
        return last if isinstance(last, UserMessage) else None

    @property
    def history(self) -> Transcript:
        """What came before the words."""
        return self.request.transcript if self.words is None else self.request.transcript[:-1]

    @property
    def brought(self) -> Transcript:
        """What the program adds to the conversation beside the last words; as far as one can tell what is new."""
        history, words = self.history, self.words
        if (added := self.request.added) is not None:
            return tuple(message for message in added if message is not words)
        new = next((i for i, m in enumerate(reversed(history)) if isinstance(m, AssistantMessage)), len(history))
        return history[len(history) - new :]

    @property
    def functions(self) -> frozenset[str]:
        """Names of what the program runs itself."""
        return frozenset(function.name for function in self.request.functions)

    @property
    def so_far(self) -> Transcript:
        """All that was said and done until now."""
        return self.request.transcript + self._recorder.interrupted()

    @property
    def may_fall_back(self) -> bool:
        """Tell whether Home Assistant itself may answer for a model: it knows sentences, no wishes of programs."""
        return self.request.hosted is None and self.request.output is None

    def limits(self, own: Limits) -> Limits:
        """Return the bounds of the turn; those of the agent hold where they are tighter."""
        wanted = self.request.max_tool_calls
        return replace(
            own,
            max_tool_calls=own.max_tool_calls if wanted is None else min(own.max_tool_calls, wanted),
            max_output_tokens=self.request.max_output_tokens,
            approval_expiry=APPROVAL_SECONDS,
        )

    def settings(self, own: AgentSettings) -> AgentSettings:
        """Return the settings of the agent, with the sources of tools that the program names.

        Raises `ApiError` for one that the agent is not set up with.
        """
        if self.request.hosted is None:
            return own
        labels = [tools.server_label for tools in self.request.hosted]
        known = (*own.llm_apis, *((OWN_LABEL,) if own_definitions(own) else ()))
        for index, label in enumerate(labels):
            if label not in known:
                message = f"This agent has no tools under {label!r}. It has: {', '.join(known) or 'none'}."
                raise invalid(message, f"tools[{index}].server_label", "unknown_server_label")
        has_own = OWN_LABEL in labels
        return replace(
            own,
            llm_apis=tuple(label for label in dict.fromkeys(labels) if label != OWN_LABEL),
            remember_facts=own.remember_facts and has_own,
            search_history=own.search_history and has_own,
        )

    def choose(self, tools: TurnTools) -> ProgramTools:
        """Return what of the tools the program wants, and tell it of them. Raises `ApiError` for what there is not."""
        wishes = {wish.server_label: wish for wish in self.request.hosted or ()}
        kept = tuple(
            tool for tool in tools.definitions if _is_wanted(wishes.get(tools.labels.get(tool.name, OWN_LABEL)), tool)
        )
        by_label: dict[str, list[ToolDefinition]] = {label: [] for label in wishes}
        for tool in kept:
            if tool.name != PROCESS_SENTENCE.name:
                by_label.setdefault(tools.labels.get(tool.name, OWN_LABEL), []).append(tool)
        self._check(tools, kept)
        failures = {label: _NO_TOOLS for label, found in by_label.items() if not found}
        offered = ToolsOffered(by_label, failures, self.answered)
        chosen = ProgramTools(
            tools._replace(definitions=kept),
            self.request.functions,
            _choice(self.request, offered),
            _allowed(self.request, offered),
        )
        self.tell(offered)
        return chosen

    def _check(self, tools: TurnTools, kept: tuple[ToolDefinition, ...]) -> None:
        """Refuse functions that have the name of a tool, names of tools that there are not, and a yes to such a tool.

        What is refused here uses up no question.
        """
        names = {tool.name for tool in kept}
        for gated in self.answered.calls if self.answered else ():
            if gated.call.name not in names and isinstance(self.decisions.get(gated.call.id), Approved):
                message = (
                    f"The approved tool {gated.call.name!r} is not among those of this request. Name the same again."
                )
                raise invalid(message, "tools", "approval_continuation_invalid")
        for function in self.request.functions:
            if function.name in names:
                raise invalid(f"A tool of the house is called {function.name!r}, too. Choose another name.", "tools")
        for index, wish in enumerate(self.request.hosted or ()):
            known = {name for name, label in tools.labels.items() if label == wish.server_label}
            known |= {tool.name for tool in tools.definitions if tool.name not in tools.labels}
            wanted = wish.allowed.names if wish.allowed else None
            if unknown := sorted((wanted or frozenset()) - known):
                message = f"There is no tool {unknown[0]!r} under {wish.server_label!r}."
                raise invalid(message, f"tools[{index}].allowed_tools", "unknown_tool")

    def hear(self, event: TurnEvent) -> None:
        """Tell the program of an event of the turn; of the end it hears when all is recorded."""
        self._recorder.add(event)
        if not isinstance(event, TurnFinished):
            self.tell(event)


class ProgramApprovals(Hooks):
    """Asks about calls that a program wants to be asked about, whatever the house says."""

    def __init__(self, request: TurnRequest, labels: Mapping[str, str]) -> None:
        """Know the wishes, and the label of each tool."""
        self._wishes = {wish.server_label: wish for wish in request.hosted or ()}
        self._labels = labels

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> Ask | None:
        wish = self._wishes.get(self._labels.get(tool.name, OWN_LABEL))
        return Ask("", _WANTED_BY_PROGRAM) if wish is not None and wish.asks(tool) else None

    @override
    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> Ask | None:
        return await self.pre_tool_use(tool, arguments)


def _is_wanted(wish: HostedTools | None, tool: ToolDefinition) -> bool:
    return wish is None or wish.allowed is None or wish.allowed.takes(tool)


def _choice(request: TurnRequest, offered: ToolsOffered) -> ToolChoice:
    match request.tool_choice:
        case ToolChoiceMode() as mode:
            return mode
        case FunctionRef(name):
            return NamedTool(name)
        case HostedToolRef(name=None):
            return ToolChoiceMode.REQUIRED  # of what is allowed
        case HostedToolRef() as tool:
            (name,) = _names(tool, offered, "tool_choice")
            return NamedTool(name)
        case AllowedTools(mode=mode):
            return mode


def _allowed(request: TurnRequest, offered: ToolsOffered) -> frozenset[str] | None:
    match request.tool_choice:
        case HostedToolRef(name=None) as label:
            return _names(label, offered, "tool_choice")
        case AllowedTools(tools):
            names = (_names(tool, offered, f"tool_choice.tools[{index}]") for index, tool in enumerate(tools))
            return frozenset[str]().union(*names)
        case _:
            return None


def _names(tool: ToolRef, offered: ToolsOffered, param: str) -> frozenset[str]:
    """Return the names of the tools that are meant. Raises `ApiError` where there are none."""
    match tool:
        case FunctionRef(name):
            return frozenset({name})
        case HostedToolRef(label, name):
            found = {one.name for one in offered.tools.get(label, ()) if name in (None, one.name)}
            if not found:
                missing = f"is no tool {name!r}" if name else "are no tools"
                raise invalid(f"There {missing} under {label!r} in this request.", param, "unknown_tool")
            return frozenset(found)
