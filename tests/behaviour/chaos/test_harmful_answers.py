"""No answer of a model server holds the event loop, fills memory, or leaves a person without words."""

import asyncio
import gc
import resource
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import thread_time
from typing import Final, override

import aiohttp
import pytest
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.events import TextDelta, TurnFinished
from custom_components.chatterbox.agent.loop.loop import AgenticLoop, PlainComposer
from custom_components.chatterbox.agent.loop.turn import Limits
from custom_components.chatterbox.agent.messages import ToolResult
from custom_components.chatterbox.agent.protocols import AnswerOptions
from custom_components.chatterbox.agent.providers.failover import FailoverProvider
from custom_components.chatterbox.agent.providers.managed_provider import (
    CircuitBreaker,
    ManagedProvider,
)
from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, ServiceKind
from custom_components.chatterbox.speech.text import (
    SpeechFilter,
    answer_content,
    asks_back,
)
from tests.agent.providers.contract.dialect import KEY, MODEL, Dialect
from tests.support.doubles import ScriptedCensor, ScriptedDispatcher, tool
from tests.support.listening_room import StreamingVoice, furnish
from tests.support.talk import PART, add_agent, move_into_the_demo_home
from tests.support.yardstick import json_pass

from .harmful_answers import HARMFUL_ANSWERS, STOLEN, TOOL, HarmfulAnswer
from .harmful_server import harmful_server, path_of

LONGEST_STEP: Final = 8
"""Processor time between two turns of others, in passes over a megabyte of JSON."""
MOST_MEMORY: Final = 50
"""MB more than before the turn."""
TRIES: Final = 6
COSTLY: Final = (
    "begins calls without end",
    "calls 10,000 tools in many events",
    "gives 180 KB of objects",
    "gives 180 KB of texts",
    "only thinks, in 66,000 characters of <|a|>",
    "only thinks, in 66,000 characters of [",
    "only thinks, in 66,000 characters of `",
    "says 1 MB of fences",
    "says 1 MB of newlines",
    "says 180 KB of claims to a hook",
    "says 180 KB of words to a hook",
    "says beginnings of calls in many",
    "says half markers",
    "says openings of functions",
    "says openings of thoughts",
    "says tokens of templates",
    "sends endless 100",
    "sends endless 103",
    "sends endless carriage returns",
    "sends endless chunks of a byte",
    "sends endless comments",
    "sends endless empty",
    "sends endless events without a choice",
    "sends endless extensions",
    "sends endless lines",
    "sends endless named",
    "stops after its head",
    "stops amid its head",
    "writes 300 calls",
)
"""Beginnings of cases that take seconds and resemble another, which the quick run has."""


@cache
def unit() -> float:
    """Return the seconds of processor time that a pass over a megabyte of JSON takes here."""
    return json_pass()


@dataclass(slots=True)
class Cost:
    """The cost of a turn for those beside it."""

    longest: float = 0
    """Seconds of processor time for which the event loop was held at a stretch."""
    grown: float = 0
    """MB."""

    @property
    def is_low(self) -> bool:
        """Return whether nobody notices."""
        is_short = (
            self.longest <= LONGEST_STEP * unit()
            or self.longest <= LONGEST_STEP * json_pass()
        )
        return is_short and self.grown <= MOST_MEMORY

    async def watch(self) -> None:
        """Come around each millisecond, until cancelled. To spin would take more time than all turns."""
        before = thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = thread_time()
            self.longest = max(self.longest, now - before)
            before = now


@asynccontextmanager
async def measured() -> AsyncIterator[Cost]:
    """Measure what the block costs."""
    gc.collect()
    forget_peak()
    before, cost = peak(), Cost()
    watching = asyncio.create_task(cost.watch())
    yield cost
    await asyncio.sleep(0)  # the last step
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    cost.grown = peak() - before


