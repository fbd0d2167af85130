"""Images from servers of OpenAI's Images API."""

import asyncio
from typing import Final, override

import aiohttp

from ..messages import Picture
from ..wire.openai_images import parse_answer, request_to_payload
from .failures import error_of_exception
from .refused_parameters import RefusedParameters
from .service_client import Access, ServiceClient, TimeLimits

_REQUIRED: Final = frozenset({"model", "prompt"})
"""Fields without which a request would mean something else."""
_MAX_BYTES: Final = 48 * 1024 * 1024
"""Of an answer: an image of 4096 by 4096 pixels in base64."""


class OpenAIImageProvider:
    """One model of one server."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        model: str,
        api_key: str | None,
        seconds: float,
    ) -> None:
        """Open nothing yet; `session` is the caller's and stays open. An image may take `seconds`."""
        limits = TimeLimits(between_bytes=seconds)
        access = Access(base_url, api_key or "")
        self._model = model
        self._seconds = seconds
        self._client = ServiceClient(
            session, access, RefusedParameters(model, _REQUIRED), limits
        )

    @override
    def __repr__(self) -> str:
        """Name the model, but neither key nor address."""
        return f"{type(self).__name__}(model={self._model!r})"

    async def draw(self, prompt: str) -> Picture:
        """Generate one image from a prompt. Raises a `ProviderError`; closes its connection when it is cancelled."""
        try:
            async with asyncio.timeout(self._seconds):
                text = await self._client.open_text(
                    "images/generations",
                    request_to_payload(prompt, self._model),
                    _MAX_BYTES,
                )
        except TimeoutError as err:
            raise error_of_exception(err) from err
        return await asyncio.to_thread(parse_answer, text)  # millions of characters
