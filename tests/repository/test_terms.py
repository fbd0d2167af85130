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
    return [
        (place.line, place.term.retired)
        for place in TERMS["in_python"](Path("module.py"), source)
    ]


def test_identifiers_docstrings_and_comments_are_read_and_strings_are_not() -> None:
    assert sorted(found(SOURCE)) == [
        (4, "tally"),
        (4, "tally"),
        (5, "house"),
        (5, "tally"),
        (7, "deed"),
        (8, "deed"),
    ]


@pytest.mark.parametrize(
    "identifier", ["TurnInput", "turn_input", "demo_house", "something", "as_told"]
)
def test_standard_terms_are_left_alone(identifier: str) -> None:
    assert found(f"{identifier} = 1") == []


NAMES = '''
"""What a name is given to."""

class Page:
    """Who reads it."""

    shown: str

    def read(self, asked: str) -> None:
        """Read what is told."""
        self._kept = [said for said in asked] + [self.shown, print(end=asked)]

    def told(self) -> None:
        """Let others have their turn, at a wish of the model; the same of an addition."""
'''


def test_participles_are_no_names_and_count_where_a_name_is_given() -> None:
    assert sorted(found(NAMES)) == [
        (2, "What, Who"),
        (5, "What, Who"),
        (7, "shown"),
        (9, "asked"),
        (11, "kept"),
        (11, "said"),
        (13, "told"),
        (14, "others their turn"),
        (14, "the same of"),
        (14, "wish of a model"),
    ]
