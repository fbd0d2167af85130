"""Checks of a model server before it is saved: its interface, its key, how fast it reads, and whether tools arrive."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from math import ceil
from secrets import token_hex
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..agent.conversation.token_estimate import TokenEstimate
from ..agent.errors import (
    FirstTokenTimeout,
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
)
from ..agent.events import CompletionResult, TextDelta, ToolCallReady
from ..agent.messages import (
    JsonValue,
    ToolDefinition,
    UserMessage,
    canonical_json,
    described_tools,
)
from ..agent.protocols import LEAST_OUTPUT_TOKENS, AnswerOptions, CompletionRequest
from ..agent.providers.failures import server_refusing_tools
from ..agent.providers.http_provider import HTTPProvider
from ..const import (
    CONF_BASE_URL,
    CONF_DEADLINE,
    CONF_FIRST_ANSWER,
    CONF_FIRST_TOKEN_TIMEOUT,
    CONF_LATER_ANSWER,
)
from ..runtime.models import offered_models
from ..settings.agent import MARGIN, AgentSettings, EntryData, settings_of
from ..speech.sentences import Sentences
from ..tools.llm_apis import context_without_speaker
from ..tools.turn_tools import async_offer_common_tools, for_models
from ..turns.prepare import PromptSources, async_write_prompt
from ..usage.prices import async_known_model

_TRIAL: Final = CompletionRequest(
    instructions="You control the devices of a home with your tools.",
    transcript=(UserMessage("Turn on the kitchen light."),),
    tools=(
        ToolDefinition(
            "turn_on",
            "Turns on a device.",
            {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        ),
    ),
)
_LONGEST_TRIAL: Final = 120.0
"""Seconds, in which a model may have to be loaded first."""
_LONGEST_MEASUREMENT: Final = 30.0
"""Seconds for each of the requests that only measure or compare."""
_LONGEST_SEARCH: Final = 10.0
"""Seconds to find the interface over which a server answers, or its window, while a person waits."""
_SAMPLE: Final = 1_200
"""Characters that are read to measure how fast a server reads: about 300 tokens."""
MEASURED: Final = frozenset({CONF_FIRST_ANSWER, CONF_LATER_ANSWER})
"""The times in the data of an agent."""
_LONGEST_TURN: Final = 300
"""Seconds after which Home Assistant ends a pipeline for a browser or an app (`assist_pipeline.websocket_api`)."""
_INFERENCES: Final = 3
"""Of a turn that uses tools, for which there should be time."""
_MUCH_TALK: Final = 600
"""Characters after which a model that has not acted will not."""
_MOST_OF_WINDOW: Final = 0.75
"""Share of a context window that the prompt of a home may take: the rest is for the conversation and the answer."""
_LEAST_COUNTED: Final = 0.5
"""Share of the estimated tokens below which a server has read only a part: no tokenizer needs so few."""


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """The outcome of asking a model to turn on a light."""

    seconds: float
    """Until it called the tool, or had answered without."""
    uses_tools: bool
    refusal: str = ""
    """The words of the server when it refused tools."""
    drops_tools: bool = False
    """Whether tools do not make the prompt longer, so that the model cannot know them."""

    def waits(
        self, settings: AgentSettings, times: AnswerTimes | None = None
    ) -> dict[str, float]:
        """Return the timeouts that an agent needs for this model, where those of its settings are too short."""
        times = times or AnswerTimes(self.seconds, self.seconds)
        first = ceil(times.first * MARGIN)
        later = ceil(times.later * MARGIN)
        waits: dict[str, float] = (
            {CONF_FIRST_TOKEN_TIMEOUT: later}
            if later > settings.first_token_timeout
            else {}
        )
        if first > settings.first_token_timeout:
            deadline = min(
                first + (_INFERENCES - 1) * later,
                _LONGEST_TURN,
            )
            waits[CONF_DEADLINE] = max(
                deadline,
                settings.limits.deadline,
            )
        return waits

    def warning(
        self,
        sentences: Sentences,
        model: str,
    ) -> str:
        """Return what keeps the model from controlling the home; empty if nothing does."""
        if self.uses_tools:
            return ""
        key = "trial_drops_tools" if self.drops_tools else "trial_talked"
        if self.refusal:
            key = f"trial_refused_{server_refusing_tools(self.refusal)}"
        return sentences[key].format(model=model)


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """The seconds that answers of a model take, as measured and extrapolated."""

    first: float
    """After a start: the model may have to be loaded, and the whole prompt of the home is read."""
    later: float

    @property
    def stored(self) -> dict[str, float]:
        """The data of an agent."""
        return {
            CONF_FIRST_ANSWER: ceil(self.first),
            CONF_LATER_ANSWER: ceil(self.later),
        }


def times_sentence(
    sentences: Sentences,
    data: EntryData,
) -> str:
    """Return a paragraph on the times in the data of an agent; empty without any."""
    times = {
        "first": data.get(CONF_FIRST_ANSWER),
        "later": data.get(CONF_LATER_ANSWER),
    }
    if times["first"]:
        return sentences["answer_times"].format(**times) + "\n\n"
    return ""


async def try_out(model: HTTPProvider) -> ToolTrial:
    """Ask a model to turn on a light that is not there, with a tool for it. Raises a `ProviderError`."""
    started = monotonic()
    try:
        async with asyncio.timeout(_LONGEST_TRIAL):
            uses_tools = await _acts(model)
    except (
        ProviderRejectedRequest
    ) as error:  # as some servers do for a model that cannot use tools
        await model.check()
        return ToolTrial(
            monotonic() - started,
            uses_tools=False,
            refusal=error.words,
        )
    except TimeoutError as error:
        raise FirstTokenTimeout("the model did not answer in time") from error
    trial = ToolTrial(
        monotonic() - started,
        uses_tools,
        model.tools_refusal,
    )
    if uses_tools or trial.refusal:
        return trial
    return replace(trial, drops_tools=await _drops_tools(model))


async def _drops_tools(model: HTTPProvider) -> bool:
    """Return whether a prompt has as many tokens with a tool as without; False if the server does not tell."""
    alone = replace(
        _TRIAL,
        instructions="",
        options=AnswerOptions(max_output_tokens=LEAST_OUTPUT_TOKENS),
    )
    counts: list[int] = []
    with suppress(ProviderError, TimeoutError):
        async with asyncio.timeout(_LONGEST_MEASUREMENT):
            requests = (alone, replace(alone, tools=()))
            counts += [await _input_tokens(model, one) for one in requests]
    return len(counts) > 1 and counts[0] == counts[1] > 0


async def _input_tokens(
    model: HTTPProvider,
    request: CompletionRequest,
) -> int:
    """Return how many tokens of a prompt a server has read; 0 if it does not tell."""
    counted = 0
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, CompletionResult):
                counted = event.usage.input_tokens
    return counted


async def async_home_prompt(
    hass: HomeAssistant,
    settings: AgentSettings,
) -> str:
    """Return the instructions and the tools that an agent with these settings sends in every request."""
    offer = await async_offer_common_tools(hass, settings)
    sources = PromptSources(
        settings.prompt,
        offer.prompt,
        offer.context,
    )
    prompt = async_write_prompt(
        hass,
        context_without_speaker(hass),
        sources,
    )
    tools: list[JsonValue] = [
        [*one.values()] for one in described_tools(for_models(offer.definitions))
    ]
    return prompt.instructions + canonical_json(tools)


async def measure(
    model: HTTPProvider, trial: ToolTrial, prompt: str
) -> AnswerTimes | None:
    """Return how long answers to the prompt of a home take; None if that could not be measured.

    Only for services for which `reads_free` is true.
    """
    # It begins with something that no cache holds.
    sample = CompletionRequest(
        "",
        (UserMessage(f"{token_hex()}\n{prompt[:_SAMPLE]}"),),
    )
    try:
        later = await _seconds(_acts(model))
        reading = await _seconds(model.prefill(sample))
    except ProviderError, TimeoutError:
        return None
    return AnswerTimes(
        trial.seconds + reading * len(prompt) / len(prompt[:_SAMPLE]), later
    )


@dataclass(frozen=True, slots=True)
class TightWindow:
    """A context window in which the prompt of the home leaves little room."""

    prompt: int
    """Its tokens, as estimated, or as the server has counted them."""
    window: int | None
    """Tokens; None if the server has refused the prompt without telling."""

    def warning(
        self,
        sentences: Sentences,
        model: str,
    ) -> str:
        """Return both numbers in a sentence."""
        window = f"< {self.prompt}" if self.window is None else str(self.window)
        return sentences["trial_small_window"].format(
            model=model, prompt=str(self.prompt), window=window
        )


async def async_tight_window(
    hass: HomeAssistant,
    model: HTTPProvider,
    service: EntryData,
    settings: AgentSettings,
    prompt: str,
) -> TightWindow | None:
    """Return how little room the prompt of the home leaves in the window of a model; None if it is enough, or unknown.

    The server tells the window, else a list of known models, else one request of that
    size.
    """
    tokens = TokenEstimate().of_text(prompt)
    window = settings.context_window
    with suppress(ProviderError, TimeoutError):
        async with asyncio.timeout(_LONGEST_SEARCH):
            window = window or await model.context_window()
    if window is None:
        known = await async_known_model(
            hass,
            service[CONF_BASE_URL],
            settings.model,
        )
        window = known.window if known else None
    if window is None:
        return await _measured_window(
            model,
            prompt,
            tokens,
        )
    if tokens > window * _MOST_OF_WINDOW:
        return TightWindow(tokens, window)
    return None


async def _measured_window(
    model: HTTPProvider, prompt: str, tokens: int
) -> TightWindow | None:
    """Have a model read a prompt of so many tokens, by our estimate; None if it reads all of it, or nobody can tell."""
    request = CompletionRequest(
        "",
        (UserMessage(prompt),),
        options=AnswerOptions(max_output_tokens=LEAST_OUTPUT_TOKENS),
        may_be_cut=False,
        may_be_shortened=False,
    )
    try:
        async with asyncio.timeout(_LONGEST_SEARCH):
            counted = await _input_tokens(model, request)
    except PromptTooLong as error:
        return TightWindow(error.prompt_tokens or tokens, error.window_tokens)
    except ProviderError, TimeoutError:  # a prompt that does not fit is refused at once
        return None
    if 0 < counted < tokens * _LEAST_COUNTED:
        return TightWindow(tokens, counted)
    return None


async def _seconds(work: Awaitable[object]) -> float:
    started = monotonic()
    async with asyncio.timeout(_LONGEST_MEASUREMENT):
        await work
    return monotonic() - started


async def _acts(model: HTTPProvider) -> bool:
    characters = 0
    async with aclosing(model.stream(_TRIAL)) as events:
        async for event in events:
            if isinstance(event, ToolCallReady):
                return True
            characters += len(event.text) if isinstance(event, TextDelta) else 0
            if characters > _MUCH_TALK:
                break
    return False


async def check_key(models: Iterable[HTTPProvider]) -> None:
    """Have the first model that still exists answer, because some servers list models for any key.

    Raises a `ProviderError`.
    """
    for model in models:
        with suppress(ModelNotFound):
            await model.check()
            return


async def answering_interface[Interface](
    servers: Mapping[Interface, HTTPProvider],
    *,
    has_model: bool,
    seconds: float = _LONGEST_SEARCH,
) -> Interface | None:
    """Return the first interface over which a server answers within `seconds`, all asked at once.

    With `has_model`, each is asked to talk, otherwise for its models. A demand for a
    key or for a pause is an answer.
    """
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            tasks = {
                kind: group.create_task(_answers(server, has_model))
                for kind, server in servers.items()
            }
    except TimeoutError:
        return None
    return next(
        (kind for kind, answer in tasks.items() if answer.result()),
        None,
    )


async def _answers(server: HTTPProvider, has_model: bool) -> bool:  # noqa: FBT001  # a task's, with no other caller
    try:
        await (server.check() if has_model else offered_models(server))
    except ProviderError as error:
        return isinstance(error, ProviderRejectedKey | ProviderBusy)
    return True


def models_of(entry: ConfigEntry | None) -> list[AgentSettings]:
    """Return, for each model that an entry uses, the settings of one subentry that uses it."""
    models: dict[str, AgentSettings] = {}
    for subentry in entry.subentries.values() if entry else ():
        settings = settings_of(subentry.data)
        models.setdefault(settings.model, settings)
    return list(models.values())
