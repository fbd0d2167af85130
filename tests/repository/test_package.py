"""The package has the names for users of the library at its top, and imports their modules on first use."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import custom_components.chatterbox.agent as package

_STUB = ast.parse(
    Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
)
_NAMES = [
    alias.asname
    for node in _STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
]


@pytest.mark.parametrize("name", _NAMES)
def test_a_name_of_the_stub_is_there(name: str) -> None:
    assert getattr(package, name).__name__ == name


def test_the_stub_has_every_name() -> None:
    assert dir(package) == sorted(map(str, _NAMES))


def test_another_name_is_an_error_that_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Sessions'"):
        _ = package.Sessions  # type: ignore[attr-defined]  # the point of the test


def test_nothing_is_imported_before_it_is_used() -> None:
    source = (
        "import custom_components.chatterbox.agent as one, sys;"
        "sys.exit('aiohttp' in sys.modules or 'pydantic' in sys.modules)"
    )
    stub = "import sys, types; sys.modules['custom_components.chatterbox'] = parent = types.ModuleType('parent');"
    stub += f"parent.__path__ = [{str(Path(str(package.__file__)).parents[1])!r}];"
    assert (
        subprocess.run([sys.executable, "-c", stub + source], check=False).returncode
        == 0
    )
