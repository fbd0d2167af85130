"""The source of a turn that a client of the Responses API asks for: its transcript, its tools and its limits.

A client can only narrow what an agent is set up for: fewer tools, fewer calls, more
questions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, override

from homeassistant.components.conversation import ChatLog
from homeassistant.core import HomeAssistant
from homeassistant.util.ulid import ulid_now

from ..agent.events import PendingApproval, TurnEvent, TurnFinished
from ..agent.loop.turn import Limits, Turn
from ..agent.messages import (
    AssistantMessage,
    JsonObject,
    NamedTool,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    Transcript,
    UserMessage,
    paragraphs,
)
from ..agent.protocols import Ask, Hooks
from ..agent.transcript import TranscriptRecorder
from ..people.speakers import Speaker
from ..records.turn_record import TurnRecord
from ..runtime.summaries import ConversationSummaries
from ..settings.agent import AgentSettings
from ..settings.tool_names import SENTENCE_TOOL
from ..tools.own.registry import offered_to
from ..tools.turn_tools import TurnTools
from ..turns.continuity import Continuity, Thread
from ..turns.shown_files import ShownFiles
from ..turns.source import ToolSelection, TurnSource
from .protocol.backend import OWN_LABEL, BackendEvent, ToolsOffered, TurnRequest
from .protocol.errors import bad_approval, invalid
from .protocol.tools import AllowedTools, FunctionRef, HostedToolRef, ToolRef

APPROVAL_SECONDS: Final = 600.0
"""Seconds in which a client may answer a question: it may have to ask a person itself."""
_WANTED_BY_CLIENT: Final = "wanted by the client"
_NO_TOOLS: Final = "It has no tools at the moment."


def request_words(request: TurnRequest) -> UserMessage | None:
    """Return the words of a request; None where it continues after tool results or an approval."""
    match request.transcript:
        case (*_, UserMessage() as last):
            return last
        case _:
            return None


def _before_words(request: TurnRequest) -> Transcript:
    if request_words(request) is None:
        return request.transcript
    return request.transcript[:-1]


def _added(request: TurnRequest) -> Transcript:
    """Return the messages that a request adds beside its words, as far as it is known which of them are new."""
    if request.added is not None:
        words = request_words(request)
        return tuple(message for message in request.added if message is not words)
    history = _before_words(request)
    new = next(
        (i for i, m in enumerate(reversed(history)) if isinstance(m, AssistantMessage)),
        len(history),
    )
    return history[len(history) - new :]


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class ApiTurnSource(TurnSource):
    """A client of the Responses API that asks for a turn."""

    request: TurnRequest
    tell: Callable[[BackendEvent], None]
    """Hears every event of the turn but its end."""
    answered: PendingApproval | None = None
    """The question that the client answers."""
    question_scope: str | None = field(default_factory=ulid_now)
    """Two responses that follow the same one have questions of their own."""
    acts_locally: ClassVar[bool] = False
    """The client has chosen the model."""
    _recorder: TranscriptRecorder = field(default_factory=TranscriptRecorder)

    @property
    def so_far(self) -> Transcript:
        """The transcript of the request with all that the turn has added until now."""
        return self.request.transcript + self._recorder.interrupted()

    @override
    def new_record(
        self,
        text: str,
        agent: str,
    ) -> TurnRecord:
        """Return a record with the messages that the client adds. The client decides whether it is stored."""
        return TurnRecord(
            text, agent, is_stored=self.request.may_store, brought=_added(self.request)
        )

    @override
    async def async_thread(
        self,
        continuity: Continuity,
        asked_for: str | None,
        speaker: Speaker,
        chat_log: ChatLog,
    ) -> Thread:
        """Return the conversation of a turn, which the client holds."""
        return continuity.thread_of(chat_log.conversation_id)

    @override
    def summaries(self, summaries: ConversationSummaries) -> None:
        """Leave it to the client to shorten its conversation."""

    @override
    def falls_back(self) -> bool:
        """Return whether the built-in agent may answer, which knows sentences only."""
        return self.asks_in_words()

    @override
    def asks_in_words(self) -> bool:
        """Return whether the client names no tools and no format: it may not know approval requests."""
        return self.request.hosted is None and self.request.output is None

    @override
    def offers_own_tools(self) -> bool:
        """Return whether the client names the agent's own tools, or none."""
        hosted = self.request.hosted
        return hosted is None or any(one.server_label == OWN_LABEL for one in hosted)

    @override
    def adapted(self, turn: Turn) -> Turn:
        """Return the turn with the client's instructions, format and options."""
        request = self.request
        return replace(
            turn,
            instructions=paragraphs(turn.instructions, request.instructions),
            output=request.output,
            options=request.options,
            may_be_shortened=request.may_be_shortened,
        )

    @override
    def limits(self, limits: Limits) -> Limits:
        """Return the limits of the turn; those of the agent hold where they are tighter."""
        wanted = self.request.max_tool_calls
        return replace(
            limits,
            max_tool_calls=limits.max_tool_calls
            if wanted is None
            else min(limits.max_tool_calls, wanted),
            max_output_tokens=self.request.max_output_tokens,
            approval_expiry=APPROVAL_SECONDS,
        )

    @override
    def settings(
        self,
        hass: HomeAssistant,
        settings: AgentSettings,
    ) -> AgentSettings:
        """Return the settings of the agent, with the sources of tools that the client names.

        Raises `ApiError` for one that the agent is not set up with.
        """
        if self.request.hosted is None:
            return settings
        labels = [tools.server_label for tools in self.request.hosted]
        known = (
            *settings.llm_apis,
            *((OWN_LABEL,) if offered_to(hass, settings) else ()),
        )
        for index, label in enumerate(labels):
            if label not in known:
                raise invalid(
                    f"This agent has no tools under {label!r}. It has: {', '.join(known) or 'none'}.",
                    f"tools[{index}].server_label",
                    "unknown_server_label",
                )
        return replace(
            settings,
            llm_apis=tuple(
                label for label in dict.fromkeys(labels) if label != OWN_LABEL
            ),
        )

    @override
    def select(self, tools: TurnTools) -> ToolSelection:
        """Return the tools that the client requests, and report them to it. Raises `ApiError` for a missing tool."""
        wishes = {wish.server_label: wish for wish in self.request.hosted or ()}
        definitions_of_home = tuple(
            tool
            for tool in tools.definitions
            if (wish := wishes.get(tools.labels.get(tool.name, OWN_LABEL))) is None
            or wish.allowed is None
            or wish.allowed.takes(tool)
        )
        by_label: dict[str, list[ToolDefinition]] = {label: [] for label in wishes}
        for tool in definitions_of_home:
            if tool.name != SENTENCE_TOOL:
                by_label.setdefault(tools.labels.get(tool.name, OWN_LABEL), []).append(
                    tool
                )
        self._check(tools, definitions_of_home)
        failures = {label: _NO_TOOLS for label, found in by_label.items() if not found}
        offered = ToolsOffered(
            by_label,
            failures,
            self.answered,
        )
        definitions = tools._replace(definitions=definitions_of_home)
        selection = ToolSelection(
            definitions, self.request.functions, *_choice(self.request, offered)
        )
        self.tell(offered)
        return selection

    @override
    def history(
        self,
        chat_log: ChatLog,
        files: ShownFiles,
    ) -> Transcript:
        """Return the transcript of the client before its words."""
        return _before_words(self.request)

    @override
    def message(
        self,
        text: str,
        chat_log: ChatLog,
        files: ShownFiles,
        context: str,
    ) -> UserMessage | None:
        """Return the words of the client, which come with attachments and a context of their own."""
        user_message = request_words(self.request)
        return user_message and user_message.after(context)

    @override
    def hooks(self, tools: TurnTools) -> Sequence[Hooks]:
        """Return the hook that asks about calls for which the client wants to be asked."""
        return (ClientApprovals(self.request, tools.labels),)

    def _check(
        self,
        tools: TurnTools,
        definitions: tuple[ToolDefinition, ...],
    ) -> None:
        """Reject functions with the name of a tool, names of missing tools, and an approval of a missing tool.

        A request that is rejected here leaves the question open.
        """
        names = {tool.name for tool in definitions}
        for pending in self.answered.approved if self.answered else ():
            call = pending.call
            if call.name not in names:
                raise bad_approval(
                    f"The approved tool {call.name!r} is not among those of this request. Name the same again.",
                    "tools",
                )
        for function in self.request.functions:
            if function.name in names:
                raise invalid(
                    f"A tool of the agent is called {function.name!r}, too. Choose another name.",
                    "tools",
                )
        unlabelled = dict.fromkeys(tool.name for tool in tools.definitions)
        labels = {
            **unlabelled,
            **tools.labels,
        }
        for index, wish in enumerate(self.request.hosted or ()):
            wanted = wish.allowed and wish.allowed.tool_names
            for name in sorted(wanted or ()):
                # A tool without a label is under each of them.
                if labels.get(name, "") not in {None, wish.server_label}:
                    message = f"There is no tool {name!r} under {wish.server_label!r}."
                    param = f"tools[{index}].allowed_tools"
                    raise invalid(
                        message,
                        param,
                        "unknown_tool",
                    )

    @override
    def hear(self, event: TurnEvent) -> None:
        """Report an event of the turn to the client; the end is reported once everything is recorded."""
        self._recorder.add(event)
        if not isinstance(event, TurnFinished):
            self.tell(event)


