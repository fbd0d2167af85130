"""What is known of how much one model can read at once, from whoever told it.

A person's word comes first, then the server's, then a guess; a prompt that the server has refused proves that it is
less. Knows numbers only; must not know how a server is asked.
"""

from typing import Final

DEFAULT_WINDOW: Final = 32_768
"""Tokens that a model is taken to read where nobody has said anything: most of today's read more."""
LEAST_WINDOW: Final = 1_024
"""Tokens that every model can read that talks with tools."""


class ContextWindow:
    """The context window of one model, in tokens, the answer included."""

    def __init__(self, chosen: int | None = None, guess: int = DEFAULT_WINDOW) -> None:
        """Begin with what a person has `chosen`, if anything, and with a `guess`."""
        self._chosen = chosen
        self._told: int | None = None
        self._guess = guess
        self._limit: int | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether a person has said it, so that no server needs to be asked."""
        return self._chosen is not None

    @property
    def is_known(self) -> bool:
        """Whether it is more than a guess."""
        return (self._chosen or self._told or self._limit) is not None

    @property
    def tokens(self) -> int:
        """How many tokens the model is taken to read."""
        believed = self._chosen or self._told or self._guess
        return max(LEAST_WINDOW, believed if self._limit is None else min(believed, self._limit))

    def told(self, tokens: int) -> None:
        """Believe the server that it is so many."""
        self._told = tokens

    def refused(self, tokens: int) -> None:
        """Take note that the server does not read more than `tokens`, whatever anybody says."""
        self._limit = tokens if self._limit is None else min(self._limit, tokens)
