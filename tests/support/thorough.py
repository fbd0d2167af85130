"""Cases and examples of which the quick run takes a few: all are run each night."""

from collections.abc import Iterable
from typing import Final

import pytest
from hypothesis import settings

SOME_LANGUAGES: Final = frozenset({"en", "de", "zh-Hans", "zh"})
"""The first language, one with compounds and divided verbs, and one without spaces."""


def some(cases: Iterable[str], quick: Iterable[str] = SOME_LANGUAGES) -> list[object]:
    """Return the parameters of a test, of which all but some are marked as thorough."""
    some_cases = frozenset(quick)
    return [
        case if case in some_cases else pytest.param(case, marks=pytest.mark.thorough)
        for case in cases
    ]


def some_examples(number: int) -> int:
    """Return how many of the examples of a property are tried: a share in the quick run, as of others."""
    thorough = settings.get_profile("thorough").max_examples
    return -(-number * settings().max_examples // thorough)
