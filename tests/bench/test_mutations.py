"""The mutation run breaks lines of all its areas, each in one place, and knows which tests have to notice."""

import ast
from pathlib import Path

import pytest

from bench.mutations import AREAS, mutants, picked

SOURCE = '''
LIMIT: int = 3

def is_open(door: Door, logger: Logger) -> bool:
    """Return whether it is open."""
    LOGGER.info("looked")
    count: int = 0
    if door.state == "open" and not door.is_broken:
        door.look()
        return door.looked > 1
    return False
'''


def test_every_kind_of_line_is_broken_in_its_own_way() -> None:
    area = AREAS["effects"]
    made = {
        mutant.source.splitlines()[mutant.line - 1].strip()
        for mutant in mutants(area, Path("door.py"), SOURCE)
    }
    assert made == {
        "if (door.state == 'open' or not door.is_broken):",
        "if (door.state != 'open') and not door.is_broken:",
        'if door.state == "open" and (door.is_broken):',
        "pass",
        "return None",
        "return (door.looked >= 1)",
        "return door.looked > (2)",
        "return (True)",
    }


@pytest.mark.parametrize("name", AREAS)
def test_an_area_has_modules_and_tests(name: str) -> None:
    chosen = picked([name], 3, 1)
    assert len({(mutant.path, mutant.line) for mutant in chosen}) == 3
    for mutant in chosen:
        assert any(mutant.tests())
        ast.parse(mutant.source)


def test_the_same_seed_picks_the_same_lines() -> None:
    assert picked(["effects"], 2, 5) == picked(["effects"], 2, 5)
