"""Checks of a model server before it is saved: its interface, its key, and whether a model can use tools."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry

from ..agent.errors import (
    FirstTokenTimeout,
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
)
from ..agent.events import TextDelta, ToolCallReady
from ..agent.messages import ToolDefinition, UserMessage
from ..agent.protocols import CompletionRequest
from ..agent.providers.http_provider import HTTPProvider
from ..const import CONF_DEADLINE, CONF_FIRST_TOKEN_TIMEOUT, ServiceKind
from ..runtime.models import offered_models
from ..settings.agent import AgentSettings, settings_of
from ..settings.options import NUMBERS

_TRIAL: Final = CompletionRequest(
    instructions="You control the devices of a home with your tools.",
    transcript=(UserMessage("Turn on the kitchen light."),),
    tools=(
        ToolDefinition(
            "turn_on",
            "Turns on a device.",
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        ),
    ),
)
_LONGEST_TRIAL: Final = 120.0
"""Seconds, in which a model may have to be loaded first."""
_MARGIN: Final = 2
"""A turn has a longer prompt than the trial."""
_INFERENCES: Final = 3
"""Of a turn that uses tools, for which there should be time."""
_MUCH_TALK: Final = 600
"""Characters after which a model that has not acted will not."""


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """The outcome of asking a model to turn on a light."""

    seconds: float
    """Until it called the tool, or had answered without."""
    uses_tools: bool
    refusal: str = ""
    """The words of the server when it refused tools."""

    def waits(self, settings: AgentSettings) -> dict[str, float]:
        """Return the timeouts that an agent needs for this model, where those of its settings are too short."""
        first = ceil(self.seconds * _MARGIN)
        if first <= settings.first_token_timeout:
            return {}
        deadline = min(_INFERENCES * first, NUMBERS[CONF_DEADLINE].most)
        return {CONF_FIRST_TOKEN_TIMEOUT: first, CONF_DEADLINE: max(deadline, settings.limits.deadline)}


async def try_out(model: HTTPProvider) -> ToolTrial:
    """Ask a model to turn on a light that is not there, with a tool for it. Raises a `ProviderError`."""
    started = monotonic()
    try:
        async with asyncio.timeout(_LONGEST_TRIAL):
            uses_tools = await _acts(model)
    except ProviderRejectedRequest as error:  # as some servers do for a model that cannot use tools
        await model.check()
        return ToolTrial(monotonic() - started, uses_tools=False, refusal=error.words)
    except TimeoutError as error:
        raise FirstTokenTimeout("the model did not answer in time") from error
    return ToolTrial(monotonic() - started, uses_tools, model.tools_refusal)


async def _acts(model: HTTPProvider) -> bool:
    characters = 0
    async with aclosing(model.stream(_TRIAL)) as events:
        async for event in events:
            if isinstance(event, ToolCallReady):
                return True
            characters += len(event.text) if isinstance(event, TextDelta) else 0
            if characters > _MUCH_TALK:
                break
    return False


_LONGEST_SEARCH: Final = 10.0
"""Seconds to find the interface over which a server answers, while a person waits."""


async def check_key(models: Iterable[HTTPProvider]) -> None:
    """Have the first model that still exists answer, because some servers list models for any key.

    Raises a `ProviderError`.
    """
    for model in models:
        with suppress(ModelNotFound):
            await model.check()
            return


async def answering_interface(
    servers: Mapping[ServiceKind, HTTPProvider], *, has_model: bool, seconds: float = _LONGEST_SEARCH
) -> ServiceKind | None:
    """Return the first interface over which a server answers within `seconds`, all asked at once.

    With `has_model`, each is asked to talk, otherwise for its models. A demand for a key or for a pause is an answer.
    """
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            tasks = {kind: group.create_task(_answers(server, has_model)) for kind, server in servers.items()}
    except TimeoutError:
        return None
    return next((kind for kind, answer in tasks.items() if answer.result()), None)


async def _answers(server: HTTPProvider, has_model: bool) -> bool:  # noqa: FBT001  # a task's, with no other caller
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
