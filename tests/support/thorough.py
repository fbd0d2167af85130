"""Cases of which the quick run takes a few, where data decides the rest: all are run each night."""

from collections.abc import Iterable
from typing import Final

import pytest

SOME_LANGUAGES: Final = frozenset({"en", "de", "zh-Hans", "zh"})
"""The first language, one with compounds and divided verbs, and one without spaces."""


def some(cases: Iterable[str], quick: Iterable[str] = SOME_LANGUAGES) -> list[object]:
    """Return the parameters of a test, of which all but some are marked as thorough."""
    some_cases = frozenset(quick)
    return [
        case if case in some_cases else pytest.param(case, marks=pytest.mark.thorough)
        for case in cases
    ]
