"""Tests are found by the name of the module that they test."""

from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
PRODUCT: Final = TESTS.parent / "custom_components" / "chatterbox"
_BY_TOPIC: Final = frozenset(
    {"behaviour", "bench", "demo_house", "fixtures", "repository", "support"}
)
_CONTRACT: Final = Path("agent", "providers", "contract")
"""The rules that all providers keep."""


def _mirrors(test: Path) -> bool:
    """Return whether a test is `test_<module>.py`, or lies in a folder with the name of a module."""
    named = test.parent / test.stem.removeprefix("test_")
    modules = [
        test.parent,
        named if named.name != "init" else named.with_name("__init__"),
    ]
    return any((PRODUCT / module).with_suffix(".py").is_file() for module in modules)


def test_each_test_has_the_name_of_its_module() -> None:
    tests = [test.relative_to(TESTS) for test in TESTS.rglob("test_*.py")]
    astray = [
        str(test)
        for test in sorted(tests)
        if test.parts[0] not in _BY_TOPIC
        and not test.is_relative_to(_CONTRACT)
        and not _mirrors(test)
    ]
    assert astray == []
