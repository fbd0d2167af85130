"""The reviewers that turns are built with see their calls: one more sees each, and one less decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import override

from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session

from custom_components.chatterbox.agent.messages import JsonObject, ToolDefinition
from custom_components.chatterbox.agent.protocols import Hooks
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.input import TurnInput
from custom_components.chatterbox.turns.review import (
    REVIEWERS,
    Reviewer,
    rules,
)
from custom_components.chatterbox.turns.run import AgentTurns
from tests.support.servers.script import Script
from tests.support.talk import AGENT, ASKS, DOOR, UNLOCK, UNLOCKS, Serve
from tests.support.versions import OF_NOBODY


@dataclass
class Noting(Hooks):
    """Notes the calls that it sees."""

    seen: list[str] = field(default_factory=list)

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> None:
        self.seen.append(tool.name)


async def take_turn(hass: HomeAssistant, reviewers: Sequence[Reviewer]) -> None:
    """Unlock the door in a turn whose calls these reviewers see."""
    (entry,) = hass.config_entries.async_loaded_entries(DOMAIN)
    ((subentry_id, agent),) = entry.runtime_data.agents.items()
    turns = AgentTurns(
        hass, AGENT, entry, entry.subentries[subentry_id], agent, reviewers
    )
    with chat_session.async_get_chat_session(hass, **OF_NOBODY) as session:
        user_input = ConversationInput(
            "Unlock the front door",
            Context(),
            session.conversation_id,
            None,
            None,
            "en",
            AGENT,
        )
        with conversation.async_get_chat_log(hass, session, user_input) as chat_log:
            speaker = Speaker(asking=Asking.PERSON)
            await turns.async_run(TurnInput(user_input, speaker), chat_log)
    turns.end()


async def test_a_reviewer_that_is_added_sees_each_call(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(Script(answers=(ASKS,)))
    noting = Noting()

    await take_turn(hass, (*REVIEWERS[:-1], lambda _: (noting,), rules))

    assert noting.seen == [f"intent__{UNLOCK.name}"]
    assert hass.states.is_state(DOOR, "locked")


async def test_without_the_rules_nothing_is_asked(
    hass: HomeAssistant, serve: Serve
) -> None:
    await serve(UNLOCKS)

    await take_turn(hass, [one for one in REVIEWERS if one is not rules])

    assert hass.states.is_state(DOOR, "unlocked")
