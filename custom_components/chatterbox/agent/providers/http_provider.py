"""What the providers of all wire formats over HTTP have in common: one model, tried out, read ahead, and its window.

Knows the shape of such a provider. Must not know any wire format or path: each provider says its own.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import ClassVar, override

from ..errors import PromptTooLong, ProviderReplyInvalid
from ..events import ProviderEvent
from ..messages import JsonObject, UserMessage
from ..protocols import CompletionRequest
from ..wire.context_windows import parse_context_window
from .http_stream import ModelService
from .options import ModelOptions, with_answer_options
from .profiles import ServerProfile


class HTTPProvider(ABC):
    """One model of one server. Safe to use for several turns at the same time."""

    _PATH: ClassVar[str]
    """Where an answer is asked for."""
    _FREE_PATH: ClassVar[str] = "models"
    """Where a question costs nothing."""

    def __init__(self, model: str, options: ModelOptions, profile: ServerProfile, service: ModelService) -> None:
        """Ask `model` of `service`; the `profile` tells what is special about the server."""
        self._model = model
        self._options = options
        self._profile = profile
        self._service = service

    @override
    def __repr__(self) -> str:
        """Name the model, and neither key nor address: addresses may hold passwords."""
        return f"{type(self).__name__}(model={self._model!r})"

    @property
    def overflow(self) -> PromptTooLong | None:
        """By how much the last prompt did not fit the window of the model; None once one fits."""
        return self._service.overflow

    @abstractmethod
    def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""

    @abstractmethod
    async def list_models(self) -> list[str]:
        """Return the names of the models that the server offers, sorted.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list at this address.
        """

    async def context_window(self) -> int | None:
        """Ask the server how many tokens the model reads at once; None where it does not say.

        Raises a `ProviderError`.
        """
        for page in self._profile.window_pages:
            with suppress(ProviderReplyInvalid):  # it has no such page
                text = await self._service.get_text(page.format(model=self._model), "page about its models")
                if (tokens := parse_context_window(text, self._model)) is not None:
                    return tokens
        return None

    async def check(self) -> None:
        """Make sure that the model answers, at this address and with this key.

        Asks for a real answer and leaves at its first word: the list of models is no proof,
        because many servers give it to everyone. Raises the `ProviderError` that a turn would get.
        """
        request = CompletionRequest(instructions="", transcript=(UserMessage("Hi"),))
        await self._service.await_first(self.stream(request))

    async def prefill(self, request: CompletionRequest) -> None:
        """Have the server read a request, where it keeps what it has read; otherwise only open a connection.

        See `Prefiller.prefill`.
        """
        if self._profile.caches_prefix:
            await self._service.prefill(self._PATH, self._shortest(self._payload(request)))
        else:
            await self.connect()

    async def connect(self) -> None:
        """Open a connection for the next request; see `Prefiller.connect`."""
        await self._service.connect(self._FREE_PATH)

    def _options_for(self, request: CompletionRequest) -> ModelOptions:
        """Return how the model is to answer a request."""
        return with_answer_options(self._options, request.options)

    @abstractmethod
    def _payload(self, request: CompletionRequest) -> JsonObject:
        """Return what is asked."""

    @abstractmethod
    def _shortest(self, payload: JsonObject) -> JsonObject:
        """Return the same question, with as short an answer as can be."""
