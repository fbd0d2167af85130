"""Decides whether an answer reports an action, and whether a tool result confirms it.

Precision counts before recall: a report that is missed leaves things as they are, a false alarm costs a person time.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from ..messages import Message, ToolDefinition, ToolResult, UserMessage
from ..text import base_language
from .grammar import language_patterns
from .statements import statements

CHECKED_LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv", "zh"})
"""Languages whose measured precision is good enough to check answers by default."""


def reports_action(text: str, language: str) -> bool:
    """Return True if an answer reports that an action was done, or is under way, in this turn.

    `language` is a tag such as `de` or `pt-BR`. The report of a state ("The light is on.") or of an earlier action does
    not count, nor does an offer, a question, a refusal, a condition, or any text in a language without a file.
    """
    patterns = language_patterns(base_language(language))
    return patterns is not None and any(
        patterns.report.search(statement) and not patterns.veto.search(statement)
        for statement in statements(text, patterns)
    )


def changed_something(transcript: Sequence[Message], tools: Iterable[ToolDefinition]) -> bool:
    """Return True if the next answer may report an action: a tool that is not read-only has succeeded.

    `transcript` ends with the current turn. If no tool of the current turn was to change anything, the results of the
    previous turn count, so that "Did you turn on the light?" can be answered.
    """
    read_only = {tool.name for tool in tools if tool.annotations.read_only}
    for results in islice(_results_by_turn(transcript), 2):
        if changing := [result for result in results if result.name not in read_only]:
            return any(not (result.is_error or result.synthetic) for result in changing)
    return False


def _results_by_turn(transcript: Sequence[Message]) -> Iterator[list[ToolResult]]:
    """Yield the tool results of each turn, the last turn first."""
    results: list[ToolResult] = []
    for message in reversed(transcript):
        match message:
            case ToolResult():
                results.append(message)
            case UserMessage():
                yield results
                results = []
            case _:
                pass
    yield results
