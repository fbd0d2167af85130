"""A dry turn, and what happens in the home meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import Event, HomeAssistant, callback
from pydantic import JsonValue

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import (
    DryAsker,
    DryConversation,
    DryTurn,
)
from tests.support.talk import AGENT

PERSON = DryAsker(Speaker(asking=Asking.PERSON), "en")


@dataclass(slots=True)
class Happenings:
    """All that happens in a home: states, calls of actions, and our own events."""

    hass: HomeAssistant
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen from now on."""
        self.hass.bus.async_listen("*", self._note)

    @callback
    def _note(self, event: Event[Mapping[str, JsonValue]]) -> None:
        if (
            event.data.get("entity_id") == HOME_ASSISTANT_AGENT
        ):  # its state is when it was last asked
            return
        kind = str(event.event_type)
        if kind in (EVENT_CALL_SERVICE, EVENT_STATE_CHANGED) or kind.startswith(DOMAIN):
            self.seen.append(kind)


async def tried(
    hass: HomeAssistant,
    text: str,
    asker: DryAsker = PERSON,
    *,
    agent_id: str = AGENT,
    is_model_alone: bool = True,
) -> DryTurn:
    """Try a sentence; whatever happens in the home meanwhile is a fault."""
    await hass.async_block_till_done()
    happenings = Happenings(hass)
    talk = DryConversation.with_agent(
        hass, agent_id, asker, is_model_alone=is_model_alone
    )
    assert talk
    turn = await talk.async_say(text)
    await hass.async_block_till_done()
    assert happenings.seen == []
    assert not async_get_approvals(hass).waiting
    return turn


def seen(turn: DryTurn) -> list[tuple[str, list[str]]]:
    """Return the outcome of each call, with its actions."""
    return [
        (
            one.outcome.value,
            sorted(
                f"{action.action} {action.entity_id}"
                for action in one.review.effects.actions
            ),
        )
        for one in turn.calls
    ]
