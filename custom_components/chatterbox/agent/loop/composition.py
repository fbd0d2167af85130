"""Plain English words for turns that leave none, for use without Home Assistant."""

from collections.abc import Sequence
from typing import Final

from ..errors import AgentError
from ..events import StopReason
from ..messages import ToolResult

_ENDINGS: Final[dict[StopReason, str]] = {
    StopReason.COMPLETED: "I don't have an answer to that.",
    StopReason.MAX_ITERATIONS: "I ran out of steps before I was finished.",
    StopReason.MAX_TOOL_CALLS: "I ran out of tool calls before I was finished.",
    StopReason.DEADLINE: "I ran out of time before I was finished.",
    StopReason.LENGTH: "My answer became too long.",
    StopReason.CONTENT_FILTER: "My answer was held back by a content filter.",
    StopReason.UNKNOWN_FINISH: "My answer ended in a way that I do not understand.",
    StopReason.UNVERIFIED_ACTION: "As far as I can tell, that was not done.",
    StopReason.OUTPUT_UNFIT: "My answer does not have the form that was asked for.",
    StopReason.APPROVAL_REQUIRED: "That needs a yes first.",
    StopReason.CLIENT_TOOLS: "That is yours to do.",
    StopReason.PROVIDER_FAILED: "The model could not be reached.",
    StopReason.PROMPT_DENIED: "I'm not allowed to do that.",
}


class PlainComposer:
    """The `ResponseComposer` of plain Python: English, and tools by their names."""

    def compose(
        self,
        reason: StopReason,
        tool_results: Sequence[ToolResult],
        error: AgentError | None,
    ) -> str:
        """Name the tools that succeeded, then say how the turn ended."""
        done = ", ".join(dict.fromkeys(result.name for result in tool_results))
        if done and reason is StopReason.COMPLETED:
            return f"Done: {done}."
        ending = _ENDINGS[reason]
        if error is not None:
            ending = f"{ending} ({error})"
        return f"Done: {done}. {ending}" if done else ending
