"""The sensors of each agent: how many of its questions wait for a yes, and which; and its numbers.

Knows Home Assistant's sensor platform. Must not know who may answer, or how, and what is counted.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, override

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import PERCENTAGE, EntityCategory, UnitOfTime
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .agent.conversation.prompt_size import PromptSize
from .agent.messages import JsonValue, Usage
from .approvals.questions import SIGNAL_QUESTION, Question, QuestionUpdate, async_get_approvals, expiry
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .entity import AgentDeviceEntity
from .records.report import shown_text
from .runtime.agents import ChatterboxConfigEntry
from .usage.totals import Tally
from .usage.tracker import SIGNAL_TALLIES, LastTurn, TallyKeeper, async_get_tally_keeper, today

_DOLLARS: Final = "USD"
_CENT_PARTS: Final = 4
"""One answer often costs less than a cent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNumbers:
    """All that there is to show of an agent."""

    tally: Tally
    last_turn: LastTurn | None
    last_usage: Usage | None
    prompt: PromptSize | None
    """Of the last request to its model, since the start."""
    has_price: bool
    today: date

    @property
    def cost(self) -> float | None:
        """US dollars; None where the price is not known, because 0 would be wrong."""
        return self.tally.cost if self.has_price else None

    @property
    def spent_today(self) -> float | None:
        """US dollars."""
        return self.tally.spent_on(self.today) if self.has_price else None

    @property
    def spent_this_month(self) -> float | None:
        """US dollars."""
        return self.tally.spent_in_month_of(self.today) if self.has_price else None

    @property
    def cache_hit_ratio(self) -> float | None:
        """Percent of what the model has read last that it knew from before."""
        usage = self.last_usage
        return 100 * usage.cached_tokens / usage.input_tokens if usage and usage.input_tokens else None

    @property
    def window_used(self) -> float | None:
        """Percent of what its model can read that the last request took."""
        return 100 * self.prompt.share if self.prompt else None

    @property
    def window_parts(self) -> Mapping[str, int]:
        """Tokens of the last request, and of what the model can read."""
        size = self.prompt
        if size is None:
            return {}
        return {
            "tools": size.tools,
            "instructions": size.instructions,
            "history": size.history,
            "window": size.window,
            "dropped_messages": size.dropped,
        }


@dataclass(frozen=True, kw_only=True)
class NumberDescription(SensorEntityDescription):
    """A number of an agent."""

    value: Callable[[AgentNumbers], float | None]
    needs_model: bool = True
    """Whether an agent without a model has none."""
    attributes: Callable[[AgentNumbers], Mapping[str, int]] | None = None
    begins: Callable[[date], date] | None = None
    """Returns the day on which the sum of today has begun; None for one that began with the agent."""


def _total(
    key: str, value: Callable[[AgentNumbers], int], *, needs_model: bool = True, is_enabled: bool = True
) -> NumberDescription:
    return NumberDescription(
        key=key,
        value=value,
        needs_model=needs_model,
        state_class=SensorStateClass.TOTAL_INCREASING,
        entity_registry_enabled_default=is_enabled,
    )


def _money(
    key: str, value: Callable[[AgentNumbers], float | None], begins: Callable[[date], date] | None = None
) -> NumberDescription:
    return NumberDescription(
        key=key,
        value=value,
        begins=begins,
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=_DOLLARS,
        state_class=SensorStateClass.TOTAL,
        suggested_display_precision=_CENT_PARTS,
    )


def _seconds(key: str, value: Callable[[LastTurn], float | None], *, needs_model: bool) -> NumberDescription:
    return NumberDescription(
        key=key,
        value=lambda numbers: value(numbers.last_turn) if numbers.last_turn else None,
        needs_model=needs_model,
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=2,
    )


NUMBERS: Final = (
    _total("input_tokens", lambda numbers: numbers.tally.input_tokens),
    _total("cached_tokens", lambda numbers: numbers.tally.cached_tokens),
    _total("output_tokens", lambda numbers: numbers.tally.output_tokens),
    _total("reasoning_tokens", lambda numbers: numbers.tally.reasoning_tokens, is_enabled=False),
    _total("inferences", lambda numbers: numbers.tally.inferences, is_enabled=False),
    _money("cost", lambda numbers: numbers.cost),
    _money("spent_today", lambda numbers: numbers.spent_today, lambda day: day),
    _money("spent_this_month", lambda numbers: numbers.spent_this_month, lambda day: day.replace(day=1)),
    _total("turns", lambda numbers: numbers.tally.turns, needs_model=False),
    _total("tool_calls", lambda numbers: numbers.tally.tool_calls, needs_model=False, is_enabled=False),
    _total("failures", lambda numbers: numbers.tally.failures, needs_model=False),
    _total("failovers", lambda numbers: numbers.tally.failovers, is_enabled=False),
    _seconds("time_to_first_token", lambda turn: turn.first_token, needs_model=True),
    _seconds("turn_time", lambda turn: turn.duration, needs_model=False),
    NumberDescription(
        key="cache_hit_ratio",
        value=lambda numbers: numbers.cache_hit_ratio,
        native_unit_of_measurement=PERCENTAGE,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
    ),
    NumberDescription(
        key="window_used",
        value=lambda numbers: numbers.window_used,
        attributes=lambda numbers: numbers.window_parts,
        native_unit_of_measurement=PERCENTAGE,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
    ),
)
"""Every number of an agent."""


def number_sensors(
    entry: ChatterboxConfigEntry, subentry: ConfigSubentry, keeper: TallyKeeper
) -> Iterator[NumberSensor]:
    """Yield the sensors of an agent; one without a model has fewer."""
    board = NumberBoard(entry, subentry.subentry_id, keeper)
    has_model = subentry.subentry_id in entry.runtime_data.models
    for description in NUMBERS:
        if has_model or not description.needs_model:
            yield NumberSensor(entry, subentry, board, description)


