"""The model of an agent, with what stands in front of it and what is counted of it.

Knows its parts by their seams. Must not know agents, or how a model is put together: that is `runtime.py`'s.
"""

from dataclasses import dataclass
from typing import Protocol

from homeassistant.config_entries import ConfigSubentry

from .agent.errors import PromptTooLong
from .agent.history.windowed_provider import WindowedProvider
from .agent.protocols import Prefiller
from .agent.providers.links import Link
from .agent_window import MeasurableModel
from .model_account import ModelAccount
from .service_check import ModelServer


class ModelProvider(MeasurableModel, ModelServer, Prefiller, Protocol):
    """One model of one server: it answers, and it can be asked whether it would, and told what is coming."""

    @property
    def overflow(self) -> PromptTooLong | None:
        """By how much the last prompt did not fit the model's window; None once one fits."""
        ...


@dataclass(frozen=True, slots=True)
class AgentModel:
    """The model of an agent. It is asked in the agent's own turns, and in those of agents that fall back on it."""

    agent: ConfigSubentry
    provider: ModelProvider
    """As it is, without what stands in front of it in `link`."""
    windowed: WindowedProvider
    """Stands in front of it there: knows how much it reads, and what the last request took of that."""
    link: Link
    """One for all turns: a provider learns what its server does not take, and a breaker how it is doing."""
    account: ModelAccount
