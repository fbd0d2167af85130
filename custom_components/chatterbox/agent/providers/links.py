"""The links of a chain of providers: what each may see, how patient we are with it, and how it is doing.

Knows providers by their seam, and the breaker, deadlines and retries of each. Must not know
their order or who takes over from whom: that is `failover.py`. Built once; turns come and go.
"""

import logging
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..errors import BudgetSpent, FirstTokenTimeout, ProviderError
from ..messages import NamedTool, ToolChoiceMode, ToolDefinition
from ..protocols import CompletionRequest, LLMProvider
from ..timeouts import TookTooLong, finish_within
from .breaker import BreakerState, CircuitBreaker, Permit
from .patience import Patience
from .retry import Retries

_LOGGER = logging.getLogger(__name__)

_DEFAULT_PATIENCE: Final = Patience()
_DEFAULT_RETRIES: Final = Retries()


def every_tool(_tool: ToolDefinition) -> bool:
    """Let a link see all tools of a turn."""
    return True


def without_budget() -> None:
    """Let a link be asked, whatever it costs."""


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
    lets_go: bool = False
    """Whether its provider's streams end at once when they are left: then they need no task of their own."""
    id: str = ""
    """By which others know who has answered, as names may be alike."""
    check: Callable[[], Coroutine[object, object, None]] | None = None
    """Asks whether the service would answer; raises a `ProviderError`. None where nobody needs to ask."""
    spent: Callable[[], BudgetSpent | None] = without_budget
    """Tells whether what may be spent on the model is spent: then no turn is begun with it, nor handed to it."""
    refuses_when_spent: bool = False
    """Whether nobody takes over from it, as the first link of a chain, when its budget is spent."""

    def request(self, request: CompletionRequest) -> CompletionRequest | None:
        """Return a request as this link may see it; None when it forces a tool that the link has not."""
        tools = tuple(filter(self.tools, request.tools))
        match request.tool_choice:
            case NamedTool(name) if all(tool.name != name for tool in tools):
                return None
            case ToolChoiceMode.REQUIRED if not tools:
                return None
            case _:
                return request if len(tools) == len(request.tools) else replace(request, tools=tools)

    def succeeded(self, permit: Permit) -> None:
        """Tell the breaker, and the log when it is news."""
        if self.breaker.last_error is not None:
            _LOGGER.info("%s answers again", self.name)
        permit.succeeded()

    def failed(self, permit: Permit, error: ProviderError) -> None:
        """Tell the breaker, and the log: as a warning when it is news."""
        breaker = self.breaker
        is_news = breaker.last_error is not type(error)
        was_closed = breaker.state is BreakerState.CLOSED
        permit.failed(error)
        level = logging.WARNING if is_news else logging.DEBUG
        _LOGGER.log(level, "%s failed: %s: %s", self.name, type(error).__name__, error)
        if was_closed and breaker.state is BreakerState.OPEN:
            _LOGGER.warning(
                "%s failed %d times in a row and is left alone for %g seconds",
                self.name,
                breaker.failures,
                breaker.seconds_until_probe,
            )

    def tripped(self, error: ProviderError) -> None:
        """Leave the service alone after a failure that was no request of a turn; the log is told when it is news."""
        if self.breaker.last_error is not type(error):
            _LOGGER.warning("%s failed: %s: %s", self.name, type(error).__name__, error)
        self.breaker.trip(error)

    async def probe(self) -> None:
        """Find out whether a service that was left alone is back. When to ask is the caller's to say.

        Takes no longer than an answer may take to begin, and raises no `ProviderError`.
        """
        if self.check is None or self.breaker.state is BreakerState.CLOSED:
            return
        with self.breaker.insist() as permit:
            try:
                await finish_within(self.patience.first_token, self.check(), f"check of {self.name}")
            except ProviderError as error:
                self.failed(permit, error)
            except TookTooLong:
                self.failed(permit, FirstTokenTimeout("the service did not begin to answer in time"))
            else:
                self.succeeded(permit)


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
    """Tell whether any link of a chain works, as far as anybody knows.

    One that is left alone, or is still to be tried out, does not: it becomes so by a `probe`, or by a turn that has
    nobody else to ask.
    """
    return any(link.breaker.state is BreakerState.CLOSED for link in links)
