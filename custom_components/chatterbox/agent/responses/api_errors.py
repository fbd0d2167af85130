"""What is told to a client whose request cannot be served, as the Responses API has it.

Knows the shape of an error and its HTTP status. Must not know HTTP, or who asks.
Source: OpenResponses specification, "Errors"; OpenAI API reference, "Error codes".
"""

from enum import StrEnum
from typing import Final

from ..messages import JsonObject

PREVIOUS_RESPONSE_NOT_FOUND: Final = "previous_response_not_found"


class ErrorType(StrEnum):
    """What kind of thing is wrong."""

    INVALID_REQUEST = "invalid_request_error"
    AUTHENTICATION = "authentication_error"
    NOT_FOUND = "not_found"
    TOO_MANY_REQUESTS = "too_many_requests"
    MODEL = "model_error"
    SERVER = "server_error"


class ApiError(Exception):
    """A request that cannot be served. The text says what to do, to people who write programs, in English.

    It is no `AgentError`, because no turn ever fails of it.
    """

    def __init__(  # noqa: PLR0913  # what an error of the API is made of
        self,
        message: str,
        *,
        status: int = 400,
        kind: ErrorType = ErrorType.INVALID_REQUEST,
        code: str | None = None,
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Carry the HTTP status, a word for programs, and the parameter that is wrong, as in `tools[0].name`.

        `retry_after` is in seconds.
        """
        super().__init__(message)
        self.message = message
        self.status = status
        self.kind = kind
        self.code = code
        self.param = param
        self.retry_after = retry_after

    @property
    def payload(self) -> JsonObject:
        """The error itself, as bodies and streams hold it."""
        return {"type": self.kind.value, "code": self.code, "message": self.message, "param": self.param}

    @property
    def body(self) -> JsonObject:
        """The body of an HTTP response."""
        return {"error": self.payload}


def invalid(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """Return the error of a request that has to be written otherwise."""
    return ApiError(message, code=code, param=param)


def not_found(message: str, param: str | None = None, code: str | None = "not_found") -> ApiError:
    """Return the error of a request for something that there is not, or not for who asks."""
    return ApiError(message, status=404, kind=ErrorType.NOT_FOUND, code=code, param=param)


def not_continuable(message: str, status: int = 404) -> ApiError:
    """Return the error of a request that goes on from a response that nobody can go on from."""
    kind = ErrorType.NOT_FOUND if status == 404 else ErrorType.INVALID_REQUEST  # noqa: PLR2004  # the HTTP status
    return ApiError(message, status=status, kind=kind, code=PREVIOUS_RESPONSE_NOT_FOUND, param="previous_response_id")
