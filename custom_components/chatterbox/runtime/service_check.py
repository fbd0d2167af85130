"""Is a model server there, does it take the key, and what does it offer: the questions, not the asking.

Knows what answers mean, given a server's `list_models` and `check`, and which models an entry uses. Must not know
who asks: dialogs and set-up both do. Every no is a `ProviderError`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, Protocol

from homeassistant.config_entries import ConfigEntry

from ..agent.errors import (
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
)
from ..const import ServiceKind
from ..settings.agent import AgentSettings, settings_of

_LONGEST_SEARCH: Final = 10.0
"""Seconds to find out over which other interface a server answers; a person waits for it."""


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


async def answering_interface(
    servers: Mapping[ServiceKind, ModelServer], *, has_model: bool, patience: float = _LONGEST_SEARCH
) -> ServiceKind | None:
    """Return the first interface over which a server answers, all asked at once; None when there is none.

    `has_model` says that each is asked to talk; otherwise each is asked for its models. Who asks for a key, or for
    patience, has understood the question. After `patience` seconds nobody waits any longer.
    """
    try:
        async with asyncio.timeout(patience), asyncio.TaskGroup() as group:
            asked = {kind: group.create_task(_answers(server, has_model)) for kind, server in servers.items()}
    except TimeoutError:
        return None
    return next((kind for kind, answer in asked.items() if answer.result()), None)


async def _answers(server: ModelServer, has_model: bool) -> bool:  # noqa: FBT001  # a task's, with no other caller
    try:
        await (server.check() if has_model else offered_models(server))
    except ProviderError as error:
        return isinstance(error, ProviderRejectedKey | ProviderBusy)
    return True


def models_of(entry: ConfigEntry | None) -> list[AgentSettings]:
    """Return the settings of one subentry for each model that those of an entry use."""
    models: dict[str, AgentSettings] = {}
    for subentry in entry.subentries.values() if entry else ():
        settings = settings_of(subentry.data)
        models.setdefault(settings.model, settings)
    return list(models.values())
