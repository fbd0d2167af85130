"""Our errors → Home Assistant's errors, and the words for a turn that the model left without any.

Knows the error tree, the stop reasons and the results that Home Assistant's tools give
back. Must not know how a turn is run, and holds no sentence: each error class has one
translation key, in three places of `translations/<lang>.json`. `config.error` is what the
dialogs say, `exceptions` is what Home Assistant shows beside an entry, and `common`, with
`spoken_` before the key, is what a voice says.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import ceil
from pathlib import Path
from typing import Final

from aiohttp import ClientConnectorCertificateError, ClientSSLError
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers import intent, llm
from homeassistant.helpers.translation import async_get_translations
from homeassistant.loader import async_get_integration
from homeassistant.util import language as language_util

from ..agent.errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    FirstTokenTimeout,
    InvalidToolbox,
    MaxIterationsExceeded,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from ..agent.events import StopReason
from ..agent.messages import ToolDefinition, ToolResult
from ..const import DOMAIN, TOOL_FORGET, TOOL_REMEMBER
from ..data import singleton
from ..settings.agent import Confirmation
from .confirmations import Confirmations, async_get_confirmations

_SPOKEN_DEEDS: Final[Mapping[str, str]] = {TOOL_REMEMBER: "remembered", TOOL_FORGET: "forgotten"}
"""Keys of what a person hears when the model says nothing."""

ERROR_KEYS: Final[Mapping[type[AgentError], str]] = {
    AgentError: "agent_failed",
    ProviderError: "provider_failed",
    ProviderUnreachable: "provider_unreachable",
    ConnectTimeout: "connect_timeout",
    FirstTokenTimeout: "first_token_timeout",
    BetweenTokensTimeout: "between_tokens_timeout",
    ProviderRejectedKey: "provider_rejected_key",
    ProviderBusy: "provider_busy",
    ModelNotFound: "model_not_found",
    ProviderRejectedRequest: "provider_rejected_request",
    PromptTooLong: "prompt_too_long",
    BudgetSpent: "budget_spent",
    ProviderReplyInvalid: "provider_reply_invalid",
    InvalidToolbox: "invalid_toolbox",
    MaxIterationsExceeded: "max_iterations",
}
"""Translation key of every class of `agent/errors.py`."""

CERTIFICATE_KEY: Final = "certificate_invalid"
"""Unreachable, because Home Assistant does not trust who answers."""
NO_TLS_KEY: Final = "no_tls"
"""Unreachable, because who answers does not speak https."""

_LONG_WAIT: Final = 90.0
"""Seconds from which on a voice names the minutes."""
_NAMES_IN_FULL: Final = 5
"""So many names can be listened to."""
_SENTENCES_AT_MOST: Final = 4
"""So many confirmations can be listened to; beyond that, names are listed."""
_FALLBACK_LANGUAGE: Final = "en"
_MOST_LANGUAGES: Final = 64


def error_key(error: AgentError) -> str:
    """Return the translation key of an error: that of its class, or a closer one for trouble with TLS."""
    match error.__cause__:
        case ClientConnectorCertificateError():
            return CERTIFICATE_KEY
        case ClientSSLError():
            return NO_TLS_KEY
        case _:
            return next(ERROR_KEYS[kind] for kind in type(error).__mro__ if kind in ERROR_KEYS)


def as_setup_error(error: ProviderError, service: str) -> ConfigEntryAuthFailed | ConfigEntryNotReady:
    """Translate what a service said when its entry was set up: ask for a new key, or try again later."""
    kind = ConfigEntryAuthFailed if isinstance(error, ProviderRejectedKey) else ConfigEntryNotReady
    return kind(
        translation_domain=DOMAIN,
        translation_key=error_key(error),
        translation_placeholders={"service": service},
    )


def spent_sentence(sentences: Mapping[str, str], spent: BudgetSpent) -> str:
    """Say that what may be spent is spent."""
    return sentences["spoken_budget_spent_month" if spent.period == "month" else "spoken_budget_spent"]


@dataclass(frozen=True, slots=True)
class TranslatedComposer:
    """The `ResponseComposer` of the voice surface: the speaker's language, and names instead of ids."""

    sentences: Mapping[str, str]
    """Category `common` of a translation, by bare key."""
    tools: Sequence[ToolDefinition]
    """Those of the turn; the success of one that only reads is no deed to report."""
    confirmations: Confirmations
    confirmation: Confirmation = Confirmation.RESULT

    def compose(self, reason: StopReason, receipts: Sequence[ToolResult], error: AgentError | None) -> str:
        """Say what was done, then why there is no more to say."""
        is_complete = reason is StopReason.COMPLETED and error is None
        said = self._report(receipts, briefly=is_complete and self.confirmation is Confirmation.DONE)
        if error is not None:
            said.append(self._error(error))
        elif not (is_complete and said):
            said.append(self._say(reason.value))
        return " ".join(said)

    def done(self, receipts: Sequence[ToolResult]) -> str:
        """Say what was done; nothing when nothing was."""
        return " ".join(self._report(receipts, briefly=self.confirmation is Confirmation.DONE))

    def _report(self, receipts: Sequence[ToolResult], *, briefly: bool) -> list[str]:
        """Say what tools themselves want said, what was done, and what of it did not work."""
        reading = {tool.name for tool in self.tools if tool.annotations.read_only}
        silent = [receipt for receipt in receipts if receipt.name not in reading and not _speech(receipt)]
        deeds = [receipt for receipt in silent if _is_deed(receipt)]
        said = [speech for receipt in receipts if (speech := _speech(receipt))]
        if deeds and briefly:
            said.append(self._say("done"))
        else:
            own = [_SPOKEN_DEEDS[receipt.name] for receipt in deeds if receipt.name in _SPOKEN_DEEDS]
            said += self._confirmed([receipt for receipt in deeds if receipt.name not in _SPOKEN_DEEDS])
            said += [self._say(key) for key in dict.fromkeys(own)]
        failed = (response.failed_results for receipt in deeds if (response := _intent_response(receipt)))
        if names := _names(failed):
            said.append(self._listed("not_done", names))
        return said

    def _confirmed(self, deeds: Sequence[ToolResult]) -> list[str]:
        """Say of each deed what Home Assistant would say; name the targets of those for which it has no words.

        Two lamps are not confirmed by one "Turned on the light": what sounds the same and is not is named, too.
        """
        responses = [response for receipt in deeds if (response := _intent_response(receipt))]
        worded = [(self.confirmations.sentence(response), response) for response in responses]
        meant: dict[str, set[tuple[str, ...]]] = {}
        for sentence, response in worded:
            if sentence:
                meant.setdefault(sentence, set()).add(tuple(_names([response.success_results])))
        said = [sentence for sentence, targets in meant.items() if len(targets) == 1]
        if len(said) > _SENTENCES_AT_MOST:
            said = []
        unworded = [response for sentence, response in worded if sentence not in said]
        if names := _names(response.success_results for response in unworded):
            said.append(self._listed("done", names))
        elif deeds and not said:
            said.append(self._say("done"))
        return said

    def _listed(self, key: str, names: Sequence[str]) -> str:
        shown = names if len(names) <= _NAMES_IN_FULL else names[: _NAMES_IN_FULL - 1]
        targets = reduce(lambda first, second: self._say("list", first=first, second=second), shown)
        if more := len(names) - len(shown):
            return self._say(f"{key}_many", targets=targets, count=str(more))
        return self._say(f"{key}_targets", targets=targets)

    def _error(self, error: AgentError) -> str:
        if isinstance(error, BudgetSpent):
            return spent_sentence(self.sentences, error)
        wait = error.retry_after if isinstance(error, ProviderBusy) else None
        if wait is not None and wait >= _LONG_WAIT:
            return self._say("provider_busy_long", minutes=str(ceil(wait / 60)))
        return self._say(error_key(error))

    def _say(self, key: str, **placeholders: str) -> str:
        return self.sentences[f"spoken_{key}"].format_map(placeholders)


