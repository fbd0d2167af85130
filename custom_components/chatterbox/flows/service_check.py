"""Checks of a service in its dialog: whether it accepts the key, and over which interface it answers."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from homeassistant.config_entries import ConfigEntry

from ..agent.errors import ModelNotFound, ProviderBusy, ProviderError, ProviderRejectedKey
from ..const import ServiceKind
from ..runtime.models import ModelServer, offered_models
from ..settings.agent import AgentSettings, settings_of

_LONGEST_SEARCH: Final = 10.0
"""Seconds to find the interface over which a server answers, while a person waits."""


async def check_key(models: Iterable[ModelServer]) -> None:
    """Have the first model that still exists answer, because some servers list models for any key.

    Raises a `ProviderError`.
    """
    for model in models:
        with suppress(ModelNotFound):
            await model.check()
            return


async def answering_interface(
    servers: Mapping[ServiceKind, ModelServer], *, has_model: bool, seconds: float = _LONGEST_SEARCH
) -> ServiceKind | None:
    """Return the first interface over which a server answers within `seconds`, all asked at once.

    With `has_model`, each is asked to talk, otherwise for its models. A demand for a key or for a pause is an answer.
    """
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
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
    """Return, for each model that an entry uses, the settings of one subentry that uses it."""
    models: dict[str, AgentSettings] = {}
    for subentry in entry.subentries.values() if entry else ():
        settings = settings_of(subentry.data)
        models.setdefault(settings.model, settings)
    return list(models.values())
