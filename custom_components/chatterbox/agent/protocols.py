"""Interfaces between the loop and its providers, tools and hooks, as `typing.Protocol` classes with their contracts.

An implementation may rely only on the contracts that are written here.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from .errors import AgentError
from .events import ProviderEvent, StopReason
from .messages import (
    JsonObject,
    Summary,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolDefinition,
    ToolOutcome,
    ToolResult,
    ToolResults,
    Tools,
    Transcript,
    canonical_json,
)


class ReasoningEffort(StrEnum):
    """How long a model thinks before it answers.

    Not every model supports every level: a rejected one is omitted, and the model
    decides.
    """

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Verbosity(StrEnum):
    """How detailed the answers of a model are."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


LEAST_OUTPUT_TOKENS: Final = 16
"""Tokens of the shortest answer that can be requested: some services reject less."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options for the answers of one turn. None stands for the setting of the agent."""

    temperature: float | None = None
    """From 0, the most likely tokens, to 2."""
    top_p: float | None = None
    """Above 0, up to 1."""
    reasoning_effort: ReasoningEffort | None = None
    verbosity: Verbosity | None = None
    max_output_tokens: int | None = None
    """Most tokens of one answer, reasoning included; a lower setting of the agent wins."""
    max_characters: int | None = None
    """Most characters of one answer, reasoning and tool arguments included."""
    parallel_tool_calls: bool = True
    """Whether several calls may run at once, and whether the client may receive several."""

    def __post_init__(self) -> None:
        """Reject limits that leave no room for an answer."""
        if (
            self.max_output_tokens is not None
            and self.max_output_tokens < LEAST_OUTPUT_TOKENS
        ):
            raise ValueError(
                f"max_output_tokens must be at least {LEAST_OUTPUT_TOKENS}"
            )


NO_WISHES: Final = AnswerOptions()

_TOLD: Final = (
    "Your answer is read by a program. It has to be one JSON object that fits this JSON Schema, with nothing before or"
    " after it and no Markdown around it:\n{schema}"
)


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The schema of the final answer of a turn. Tools may be called before it."""

    name: str
    """1 to 64 characters from `[A-Za-z0-9_-]`, the set that every provider accepts."""
    schema: JsonObject
    """JSON Schema; the top level is an object with properties."""
    flaw_of: Callable[[JsonObject], str] = field(
        default=lambda _: "",
        compare=False,
    )
    """Describes, for the model, what is wrong with data that fits the schema; empty if it is valid."""

    @property
    def instruction(self) -> str:
        """The instruction for the model, which is sent even if the service enforces the schema: many do not."""
        return _TOLD.format(schema=canonical_json(self.schema))


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The input of one inference."""

    instructions: str
    """The system prompt; empty for none."""
    transcript: Transcript
    """Valid: every call has one result. Ends with a user message, with a result, or with an unusable answer; the
    directive then says what is wrong with it.
    """
    tools: Tools = ()
    """Sorted by name, and the same in every inference of a turn."""
    tool_choice: ToolChoice = ToolChoiceMode.AUTO
    directive: str = ""
    """An instruction for this inference only, placed after the transcript."""
    output: OutputFormat | None = None
    """The schema of an answer that is not a tool call. The instructions contain it too, for services that cannot
    enforce it.
    """
    summary: Summary | None = None
    """A summary of the beginning of the transcript, for providers that send only a window of it. Others ignore it."""
    may_be_cut: bool = True
    """Whether a server may truncate the beginning of a prompt that is too long. Otherwise it has to reject the prompt.
    """
    options: AnswerOptions = NO_WISHES
    searches: int = 0
    """How often the service may search the web by itself; a service that cannot, does not."""
    may_be_shortened: bool = True
    """Whether a provider that sends a window may omit the oldest messages. Otherwise it raises `PromptTooLong`."""

    def enforced_output(self, *, beside_tools: bool) -> OutputFormat | None:
        """Return the output format that the service can enforce; None if the model may call a tool instead.

        `beside_tools` says that the service supports both at once. With other services
        the model would never call a tool.
        """
        may_call = bool(self.tools) and self.tool_choice is not ToolChoiceMode.NONE
        if may_call and not beside_tools:
            return None
        return self.output


