"""A home whose services do as a seed says, and what has to hold of all its turns together.

Knows how a home is set up and what is kept between turns. Must not know what holds of a
single one: `verdict.py`.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import pytest
from homeassistant.components import conversation
from homeassistant.const import EVENT_CALL_SERVICE, STATE_UNAVAILABLE
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.chatterbox.people.speakers import (
    EVENT_AUTOMATION_TRIGGERED,
    MAX_CONTEXTS,
    async_get_context_watch,
)
from tests.agent.providers.contract.dialects import DIALECTS
from tests.behaviour.chaos.faults import FAULTS
from tests.behaviour.chaos.footprint import Footprint, growth
from tests.behaviour.chaos.home import (
    API,
    GONE,
    HOME,
    Agent,
    Runs,
    add_agent,
    counted_tools,
)
from tests.behaviour.chaos.people import Reply, WaitingQuestions
from tests.behaviour.chaos.plan import (
    LANGUAGES,
    NOT_UNDERSTOOD,
    TURNS_OF_A_CONVERSATION,
    Plans,
)
from tests.behaviour.chaos.server import ChaosServer, chaos_server
from tests.behaviour.chaos.turn_runner import (
    ENOUGH_FAILURES,
    Driver,
    ErrorLog,
    turns_up_to,
)
from tests.demo_house.move_in import move_in
from tests.support.config_entries import prepare
from tests.support.llm_apis import register
from tests.support.loop_clock import LoopClock

_WORKERS: Final = 64
_ROUNDS: Final = 8
_DOUBLINGS: Final = 3
"""Times that a growth has to show again, with more turns, before it counts."""
_MANY: Final = 800
"""So many turns have to have met every fault."""
_VERY_MANY: Final = 4_000
"""So many have to have met everything there is, also what depends on how turns meet; more than a plain run takes."""
_LATER: Final = timedelta(minutes=30)
"""By then conversations are forgotten, and every service was asked again whether it is back."""
_PROBES: Final = 5
"""So often a service may be asked whether it is back: on a busy machine it may take too long to say so. Twice at least,
as a question is forgotten some time after it has run out."""

_CONTEXTS: Final = 5_000
"""So many are kept in mind of what has gone on in a home; here it was a lot already."""
_LATE_YESES: Final = 5
"""So many of the questions that nobody answers are answered too late, after every round."""

_EXPECTED: Final = {
    StopReason.COMPLETED,
    StopReason.PROVIDER_FAILED,
    StopReason.LENGTH,
    StopReason.DEADLINE,
    StopReason.APPROVAL_REQUIRED,
}
"""The reasons with which turns end, at least."""


@dataclass(slots=True)
class Chaos:
    """The home, its agents, and what is known of them."""

    hass: HomeAssistant
    driver: Driver
    server: ChaosServer
    agents: Sequence[Agent]
    stop_reasons: Counter[str] = field(default_factory=Counter)

    @callback
    def turn_finished(self, event: Event[dict[str, object]]) -> None:
        """Count how turns end."""
        self.stop_reasons[str(event.data["stop_reason"])] += 1

    async def let_time_pass(self) -> None:
        """Come to a moment in which nothing is under way, nothing is kept, and every service was sound for a while."""
        requested = [*self.driver.waiting_questions.waiting.values()][:_LATE_YESES]
        for probe in range(_PROBES):
            async_fire_time_changed(self.hass, dt_util.utcnow() + _LATER)
            await self.hass.async_block_till_done(wait_background_tasks=True)
            for question in requested if probe == 0 else ():
                await self.driver.answer_late(question)
            if probe and all(
                agent.answers for agent in self.agents if not agent.is_gone
            ):
                break
        await self.server.hang_up()
        for agent in self.agents:
            self._expect_recovery(agent)
        if late := self.driver.runs.take_late():
            self.driver.failures.append(f"ran after the end of their turns: {late}")
        if errors := self.driver.errors.take(None):
            self.driver.failures.append(f"logged by nobody's turn: {errors}")

    def _expect_recovery(self, agent: Agent) -> None:
        """A service that is back is asked first again; who has anybody to ask is available."""
        state = self.hass.states.get(agent.entity_id)
        if state is None or state.state == STATE_UNAVAILABLE:
            self.driver.failures.append(
                f"{agent.entity_id} is not available although services are back"
            )
        if not (agent.answers or agent.is_gone):
            self.driver.failures.append(
                f"the model of {agent.entity_id} is left alone although it is back"
            )


@asynccontextmanager
async def chaos(hass: HomeAssistant, seed: int, api: str) -> AsyncIterator[Chaos]:
    """Set up services of all wire formats, one that is gone, and for each an agent with the tools of an LLM API."""
    asyncio.get_running_loop().set_debug(
        False
    )  # three times the work, for tracebacks that nobody reads here
    runs, plans, question, errors = (
        Runs(),
        Plans(seed),
        WaitingQuestions(hass),
        ErrorLog(),
    )
    await prepare(hass)
    await move_in(hass, HOME)
    for language in LANGUAGES:  # what is loaded once takes longer than a turn has here
        await conversation.async_converse(
            hass, NOT_UNDERSTOOD, None, Context(), language
        )
    for _ in range(MAX_CONTEXTS):  # what is full cannot be taken for what grows
        async_get_context_watch(hass).take_for_turn(Context())
    register(hass, API, *counted_tools(runs), name="Chaos", prompt="Keep the list.")
    hass.bus.async_listen(EVENT_CALL_SERVICE, runs.service_called)
    async with chaos_server(plans.answer) as server:
        names = [dialect.name for dialect in DIALECTS]
        agents = [
            await add_agent(hass, server.base_url, name, name, api) for name in names
        ]
        async with chaos_server(plans.answer) as gone:
            agents.append(await add_agent(hass, gone.base_url, GONE, names[0], api))
        # Where two wait for the tools of an integration that is imported, and one is
        # cancelled, Home Assistant fails for both (`LazyIntegrationPlatforms`).
        nobody = llm.LLMContext("test", Context(), "en", conversation.DOMAIN, None)
        await llm.async_get_api(hass, llm.LLM_API_ASSIST, nobody)
        for _ in range(_CONTEXTS):
            hass.bus.async_fire(
                EVENT_AUTOMATION_TRIGGERED,
                {"entity_id": "automation.of_somebody"},
                context=Context(),
            )
        plans.agents = agents
        clock = LoopClock(seconds_per_pass=0.002)
        prepared = Chaos(
            hass, Driver(hass, clock, plans, runs, question, errors), server, agents
        )
        hass.bus.async_listen(EVENT_TURN_FINISHED, prepared.turn_finished)
        with errors.alone(), clock.running():
            yield prepared


async def expect_good_ends(
    hass: HomeAssistant, config: pytest.Config, api: str, share: float
) -> None:
    """Take a share of the turns that were asked for, with the tools of an LLM API; fail for all that went wrong."""
    turns, only = (
        round(config.getoption("--chaos-turns") * share),
        config.getoption("--chaos-turn"),
    )
    async with chaos(hass, config.getoption("--chaos-seed"), api) as home:
        if only is not None:
            for number in turns_up_to(only):
                await home.driver.take_turn(number)
        else:
            await _take_turns(home, turns)
    failures = home.driver.failures
    assert not failures, "\n\n".join(["", *failures[:ENOUGH_FAILURES]])
    if only is None and turns >= _MANY:
        # An overloaded machine ends more turns by their deadlines, which leaves less of
        # the rest.
        assert len(set(home.driver.plans.drawn)) > len(FAULTS) / 2
        assert home.stop_reasons[StopReason.COMPLETED]
        assert home.driver.broken_off
    if only is None and turns >= _VERY_MANY:
        assert set(home.stop_reasons) >= _EXPECTED
        assert set(home.driver.replies) == set(Reply)
        assert home.driver.replies.total() > turns / 50
        assert home.driver.undone < home.driver.agreed / 4


async def _take_turns(home: Chaos, turns: int) -> None:
    """Take turns in rounds, between which what is held is compared."""
    size = turns // _ROUNDS // TURNS_OF_A_CONVERSATION * TURNS_OF_A_CONVERSATION
    begin = 0
    footprints = await _footprints(home, range(begin, size * _ROUNDS, size))
    # Noise does not depend on the number of turns. What turns leave behind is twice as
    # much after twice as many.
    for _ in range(_DOUBLINGS):
        if home.driver.failures or not any(growth(footprints, size)):
            return
        begin += size * _ROUNDS
        size *= 2
        footprints = await _footprints(home, range(begin, begin + size * _ROUNDS, size))
    if not home.driver.failures:
        home.driver.failures.extend(growth(footprints, size))


async def _footprints(home: Chaos, rounds: range) -> list[Footprint]:
    """Take a round of turns from each number on, and return the footprint after each; fewer if something goes wrong."""
    footprints: list[Footprint] = []
    for begin in rounds:
        await home.driver.take_turns(range(begin, begin + rounds.step), _WORKERS)
        await home.let_time_pass()
        footprints.append(Footprint.take())
        if home.driver.failures:
            break
    return footprints
