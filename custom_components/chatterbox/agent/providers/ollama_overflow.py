"""By how much a prompt does not fit a model of Ollama's: the numbers that the server does not tell.

Knows what a request holds and whom to ask for the window; must not know how a reply is read, or what is done about it.
"""

import asyncio
import logging
from typing import Final

from ..errors import PromptTooLong, ProviderError
from ..events import CompletionResult
from ..messages import JsonObject, canonical_json
from ..wire.ollama_chat_schema import parse_running_window
from .http_stream import ModelService

_LOGGER = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN: Final = 4
"""About so many, where the server does not count."""
_FOR_WINDOW: Final = 2.0
"""Seconds to wait for the size of the window: nobody has heard a word yet."""


class OverflowNotes:
    """What is known of the last prompt of one model that did not fit."""

    def __init__(self, model: str, service: ModelService) -> None:
        """Know of none yet."""
        self.last: PromptTooLong | None = None
        """With its numbers, as far as they can be found; None once a prompt fits."""
        self._model = model
        self._service = service

    async def note(self, payload: JsonObject, error: PromptTooLong | None) -> None:
        """Keep by how much a prompt does not fit, with the numbers that the server does not tell."""
        if error is None:
            self.last = None
            return
        numbered = await self.numbered(payload, error)
        if self.last is None:
            room = numbered.window_tokens or "an unknown number of"
            prompt = numbered.prompt_tokens
            _LOGGER.warning("A prompt of about %d tokens does not fit %s, which reads %s", prompt, self._model, room)
        self.last = numbered

    async def numbered(self, payload: JsonObject, error: PromptTooLong) -> PromptTooLong:
        """Return an error with the numbers that the server has left out, as far as they can be found."""
        window = error.window_tokens or num_ctx_of(payload)
        if window is None:
            window = await self._ask_window() if self.last is None else self.last.window_tokens
        prompt = error.prompt_tokens or max(_about_tokens(payload), (window or 0) + 1)
        return PromptTooLong(str(error), prompt, window)

    async def _ask_window(self) -> int | None:
        """Return the tokens of context that the model is loaded with, None where the server does not say."""
        try:
            async with asyncio.timeout(_FOR_WINDOW):
                running = await self._service.get_text("api/ps", "list of running models")
            return parse_running_window(running, self._model)
        except ProviderError, TimeoutError:
            return None


def num_ctx_of(payload: JsonObject) -> int | None:
    """Return the tokens of context that a request wishes the model to be loaded with."""
    match payload.get("options"):
        case {"num_ctx": int(num_ctx)}:
            return num_ctx
        case _:
            return None


def cut_by(payload: JsonObject, result: CompletionResult) -> PromptTooLong | None:
    """Tell whether a server that does not know the request not to cut has filled the whole window with the prompt."""
    window, count = num_ctx_of(payload), result.usage.input_tokens
    return PromptTooLong("the server has cut the prompt") if window and count >= window else None


def _about_tokens(payload: JsonObject) -> int:
    """Estimate the length of a prompt, without its pictures."""
    match payload.get("messages"):
        case list(messages):
            said = [{**message, "images": None} for message in messages if isinstance(message, dict)]
            return len(canonical_json([payload.get("tools"), *said])) // _CHARACTERS_PER_TOKEN
        case _:
            return 0
