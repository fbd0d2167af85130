"""Is a model server there, does it take the key, and what does it offer: the questions, not the asking.

Knows what answers mean, given a server's `list_models` and `check`. Must not know who asks:
dialogs and set-up both do. Every no is a `ProviderError`.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from .agent.errors import ModelNotFound, ProviderRejectedRequest, ProviderReplyInvalid


class ModelServer(Protocol):
    """One model of a server, as far as checking needs it."""

    async def list_models(self) -> list[str]:
        """Return the names of all models.

        Raises a `ProviderError`; `ProviderReplyInvalid` when there is no such list.
        """
        ...

    async def check(self) -> None:
        """Have the model answer one word. Raises a `ProviderError`."""
        ...


async def offered_models(server: ModelServer) -> list[str]:
    """Return the models of a server; none when it is one that keeps no list.

    A server without a list is told from a stranger by how it refuses a conversation with no
    model. Raises a `ProviderError`.
    """
    try:
        return await server.list_models()
    except ProviderReplyInvalid:
        with suppress(ModelNotFound, ProviderRejectedRequest):
            await server.check()
        return []


async def check_key(models: Iterable[ModelServer]) -> None:
    """Have the first model that is still there answer, because some servers list models for any key.

    Raises a `ProviderError`; that a model is gone is no fault of the key.
    """
    for model in models:
        with suppress(ModelNotFound):
            await model.check()
            return
