"""The context window of one model: configured, reported by its server, or guessed.

A configured value wins over a reported one, and that over a guess. A prompt that the server rejects as too long lowers
all three.
"""

from collections.abc import Callable, Coroutine
from typing import Final

from ..errors import ProviderError
from ..timeouts import TookTooLong, WorkCancelled, finish_within

DEFAULT_WINDOW: Final = 32_768
"""Tokens assumed where nothing is known; most current models read more."""
LEAST_WINDOW: Final = 1_024
"""Tokens that any model with tool calls can read."""

_SECONDS: Final = 20.0
_TRIES: Final = 3
"""Times that a server is asked before a failure is final."""

type Ask = Callable[[], Coroutine[object, object, int | None]]
"""Returns the tokens of the window, None where the server does not say; raises a `ProviderError`."""
type InBackground = Callable[[Coroutine[object, object, None]], object]
"""Runs a coroutine in the background of its config entry."""


class ContextWindow:
    """The context window of one model, in tokens, the answer included."""

    def __init__(self, chosen: int | None = None, guess: int = DEFAULT_WINDOW) -> None:
        """Start with the configured value, if any, and with a guess."""
        self._chosen = chosen
        self._reported: int | None = None
        self._guess = guess
        self._limit: int | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether the window is configured, so that no server has to be asked."""
        return self._chosen is not None

    @property
    def is_known(self) -> bool:
        """Whether it is more than a guess."""
        return (self._chosen or self._reported or self._limit) is not None

    @property
    def tokens(self) -> int:
        """The best known value."""
        believed = self._chosen or self._reported or self._guess
        return max(LEAST_WINDOW, believed if self._limit is None else min(believed, self._limit))

    def reported(self, tokens: int) -> None:
        """Take the value that the server reports."""
        self._reported = tokens

    def refused(self, tokens: int) -> None:
        """Lower the window to `tokens`, because the server rejected a longer prompt."""
        self._limit = tokens if self._limit is None else min(self._limit, tokens)


class WindowQuestion:
    """Asks the server for a `ContextWindow` in the background, once the model has answered.

    By then the model is loaded, which some servers need to know its window.
    """

    def __init__(self, window: ContextWindow, ask: Ask, in_background: InBackground) -> None:
        """Ask nothing yet."""
        self._window = window
        self._ask = ask
        self._in_background = in_background
        self._tries = 0 if window.is_chosen else _TRIES
        self._is_open = False

    def put(self) -> None:
        """Ask, unless the window is known or is being asked for."""
        if self._tries and not self._is_open:
            self._tries -= 1
            self._is_open = True
            self._in_background(self._put())

    async def _put(self) -> None:
        try:
            tokens = await finish_within(_SECONDS, self._ask(), "question for the context window")
        except ProviderError, TookTooLong, WorkCancelled:
            return
        finally:
            self._is_open = False
        self._tries = 0
        if tokens is not None:
            self._window.reported(tokens)
