"""Holds an answer against what was really done.

A model now and then says "I've turned on the light" and has called no tool. Whether an answer
claims that something was done in this turn is told by its words alone, without a model; whether
the claim has a receipt is told by the recorded results. Precision before recall: a claim that is
missed leaves things as they are, a false alarm costs a person time. `docs/receipts.md` tells how
well it works. Knows words and results; must not know what becomes of an answer without a receipt.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from ..messages import Message, ToolDefinition, ToolResult, UserMessage
from ..text import base_language
from . import GRAMMARS
from .grammar import patterns_of
from .statements import statements

DEFAULT_LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv", "zh"})
"""Languages whose measured precision is good enough to check answers unasked."""


def claims_action(text: str, language: str) -> bool:
    """Tell whether an answer claims that an action was done, or is under way, in this turn.

    `language` is a tag such as `de` or `pt-BR`. A report of a state ("The light is on."), an offer,
    a question, a refusal, a condition and a tale of earlier are no claims; nor is any text in a
    language that is not known here.
    """
    grammar = GRAMMARS.get(base_language(language))
    if grammar is None:
        return False
    patterns = patterns_of(grammar)
    return any(
        patterns.claim.search(statement) and not patterns.veto.search(statement)
        for statement in statements(text, patterns)
    )


def has_receipt(transcript: Sequence[Message], tools: Iterable[ToolDefinition]) -> bool:
    """Tell whether a tool has done something of which the next answer may speak.

    `transcript` ends with the present turn. What counts is a success of a tool that is not known to only read. A turn
    in which nothing was to be changed may speak of what the one before it did: "Did you turn on the light?"
    """
    reading = {tool.name for tool in tools if tool.annotations.read_only}
    for results in islice(_results_by_turn(transcript), 2):
        if changing := [result for result in results if result.name not in reading]:
            return any(not (result.is_error or result.synthetic) for result in changing)
    return False


def _results_by_turn(transcript: Sequence[Message]) -> Iterator[list[ToolResult]]:
    """Yield the results of each turn, from the last turn to the first."""
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
