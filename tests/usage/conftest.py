"""Enables the sensors that Home Assistant registers as disabled."""

from collections.abc import Iterator
from unittest.mock import PropertyMock, patch

import pytest
from homeassistant.helpers.entity import Entity


@pytest.fixture
def entity_registry_enabled_by_default() -> Iterator[None]:
    """Enable every entity, as the fixture of this name in Home Assistant's own tests does."""
    with patch.object(
        Entity,
        "entity_registry_enabled_default",
        new_callable=PropertyMock,
        return_value=True,
    ):
        yield