async def async_get_composer(
    hass: HomeAssistant,
    language: str,
    tools: Sequence[ToolDefinition] = (),
    confirmation: Confirmation = Confirmation.RESULT,
) -> TranslatedComposer:
    """Load the words for a turn, before it begins.

    `language` is what the speaker's pipeline uses, such as `de-CH`; a language that we do
    not speak gets English. `tools` are those of the turn.
    """
    return TranslatedComposer(
        sentences=await async_get_sentences(hass, language),
        tools=tools,
        confirmations=await async_get_confirmations(hass, language),
        confirmation=confirmation,
    )


@singleton
def _sentences(_hass: HomeAssistant) -> dict[tuple[str, str | None], Mapping[str, str]]:
    """Return loaded sentences by the requested language and the country of the home."""
    return {}


async def async_get_sentences(hass: HomeAssistant, language: str) -> Mapping[str, str]:
    """Return the category `common` of the translation that fits `language` best, by bare key."""
    known = _sentences(hass)
    asked_for = language, hass.config.country
    if sentences := known.get(asked_for):
        return sentences
    spoken = language_util.matches(language, await _async_languages(hass), hass.config.country)
    prefix = f"component.{DOMAIN}.common."
    texts = await async_get_translations(hass, spoken[0] if spoken else _FALLBACK_LANGUAGE, "common", [DOMAIN])
    if len(known) >= _MOST_LANGUAGES:  # nobody speaks so many: programs may name what they want
        known.clear()
    known[asked_for] = {key.removeprefix(prefix): text for key, text in texts.items()}
    return known[asked_for]


async def _async_languages(hass: HomeAssistant) -> tuple[str, ...]:
    """Return the languages that have a translation file."""
    folder = (await async_get_integration(hass, DOMAIN)).file_path / "translations"
    return await hass.async_add_executor_job(_stems, folder)


@cache
def _stems(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in folder.glob("*.json")))


def _intent_response(receipt: ToolResult) -> intent.IntentResponse | None:
    """Return the intent response that a receipt carries, if its tool was an intent."""
    match receipt.native:
        case llm.ToolResult(data=llm.IntentResponseDict() as data):
            # Home Assistant leaves the attribute out when the dict was not made from a response.
            response: object = getattr(data, "original", None)
            return response if isinstance(response, intent.IntentResponse) else None
        case _:
            return None


def _speech(receipt: ToolResult) -> str:
    """Return what an intent itself wants said, or nothing."""
    response = _intent_response(receipt)
    speech: object = response.speech.get("plain", {}).get("speech") if response else None
    return speech.strip() if isinstance(speech, str) else ""


def _is_deed(receipt: ToolResult) -> bool:
    """Tell whether something was done: a tool that is no intent, and writes, always did."""
    response = _intent_response(receipt)
    return response is None or response.response_type is intent.IntentResponseType.ACTION_DONE


def _names(results: Iterable[Sequence[intent.IntentResponseTarget]]) -> list[str]:
    """Return the names of entities, or of what else was meant where there are none; each once, in order."""
    names: dict[str, None] = {}
    for targets in results:
        entities = [target for target in targets if target.type is intent.IntentResponseTargetType.ENTITY]
        names |= dict.fromkeys(name for target in entities or targets if (name := target.name.strip()))
    return list(names)
