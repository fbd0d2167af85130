"""The sensors of each agent: its questions that wait for an answer, and its usage."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
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
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .agent.conversation.prompt_fitter import PromptSize
from .agent.messages import JsonValue, Usage
from .approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    QuestionUpdate,
    async_get_approvals,
    expiry,
)
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .entity import AgentDeviceEntity
from .records.turn_record import SIGNAL_USAGE, shown_text
from .runtime.agents import ChatterboxConfigEntry
from .usage.tracker import AgentUsage, LastTurn, async_get_usage_tracker, today

PARALLEL_UPDATES = 0

_CENT_PARTS: Final = 4
"""One answer often costs less than a cent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNumbers:
    """The figures that the sensors of an agent show."""

    usage: AgentUsage
    last_turn: LastTurn | None
    last_usage: Usage | None
    prompt: PromptSize | None
    """Of the last request to its model since the start."""
    has_price: bool
    today: date


@dataclass(frozen=True, kw_only=True)
class NumberDescription(SensorEntityDescription):
    """A figure of an agent."""

    entity_category: EntityCategory | None = EntityCategory.DIAGNOSTIC
    value: Callable[[AgentNumbers], float | None]
    needs_model: bool = True
    """Whether only agents with a model have it."""
    attributes: Callable[[AgentNumbers], Mapping[str, int | str]] | None = None
    period_start: Callable[[date], date] | None = None
    """Returns the first day of the current period; None for a sum over the lifetime of the agent."""


def _total(key: str, *, needs_model: bool = True) -> NumberDescription:
    """Describe a figure of the usage that has its name."""
    return NumberDescription(
        key=key,
        value=attrgetter(f"usage.{key}"),
        needs_model=needs_model,
        state_class=SensorStateClass.TOTAL_INCREASING,
    )


def _money(
    key: str,
    value: Callable[[AgentNumbers], float],
    period_start: Callable[[date], date] | None = None,
) -> NumberDescription:
    """Describe an amount, which is unknown if the price is unknown: 0 would be wrong."""
    return NumberDescription(
        key=key,
        value=lambda numbers: value(numbers) if numbers.has_price else None,
        period_start=period_start,
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement="USD",
        state_class=SensorStateClass.TOTAL,
        suggested_display_precision=2 if period_start else _CENT_PARTS,
    )


def _seconds(
    key: str,
    value: Callable[[LastTurn], float | None],
    attributes: Callable[[AgentNumbers], Mapping[str, int | str]] | None = None,
    *,
    needs_model: bool = True,
) -> NumberDescription:
    return NumberDescription(
        key=key,
        value=lambda numbers: value(numbers.last_turn) if numbers.last_turn else None,
        attributes=attributes,
        needs_model=needs_model,
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=2,
    )


def _percent(
    key: str,
    value: Callable[[AgentNumbers], float | None],
    attributes: Callable[[AgentNumbers], Mapping[str, int | str]] | None = None,
) -> NumberDescription:
    return NumberDescription(
        key=key,
        value=value,
        attributes=attributes,
        native_unit_of_measurement=PERCENTAGE,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=0,
    )


def _cache_hit_ratio(numbers: AgentNumbers) -> float | None:
    usage = numbers.last_usage
    if usage and usage.input_tokens:
        return 100 * usage.cached_tokens / usage.input_tokens
    return None


def _turn_page(numbers: AgentNumbers) -> Mapping[str, int | str]:
    """Return where the page of the side bar shows the last turn."""
    stored_id = numbers.last_turn and numbers.last_turn.stored_id
    if stored_id:
        return {"page": f"/{DOMAIN}/turns/{stored_id}"}
    return {}


def _window_parts(numbers: AgentNumbers) -> Mapping[str, int | str]:
    """Return the tokens of the last request, and of the model's context window."""
    size = numbers.prompt
    if size is None:
        return {}
    return {
        "tools": size.tools,
        "instructions": size.instructions,
        "history": size.history,
        "window": size.window,
        "dropped_messages": size.dropped,
    }


NUMBERS: Final = (
    _total("input_tokens"),
    _total("cached_tokens"),
    _total("output_tokens"),
    _total("reasoning_tokens"),
    _total("inferences"),
    _money("cost", lambda numbers: numbers.usage.cost),
    _money(
        "spent_today",
        lambda numbers: numbers.usage.spent_on(numbers.today),
        lambda day: day,
    ),
    _money(
        "spent_this_month",
        lambda numbers: numbers.usage.spent_in_month_of(numbers.today),
        lambda day: day.replace(day=1),
    ),
    _total("turns", needs_model=False),
    _total("tool_calls", needs_model=False),
    _total("failures", needs_model=False),
    _total("failovers"),
    _seconds("time_to_first_token", lambda turn: turn.first_token),
    _seconds(
        "turn_time",
        lambda turn: turn.duration,
        _turn_page,
        needs_model=False,
    ),
    _percent("cache_hit_ratio", _cache_hit_ratio),
    _percent(
        "window_used",
        lambda numbers: 100 * numbers.prompt.share if numbers.prompt else None,
        _window_parts,
    ),
)
"""All figures of an agent."""

