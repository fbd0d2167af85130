"""`script/terms.py` finds retired terms where people read them, and nothing else."""

import runpy
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TERMS = runpy.run_path(str(REPOSITORY / "script" / "terms.py"))

SOURCE = '''
"""Settles a call."""

class TallyKeeper:  # counts the tallies
    """It keeps the Tally of a house."""

    def add(self, deed: object = "a tally is no name") -> None:
        self.demo_house = deed
'''


def found(source: str) -> list[tuple[int, str]]:
    """Return the lines and retired terms of a module."""
    return [(place.line, place.term.retired) for place in TERMS["in_python"](Path("module.py"), source)]


def test_identifiers_docstrings_and_comments_are_read_and_strings_are_not() -> None:
    assert sorted(found(SOURCE)) == [(4, "tally"), (4, "tally"), (5, "house"), (5, "tally"), (7, "deed"), (8, "deed")]


@pytest.mark.parametrize("identifier", ["TurnInput", "turn_input", "demo_house", "something", "told"])
def test_standard_terms_are_left_alone(identifier: str) -> None:
    assert found(f"{identifier} = 1") == []
