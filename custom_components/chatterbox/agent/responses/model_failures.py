"""Failures of the model's service, as a client is told of them.

Pure. The client can do nothing about the key, the account or the address of the service behind an agent, and must not
learn of them: the texts here are our own, and none quotes what the service has said.
Source: OpenAI API reference, "Error codes"; OpenResponses specification 2026-04-24, "Errors".
"""

from http import HTTPStatus

from ..errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from .api_errors import ApiError, ErrorType

SERVER_ERROR = "server_error"


def told_failure(failure: AgentError | ApiError | None) -> ApiError:
    """Return what a client is told of a failure. One that has no name here is ours."""
    match failure:
        case ApiError():
            return failure
        case ProviderBusy():
            return _busy(
                "The model behind this agent is busy. Try again later.", "rate_limit_exceeded", failure.retry_after
            )
        case BudgetSpent():
            return _busy(
                f"What may be spent on the model behind this agent in one {failure.period} is spent.",
                "insufficient_quota",
            )
        case PromptTooLong():
            return ApiError(
                "The conversation is longer than the model can read at once. Shorten it, or set `truncation` to"
                " `auto`.",
                code="context_length_exceeded",
                param="input",
            )
        case ConnectTimeout() | FirstTokenTimeout() | BetweenTokensTimeout():
            return _unavailable("The model behind this agent did not answer in time. Try again later.", "model_timeout")
        case ProviderUnreachable():
            return _unavailable("The model behind this agent cannot be reached. Try again later.", "model_unreachable")
        case _:
            return _broken(failure)


def _broken(failure: AgentError | None) -> ApiError:
    match failure:
        case ProviderRejectedKey():
            return _bad_gateway(
                "The model behind this agent does not let it in. Only the owner of the agent can mend that.",
                "model_access_denied",
            )
        case ModelNotFound():
            return _bad_gateway(
                "The model that this agent is set to use is not there. Only the owner of the agent can mend that.",
                "model_not_found",
            )
        case ProviderRejectedRequest():
            return _bad_gateway("The model behind this agent refuses the request.", "model_rejected_request")
        case ProviderReplyInvalid():
            return _bad_gateway("The model behind this agent broke off, or answered nonsense.", "model_reply_invalid")
        case _:
            return internal_error()


def internal_error() -> ApiError:
    """Return what a client is told of a bug."""
    return ApiError(
        "Something went wrong in the house. Its log says what.",
        status=HTTPStatus.INTERNAL_SERVER_ERROR,
        kind=ErrorType.SERVER,
        code=SERVER_ERROR,
    )


def _busy(message: str, code: str, retry_after: float | None = None) -> ApiError:
    return ApiError(
        message,
        status=HTTPStatus.TOO_MANY_REQUESTS,
        kind=ErrorType.TOO_MANY_REQUESTS,
        code=code,
        retry_after=retry_after,
    )


def _unavailable(message: str, code: str) -> ApiError:
    return ApiError(message, status=HTTPStatus.SERVICE_UNAVAILABLE, kind=ErrorType.MODEL, code=code)


def _bad_gateway(message: str, code: str) -> ApiError:
    return ApiError(message, status=HTTPStatus.BAD_GATEWAY, kind=ErrorType.MODEL, code=code)