_ENABLED: Final = frozenset(
    {
        "spent_this_month",
        "turns",
        "failures",
        "time_to_first_token",
        "turn_time",
    }
)
"""Figures that are enabled by default."""


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001  # Home Assistant's signature
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of each agent of a service; only conversation agents have questions."""

    @callback
    def add(subentry: ConfigSubentry) -> None:
        has_model = subentry.subentry_id in entry.runtime_data.models
        numbers = (one for one in NUMBERS if has_model or not one.needs_model)
        sensors: list[SensorEntity] = [
            NumberSensor(
                entry,
                subentry,
                one,
            )
            for one in numbers
        ]
        if subentry.subentry_type == SUBENTRY_CONVERSATION:
            sensors.append(WaitingQuestionsSensor(entry, subentry))
        async_add_entities(sensors, config_subentry_id=subentry.subentry_id)

    entry.runtime_data.async_add_each(entry, add)


class NumberSensor(AgentDeviceEntity, SensorEntity):
    """One figure of an agent."""

    entity_description: NumberDescription
    _attr_should_poll = False
    _unrecorded_attributes = frozenset(
        {
            "page",
            "tools",
            "instructions",
            "history",
            "window",
            "dropped_messages",
        }
    )

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
        description: NumberDescription,
    ) -> None:
        """Show a figure of the agent of a subentry."""
        super().__init__(
            entry,
            subentry,
            description.key,
        )
        self.entity_description = description
        self._attr_entity_registry_enabled_default = description.key in _ENABLED

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the usage."""
        await super().async_added_to_hass()
        self.async_on_remove(
            async_dispatcher_connect(
                self.hass,
                SIGNAL_USAGE,
                self._async_follow,
            )
        )
        self._async_update()

    @callback
    def _async_follow(self, changed: Collection[str] | None) -> None:
        if changed is None or self.subentry.subentry_id in changed:
            self._async_update()
            self.async_write_ha_state()

    def _async_update(self) -> None:
        description = self.entity_description
        numbers = self._numbers()
        self._attr_native_value = description.value(numbers)
        if description.attributes:
            self._attr_extra_state_attributes = {**description.attributes(numbers)}
        if description.period_start:
            self._attr_last_reset = dt_util.start_of_local_day(
                description.period_start(numbers.today)
            )

    def _numbers(self) -> AgentNumbers:
        agent = self.subentry.subentry_id
        tracker = async_get_usage_tracker(self.hass)
        model = self.entry.runtime_data.models.get(agent)
        return AgentNumbers(
            usage=tracker.usage(agent),
            last_turn=tracker.last_turn(agent),
            last_usage=tracker.last_usage(agent),
            prompt=model.fitter.last_size if model else None,
            has_price=tracker.has_price(agent),
            today=today(),
        )


class WaitingQuestionsSensor(AgentDeviceEntity, SensorEntity):
    """The questions of an agent that can be answered now."""

    _attr_should_poll = False
    _unrecorded_attributes = frozenset({"waiting"})

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
    ) -> None:
        """Take the agent of a subentry."""
        super().__init__(
            entry,
            subentry,
            "waiting_questions",
        )

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the questions."""
        await super().async_added_to_hass()
        self.async_on_remove(
            async_dispatcher_connect(
                self.hass,
                SIGNAL_QUESTION,
                self._async_follow,
            )
        )

    @callback
    def _async_follow(self, news: QuestionUpdate) -> None:
        if news.question.scope.agent_id == self._agent_id:
            self.async_write_ha_state()

    @property
    def _agent_id(self) -> str | None:
        registry = er.async_get(self.hass)
        return registry.async_get_entity_id(
            CONVERSATION_DOMAIN, DOMAIN, self.subentry.subentry_id
        )

    @property
    def _waiting(self) -> list[Question]:
        agent_id = self._agent_id
        return [
            question
            for question in async_get_approvals(self.hass).waiting
            if question.scope.agent_id == agent_id
        ]

    @property
    @override
    def native_value(self) -> int:
        """Return the number of waiting questions."""
        return len(self._waiting)

    @property
    @override
    def extra_state_attributes(self) -> dict[str, list[dict[str, JsonValue]]]:
        """Return the text, place and expiry of each question."""
        return {"waiting": [_question_data(question) for question in self._waiting]}


def _question_data(question: Question) -> dict[str, JsonValue]:
    return {
        "approval_id": question.id,
        "question": shown_text(question.text),
        "needs_pin": question.needs_pin,
        "device_id": question.scope.device_id,
        "satellite_id": question.scope.satellite_id,
        "expires_at": expiry(question),
    }
