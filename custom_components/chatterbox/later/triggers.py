"""Waits for the triggers of plans, as Home Assistant's automations do, and adds what these leave to us.

A trigger says when to look at a plan. One with a time begins when that has come: Home
Assistant's triggers know no date. One with a condition begins once it has held for its
time, also if it held before anybody looked. One that comes again begins once its
condition has ended meanwhile, at most once an hour; one that acts, at most once a
minute, and never for what was so before it was made. Decisions 60 and 63.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.components.event import ATTR_EVENT_TYPE
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, State, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.trigger import (
    async_initialize_triggers,
    async_validate_trigger_config,
)
from homeassistant.helpers.typing import ConfigType, TemplateVarsType
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject
from ..const import DOMAIN, LOGGER
from .plans import FuturePlan, PlanKind

SELDOM: Final = timedelta(hours=1)
"""Least time between two messages of a plan that comes again."""
_OFTEN: Final = timedelta(minutes=1)
"""Least time between two actions of one."""
_NOT_THERE: Final = frozenset({STATE_UNAVAILABLE, STATE_UNKNOWN})


async def async_validated(
    hass: HomeAssistant, triggers: Sequence[JsonObject]
) -> list[ConfigType]:
    """Return triggers as Home Assistant attaches them. Raises `vol.Invalid` and `HomeAssistantError`."""
    return await async_validate_trigger_config(
        hass,
        cv.TRIGGER_SCHEMA([*triggers]),
    )


@dataclass(slots=True, eq=False)
class Watch:
    """Waits for one plan."""

    hass: HomeAssistant
    plan: FuturePlan
    begin: CALLBACK_TYPE
    """Called once, unless it ends before."""
    _has_ended: bool = False
    """Whether its condition has not held since it was last told."""
    _is_over: bool = False
    _stop_timer: CALLBACK_TYPE | None = None
    _detach: CALLBACK_TYPE | None = None

    async def async_start(self) -> bool:
        """Wait, and return whether the triggers can be waited for."""
        self._look()
        try:
            configs = await async_validated(
                self.hass,
                self.plan.triggers,
            )
        except (vol.Invalid, HomeAssistantError) as error:
            LOGGER.warning(
                "Plan %s waits in vain: %s",
                self.plan.id,
                error,
            )
            return False
        name = f"plan {self.plan.id}"
        self._detach = detach = await async_initialize_triggers(
            self.hass, configs, self._async_fired, DOMAIN, name, LOGGER.log
        )
        if self._is_over:
            self.async_end()
            return True
        self._look()  # it may have changed meanwhile
        return detach is not None

    @callback
    def async_end(self) -> None:
        """Wait no more."""
        self._is_over = True
        self._end_timer()
        if self._detach:
            self._detach()
            self._detach = None

    @callback
    def _async_fired(
        self, variables: TemplateVarsType, _context: Context | None = None
    ) -> None:
        if self._is_over:
            return
        condition = self.plan.condition
        if condition and condition.happens:
            trigger = variables["trigger"] if variables else {}
            old = trigger.get("from_state")
            new = trigger.get("to_state")
            if self._rest <= timedelta() and _has_happened(old, new, condition.state):
                self.begin()
        elif self.plan.due or condition:
            self._look()
        else:
            self.begin()

    @property
    def _rest(self) -> timedelta:
        """The time until it may begin again."""
        plan = self.plan
        if plan.told_at is None:
            return timedelta()
        pause = _OFTEN if plan.kind is PlanKind.ACT else SELDOM
        return plan.told_at + pause - dt_util.utcnow()

    def _look(self) -> None:
        """Begin, or wait for as long as the condition has to hold, if its time has come."""
        plan = self.plan
        now = dt_util.utcnow()
        if plan.due:
            if plan.due.replace(microsecond=0) <= now:
                self.begin()
            return
        if plan.condition is None or plan.condition.happens:
            return
        holds = plan.condition.holds(self.hass.states)
        if not holds:
            self._end_timer()
            self._has_ended = self._has_ended or holds is False
        elif self._stop_timer is None and (self._has_ended or not plan.told_at):
            lasting = timedelta(seconds=plan.condition.seconds)
            self._stop_timer = async_call_later(
                self.hass, max(lasting, self._rest), self._async_has_held
            )

    @callback
    def _async_has_held(self, _now: datetime) -> None:
        self._stop_timer = None
        self.begin()

    def _end_timer(self) -> None:
        if self._stop_timer:
            self._stop_timer()
            self._stop_timer = None


def _has_happened(
    old: State | None,
    new: State | None,
    kind: str,
) -> bool:
    """Return whether a change of the state of an entity is that something has happened, and not that it came back."""
    if old is None or new is None or old.state in {STATE_UNAVAILABLE, new.state}:
        return False
    is_kind = not kind or new.attributes.get(ATTR_EVENT_TYPE) == kind
    return is_kind and new.state not in _NOT_THERE
