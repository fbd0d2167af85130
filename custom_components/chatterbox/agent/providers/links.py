"""The links of a chain of providers: what each may see, how patient we are with it, and how it is doing.

Knows providers by their seam, and the breaker, deadlines and retries of each. Must not know
their order or who takes over from whom: that is `failover.py`. Built once; turns come and go.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..errors import ProviderError
from ..messages import NamedTool, ToolChoiceMode, ToolDefinition
from ..protocols import CompletionRequest, LLMProvider
from .breaker import BreakerState, CircuitBreaker
from .patience import Patience
from .retry import Retries

_DEFAULT_PATIENCE: Final = Patience()
_DEFAULT_RETRIES: Final = Retries()


def every_tool(_tool: ToolDefinition) -> bool:
    """Let a link see all tools of a turn."""
    return True


@dataclass(frozen=True, slots=True)
class Link:
    """One provider of a chain."""

    name: str
    """For people: what took over, what failed."""
    provider: LLMProvider
    breaker: CircuitBreaker
    patience: Patience = _DEFAULT_PATIENCE
    retries: Retries = _DEFAULT_RETRIES
    tools: Callable[[ToolDefinition], bool] = every_tool
    """Tells which of the tools of a turn this link may see. The turn offers those of all links."""

    def request(self, request: CompletionRequest) -> CompletionRequest | None:
        """Return a request as this link may see it; None when it forces a tool that the link has not."""
        tools = tuple(tool for tool in request.tools if self.tools(tool))
        match request.tool_choice:
            case NamedTool(name) if all(tool.name != name for tool in tools):
                return None
            case ToolChoiceMode.REQUIRED if not tools:
                return None
            case _:
                return replace(request, tools=tools)


@dataclass(frozen=True, slots=True)
class LinkState:
    """How a link is doing, for diagnostics."""

    name: str
    breaker: BreakerState
    failures: int
    """Since its last success."""
    last_error: type[ProviderError] | None
    """Class of its last failure since its last success."""
    seconds_in_state: float
    seconds_until_probe: float
    """How long it is still left alone; 0 when it is not."""


def chain_state(links: Iterable[Link]) -> tuple[LinkState, ...]:
    """Tell how each link of a chain is doing, in its order."""
    return tuple(
        LinkState(
            name=link.name,
            breaker=link.breaker.state,
            failures=link.breaker.failures,
            last_error=link.breaker.last_error,
            seconds_in_state=link.breaker.seconds_in_state,
            seconds_until_probe=link.breaker.seconds_until_probe,
        )
        for link in links
    )


def is_available(links: Iterable[Link]) -> bool:
    """Tell whether any link of a chain may answer.

    A chain that is not available becomes so by time alone, after the smallest `seconds_until_probe`.
    """
    return any(link.breaker.state is not BreakerState.OPEN for link in links)
