"""The schedule of a home that can be killed, and what its agent has done and people were told."""

import asyncio
from collections.abc import Sequence

from homeassistant.core import HomeAssistant

from custom_components.chatterbox.approvals.questions import Running
from custom_components.chatterbox.effects.silent_home import SilentCall
from custom_components.chatterbox.later.acting import Outcome
from custom_components.chatterbox.later.plans import FuturePlan, PlanProblem, Plans
from custom_components.chatterbox.later.schedule import Schedule
from custom_components.chatterbox.people.speakers import Speaker
from custom_components.chatterbox.turns.input import TurnInput
from tests.later.talk import AGENT


class Home:
    """The schedule of a home that can be killed, and what its agent has done and people were told."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass
        self.done: list[str] = []
        self.problem: PlanProblem | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.schedule = self.awake()

    def awake(self) -> Schedule:
        """Return a schedule that knows what is stored alone."""
        schedule = Schedule(self.hass)
        schedule.plans = Plans(self.hass)
        schedule.async_serve(AGENT, self)
        return schedule

    async def async_act(self, plan: FuturePlan) -> Outcome:
        await asyncio.sleep(0)
        self.done.append(plan.text)
        await self.may_end.wait()
        if plan.text == "late":
            raise TimeoutError
        return (
            Outcome("later_failed", "It is stuck.")
            if plan.text == "stuck"
            else Outcome()
        )

    async def async_actions(self, plan: FuturePlan) -> Sequence[SilentCall]:  # noqa: ARG002
        """Consist of nothing."""
        return ()

    async def async_problem(
        self,
        plan: FuturePlan,  # noqa: ARG002  # demanded by the protocol, as the others
        mover: Speaker,  # noqa: ARG002
        *,
        takes_back: bool,  # noqa: ARG002
        asks_scripts: bool,  # noqa: ARG002
    ) -> PlanProblem | None:
        """Let everybody change plans, as long as there is no problem."""
        return self.problem

    async def async_ask(
        self,
        plan: FuturePlan,
        reason: str,
        running: Running,
        here: TurnInput | None = None,
    ) -> None:
        """Ask nothing."""

    async def restart(self) -> None:
        """Start again, with what is stored alone."""
        self.schedule.async_stop()
        self.schedule = self.awake()
        await self.schedule.async_start(self.hass)
        await self.hass.async_block_till_done(wait_background_tasks=True)

    @property
    def texts(self) -> list[str]:
        return [news.text for news in self.schedule.plans.stored.news]
