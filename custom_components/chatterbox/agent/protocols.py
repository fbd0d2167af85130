"""Interfaces between the loop and its providers, tools and hooks, as `typing.Protocol` classes with their contracts.

An implementation may rely on what is written here, and on nothing else.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from .errors import AgentError
from .events import ProviderEvent, StopReason
from .messages import (
    JsonObject,
    Picture,
    Summary,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolOutcome,
    ToolResult,
    Transcript,
    canonical_json,
)


class ReasoningEffort(StrEnum):
    """How long a model thinks before it answers, from not at all to as long as it can.

    Not every model knows every step: a refused one is left out, and the model decides.
    """

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Verbosity(StrEnum):
    """How much a model says."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


LEAST_OUTPUT_TOKENS: Final = 16
"""Tokens of the shortest answer that can be asked for: some services refuse less."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Wishes for the answers of one turn. What is None is as the owner of the agent has set it."""

    temperature: float | None = None
    """0 for the likeliest words, up to 2."""
    top_p: float | None = None
    """Above 0, up to 1."""
    reasoning_effort: ReasoningEffort | None = None
    verbosity: Verbosity | None = None
    max_output_tokens: int | None = None
    """Most tokens of one answer, reasoning included; what the owner has set holds where that is less."""
    max_characters: int | None = None
    """Most characters of one answer, thoughts and arguments of calls included."""
    parallel_tool_calls: bool = True
    """Whether several calls may run at once, and whether the caller can be given several to run."""

    def __post_init__(self) -> None:
        """Refuse an answer that could hold nothing."""
        if self.max_output_tokens is not None and self.max_output_tokens < LEAST_OUTPUT_TOKENS:
            raise ValueError(f"max_output_tokens must be at least {LEAST_OUTPUT_TOKENS}")


NO_WISHES: Final = AnswerOptions()


_TOLD: Final = (
    "Your answer is read by a program. It has to be one JSON object that fits this JSON Schema, with nothing before or"
    " after it and no Markdown around it:\n{schema}"
)


def _no_flaw(_: JsonObject) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The shape of the last answer of a turn. Tools may be called before."""

    name: str
    """1 to 64 characters from `[A-Za-z0-9_-]`, the set that every provider accepts."""
    schema: JsonObject
    """JSON Schema; the top level is an object with properties."""
    flaw_of: Callable[[JsonObject], str] = field(default=_no_flaw, compare=False)
    """Says, in words for the model, what is wrong with data that fits the schema; nothing when nothing is."""

    @property
    def told(self) -> str:
        """What a model is told, whether or not its service can be made to keep to the schema: many cannot."""
        return _TOLD.format(schema=canonical_json(self.schema))


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """Everything one inference gets."""

    instructions: str
    """The system prompt; empty for none."""
    transcript: Transcript
    """Valid: every call has one result. Ends with a user message or a result, or with an answer that cannot be used:
    then the directive says why."""
    tools: tuple[ToolDefinition, ...] = ()
    """Sorted by name, the same in every inference of a turn."""
    tool_choice: ToolChoice = ToolChoiceMode.AUTO
    directive: str = ""
    """An instruction for this inference only; it follows the transcript."""
    output: OutputFormat | None = None
    """What shape the answer has to have, unless it is a call. The instructions say so too, for services that cannot be
    made to keep to it."""
    summary: Summary | None = None
    """What stands for the beginning of the transcript, for who sends only a window of it. Providers need not care."""
    may_be_cut: bool = True
    """Whether a server that can may leave out the beginning of a prompt that does not fit. Otherwise it refuses."""
    options: AnswerOptions = NO_WISHES
    may_be_shortened: bool = True
    """Whether who sends only a window of a transcript may leave out the oldest. Otherwise it raises `PromptTooLong`."""

    def enforced_output(self, *, beside_tools: bool) -> OutputFormat | None:
        """Return the output format that a service can be made to keep to; None if the model may call a tool instead.

        `beside_tools` says that the service supports both. Others would never call a tool.
        """
        may_call = bool(self.tools) and self.tool_choice is not ToolChoiceMode.NONE
        return None if may_call and not beside_tools else self.output


class LLMProvider(Protocol):
    """One way to reach a model."""

    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference.

        Must yield deltas as they arrive, each `ToolCallReady` as soon as its arguments are complete, in the order the
        model wrote them, and exactly one `CompletionResult` at the very end. Calls carry the name and the arguments
        text exactly as written, and an id that is unique within the message. Must raise a `ProviderError` when the
        service fails, also when the stream ends early; must not retry once it has yielded. Must close its connection
        when the generator is closed or cancelled.
        """
        ...


