"""Gives the chaos test as much time as the turns need that were asked for."""

from pathlib import Path
from typing import Final

import pytest

_SECONDS_OF_A_TURN: Final = 0.03
"""Ten times what it takes."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the bound of the tests in this folder."""
    bound = 300 + config.getoption("--chaos-turns") * _SECONDS_OF_A_TURN
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(bound))
