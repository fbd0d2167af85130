"""Everything that can fail on purpose. Any other exception out of `agent/` is a bug.

    AgentError
    ├── ProviderError              the model service failed us
    │   ├── ProviderUnreachable      no connection, TLS included; try later
    │   │   ├── ConnectTimeout         nobody picked up in time
    │   │   ├── FirstTokenTimeout      it did not begin to answer in time
    │   │   └── BetweenTokensTimeout   it fell silent in the middle of its answer
    │   ├── ProviderFailed           it was reached, and reports an error of its own (5xx)
    │   │   ├── ServerOutOfMemory      the model does not fit into its memory
    │   │   └── UnparsedReply          it cannot parse what its model wrote
    │   ├── ProviderRejectedKey      it does not accept our credentials (401, 403)
    │   ├── ProviderBusy             rate limit or overload; carries `retry_after`
    │   │   ├── ModelLoading           it is loading the model
    │   │   └── CreditSpent            the account has no credit left (402)
    │   ├── ModelNotFound            it answers, but does not have the model (404)
    │   ├── ProviderRejectedRequest  it refuses what we sent (other 4xx)
    │   │   ├── ToolsRefused           it takes no tools, as it is set up or with this model
    │   │   ├── ContentRefused         its content filter declines the words
    │   │   └── PromptTooLong          more than the model can read at once; carries both numbers
    │   ├── BudgetSpent              nobody asked it: what may be spent on it is spent; carries until when
    │   └── ProviderReplyInvalid     it answered nonsense, or the stream was cut
    ├── InvalidToolbox             tools that cannot be offered together
    └── MaxIterationsExceeded      a turn used up its inferences (also a RuntimeError)

Messages are for developers and logs: they name no secret and quote no request. What a
person hears about an error is written elsewhere.
"""

from traceback import format_tb
from typing import ClassVar, Literal

type BudgetPeriod = Literal["day", "month"]
"""The period of a budget."""
type PromptPart = Literal["conversation", "home", "request"]
"""The longest part of a prompt: earlier turns; instructions, tools and the home; the words and results of the turn."""


class AgentError(Exception):
    """Base class of all errors that `agent/` raises on purpose."""


class ProviderError(AgentError):
    """A failure of the model service."""

    retryable: ClassVar[bool] = False
    """Whether the same request may succeed a moment later. False if a full timeout has already passed."""
    words: str = ""
    """The words of the service itself, in one short line without keys; empty if it gave none."""
    retry_after: float | None = None
    """Seconds until the service wants to be asked again; None if it did not say."""
    is_cut: bool = False
    """Whether the connection ended in the middle of the reply."""


class ProviderUnreachable(ProviderError):
    """No usable connection to the service."""

    retryable = True
    is_refused: bool = False
    """Whether nothing listens at the address: asking again takes no time."""


class ConnectTimeout(ProviderUnreachable):
    """The connection to the service could not be established in time."""

    retryable = False


class FirstTokenTimeout(ProviderUnreachable):
    """The service did not begin its answer in time."""

    retryable = False


class BetweenTokensTimeout(ProviderUnreachable):
    """The service began its answer, then sent nothing for longer than allowed."""

    retryable = False


class ProviderFailed(ProviderError):
    """The service reports an error of its own."""

    retryable = True


class ServerOutOfMemory(ProviderFailed):
    """The service has too little memory for the model."""

    retryable = False


class UnparsedReply(ProviderFailed):
    """The service cannot parse what its model wrote. The same request was made anew already, where that may help."""

    retryable = False
    written: str = ""
    """The text of the model, if the service quotes it."""


class ProviderRejectedKey(ProviderError):
    """The service rejects the credentials."""


class ProviderBusy(ProviderError):
    """The service is rate limiting or overloaded."""

    retryable = True

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
    ) -> None:
        """Keep what the service said of `retry_after`."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelLoading(ProviderBusy):
    """The service is loading the model."""


class CreditSpent(ProviderBusy):
    """The account at the service has no credit left."""

    retryable = False


class ModelNotFound(ProviderError):
    """The service does not have the model."""


class ProviderRejectedRequest(ProviderError):
    """The service rejects the request."""

    refuses_images: bool = False
    """Whether it accepts no images, as it is set up or with this model."""


class ToolsRefused(ProviderRejectedRequest):
    """The service accepts no tools, as it is set up or with this model."""


class ContentRefused(ProviderRejectedRequest):
    """The content filter of the service declines the words of the request, or of its answer."""


class PromptTooLong(ProviderRejectedRequest):
    """The prompt and the requested answer exceed the context window of the model."""

    def __init__(
        self,
        message: str,
        prompt_tokens: int | None = None,
        window_tokens: int | None = None,
    ) -> None:
        """Keep the sizes of the prompt and the window in tokens, None if unknown.

        The size of the prompt is an estimate if the service reports none. The window
        may be a limit of the account for one request. A prompt that is smaller than the
        window left too little room for the requested answer.
        """
        super().__init__(message)
        self.too_long: PromptPart = "conversation"
        self.prompt_tokens = prompt_tokens
        self.window_tokens = window_tokens


class BudgetSpent(ProviderError):
    """The service was not called, because the budget of the model is spent."""

    def __init__(
        self,
        period: BudgetPeriod,
        limit: float = 0.0,
    ) -> None:
        """Keep the period after which the service may be called again, and the budget for it in US dollars."""
        super().__init__(f"what may be spent on the model in one {period} is spent")
        self.period = period
        self.limit = limit


class ProviderReplyInvalid(ProviderError):
    """The reply of the service violates its protocol."""

    retryable = True
    location: str = ""
    """The address that the service redirects to, without its query; empty if it does not redirect."""


def reply_cut(message: str) -> ProviderReplyInvalid:
    """Return the error of a reply that ended before it was finished."""
    error = ProviderReplyInvalid(message)
    error.is_cut = True
    return error


class InvalidToolbox(AgentError):
    """Tools that cannot be offered, alone or together."""


class MaxIterationsExceeded(AgentError, RuntimeError):
    """A turn used all its inferences without an answer of the model."""


def traceback_without_words(error: BaseException) -> str:
    """Return the traceback of a bug without the exceptions' messages, which may quote a request."""
    chain = [error]
    while (
        cause := chain[-1].__cause__ or chain[-1].__context__
    ) and cause not in chain:
        chain.append(cause)
    return "\n".join(
        f"{type(one).__qualname__}\n{''.join(format_tb(one.__traceback__))}"
        for one in chain
    )
