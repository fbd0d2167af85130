"""Each statement of `tests/responses/README.md` has its test, or a reason there why it has none."""

import re
from pathlib import Path

import pytest

import custom_components

_REPOSITORY = Path(custom_components.__file__).parents[1]
_PAGE = (_REPOSITORY / "tests" / "responses" / "README.md").read_text(encoding="utf-8")
_HELD = {
    int(number): by
    for number, by in re.findall(r"^\| (\d+) \| .+? \| (.+?) \|$", _PAGE, re.MULTILINE)
}
_NAMED = re.compile(r"Invariants? (\d+(?:(?:,| and) \d+)*)")
_INVARIANTS = 72


def _named_in(file: Path) -> set[int]:
    """Return the numbers that the tests of a file say they hold."""
    numbers = _NAMED.findall(file.read_text(encoding="utf-8"))
    return {
        int(number) for several in numbers for number in re.findall(r"\d+", several)
    }


@pytest.mark.parametrize("number", range(1, _INVARIANTS + 1))
def test_an_invariant_is_held_by_the_tests_that_the_page_names(number: int) -> None:
    files = re.findall(r"`(tests/[\w/]+\.py)`", _HELD[number])
    assert files or _HELD[number].startswith("does not apply: "), (
        "say which test, or why there is none"
    )
    assert [file for file in files if number not in _named_in(_REPOSITORY / file)] == []


def test_there_are_no_other_invariants() -> None:
    assert sorted(_HELD) == [*range(1, _INVARIANTS + 1)]