def peak() -> float:
    """Return the most memory in MB that this process has had since `forget_peak`; elsewhere than on Linux, ever."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024**2 if sys.platform == "darwin" else 1024
    )


def forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    gc.collect()
    gc.freeze()  # what other tests have left behind is no work of ours
    with harmful_server() as base_url:
        yield base_url
    gc.unfreeze()


@pytest.fixture
async def session(socket_enabled: None) -> AsyncIterator[aiohttp.ClientSession]:  # noqa: ARG001  # opens the sockets
    async with aiohttp.ClientSession() as client:
        yield client


class EnglishComposer(PlainComposer):
    """Recognizes questions and announcements in English, as the composer of voice does."""

    @override
    async def undone(self, tool_results: Sequence[ToolResult], answer: str) -> str:
        return (
            ""
            if asks_back(answer, "en")
            else await super().undone(tool_results, answer)
        )

    @override
    def announces(self, answer: str) -> bool:
        return answer_content(answer, "", "en").ends_with_announcement


async def take_turn(
    provider: FailoverProvider, case: HarmfulAnswer, seconds: float
) -> str:
    """Return what is heard of a turn, sentence by sentence as it streams, and with its end."""
    hooks = (ScriptedCensor(lambda _: None),) if case.is_held else ()
    loop = AgenticLoop(
        provider, ScriptedDispatcher(), hooks=hooks, composer=EnglishComposer()
    )
    # The model is given up before the turn is.
    limits = Limits(deadline=2 * seconds, max_iterations=2)
    options = AnswerOptions(max_characters=case.characters)
    turn = replace(
        case.turn,
        tools=(tool(TOOL),),
        checks_answer=True,
        limits=limits,
        options=options,
    )
    speech, written, heard = SpeechFilter("en"), [""], [""]
    async with aclosing(loop.stream(turn)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                written.append(event.text)
                heard.append(speech.feed(event.text))
            if isinstance(event, TurnFinished):
                asks_back(event.text, "en")
    return "".join(heard) + speech.finish()


@pytest.mark.parametrize(
    ("place", "dialect"),
    [
        pytest.param(
            place,
            dialect,
            id=f"{case.does} ({dialect.name})",
            marks=()
            if dialect == case.dialects[0] and not case.does.startswith(COSTLY)
            else pytest.mark.thorough,
        )
        for place, case in enumerate(HARMFUL_ANSWERS)
        for dialect in case.dialects
    ],
)
async def test_a_harmful_answer_harms_nobody(
    place: int, dialect: Dialect, address: str, session: aiohttp.ClientSession
) -> None:
    case = HARMFUL_ANSWERS[place]
    tries: list[tuple[Cost, str]] = []
    for number in range(TRIES):
        seconds = (
            case.seconds * 8**number
        )  # a machine that is busy elsewhere needs more of them for the first word
        provider = dialect.provider_class(
            session, address + path_of(place, dialect.name), MODEL, KEY
        )
        managed = ManagedProvider(
            "model", provider, CircuitBreaker(), retries=False, closes_promptly=True
        )
        async with measured() as cost:
            heard = await take_turn(
                FailoverProvider([managed], within=seconds), case, seconds
            )
        tries.append((cost, heard[-300:]))
        assert KEY not in heard
        assert STOLEN not in heard
        if cost.is_low and case.hears in heard:
            return
    raise AssertionError(tries)


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param(
            place,
            id=case.does,
            marks=pytest.mark.thorough
            if case.does.startswith((*COSTLY, "answers whole with 2 MB"))
            else (),
        )
        for place, case in enumerate(HARMFUL_ANSWERS)
        if case.in_the_home
    ],
)
async def test_a_harmful_answer_harms_no_home(
    place: int, address: str, hass: HomeAssistant
) -> None:
    await move_into_the_demo_home(hass, PART)
    service: dict[str, object] = {
        CONF_KIND: ServiceKind.OPENAI_CHAT,
        CONF_BASE_URL: address + path_of(place, "openai_chat"),
    }
    await add_agent(hass, service, {CONF_MODEL: MODEL, CONF_LLM_HASS_API: ["assist"]})
    room = await furnish(hass, StreamingVoice())
    costs: list[Cost] = []
    for _ in range(TRIES):
        async with measured() as cost:
            await room.say("Turn on the light", "kitchen-talk")
        costs.append(cost)
        assert any(map(str.isalnum, room.heard))
        assert any(map(str.isalnum, room.speech))
        assert len(room.speech) <= HARMFUL_ANSWERS[place].characters
        if cost.is_low:
            return
    raise AssertionError(costs)