class LLMProvider(Protocol):
    """Access to one model."""

    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference.

        Must yield deltas as they arrive, each `ToolCallReady` as soon as its arguments
        are complete, in the order the model wrote them, and exactly one
        `CompletionResult` at the very end. May yield `PromptProgress` before all of
        these. Calls carry the name and the arguments text exactly as written, and an id
        that is unique within the message. Must raise a `ProviderError` when the service
        fails, also when the stream ends early; must not retry once it has yielded. Must
        close its connection when the generator is closed or cancelled.
        """


class LeavableProvider:
    """Marks a composite `LLMProvider` whose streams close without delay.

    They close promptly even if an inner provider ignores its cancellation. The loop
    does not assume this of any other provider.
    """


class ToolDispatcher(Protocol):
    """Runs tools."""

    def targets(
        self,
        name: str,
        arguments: JsonObject,
    ) -> frozenset[str] | None:
        """Return the targets that a call would change; None if they are unknown.

        Calls of one message with overlapping targets keep the model's order; unknown
        targets overlap with all. Not called for read-only tools, which wait for every
        change before them. Must be fast and without side effects.
        """

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Run one call.

        `arguments` is `call.arguments`, parsed and coerced to the tool's schema. A
        failure may be an outcome with `is_error` or any exception: the loop turns it
        into an error result for the model. Cancellation is normal and must be
        propagated.
        """


class ResponseComposer(Protocol):
    """Writes the sentences that the model left out. Must not raise."""

    def compose(
        self,
        reason: StopReason,
        tool_results: ToolResults,
        error: AgentError | None,
    ) -> str:
        """Return a sentence on how the turn ended and, from the results of all calls that ran, what was done.

        It must not be empty.
        """

    async def undone(
        self,
        tool_results: ToolResults,
        answer: str,
    ) -> str:
        """Return a sentence on changes that calls attempted and that failed; empty if none did.

        It follows the model's own `answer`, which may say otherwise. Beside a question
        of the model it is empty.
        """

    def announces(self, answer: str) -> bool:
        """Return whether an answer ends with what the model is about to do, such as "Let me check the weather"."""


@dataclass(frozen=True, slots=True)
class Deny:
    """A denial by a hook. The reason is told to the model or, for a prompt, to the person."""

    reason: str
    is_final: bool = True
    """Whether the same call is not judged again in the turn."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A hook's request for approval."""

    reason: str
    """A sentence for the person; empty to use the default question."""
    terms: str = ""
    """The exact terms of the approval, in any form: they are only compared. An approval holds while the terms stay the
    same.
    """


@dataclass(frozen=True, slots=True)
class Rewrite[T]:
    """A value with which a hook replaces the one it was shown."""

    value: T


class HookPoint(StrEnum):
    """The points of a turn at which hooks run; the values are the method names of `Hooks`."""

    USER_PROMPT_SUBMIT = "user_prompt_submit"
    PRE_TOOL_USE = "pre_tool_use"
    POST_TOOL_USE = "post_tool_use"
    PRE_SPEECH = "pre_speech"


class Hooks(Protocol):
    """Decisions of the owner between the model and the home. None means no opinion.

    Subclass it and override what is needed. Hooks run in order and the first `Deny`
    wins; after a `Rewrite`, later hooks see the new value. An `Ask` does not end the
    chain: later hooks see the call too, and all questions are merged into one. A hook
    fails if it raises, exceeds the tool timeout or returns something other than a
    decision; a failure denies unless the hook declares otherwise.
    """

    def denies_on_failure(self, point: HookPoint) -> bool:
        """Return whether a failure at this point denies; otherwise it counts as no opinion."""
        return True

    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        """See the user's words, once a turn; not called for a continuation, which has none."""
        return None

    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        """See a call before it runs.

        A hook that returns `Ask` sees the call again if a later hook rewrites it, and
        its second decision counts: an `Ask` about the final arguments, None, or a
        `Deny`. A second `Rewrite` refuses the call, since it would overrule the later
        hook.
        """
        return None

    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        """See an approved call right before it runs; `pre_tool_use` saw it before the question.

        An `Ask` whose terms were part of the question, or that has no terms, lets the
        call run; any other asks again. A failure counts as one of
        `HookPoint.PRE_TOOL_USE`.
        """
        return None

    async def post_tool_use(
        self, call: ToolCall, result: ToolResult
    ) -> Deny | Rewrite[str] | None:
        """See a result before the model does. `Deny` hides it, the native result included; the tool has already run.

        Hooks after a `Deny` see the resulting text and cannot change it.
        """
        return None

    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        """See a whole message of the model before any of it is spoken. Disables streaming of speech."""
        return None