class LeavableProvider:
    """A promise of an `LLMProvider` that is made of others: who closes its streams is not kept waiting.

    Not by providers behind it that ignore their cancellation, either. The loop does not trust any other to do so.
    """


class ImageProvider(Protocol):
    """One way to reach a model that makes pictures."""

    async def draw(self, prompt: str) -> Picture:
        """Make one picture of what the words say.

        Raises a `ProviderError`; must not ask twice, and must close its connection when it is cancelled.
        """
        ...


class Prefiller(Protocol):
    """A provider that can be told beforehand what is going to be asked.

    What is sent ahead is no inference: nobody sees the answer, and it is not counted. Both raise a `ProviderError`,
    and close their connection when they are cancelled.
    """

    async def prefill(self, request: CompletionRequest) -> None:
        """Have the service read a request, so that one that begins alike is answered sooner.

        The answer is kept as short as the service allows. All else must be as in `stream`, reasoning too: some models
        are told how long to think before anything else. Where reading ahead is of no use, or has its price, this does
        no more than `connect`.
        """
        ...

    async def connect(self) -> None:
        """Open a connection that the next request can go over, by a question that costs nothing."""
        ...


class ToolDispatcher(Protocol):
    """Runs tools."""

    def targets(self, name: str, arguments: JsonObject) -> frozenset[str] | None:
        """Name what a call would change, or None when that is not known.

        Calls of one message whose targets overlap keep the model's order; unknown overlaps with everything. Not asked
        for read-only tools, which wait for every change before them. Must be quick and without side effect.
        """
        ...

    async def dispatch(self, call: ToolCall, arguments: JsonObject) -> ToolOutcome:
        """Run one call.

        `arguments` is `call.arguments`, parsed and coerced to the tool's schema. A failure
        may be an outcome with `is_error`, or any exception: the loop turns it into an error
        result for the model. Cancellation is normal and must be let through.
        """
        ...


class ResponseComposer(Protocol):
    """Finds words where those of the model are missing, or not enough. Must not raise."""

    def compose(self, reason: StopReason, tool_results: Sequence[ToolResult], error: AgentError | None) -> str:
        """Say how the turn ended and, from the recorded results, what was done. Must not be empty."""
        ...

    def undone(self, tool_results: Sequence[ToolResult], answer: str) -> str:
        """Say what calls that were to change something have not changed; empty if nothing is missing.

        It is said after the model's own `answer`, which may tell something else.
        """
        ...


@dataclass(frozen=True, slots=True)
class Deny:
    """A hook's no. The reason is told to the model or, for a prompt, to the person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A hook's wish that a person says yes first."""

    reason: str
    """Words for the person; empty when whoever asks them finds its own."""
    terms: str = ""
    """What exactly a yes would be to, in whatever words: it is only compared. A yes holds while these stay the same."""


@dataclass(frozen=True, slots=True)
class Rewrite[T]:
    """A hook's replacement for what it was shown."""

    value: T


class HookPoint(StrEnum):
    """Where in a turn hooks are asked: the names of the methods of `Hooks`."""

    USER_PROMPT_SUBMIT = "user_prompt_submit"
    PRE_TOOL_USE = "pre_tool_use"
    POST_TOOL_USE = "post_tool_use"
    PRE_SPEECH = "pre_speech"


class Hooks(Protocol):
    """Decisions of an owner between the model and the home. None means no opinion.

    Subclass it and override what is needed. Hooks run in order and the first `Deny` wins; after a `Rewrite` the others
    see what was put in place. An `Ask` ends nothing: the others are shown the call too, and what they ask becomes one
    question. A hook that raises, takes longer than the tool timeout or decides what is no answer has failed, and a
    failure denies unless the hook says otherwise.
    """

    def denies_on_failure(self, point: HookPoint) -> bool:
        """Tell whether a failure at this point is a no; otherwise it is no opinion."""
        return True

    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        """See the user's words, once a turn; not on a continuation, which brings none."""
        return None

    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        """See a call before it runs.

        Who answers with an `Ask` is shown the call again if a later hook rewrites it, and what is said then counts: an
        `Ask` about what would run, None, or a `Deny`. A `Rewrite` refuses the call, since it was others' to change.
        """
        return None

    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Ask | None:
        """See a call that a person said yes to, right before it runs; `pre_tool_use` saw it before the question.

        An `Ask` on terms that were part of the question, or on none, lets it run; on any other
        it asks the person again. A failure is one of `HookPoint.PRE_TOOL_USE`.
        """
        return None

    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> Deny | Rewrite[str] | None:
        """See a result before the model does. Deny hides it, the native one too; the tool has run.

        The hooks after a `Deny` are shown what became of the result, and have no say in it.
        """
        return None

    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        """See a whole message of the model before any of it is spoken. Costs its streaming."""
        return None
