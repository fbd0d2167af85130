"""Everything that can fail on purpose. Any other exception out of `agent/` is a bug.

    AgentError
    ├── ProviderError              the model service failed us
    │   ├── ProviderUnreachable      no connection, TLS included; try later
    │   │   ├── ConnectTimeout         nobody picked up in time
    │   │   ├── FirstTokenTimeout      it did not begin to answer in time
    │   │   └── BetweenTokensTimeout   it fell silent in the middle of its answer
    │   ├── ProviderRejectedKey      it does not accept our credentials (401, 403)
    │   ├── ProviderBusy             rate limit or overload; carries `retry_after`
    │   ├── ModelNotFound            it answers, but does not have the model (404)
    │   ├── ProviderRejectedRequest  it refuses what we sent (other 4xx)
    │   │   └── PromptTooLong          more than the model can read at once; carries both numbers
    │   ├── BudgetSpent              nobody asked it: what may be spent on it is spent; carries until when
    │   └── ProviderReplyInvalid     it answered nonsense, or the stream was cut
    ├── InvalidToolbox             tools that cannot be offered together
    └── MaxIterationsExceeded      a turn used up its inferences (also a RuntimeError)

Messages are for developers and logs: they name no secret and quote no request. What a
person hears about an error is written elsewhere.
"""

from typing import ClassVar, Literal

type BudgetPeriod = Literal["day", "month"]
"""For how long something may be spent."""


class AgentError(Exception):
    """Base of everything `agent/` raises on purpose."""


class ProviderError(AgentError):
    """The model service failed us."""

    retryable: ClassVar[bool] = False
    """Whether the same request may well succeed a moment later. Not when a whole wait is already spent on it."""


class ProviderUnreachable(ProviderError):
    """No usable connection to the service."""

    retryable = True


class ConnectTimeout(ProviderUnreachable):
    """No connection to the service stood within the time for it."""

    retryable = False


class FirstTokenTimeout(ProviderUnreachable):
    """The service did not begin to answer within the time for it."""

    retryable = False


class BetweenTokensTimeout(ProviderUnreachable):
    """The service began to answer, then was silent for longer than it may be."""

    retryable = False


class ProviderRejectedKey(ProviderError):
    """The service does not accept our credentials."""


class ProviderBusy(ProviderError):
    """The service asks us to come back later."""

    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        """Carry `retry_after` in seconds, or None when the service did not say."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelNotFound(ProviderError):
    """The service does not have the model."""


class ProviderRejectedRequest(ProviderError):
    """The service refuses what we sent."""


class PromptTooLong(ProviderRejectedRequest):
    """What we sent does not fit the window of the model: what it can read at once, its answer included."""

    def __init__(self, message: str, prompt_tokens: int | None = None, window_tokens: int | None = None) -> None:
        """Carry the length of the prompt and of the window in tokens, None where nobody knows.

        The length is an estimate where the service counts none, and the window may be what an
        account may send at once. A prompt that fits by these numbers left too little room for the
        answer that was asked for.
        """
        super().__init__(message)
        self.prompt_tokens = prompt_tokens
        self.window_tokens = window_tokens


class BudgetSpent(ProviderError):
    """The service was not asked: what may be spent on the model is spent."""

    def __init__(self, period: BudgetPeriod) -> None:
        """Carry the period at whose end it may be asked again."""
        super().__init__(f"what may be spent on the model in one {period} is spent")
        self.period = period


class ProviderReplyInvalid(ProviderError):
    """The service answered with something that its protocol does not allow."""

    retryable = True


class InvalidToolbox(AgentError):
    """Tools that cannot be offered together, or at all."""


class MaxIterationsExceeded(AgentError, RuntimeError):
    """A turn used up its inferences without an answer of the model's own."""
