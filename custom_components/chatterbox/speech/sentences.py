"""Translated sentences: for the errors of the agent, and for turns that the model ends without an answer.

Each error class has one translation key, which occurs in three sections of
`translations/<lang>.json`: dialogs show `config.error`, Home Assistant shows
`exceptions` beside an entry, and `common`, with the prefix `spoken_`, is spoken.

Further languages have the sentences around a question in `questions/<lang>.json`;
everything else is English there. Decision 35.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import islice, takewhile
from math import ceil
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final

from aiohttp import ClientConnectorCertificateError, ClientSSLError
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import (
    ConfigEntryAuthFailed,
    ConfigEntryNotReady,
    HomeAssistantError,
    IntegrationError,
)
from homeassistant.helpers import intent
from homeassistant.helpers.translation import async_get_translations
from homeassistant.loader import async_get_integration
from homeassistant.util import language as language_util

from ..agent.errors import (
    AgentError,
    BetweenTokensTimeout,
    BudgetSpent,
    ConnectTimeout,
    ContentRefused,
    CreditSpent,
    FirstTokenTimeout,
    InvalidToolbox,
    MaxIterationsExceeded,
    ModelLoading,
    ModelNotFound,
    PromptPart,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
    ProviderUnreachable,
    ServerOutOfMemory,
    ToolsRefused,
    UnparsedReply,
)
from ..agent.events import StopReason
from ..agent.messages import ToolDefinition, ToolResult, ToolResults
from ..const import DOMAIN, home_singleton
from ..records.turn_record import (
    SCRIPT_ENDS,
    UNABLE,
    UNREACHABLE,
    FailedTarget,
    UnconfirmedTarget,
    entities_done,
    failed_targets,
    found_nothing,
    intent_response,
    intent_speech,
)
from ..settings.agent import Confirmation

ERROR_KEYS: Final = {
    AgentError: "agent_failed",
    ProviderUnreachable: "provider_unreachable",
    ConnectTimeout: "connect_timeout",
    FirstTokenTimeout: "first_token_timeout",
    BetweenTokensTimeout: "between_tokens_timeout",
    ProviderFailed: "provider_failed",
    ProviderRejectedKey: "provider_rejected_key",
    ProviderBusy: "provider_busy",
    ModelLoading: "model_loading",
    CreditSpent: "credit_spent",
    ServerOutOfMemory: "server_out_of_memory",
    UnparsedReply: "unparsed_reply",
    ModelNotFound: "model_not_found",
    ProviderRejectedRequest: "provider_rejected_request",
    PromptTooLong: "prompt_too_long",
    ToolsRefused: "tools_refused",
    ContentRefused: "content_filter",
    BudgetSpent: "budget_spent",
    ProviderReplyInvalid: "provider_reply_invalid",
    InvalidToolbox: "invalid_toolbox",
    MaxIterationsExceeded: "max_iterations",
}
"""Translation key of every class of `agent/errors.py` that is raised."""

_CAUSES: Final = (
    ProviderUnreachable,
    ProviderRejectedKey,
    CreditSpent,
    ModelNotFound,
    ServerOutOfMemory,
    UnparsedReply,
    PromptTooLong,
    ToolsRefused,
    ContentRefused,
)
"""Failures whose sentence tells the cause. A server that is slow is not among them, although it is unreachable."""

CERTIFICATE_KEY: Final = "certificate_invalid"
"""Unreachable, because Home Assistant does not trust the certificate of the server."""
NO_TLS_KEY: Final = "no_tls"
"""Unreachable, because the server does not speak TLS."""

_LONG_WAIT: Final = 90.0
"""Seconds from which on the wait is spoken in minutes."""
_MAX_REASONS: Final = 2
_REASONS: Final = {
    **{reason: f"spoken_script_{end}" for end, reason in SCRIPT_ENDS.items()},
    UNABLE: "spoken_unable",
}
"""Translation keys of reasons."""
_ENDS: Final = (
    ".",
    "!",
    "?",
    "…",
    ":",
    "।",
    "。",
    "\N{FULLWIDTH EXCLAMATION MARK}",
    "\N{FULLWIDTH QUESTION MARK}",
)
_MAX_NAMES: Final = 5
"""Names that are spoken in one sentence."""
_FALLBACK_LANGUAGE: Final = "en"
_MAX_LANGUAGES: Final = 64
"""API clients may ask for any language."""


type Sentences = Mapping[str, str]
"""The sentences of a language: section `common` of its translation, by bare key."""


def error_key(error: AgentError) -> str:
    """Return the translation key of an error: that of its class, or a closer one for trouble with TLS."""
    match error.__cause__:
        case ClientConnectorCertificateError():
            return CERTIFICATE_KEY
        case ClientSSLError():
            return NO_TLS_KEY
        case _:
            return next(
                ERROR_KEYS[kind] for kind in type(error).__mro__ if kind in ERROR_KEYS
            )


def translated[Kind: HomeAssistantError](
    kind: type[Kind], key: str, **placeholders: str
) -> Kind:
    """Return an error whose message Home Assistant translates."""
    return kind(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders or None,
    )


def as_setup_error(error: ProviderError, service: str) -> IntegrationError:
    """Translate a failure during setup: ask for a new key, or try again later."""
    kind = (
        ConfigEntryAuthFailed
        if isinstance(error, ProviderRejectedKey)
        else ConfigEntryNotReady
    )
    return translated(
        kind,
        error_key(error),
        service=service,
    )


def spent_sentence(
    sentences: Sentences,
    spent: BudgetSpent,
) -> str:
    """Return the sentence on a spent budget."""
    return sentences[
        "spoken_budget_spent_month"
        if spent.period == "month"
        else "spoken_budget_spent"
    ]


def cause_of(
    sentences: Sentences,
    error: type[ProviderError] | None,
    too_long: PromptPart = "conversation",
) -> str:
    """Return the sentence on why a model does not answer, for a failure of this class.

    `too_long` is the part that makes a prompt too long, if one is.
    """
    if error is PromptTooLong:
        return sentences[f"spoken_{_too_long_key(too_long)}"]
    is_slow = error is None or issubclass(
        error, FirstTokenTimeout | BetweenTokensTimeout
    )
    kinds = (
        ()
        if is_slow or error is None
        else (kind for kind in _CAUSES if issubclass(error, kind))
    )
    if error is ModelLoading:
        return sentences["spoken_offline_loading"]
    is_busy = error is not None and issubclass(error, ProviderBusy)
    key = next(
        (ERROR_KEYS[kind] for kind in kinds),
        "offline_busy" if is_busy else "offline_took_over",
    )
    return sentences[f"spoken_{key}"]


def _too_long_key(part: PromptPart) -> str:
    """Return the key of the advice on a prompt that is too long: only for a long conversation is that a new one."""
    key = ERROR_KEYS[PromptTooLong]
    if part == "conversation":
        return key
    return f"{key}_{part}"


_LATIN: Final = "\u2e7f"
"""The last character before those of Chinese and Japanese."""


def as_sentence(reason: str) -> str:
    """Return a reason in one line with a final punctuation mark, so that another sentence can follow."""
    words = " ".join(reason.split())
    return words if words.endswith(_ENDS) else f"{words}."


def in_sentences(texts: Iterable[str]) -> str:
    """Join texts that are not empty, each but the last with a full stop: "Turned on the light" has none."""
    spoken = [*filter(None, texts)]
    ended = map(_with_full_stop, spoken[:-1])
    last = spoken[-1:]
    return " ".join((*ended, *last))


def _with_full_stop(text: str) -> str:
    if not text[-1:].isalnum():
        return text
    if text[-1] > _LATIN:
        return f"{text}。"
    return f"{text}."


def joined_texts(
    sentences: Sentences, texts: Iterable[str], key: str = "spoken_list"
) -> str:
    """Return texts, which the sentence of a key joins one by one."""
    return reduce(
        lambda first, second: sentences[key].format(first=first, second=second), texts
    )


def listed_texts(
    sentences: Sentences,
    texts: Sequence[str],
    most: int,
    key: str = "spoken_list",
) -> str:
    """Return joined texts; of too many, the first ones and how many there are more."""
    first = texts if len(texts) <= most else texts[: most - 1]
    listed = joined_texts(sentences, first, key)
    more = len(texts) - len(first)
    if more:
        return sentences["change_more"].format(targets=listed, count=more)
    return listed


@dataclass(frozen=True, slots=True)
class TranslatedComposer:
    """Writes what turns say of their endings and of their tools, in the language of the speaker."""

    sentences: Sentences
    tools: Sequence[ToolDefinition]
    """The tools of the turn. Read-only ones are not reported."""
    confirmation: Confirmation = Confirmation.RESULT
    done_keys: Mapping[str, str] = MappingProxyType({})
    """Translation keys, without `spoken_`, of sentences that confirm calls of single tools, by their names."""

    def compose(
        self,
        reason: StopReason,
        tool_results: ToolResults,
        error: AgentError | None,
    ) -> str:
        """Say what was done, and then why there is no answer."""
        is_complete = reason is StopReason.COMPLETED and error is None
        sentences = self._report(
            tool_results, briefly=is_complete and self.confirmation is Confirmation.DONE
        )
        if error is not None:
            sentences.append(self._error(error))
        elif not is_complete:
            sentences.append(self._say(reason.value))
        elif not sentences:  # a yes may have been to what is not found
            texts = (intent_speech(one.native) for one in tool_results)
            sentences.append(next(filter(None, texts), self._say(reason.value)))
        return in_sentences(sentences)

    def done(self, tool_results: ToolResults) -> str:
        """Say what was done. Empty if nothing was."""
        return in_sentences(
            self._report(
                tool_results,
                briefly=self.confirmation is Confirmation.DONE,
            )
        )

    def undone(
        self,
        tool_results: ToolResults,
        answer: str,
    ) -> str:
        """Name the entities that could not be acted on; if there are none, say whether every call has failed.

        A result whose own speech is part of the answer is not repeated.
        """
        tried = [result for result in tool_results if not found_nothing(result)]
        untold = [one for one in tried if not _is_told(one, answer)]
        done = frozenset[str]().union(*(entities_done(one.native) for one in tried))
        last = [*takewhile(attrgetter("is_error"), reversed(tried))]
        has_worked = len(last) < len(tried)
        failed = list[intent.IntentResponseTarget]()
        for result in untold:
            for target in failed_targets(result.native):
                # What does not exist has no id; its name may have been corrected in a
                # later call. A reason alone has no name.
                is_final = result in last and (has_worked or not target.name)
                if target.id not in done if target.id else is_final:
                    failed.append(target)
        if failed:
            return self.not_done(failed)
        if untold and not has_worked:
            return self._say("not_done")
        return ""

    def _report(
        self,
        tool_results: ToolResults,
        *,
        briefly: bool,
    ) -> list[str]:
        """Return the speech of the results that have one, and sentences about the other actions and their failures."""
        reading = {tool.name for tool in self.tools if tool.annotations.read_only}
        worked = [result for result in tool_results if not result.is_error]
        actions = [
            result
            for result in worked
            if result.name not in reading
            and not intent_speech(result.native)
            and _is_action(result)
        ]
        sentences = [intent_speech(result.native) for result in worked]
        sentences += self._confirmed(actions, briefly=briefly) if actions else []
        sentences = [*filter(None, sentences)]
        changing = [result for result in tool_results if result.name not in reading]
        if changing and (undone := self.undone(changing, " ".join(sentences))):
            sentences.append(undone)
        return sentences

    def _confirmed(
        self,
        actions: ToolResults,
        *,
        briefly: bool,
    ) -> Sequence[str]:
        """Return sentences about actions that have worked; empty ones for what need not be said."""
        responses = [*filter(None, (intent_response(one.native) for one in actions))]
        unconfirmed = self.unconfirmed(
            target for one in responses for target in one.success_results
        )
        if briefly and not unconfirmed:
            return [self._say("done")]
        keys = [self.done_keys.get(action.name, "") for action in actions]
        done = self.done_with(responses)
        if not (done or unconfirmed or all(keys)):
            done = self._say("done")
        own = (self._say(key) for key in dict.fromkeys(filter(None, keys)))
        return [
            done,
            unconfirmed,
            *own,
        ]

    def done_with(self, responses: Iterable[intent.IntentResponse]) -> str:
        """Name the entities that some intents have acted on, and count the rest; empty if there are none."""
        return self._listed("done", _names(map(confirmed_targets, responses)))

    def not_done(self, targets: Sequence[intent.IntentResponseTarget]) -> str:
        """Name the entities that could not be acted on, and say why."""
        dead = [
            one
            for one in targets
            if isinstance(one, FailedTarget) and one.reason == UNREACHABLE
        ]
        others = [one for one in targets if one not in dead]
        reasons = dict.fromkeys(
            one.reason for one in others if isinstance(one, FailedTarget) and one.reason
        )
        sentences = [*filter(None, [self.unreachable(_names([dead]))])]
        if others:
            listed = self._listed(
                "not_done",
                _names([others]),
            )
            sentences.append(listed or self._say("not_done"))
        texts = (
            self.sentences.get(
                _REASONS.get(reason, ""),
                reason,
            )
            for reason in islice(reasons, _MAX_REASONS)
        )
        return " ".join((*sentences, *map(as_sentence, texts)))

    def unreachable(self, names: Sequence[str]) -> str:
        """Name the entities that are unavailable; empty if there are none."""
        return self._listed("unreachable", names)

    def unknown(self, names: Sequence[str]) -> str:
        """Name the entities whose state is not known; empty if there are none."""
        return self._listed("state_unknown", names)

    def unconfirmed(self, targets: Iterable[intent.IntentResponseTarget]) -> str:
        """Name the entities that were asked and have not confirmed; empty if there are none."""
        names = _names(
            [[target for target in targets if isinstance(target, UnconfirmedTarget)]]
        )
        return self._listed("unconfirmed", names)

    def _listed(
        self,
        key: str,
        names: Sequence[str],
    ) -> str:
        """Return a sentence about some names; empty if there are none."""
        if not names:
            return ""
        if len(names) <= _MAX_NAMES:
            listed = names
        else:
            listed = names[: _MAX_NAMES - 1]
        targets = joined_texts(self.sentences, listed)
        more = len(names) - len(listed)
        if more:
            return self._say(
                f"{key}_many",
                targets=targets,
                count=str(more),
            )
        return self._say(
            f"{key}_targets",
            targets=targets,
        )

    def _error(self, error: AgentError) -> str:
        if isinstance(error, BudgetSpent):
            return spent_sentence(self.sentences, error)
        if isinstance(error, ProviderError) and error.is_cut:
            return self._say("reply_cut")
        if isinstance(error, PromptTooLong):
            return self._say(_too_long_key(error.too_long))
        if type(error) is ProviderBusy:
            wait = error.retry_after
        else:
            wait = None
        if wait is not None and wait >= _LONG_WAIT:
            return self._say(
                "provider_busy_long",
                minutes=str(ceil(wait / 60)),
            )
        return self._say(error_key(error))

    def _say(
        self,
        key: str,
        **placeholders: str,
    ) -> str:
        return self.sentences[f"spoken_{key}"].format_map(placeholders)


_sentences: Final = home_singleton(
    "sentences", lambda _: dict[tuple[str, str | None, int], Mapping[str, str]]()
)
"""Returns loaded sentences by the requested language, the country of the home and the number of its components."""


async def async_get_sentences(
    hass: HomeAssistant,
    language: str = "",
) -> Sentences:
    """Return section `common` of the translation that fits a language, or that of the home, best, else of the English.

    Beside them are the names of the actions of all components, by the keys that Home
    Assistant has for them.
    """
    known = _sentences(hass)
    language = language or hass.config.language
    asked_for = language, hass.config.country, len(hass.config.top_level_components)
    sentences = known.get(asked_for)
    if sentences:
        return sentences
    prefix = f"component.{DOMAIN}.common."
    questions = await hass.async_add_executor_job(_sentences_of_questions)
    closest = await async_closest_language(
        hass,
        language,
        questions,
    )
    texts = await async_get_translations(
        hass,
        closest,
        "common",
        [DOMAIN],
    )
    services = await async_get_translations(
        hass,
        closest,
        "services",
    )
    complete = {key.removeprefix(prefix): text for key, text in texts.items()}
    if len(known) >= _MAX_LANGUAGES:
        known.clear()
    sentences = known[asked_for] = {
        **services,
        **complete,
        **questions.get(closest, {}),
    }
    return sentences


async def async_error_text(
    hass: HomeAssistant,
    language: str,
    key: str,
) -> str:
    """Return the message of an exception of ours in the translation that fits `language` best."""
    closest = await async_closest_language(hass, language)
    texts = await async_get_translations(
        hass,
        closest,
        "exceptions",
        [DOMAIN],
    )
    return texts[f"component.{DOMAIN}.exceptions.{key}.message"]


@cache
def _sentences_of_questions() -> Mapping[str, Mapping[str, str]]:
    """Read the sentences around a question in the languages that have no translation, by language and bare key."""
    return {
        file.stem: json.loads(file.read_text("utf-8"))
        for file in Path(__file__).parent.glob("questions/*.json")
    }


async def async_closest_language(
    hass: HomeAssistant, language: str, more: Iterable[str] = ()
) -> str:
    """Return the language with a translation, or of `more`, that fits `language` best, else English."""
    folder = (await async_get_integration(hass, DOMAIN)).file_path / "translations"
    languages = await hass.async_add_executor_job(_stems, folder)
    fitting = language_util.matches(
        language,
        [*languages, *more],
        hass.config.country,
    )
    return fitting[0] if fitting else _FALLBACK_LANGUAGE


@cache
def _stems(folder: Path) -> tuple[str, ...]:
    """Return the languages that have a translation file."""
    return tuple(sorted(file.stem for file in folder.glob("*.json")))


def _is_action(result: ToolResult) -> bool:
    """Return whether a result is that of an action. A tool other than an intent counts unless it is read-only."""
    response = intent_response(result.native)
    return (
        response is None
        or response.response_type is intent.IntentResponseType.ACTION_DONE
    )


def _is_told(result: ToolResult, answer: str) -> bool:
    """Return whether an answer has the speech of a result."""
    speech = intent_speech(result.native)
    return bool(speech) and speech in answer


def confirmed_targets(
    response: intent.IntentResponse,
) -> list[intent.IntentResponseTarget]:
    """Return the targets that an intent has acted on: no area of which nothing has confirmed."""
    confirmed = [
        one
        for one in response.success_results
        if not isinstance(one, UnconfirmedTarget)
    ]
    is_any = any(
        one.type is intent.IntentResponseTargetType.ENTITY for one in confirmed
    )
    if is_any or len(confirmed) == len(response.success_results):
        return confirmed
    return []


def _names(results: Iterable[Sequence[intent.IntentResponseTarget]]) -> list[str]:
    """Return the names of the entities without duplicates, or of the other targets of a result without entities."""
    names: dict[str, None] = {}
    for targets in results:
        entities = [
            target
            for target in targets
            if target.type is intent.IntentResponseTargetType.ENTITY
        ]
        names |= dict.fromkeys(
            name for target in entities or targets if (name := target.name.strip())
        )
    return list(names)
