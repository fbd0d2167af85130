"""Failures are reported with our own words and known codes, and bugs are logged without anything that was said."""

import pytest

from custom_components.chatterbox.agent.errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    CreditSpent,
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.messages import canonical_json
from custom_components.chatterbox.responses.protocol.errors import (
    ApiError,
    as_api_error,
    invalid,
)
from tests.responses.protocol.open_responses import assert_fits

WORDS = "my " + "secret"
SECRET = "http://10.0.0.7:11434 says: key sk-secret is wrong"


@pytest.mark.parametrize(
    ("failure", "status", "kind", "code"),
    [
        (ProviderBusy(SECRET, 3), 429, "too_many_requests", "rate_limit_exceeded"),
        (CreditSpent(SECRET), 429, "too_many_requests", "insufficient_quota"),
        (BudgetSpent("day"), 429, "too_many_requests", "insufficient_quota"),
        (
            PromptTooLong(SECRET, 9, 8),
            400,
            "invalid_request_error",
            "context_length_exceeded",
        ),
        (ConnectTimeout(SECRET), 503, "model_error", "model_timeout"),
        (FirstTokenTimeout(SECRET), 503, "model_error", "model_timeout"),
        (BetweenTokensTimeout(SECRET), 503, "model_error", "model_timeout"),
        (ProviderUnreachable(SECRET), 503, "model_error", "model_unreachable"),
        (ProviderFailed(SECRET), 503, "model_error", "model_failed"),
        (ProviderRejectedKey(SECRET), 502, "model_error", "model_access_denied"),
        (ModelNotFound(SECRET), 502, "model_error", "model_not_found"),
        (ProviderRejectedRequest(SECRET), 502, "model_error", "model_rejected_request"),
        (ProviderReplyInvalid(SECRET), 502, "model_error", "model_reply_invalid"),
        (ProviderError(SECRET), 500, "server_error", "server_error"),
        (AgentError(SECRET), 500, "server_error", "server_error"),
        (None, 500, "server_error", "server_error"),
    ],
)
def test_a_failure_has_a_code_and_no_secret(
    failure: AgentError | None, status: int, kind: str, code: str
) -> None:
    """Invariants 44, 57."""
    reported = as_api_error(failure)
    assert (reported.status, reported.kind, reported.code) == (status, kind, code)
    assert reported.message
    assert_fits("ErrorPayload", reported.payload)
    for part in ("secret", "10.0.0.7"):
        assert part not in canonical_json(reported.payload)
    assert reported.retry_after == (3 if type(failure) is ProviderBusy else None)


def test_an_error_of_the_surface_is_told_as_it_is() -> None:
    error: ApiError = invalid("Write it otherwise.", "input")
    assert as_api_error(error) is error
