"""The parameters of an address, as they were written, read as what they stand for."""

from collections.abc import Mapping
from typing import Final

from .errors import invalid

_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False, "": False}
_MOST_DIGITS: Final = 9


class Query:
    """Reads parameters. Every method raises `ApiError` (400) for what it cannot read."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        """Take them as they were written."""
        self._parameters = parameters

    def flag(self, name: str) -> bool:
        """Return whether something is wanted; not, if it is not said."""
        if (value := _FLAGS.get(self._parameters.get(name, "").lower())) is None:
            raise invalid(f"{name} must be true or false.", name)
        return value

    def number(self, name: str) -> int | None:
        """Return a number from 0; None if it is not said."""
        if not (text := self._parameters.get(name, "")):
            return None
        if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
            raise invalid(f"{name} must be a whole number from 0.", name)
        return int(text)
