"""A dry turn tells what an agent would do, and nothing happens: no state changes, and no action is called."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import override

import pytest
from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.weather import WeatherEntityFeature
from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import Event, HomeAssistant, SupportsResponse, callback
from homeassistant.helpers import llm
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.effects.effect import actions_of
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.turns.dry_run import (
    DryAsker,
    DryConversation,
    DryOutcome,
    DryTurn,
)
from custom_components.chatterbox.usage.tracker import async_get_usage_tracker
from tests.support.config_entries import only_agent
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedUsage,
)
from tests.support.talk import AGENT, BLINDS_DOWN, LIGHT_ON, Serve, messages_of

PERSON = DryAsker(Speaker(asking=Asking.PERSON), "en")
UNLOCK = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
READ = ScriptedCall(name="homeassistant__GetLiveContext", arguments={"area": "Kitchen"})
DONE = ScriptedAnswer(content="Done.")


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
                for action in actions_of(one.review.effects)
            ),
        )
        for one in turn.calls
    ]


async def test_a_call_is_predicted_and_answered_as_if_it_had_run(
    hass: HomeAssistant, serve: Serve
) -> None:
    server = await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), DONE)))

    turn = await tried(hass, "turn on the kitchen ceiling light")

    assert seen(turn) == [("runs", ["light.turn_on light.kitchen_ceiling"])]
    assert turn.text == "Done."
    assert hass.states.is_state("light.kitchen_ceiling", "off")
    result = str(messages_of(server.requests[1])[-1]["content"])
    assert '"success":[{"name":"Kitchen Ceiling Light"' in result.replace(
        ", ", ","
    ).replace(": ", ":")


async def test_a_held_call_asks_nobody(hass: HomeAssistant, serve: Serve) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(UNLOCK,)),)))

    turn = await tried(hass, "unlock the front door")

    assert seen(turn) == [("held", ["lock.unlock lock.front_door"])]
    assert turn.question is not None
    assert turn.text == "Unlock the Front Door in the Hallway?"


async def test_a_call_that_rules_forbid_is_refused(
    hass: HomeAssistant, serve: Serve
) -> None:
    rules = [{"entities": ["lock.front_door"], "verdict": "deny"}]
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(UNLOCK,)),
                ScriptedAnswer(content="I may not."),
            )
        ),
        rules=rules,
    )

    turn = await tried(hass, "unlock the front door")

    assert seen(turn) == [("refused", ["lock.unlock lock.front_door"])]
    assert turn.question is None


async def test_a_name_of_nothing_fails_as_it_does_in_the_home(
    hass: HomeAssistant, serve: Serve
) -> None:
    lamp = ScriptedCall(
        name="intent__HassTurnOn", arguments={"name": "Lava Lamp", "domain": "light"}
    )
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(lamp,)),
                ScriptedAnswer(content="There is none."),
            )
        )
    )

    turn = await tried(hass, "turn on the lava lamp")

    assert [one.outcome for one in turn.calls] == [DryOutcome.FAILS]
    assert "Lava Lamp" in str(messages_of(server.requests[1])[-1]["content"])


@pytest.mark.usefixtures("whole_home")
async def test_a_device_in_another_state_is_left_out(
    hass: HomeAssistant, serve: Serve
) -> None:
    """A television that is off cannot be paused, whatever its name."""
    pause = ScriptedCall(name="media_player__HassMediaPause", arguments={"name": "TV"})
    await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(pause,)),
                ScriptedAnswer(content="It is off."),
            )
        )
    )
    hass.states.async_set("media_player.tv", "off")

    turn = await tried(hass, "pause the TV")

    assert [one.outcome for one in turn.calls] == [DryOutcome.FAILS]


@pytest.mark.usefixtures("whole_home")
async def test_states_are_read_as_they_are(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(READ,)),
                ScriptedAnswer(content="It is off."),
            )
        )
    )

    turn = await tried(hass, "is the kitchen ceiling light on")

    assert turn.calls == ()
    assert "Fridge Temperature 4.5" in str(
        messages_of(server.requests[1])[-1]["content"]
    )


class Foreign(llm.Tool):
    """A tool of an integration that is not Home Assistant's."""

    name = "read_mail"
    description = "Reads the latest mail"
    annotations = llm.ToolAnnotations(read_only=True)
    runs = 0

    @override
    async def async_call(self, *_: object) -> llm.ToolResult:
        Foreign.runs += 1
        return llm.ToolResult({"mail": "none"})


class ForeignApi(llm.API):
    """Offers it."""

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        return llm.APIInstance(self, "", llm_context, [Foreign()])


@pytest.mark.parametrize("name", ["read_mail", "todo__get_items"])
async def test_tools_that_read_elsewhere_do_not_run(
    hass: HomeAssistant, serve: Serve, name: str
) -> None:
    llm.async_register_api(hass, ForeignApi(hass=hass, id="mail", name="Mail"))
    arguments: dict[str, JsonValue] = (
        {} if name == "read_mail" else {"todo_list": "Shopping List"}
    )
    call = ScriptedCall(name=name, arguments=arguments)
    script = Script(
        answers=(
            ScriptedAnswer(tool_calls=(call,)),
            ScriptedAnswer(content="I cannot tell."),
        )
    )
    server = await serve(script, llm_hass_api=["assist", "mail"])

    await tried(hass, "what is on the list")

    assert Foreign.runs == 0
    assert "only a trial" in str(messages_of(server.requests[1])[-1]["content"])


@pytest.mark.usefixtures("whole_home")
async def test_our_tools_run_if_they_read_without_an_action(
    hass: HomeAssistant, serve: Serve
) -> None:
    given: Mapping[str, dict[str, JsonValue]] = {
        "get_forecast": {},
        "list_memories": {},
        "remember": {"fact": "The key is under the mat."},
        "search_history": {"words": "key"},
    }
    calls = tuple(
        ScriptedCall(name=f"chatterbox__{name}", arguments=arguments)
        for name, arguments in given.items()
    )
    script = Script(answers=(ScriptedAnswer(tool_calls=calls), DONE))
    server = await serve(script, remember_facts=True, search_history=True)
    hass.states.async_set(
        "weather.home",
        "sunny",
        {"supported_features": WeatherEntityFeature.FORECAST_DAILY},
    )
    async_expose_entity(hass, "conversation", "weather.home", should_expose=True)
    async_mock_service(
        hass,
        "weather",
        "get_forecasts",
        response={},
        supports_response=SupportsResponse.ONLY,
    )

    turn = await tried(hass, "what do you know")

    answers = [
        str(message["content"])
        for message in messages_of(server.requests[1])
        if message["role"] == "tool"
    ]
    assert [
        name
        for name, answer in zip(given, answers, strict=True)
        if "only a trial" in answer
    ] == ["get_forecast"]
    assert [call.review.call.name for call in turn.calls] == ["chatterbox__remember"]


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
