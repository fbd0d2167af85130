"""What stands in place of the part of a conversation that is no longer sent.

A summary that somebody wrote, and what was asked and done since, listed from the transcript alone.
Knows messages; must not know where a window begins, or who writes summaries.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from ..messages import AssistantMessage, Summary, ToolCall, ToolResult, Transcript, UserMessage
from ..text import ELLIPSIS, clipped
from .token_estimate import TokenEstimate

_HEADING: Final = "[Earlier in this conversation, in short:\n"
_END: Final = "\n]"
_ASKED_LENGTH: Final = 120
_ARGUMENTS_LENGTH: Final = 80


def recap(summary: Summary | None, since: Transcript, tokens: int, estimate: TokenEstimate) -> str:
    """Return what a model reads in place of what `summary` stands for, and of the messages `since`.

    Takes `tokens` at most, each of the two half of them at most. Of what was asked and done the newest stays; empty
    when there is nothing to tell, or no room to tell it.
    """
    room = (tokens - estimate.of_text(f"{_HEADING}{_END}\n\n")) // 2
    parts = [_within(summary.text, room, estimate)] if summary else []
    parts += _newest(asked_and_done(since), room, estimate)
    text = "\n".join(filter(None, parts))
    return f"{_HEADING}{text}{_END}" if text else ""


def asked_and_done(messages: Transcript) -> Iterator[str]:
    """Yield what was asked and what was done, a line a turn, newest first: “words” → tool {arguments}.

    What was done is told from receipts: calls that ran and succeeded. The words are the person's, the rest are names
    and signs, so that the list is at home in every language.
    """
    return filter(None, map(_line, turns_backwards(messages)))


def turns_backwards(messages: Transcript) -> Iterator[Transcript]:
    """Yield the turns, newest first: a user message up to the next one, and what stands before the first, if any."""
    end = len(messages)
    for index in reversed(range(end)):
        if index == 0 or isinstance(messages[index], UserMessage):
            yield messages[index:end]
            end = index


def _line(turn: Transcript) -> str:
    asked, done = "", list[str]()
    calls: dict[str, ToolCall] = {}
    for message in turn:
        match message:
            case UserMessage():
                asked = clipped(message.text, _ASKED_LENGTH)
            case AssistantMessage():
                calls |= {call.id: call for call in message.tool_calls}
            case ToolResult(is_error=False, synthetic=False):
                call = calls[message.call_id]
                done.append(f"{call.name} {clipped(call.arguments, _ARGUMENTS_LENGTH)}")
            case _:
                pass
    return " → ".join(filter(None, (asked and f"“{asked}”", "; ".join(done))))


def _within(text: str, tokens: int, estimate: TokenEstimate) -> str:
    """Return as much of the beginning of a text as `tokens` allow."""
    length = len(text)
    while length and estimate.of_text(_cut(text, length)) > tokens:
        length = length * 9 // 10
    return _cut(text, length)


def _cut(text: str, length: int) -> str:
    return text if length == len(text) else text[:length] + (ELLIPSIS if length else "")


def _newest(lines: Iterable[str], tokens: int, estimate: TokenEstimate) -> list[str]:
    """Return as many of the lines, which come newest first, as `tokens` allow, oldest first."""
    kept: list[str] = []
    for line in lines:
        tokens -= estimate.of_text(f"{line}\n")
        if tokens < 0:
            break
        kept.append(line)
    return kept[::-1]
