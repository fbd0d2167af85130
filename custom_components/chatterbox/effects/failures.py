"""The reasons for which the actions of a call failed, in the words of the integrations that raised them."""

import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, override

from homeassistant.components.diagnostics import REDACTED
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers import intent
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import language as language_util

from ..records.turn_record import FailedTarget
from ..settings.redaction import without_secrets

type Failures = Mapping[str, BaseException]
"""Exceptions by the id of the entity whose action raised them, or by the type of the intent."""

_LONGEST: Final = 300
"""Characters of a reason."""
_CREDENTIAL: Final = re.compile(
    r"""\b((?:access_?token|api_?key|password|secret|authorization)['"]?\s?[:=]\s?['"]?(?:bearer\s)?|bearer\s)[^\s'",;&}]+""",
    re.IGNORECASE,
)
"""A name of a secret, and its value, as integrations quote requests."""
_INTENT_LOGGER: Final = logging.getLogger(intent.__name__)


class _Listener(logging.Handler):
    """Keeps the exceptions that the handlers of intents log in the context in which it listens."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.failures: dict[str, BaseException] = {}

    @override
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        match record.args:
            case (str(subject), *_) if error is not None and _LISTENER.get() is self:
                self.failures[subject] = error
            case _:
                pass


_LISTENER: ContextVar[_Listener | None] = ContextVar("chatterbox_intent_failures", default=None)


@contextmanager
def intent_failures() -> Generator[Failures]:
    """Collect the exceptions of the intents that are handled in this context.

    Home Assistant drops and only logs them: see `DynamicServiceIntentHandler.async_handle_states` and `async_handle`
    in homeassistant.helpers.intent.
    """
    listener = _Listener()
    token = _LISTENER.set(listener)
    _INTENT_LOGGER.addHandler(listener)
    try:
        yield listener.failures
    finally:
        _INTENT_LOGGER.removeHandler(listener)
        _LISTENER.reset(token)
        listener.close()


async def async_reason(hass: HomeAssistant, language: str, error: BaseException | None) -> str:
    """Return the message of an error that is meant for people, in their language; empty for all other errors.

    These may quote secrets or the words of a person.
    """
    if isinstance(error, intent.IntentUnexpectedError):
        error = error.__cause__
    is_meant = isinstance(error, intent.IntentHandleError) or not isinstance(error, intent.IntentError)
    if not (isinstance(error, HomeAssistantError) and is_meant):
        return ""
    return shown_reason(await _async_translated(hass, language, error) or str(error))


def shown_reason(text: str) -> str:
    """Return a reason in one line, shortened, with credentials and queries in addresses redacted."""
    reason = _CREDENTIAL.sub(rf"\1{REDACTED}", " ".join(str(without_secrets(text, ())).split()))
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST - 1]}…"


async def _async_translated(hass: HomeAssistant, language: str, error: HomeAssistantError) -> str:
    domain, key = error.translation_domain, error.translation_key
    if not domain or not key:
        return ""
    fitting = language_util.matches(language, LANGUAGES, hass.config.country)
    texts = await async_get_translations(hass, fitting[0] if fitting else "en", "exceptions", [domain])
    try:
        return texts.get(f"component.{domain}.exceptions.{key}.message", "").format(
            **(error.translation_placeholders or {})
        )
    except IndexError, KeyError, ValueError:
        return ""


async def async_add_reasons(
    hass: HomeAssistant, language: str, response: intent.IntentResponse, failures: Failures
) -> None:
    """Give the failed targets of a response the reasons for which they failed."""
    response.failed_results = [
        FailedTarget(one.name, one.type, one.id, await async_reason(hass, language, failures.get(one.id or "")))
        if type(one) is intent.IntentResponseTarget
        else one
        for one in response.failed_results
    ]
