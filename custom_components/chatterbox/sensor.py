"""The sensors of each agent: how many of its questions wait for a yes, and which; and its numbers.

Knows Home Assistant's sensor platform. Must not know who may answer, or how, and what is counted.
"""

from typing import override

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.sensor import SensorEntity
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .agent.messages import JsonValue
from .approvals import SIGNAL_QUESTION, Question, QuestionNews, async_get_approvals
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .entity import AgentDeviceEntity
from .loaded_agents import ChatterboxConfigEntry
from .number_sensors import number_sensors
from .question_event import expiry
from .tally_keeping import async_get_tally_keeper
from .turn_report import shown_text

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
    def _async_follow(self, news: QuestionNews) -> None:
        if news.question.spot.agent_id == self._agent_id:
            self.async_write_ha_state()

    @property
    def _agent_id(self) -> str | None:
        registry = er.async_get(self.hass)
        return registry.async_get_entity_id(CONVERSATION_DOMAIN, DOMAIN, self.subentry.subentry_id)

    @property
    def _waiting(self) -> list[Question]:
        agent_id = self._agent_id
        return [question for question in async_get_approvals(self.hass).waiting if question.spot.agent_id == agent_id]

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
        "device_id": question.spot.device_id,
        "satellite_id": question.spot.satellite_id,
        "expires_at": expiry(question),
    }
