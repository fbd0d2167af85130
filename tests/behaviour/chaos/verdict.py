"""Invariants after every turn, whatever the services did.

Knows what a person hears and what Home Assistant keeps. Must not know what was planned,
so that nothing is excused.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from homeassistant.components.conversation import (
    AssistantContent,
    Content,
    ToolResultContent,
)

from tests.agent.providers.contract.dialect import KEY
from tests.behaviour.chaos.home import Run

GRACE: Final = 0.1
"""Seconds by which a turn may miss its deadline: some passes of the event loop."""
_NOT_FOR_EARS: Final = re.compile(
    r"\*\*|```|</?think(?!\ufffd)|</?tool_call|\[TOOL_CALLS]|python_tag|<function=|<\|channel\|>|https?://|^#|\|---"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a turn."""

    speech: str | None
    """None where the person broke in."""
    streamed: str
    """The text that was heard while it streamed."""
    overrun: float
    """Seconds past the deadline, or past the moment in which the person broke in."""
    runs: Sequence[Run]
    contents: Sequence[Content]
    """Of the whole conversation."""
    errors: Sequence[str]
    """The errors in the log."""
    may_ask: bool
    """A call needed a yes. It stands between others: off and on again may be meant, although it did not run."""


def complaints(outcome: Outcome, *, is_voice: bool) -> Iterator[str]:
    """Yield what does not hold, in words; nothing when all is well."""
    if outcome.speech is not None:
        yield from _about_speech(outcome.speech, outcome.streamed, is_voice=is_voice)
    if outcome.overrun > GRACE:
        yield f"it ended {outcome.overrun:.2f} s too late"
    for run in () if outcome.may_ask else _repeated(outcome.runs):
        yield f"{run.name} ran twice with {run.arguments}"
    if orphans := _orphans(outcome.contents):
        yield f"calls and results of the ChatLog do not match: {orphans}"
    for error in outcome.errors:
        yield f"an error was logged: {error}"


def _about_speech(speech: str, streamed: str, *, is_voice: bool) -> Iterator[str]:
    for name, text in (("the answer", speech), ("what streamed", streamed)):
        if not (any(map(str.isalnum, text)) if is_voice else text.strip()):
            yield f"{name} has no words: {text[:100]!r}"
        if is_voice and (found := _NOT_FOR_EARS.search(text)):
            yield f"{name} has {found[0]!r} in it: {text[max(found.start() - 50, 0) :][:150]!r}"
        if KEY in text:
            yield f"{name} tells the key"


def _repeated(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield runs that repeat another, nothing having changed since: off, on and off again is meant.

    To look twice does no harm, and may be meant where what stood between was in vain.
    """
    seen: set[Run] = set()
    for run in runs:
        if run.changes and run in seen:
            yield run
        if run.changes:
            seen = {other for other in seen if other == run}
        seen.add(run)


def _orphans(contents: Sequence[Content]) -> str:
    """Return what does not belong together; nothing when every call is followed by its one result."""
    waiting: list[str] = []
    for content in contents:
        match content:
            case ToolResultContent(tool_call_id=call_id) if call_id in waiting:
                waiting.remove(call_id)
            case ToolResultContent(tool_call_id=call_id):
                return f"result {call_id} without a call"
            case _ if waiting:
                return f"{waiting} have no result"
            case AssistantContent(tool_calls=[*calls]):
                waiting = [call.id for call in calls]
            case _:
                pass
    return f"{waiting} have no result" if waiting else ""
