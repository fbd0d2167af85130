"""Asks a server how much its model can read at once: once, in the background, after the model has answered.

By then it is loaded, and servers that load models as they are asked for know it too. Nobody waits for the answer. Knows
who can be asked, and who owns the task; must not know how a server says it.
"""

from collections.abc import Callable, Coroutine
from typing import Final

from ..errors import ProviderError
from ..timeouts import TookTooLong, WorkCancelled, finish_within
from .context_window import ContextWindow

_SECONDS: Final = 20.0
_TRIES: Final = 3
"""Answers after which a server that failed to tell is asked again."""

type Ask = Callable[[], Coroutine[object, object, int | None]]
"""Returns the tokens of the window, None where the server does not say; raises a `ProviderError`."""
type InBackground = Callable[[Coroutine[object, object, None]], object]
"""Runs work for as long as whoever it belongs to is there."""


class WindowQuestion:
    """The question for one `ContextWindow`."""

    def __init__(self, window: ContextWindow, ask: Ask, in_background: InBackground) -> None:
        """Ask nothing yet."""
        self._window = window
        self._ask = ask
        self._in_background = in_background
        self._tries = 0 if window.is_chosen else _TRIES
        self._is_open = False

    def put(self) -> None:
        """Ask, unless somebody knows, or is asking."""
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
            self._window.told(tokens)
