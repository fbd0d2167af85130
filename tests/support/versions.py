"""The differences between the versions of Home Assistant that are supported."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.const import MAJOR_VERSION, MINOR_VERSION

IS_LATEST: Final = (MAJOR_VERSION, MINOR_VERSION) >= (2026, 11)
"""A conversation is owned by its first user, and has one turn at a time."""
OF_NOBODY: Final[Mapping[str, Any]] = {"context": None} if IS_LATEST else {}
"""Options of `async_get_chat_session` for a conversation that belongs to no user."""
