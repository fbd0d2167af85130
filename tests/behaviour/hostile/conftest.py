"""The home that every attack is made on."""

from collections.abc import Generator

import pytest
from homeassistant.components.conversation.trace import async_clear_traces
from homeassistant.core import HomeAssistant

from tests.behaviour.hostile.home import AttackedHome
from tests.support.talk import Serve
from tests.support.versions import IS_LATEST

collect_ignore = [] if IS_LATEST else ["test_administrators_tools.py"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave no attack of this folder to the thorough run."""
    item.add_marker(pytest.mark.each_row)


@pytest.fixture
def home(
    request: pytest.FixtureRequest,
    hass: HomeAssistant,
    whole_home: None,  # noqa: ARG001  # of which `serve` is told
    serve: Serve,
) -> Generator[AttackedHome]:
    """Return the home; the model begins to talk when it is taken over."""
    request.getfixturevalue("socket_enabled")
    yield AttackedHome(
        hass, serve, is_unguarded=bool(request.config.getoption("--unguarded"))
    )
    # they outlive a test, and what was said in this one is no other's business
    async_clear_traces()
