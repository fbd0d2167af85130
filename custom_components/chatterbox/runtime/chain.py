"""The chain of an agent: its own model, then those of its fallbacks, and at the end Home Assistant itself.

Knows links and their order. Must not know which service a link asks, or what is asked. A chain
is put together for each turn, because the links of other agents come and go with their entries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..agent.messages import ToolDefinition
from ..agent.providers.breaker import CircuitBreaker
from ..agent.providers.links import Link, LinkState, chain_state, is_available
from ..offline.provider import PROCESS_SENTENCE, OfflineProvider

_HOME_ASSISTANT: Final = "Home Assistant"


@dataclass(frozen=True, slots=True)
class AgentChain:
    """Who answers for an agent, one after the other."""

    own: Link
    find_fallbacks: Callable[[], Sequence[Link]]
    """Returns the links of the fallbacks that are there at the moment, in the order in which they are asked."""
    ends_offline: bool
    """Whether Home Assistant's own understanding of sentences may act when no model answers."""

    @property
    def is_available(self) -> bool:
        """Tell whether any link works, as far as anybody knows."""
        return self.ends_offline or is_available(self.models())

    @property
    def state(self) -> tuple[LinkState, ...]:
        """Tell how the models of the chain are doing, in their order."""
        return chain_state(self.models())

    def links(self, announcement: str) -> tuple[Link, ...]:
        """Return the links of one turn; `announcement` is said where Home Assistant itself has to answer."""
        models = self.models()
        return (*models, offline_link(announcement)) if self.ends_offline else models

    def models(self) -> tuple[Link, ...]:
        """Return the links of one turn in which Home Assistant has no say."""
        return (self.own, *[link for link in self.find_fallbacks() if link is not self.own])


def offline_link(announcement: str = "") -> Link:
    """Return the link that needs no model. It is new in each turn: nothing about it can break."""
    return Link(_HOME_ASSISTANT, OfflineProvider(announcement), CircuitBreaker(), tools=_is_for_sentences)


def is_for_models(tool: ToolDefinition) -> bool:
    """Tell whether a model may see a tool: all but the one by which Home Assistant understands a sentence."""
    return tool.name != PROCESS_SENTENCE.name


def _is_for_sentences(tool: ToolDefinition) -> bool:
    return tool.name == PROCESS_SENTENCE.name
