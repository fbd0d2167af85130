"""A dry turn tells what an agent would do, and nothing happens: no state changes, and no action is called."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.turns.dry_run import (
    DryConversation,
    DryOutcome,
)
from custom_components.chatterbox.usage.tracker import async_get_usage_tracker
from tests.support.config_entries import only_agent
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedUsage,
)
from tests.support.talk import AGENT, BLINDS_DOWN, LIGHT_ON, Serve, messages_of
from tests.turns.dry_turns import PERSON, seen, tried

DONE = ScriptedAnswer(content="Done.")


async def test_the_scripts_of_the_owner_do_not_run(
    hass: HomeAssistant, serve: Serve
) -> None:
    answers = ScriptedAnswer(tool_calls=(LIGHT_ON,)), DONE
    await serve(
        Script(answers=answers), pre_tool_use="script.watch", pre_speech="script.watch"
    )

    assert [
        one.outcome for one in (await tried(hass, "turn on the kitchen light")).calls
    ] == [DryOutcome.RUNS]


async def test_a_conversation_goes_on(hass: HomeAssistant, serve: Serve) -> None:
    answers = (
        ScriptedAnswer(tool_calls=(BLINDS_DOWN,)),
        DONE,
        ScriptedAnswer(content="The blinds."),
    )
    server = await serve(Script(answers=answers))
    talk = DryConversation.with_agent(hass, AGENT, PERSON, is_model_alone=True)
    assert talk

    await talk.async_say("close the living room blinds")
    turn = await talk.async_say("what did you close?")

    assert turn.text == "The blinds."
    contents = [
        str(message["content"])
        for message in messages_of(server.requests[-1])
        if message["role"] == "user"
    ]
    assert "close the living room blinds" in contents[0]


@pytest.mark.usefixtures("offline")
async def test_home_assistant_itself_is_tried_dry(hass: HomeAssistant) -> None:
    turn = await tried(hass, "turn on the kitchen ceiling light", is_model_alone=False)

    assert seen(turn) == [("runs", ["light.turn_on light.kitchen_ceiling"])]
    assert hass.states.is_state("light.kitchen_ceiling", "off")


@pytest.mark.usefixtures("offline")
async def test_a_timer_that_would_not_start_is_refused(hass: HomeAssistant) -> None:
    turn = await tried(
        hass,
        "turn on the kitchen ceiling light and set a timer for five minutes",
        is_model_alone=False,
    )

    assert turn.text.startswith("Turned on the light.")
    assert turn.text.endswith("timers are not supported on this device")


@pytest.mark.usefixtures("offline")
async def test_home_assistant_itself_answers_questions(hass: HomeAssistant) -> None:
    turn = await tried(hass, "is the kitchen ceiling light on?", is_model_alone=False)

    assert turn.calls == ()
    assert "no" in turn.text.casefold()


async def test_tokens_are_counted_and_turns_are_not(
    hass: HomeAssistant, serve: Serve
) -> None:
    usage = ScriptedUsage(prompt_tokens=900, completion_tokens=20)
    await serve(Script(answers=(ScriptedAnswer(content="Hello.", usage=usage),)))

    turn = await tried(hass, "hello")

    (entry,) = hass.config_entries.async_entries(DOMAIN)
    tracker, agent = async_get_usage_tracker(hass), only_agent(entry).subentry_id
    await hass.async_block_till_done()
    assert turn.facts.usage.input_tokens == 900
    assert turn.facts.first_words is not None
    assert tracker._totals.of(agent).input_tokens == 900  # noqa: SLF001  # sensors show it later
    assert tracker.last_turn(agent) is None


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("agent_id", ["conversation.gone", "light.kitchen_ceiling"])
async def test_an_agent_that_is_not_there_is_not_tried(
    hass: HomeAssistant, agent_id: str
) -> None:
    assert DryConversation.with_agent(hass, agent_id, PERSON) is None