class NumberBoard:
    """The numbers of an agent, looked up once for all its sensors."""

    def __init__(self, entry: ChatterboxConfigEntry, agent: str, keeper: TallyKeeper) -> None:
        """Look up the numbers of the agent with a subentry id, as `keeper` has them."""
        self._entry = entry
        self._agent = agent
        self._keeper = keeper
        self._sensors: dict[NumberSensor, None] = {}
        self._stop: CALLBACK_TYPE | None = None

    @callback
    def async_show_on(self, hass: HomeAssistant, sensor: NumberSensor) -> CALLBACK_TYPE:
        """Have a sensor show its number whenever that is another one, until what is returned is called."""
        if self._stop is None:
            self._stop = async_dispatcher_connect(hass, SIGNAL_TALLIES, self._async_follow)
        self._sensors[sensor] = None

        @callback
        def async_leave() -> None:
            del self._sensors[sensor]
            if not self._sensors and self._stop is not None:
                self._stop()
                self._stop = None

        return async_leave

    @callback
    def _async_follow(self, changed: Collection[str] | None) -> None:
        if changed is None or self._agent in changed:
            numbers = self.numbers
            for sensor in tuple(self._sensors):
                if sensor.is_another(numbers):
                    sensor.async_write_ha_state()

    @property
    def numbers(self) -> AgentNumbers:
        """As they are now."""
        model = self._entry.runtime_data.models.get(self._agent)
        return AgentNumbers(
            tally=self._keeper.tally(self._agent),
            last_turn=self._keeper.last_turn(self._agent),
            last_usage=self._keeper.last_usage(self._agent),
            prompt=model.windowed.last_size if model else None,
            has_price=model is not None and model.account.price is not None,
            today=today(),
        )


class NumberSensor(AgentDeviceEntity, SensorEntity):
    """One number of an agent."""

    entity_description: NumberDescription
    _attr_should_poll = False
    _attr_entity_category = EntityCategory.DIAGNOSTIC
    _unrecorded_attributes = frozenset({"tools", "instructions", "history", "window", "dropped_messages"})

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        board: NumberBoard,
        description: NumberDescription,
    ) -> None:
        """Show a number of the agent of a subentry, as it stands on `board`."""
        super().__init__(entry, subentry, description.key)
        self.entity_description = description
        self._attr_extra_state_attributes = {}
        self._attr_last_reset = None
        self._began: date | None = None
        self._board = board

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the sums."""
        await super().async_added_to_hass()
        self.is_another(self._board.numbers)
        self.async_on_remove(self._board.async_show_on(self.hass, self))

    def is_another(self, numbers: AgentNumbers) -> bool:
        """Take the number as it is now, and what it is made of. Return whether anything of that is new."""
        description = self.entity_description
        value = description.value(numbers)
        is_another = value != self._attr_native_value
        if is_another:
            self._attr_native_value = value
        if (
            description.attributes
            and (parts := {**description.attributes(numbers)}) != self._attr_extra_state_attributes
        ):
            self._attr_extra_state_attributes, is_another = parts, True
        if description.begins and (day := description.begins(numbers.today)) != self._began:
            self._began, self._attr_last_reset, is_another = day, dt_util.start_of_local_day(day), True
        return is_another


PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of each agent of a service; only one to talk to has questions."""
    keeper = await async_get_tally_keeper(hass)
    for subentry in entry.subentries.values():
        sensors: list[SensorEntity] = [*number_sensors(entry, subentry, keeper)]
        if subentry.subentry_type == SUBENTRY_CONVERSATION:
            sensors.append(WaitingQuestionsSensor(entry, subentry))
        async_add_entities(sensors, config_subentry_id=subentry.subentry_id)


class WaitingQuestionsSensor(AgentDeviceEntity, SensorEntity):
    """The questions of an agent that can be answered now."""

    _attr_should_poll = False
    _unrecorded_attributes = frozenset({"waiting"})

    def __init__(self, entry: ChatterboxConfigEntry, subentry: ConfigSubentry) -> None:
        """Take the agent of a subentry."""
        super().__init__(entry, subentry, "waiting_questions")

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the questions."""
        await super().async_added_to_hass()
        self.async_on_remove(async_dispatcher_connect(self.hass, SIGNAL_QUESTION, self._async_follow))

    @callback
    def _async_follow(self, news: QuestionUpdate) -> None:
        if news.question.scope.agent_id == self._agent_id:
            self.async_write_ha_state()

    @property
    def _agent_id(self) -> str | None:
        registry = er.async_get(self.hass)
        return registry.async_get_entity_id(CONVERSATION_DOMAIN, DOMAIN, self.subentry.subentry_id)

    @property
    def _waiting(self) -> list[Question]:
        agent_id = self._agent_id
        return [question for question in async_get_approvals(self.hass).waiting if question.scope.agent_id == agent_id]

    @property
    @override
    def native_value(self) -> int:
        """Return how many wait."""
        return len(self._waiting)

    @property
    @override
    def extra_state_attributes(self) -> dict[str, list[dict[str, JsonValue]]]:
        """Return what is asked, where, and until when."""
        return {"waiting": [_shown(question) for question in self._waiting]}


def _shown(question: Question) -> dict[str, JsonValue]:
    return {
        "approval_id": question.id,
        "question": shown_text(question.text),
        "needs_pin": question.needs_pin,
        "device_id": question.scope.device_id,
        "satellite_id": question.scope.satellite_id,
        "expires_at": expiry(question),
    }
