"""Gives the chaos test as much time as the turns need that were asked for."""

from typing import Final

import pytest

_SECONDS_OF_A_TURN: Final = 0.03
"""Ten times what it takes."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Set the bound of a test in this folder."""
    item.add_marker(
        pytest.mark.timeout(
            300 + item.config.getoption("--chaos-turns") * _SECONDS_OF_A_TURN
        )
    )