class ClientApprovals(Hooks):
    """Asks about the calls for which the client requires approval, whatever the rules of the owner say."""

    def __init__(
        self,
        request: TurnRequest,
        labels: Mapping[str, str],
    ) -> None:
        """Know the wishes, and the label of each tool."""
        self._wishes = {wish.server_label: wish for wish in request.hosted or ()}
        self._labels = labels

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Ask | None:
        wish = self._wishes.get(self._labels.get(tool.name, OWN_LABEL))
        if wish is not None and wish.asks(tool):
            return Ask("", _WANTED_BY_CLIENT)
        return None

    pre_approved_use = pre_tool_use


def _choice(
    request: TurnRequest, offered: ToolsOffered
) -> tuple[ToolChoice, frozenset[str] | None]:
    """Return the tool choice, and the names of the tools that may be called; None for all."""
    match request.tool_choice:
        case ToolChoiceMode() as mode:
            return mode, None
        case FunctionRef(name=name):
            return NamedTool(name), None
        case HostedToolRef(name=None) as label:
            return ToolChoiceMode.REQUIRED, _names(
                label, offered, "tool_choice"
            )  # of what is allowed
        case HostedToolRef() as tool:
            (name,) = _names(
                tool,
                offered,
                "tool_choice",
            )
            return NamedTool(name), None
        case AllowedTools(tools, mode):
            names = (
                _names(
                    tool,
                    offered,
                    f"tool_choice.tools[{index}]",
                )
                for index, tool in enumerate(tools)
            )
            return mode, frozenset[str]().union(*names)


def _names(
    tool: ToolRef,
    offered: ToolsOffered,
    param: str,
) -> frozenset[str]:
    """Return the names of the tools that are meant. Raises `ApiError` where there are none."""
    match tool:
        case FunctionRef(name=name):
            return frozenset({name})
        case HostedToolRef(server_label=label, name=name):
            found = {
                one.name
                for one in offered.tools.get(label, ())
                if name in (None, one.name)
            }
            if not found:
                missing = f"is no tool {name!r}" if name else "are no tools"
                raise invalid(
                    f"There {missing} under {label!r} in this request.",
                    param,
                    "unknown_tool",
                )
            return frozenset(found)
