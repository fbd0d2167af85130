"""A client is told of a failure in words that are ours, with a code and a status that its library knows."""

import pytest

from custom_components.chatterbox.agent.errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.messages import canonical_json
from custom_components.chatterbox.agent.responses.api_errors import ApiError, invalid
from custom_components.chatterbox.agent.responses.model_failures import told_failure
from tests.agent.responses.open_responses import assert_fits

SECRET = "http://10.0.0.7:11434 says: key sk-secret is wrong"


@pytest.mark.parametrize(
    ("failure", "status", "kind", "code"),
    [
        (ProviderBusy(SECRET, 3), 429, "too_many_requests", "rate_limit_exceeded"),
        (BudgetSpent("day"), 429, "too_many_requests", "insufficient_quota"),
        (PromptTooLong(SECRET, 9, 8), 400, "invalid_request_error", "context_length_exceeded"),
        (ConnectTimeout(SECRET), 503, "model_error", "model_timeout"),
        (FirstTokenTimeout(SECRET), 503, "model_error", "model_timeout"),
        (BetweenTokensTimeout(SECRET), 503, "model_error", "model_timeout"),
        (ProviderUnreachable(SECRET), 503, "model_error", "model_unreachable"),
        (ProviderRejectedKey(SECRET), 502, "model_error", "model_access_denied"),
        (ModelNotFound(SECRET), 502, "model_error", "model_not_found"),
        (ProviderRejectedRequest(SECRET), 502, "model_error", "model_rejected_request"),
        (ProviderReplyInvalid(SECRET), 502, "model_error", "model_reply_invalid"),
        (ProviderError(SECRET), 500, "server_error", "server_error"),
        (AgentError(SECRET), 500, "server_error", "server_error"),
        (None, 500, "server_error", "server_error"),
    ],
)
def test_a_failure_has_a_code_and_no_secret(failure: AgentError | None, status: int, kind: str, code: str) -> None:
    """Invariants 44, 57."""
    told = told_failure(failure)
    assert (told.status, told.kind, told.code) == (status, kind, code)
    assert told.message
    assert_fits("ErrorPayload", told.payload)
    for part in ("secret", "10.0.0.7"):
        assert part not in canonical_json(told.body)
    assert told.retry_after == (3 if isinstance(failure, ProviderBusy) else None)


def test_an_error_of_the_surface_is_told_as_it_is() -> None:
    error: ApiError = invalid("Write it otherwise.", "input")
    assert told_failure(error) is error
