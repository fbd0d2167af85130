"""Home Assistant's own understanding, walked by the real loop in a real home."""

import asyncio
from typing import override

import pytest
from homeassistant.components import automation, conversation
from homeassistant.components.conversation.agent_manager import get_agent_manager
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import chat_session, intent, llm
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.events import Phase, StopReason
from custom_components.chatterbox.agent.messages import JsonObject, ToolCall, Usage
from custom_components.chatterbox.agent.text import MOST_UNDERSTOOD
from custom_components.chatterbox.effects.effect import NOTHING
from custom_components.chatterbox.offline.dispatcher import (
    MAX_NESTING,
    offline_languages,
)
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from tests.demo_house.move_in import move_in
from tests.support.config_entries import offline_entry, set_up
from tests.support.offline_talk import HOME, Talk, sentence_call
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.versions import OF_NOBODY

SPEAK_OF_IT = "turn it off again"


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    return hass


async def built_in_answer(
    hass: HomeAssistant, text: str, language: str = "en"
) -> conversation.ConversationResult:
    """Ask Home Assistant's own agent directly."""
    agent = conversation.HOME_ASSISTANT_AGENT
    return await conversation.async_converse(
        hass, text, None, Context(), language, agent_id=agent
    )


async def test_of_a_text_that_nobody_says_nothing_is_done(home: HomeAssistant) -> None:
    talk = Talk(home)

    answer = await talk.say(f"turn on the counter lamp {' ' * MOST_UNDERSTOOD}")

    assert answer.startswith("Sorry, I couldn't understand that")
    assert home.states.is_state("light.counter", "off")


async def test_a_sentence_becomes_an_action_and_the_action_an_answer(
    home: HomeAssistant,
) -> None:
    talk = Talk(home)

    assert await talk.say("turn on the counter lamp") == "Turned on the light"

    assert home.states.is_state("light.counter", "on")
    assert talk.phases == [
        Phase.RECEIVE_INPUT,
        Phase.LLM_INFERENCE,
        Phase.TOOL_DECISION,
        Phase.TOOL_EXECUTION,
        Phase.RESULT_AGGREGATION,
        Phase.LLM_INFERENCE,
        Phase.TOOL_DECISION,
        Phase.RESPONSE_COMPOSITION,
        Phase.OUTPUT,
    ]
    assert talk.finished[-1].stop_reason is StopReason.COMPLETED
    assert talk.finished[-1].usage == Usage()
    assert [target.id for target in talk.response.success_results] == ["light.counter"]


@pytest.mark.parametrize(
    ("broken", "answer"),
    [
        (
            ("light.kitchen_ceiling", "light.counter"),
            "That didn't work: {}, {}. no answer.",
        ),
        (("light.counter",), "Turned on the lights\nThat didn't work: {}. no answer."),
    ],
)
async def test_lights_that_did_not_follow_are_named(
    home: HomeAssistant, broken: tuple[str, ...], answer: str
) -> None:
    async def turn_on(call: ServiceCall) -> None:
        if set(call.data["entity_id"]) & set(broken):
            raise HomeAssistantError("no answer")
        for entity_id in call.data["entity_id"]:
            home.states.async_set(entity_id, "on")

    home.services.async_register("light", "turn_on", turn_on)
    talk = Talk(home)

    spoken_text = await talk.say("turn on the kitchen lights")

    # Home Assistant 2026.10 takes one entity for the other.
    names = ("Kitchen Ceiling", "Counter Lamp")
    assert spoken_text in {answer.format(*names), answer.format(*reversed(names))}
    assert talk.results[-1].is_error is (len(broken) == len(names))


async def test_another_conversation_knows_nothing_of_it(home: HomeAssistant) -> None:
    await Talk(home).say("turn on the counter lamp")

    other = Talk(home, conversation_id="another-talk")
    await other.say(SPEAK_OF_IT)

    assert home.states.is_state("light.counter", "on")
    assert other.results[-1].is_error


async def test_the_memory_outlives_a_pause_in_a_conversation_with_an_id_of_home_assistants_kind(
    home: HomeAssistant,
) -> None:
    # Home Assistant gives a conversation with an expired ULID a new id; none of ours
    # may look like one.
    for conversation_id in ("01K9" + "0" * 22, "x" * 26, "x"):
        talk = Talk(home, conversation_id=conversation_id)
        await talk.say("turn on the counter lamp")
        await talk.say(SPEAK_OF_IT)
        assert home.states.is_state("light.counter", "off")


async def test_a_question_for_another_day_or_place_is_not_answered_for_now(
    home: HomeAssistant,
) -> None:
    talk = Talk(home)
    for text, is_error in {
        "what day is it tomorrow": False,
        "what time is it in London": False,
        "hey what's the time": False,
        "what time is it right now please": False,
        "are any lights on in the attic": True,
        "is the light in the garage on": True,
        "is the front door not locked": True,
        "is the front door locked in the attic": True,
        "is the counter lamp on in the hallway": True,
        "what is the battery of the front door": True,
        "is the front door still properly locked": False,
        "are any lights still on in the house": False,
        "can you tell me if the front door is locked": False,
    }.items():
        await talk.say(text)
        assert talk.results[-1].is_error is is_error, text


async def test_a_word_that_makes_a_command_another_one_is_not_left_out(
    home: HomeAssistant,
) -> None:
    talk = Talk(home)
    for text in (
        "don't unlock the front door",
        "unlock the front door when Ben arrives",
        "turn off all lights unless Ben is here",
        "turn on the counter lamp if it's dark",
        "turn on the counter lamp tomorrow morning",
        "remind me to unlock the front door",
        "who can unlock the front door",
        "did you turn on the counter lamp",
        "how do I unlock the front door",
        "are you going to unlock the front door",
        "what would unlock the front door",
    ):
        dispatcher = talk.dispatcher()
        assert (
            await dispatcher.async_effects(PROCESS_SENTENCE.name, {SENTENCE: text})
            == NOTHING
        ), text
        await talk.say(text)
        assert talk.results[-1].is_error, text
    assert home.states.is_state("lock.front_door", "locked")
    assert home.states.is_state("light.hallway", "on")

    await talk.say("is the hallway light on")
    await talk.say("turn it off")
    await talk.say("don't turn it on")
    assert home.states.is_state("light.hallway", "off")


async def test_all_of_a_kind_with_a_state_is_a_command_unless_it_is_asked(
    home: HomeAssistant,
) -> None:
    talk = Talk(home)
    assert (await talk.say("all lights on?")).startswith("No, ")
    assert (await talk.say("are all lights on")).startswith("No, ")
    assert home.states.is_state("light.counter", "off")

    await talk.say("all lights on")
    assert home.states.is_state("light.counter", "on")

    await talk.say("all the lights off please")
    assert home.states.is_state("light.counter", "off")


async def test_lights_of_a_room_are_set_to_a_brightness(home: HomeAssistant) -> None:
    talk, lights = Talk(home), {"light.kitchen_ceiling", "light.counter"}
    for text in (
        "turn on the kitchen lights at 30 percent",
        "switch on the lights in the kitchen at 30 percent",
    ):
        effects = await talk.dispatcher().async_effects(
            PROCESS_SENTENCE.name, {SENTENCE: text}
        )
        assert effects.is_known
        assert {action.entity_id for action in effects.actions} == lights
        await talk.say(text)
        assert (
            {run.intent_type for run in effects.intents},
            talk.results[-1].is_error,
        ) == ({"HassLightSet"}, False)
    forbidden = "don't turn on the kitchen lights at 30 percent"
    assert (
        await talk.dispatcher().async_effects(
            PROCESS_SENTENCE.name, {SENTENCE: forbidden}
        )
        == NOTHING
    )


async def test_a_light_that_has_no_colours_is_not_said_to_have_one(
    home: HomeAssistant,
) -> None:
    """home-assistant/core#134159."""
    assert (
        await Talk(home).say("set the counter lamp to red")
        == "That didn't work: Counter Lamp. It doesn't support that."
    )


async def test_a_compound_sentence_does_both(home: HomeAssistant) -> None:
    spoken = await Talk(home).say(
        "turn on the counter lamp and turn off the hallway light"
    )

    assert home.states.is_state("light.counter", "on")
    assert home.states.is_state("light.hallway", "off")
    assert spoken == "Turned on the light. Turned off the light"


async def test_a_question_is_answered(home: HomeAssistant) -> None:
    talk = Talk(home)

    assert await talk.say("is the front door locked") == "Yes"
    assert talk.response.response_type is intent.IntentResponseType.QUERY_ANSWER


@in_one_home("text", ["what does it all mean", "shall we dance"])
async def test_what_is_not_understood_gets_the_built_in_agents_own_sentence(
    home: HomeAssistant, text: str
) -> None:
    expected = (await built_in_answer(home, text)).response
    talk = Talk(home, device_id="a-satellite")  # a chat gets some help too

    assert await talk.say(text) == expected.speech["plain"]["speech"]

    assert talk.results[-1].is_error
    assert talk.response.error_code is not None
    assert talk.response.error_code is expected.error_code


@in_one_home(
    ("language", "text", "named"),
    [
        ("en", "turn on the spaceship in five minutes", "spaceship"),
        (
            "en",
            "don't turn on the counter lamp in five minutes",
            "don't turn on the counter lamp",
        ),
        ("en", "unlock the front door in the kitchen in 3 seconds", "the Kitchen area"),
        (
            "en",
            "in 3 seconds turn on the counter lamp in 3 seconds",
            "turn on the counter lamp",
        ),
        ("en", "in 5 minutes what time is it", "what time is it"),
        ("en", "turn on the counter lamp in 5 minutes", "turn on the counter lamp"),
        ("fr", "allume le vaisseau dans cinq minutes", "vaisseau"),
        ("de", "in 5 Minuten schalte Counter Lamp ein", "schalte Counter Lamp ein"),
    ],
)
async def test_home_assistant_delays_no_command(
    home: HomeAssistant, language: str, text: str, named: str
) -> None:
    talk = Talk(home, language)

    assert (
        await talk.dispatcher().async_effects(PROCESS_SENTENCE.name, {SENTENCE: text})
        == NOTHING
    )
    assert named in await talk.say(text)
    assert talk.results[-1].is_error
    assert home.data[TIMER_DATA].timers == {}


async def test_it_speaks_other_languages(home: HomeAssistant) -> None:
    talk = Talk(home, language="de")

    assert await talk.say("schalte Counter Lamp ein") == "Licht eingeschaltet"
    assert home.states.is_state("light.counter", "on")
    assert (await talk.say("was ist der Sinn des Lebens")).startswith(
        "Entschuldigung, das habe ich nicht verstanden."
    )


async def test_a_language_that_nobody_understands_gets_an_answer_all_the_same(
    home: HomeAssistant,
) -> None:
    assert (
        await Talk(home, language="tlh").say("wej")
        == "Sorry, I couldn't understand that"
    )


async def test_the_result_of_the_conversation_is_that_of_the_built_in_agent(
    home: HomeAssistant,
) -> None:
    """Cards, targets and error codes come from the ChatLog, where Home Assistant looks for them."""
    for text in ("turn on the counter lamp", "what does it all mean"):
        talk = Talk(home, device_id="a-satellite")
        spoken = await talk.say(text)
        native = talk.results[-1].native
        assert isinstance(native, llm.ToolResult)
        user_input = conversation.ConversationInput(
            text, Context(), "our-talk", None, None, "en", "us"
        )
        with (
            chat_session.async_get_chat_session(
                home, "our-talk", **OF_NOBODY
            ) as session,
            conversation.async_get_chat_log(home, session, user_input) as chat_log,
        ):
            for content in (
                conversation.ToolResultContent(
                    "us", "1", PROCESS_SENTENCE.name, native
                ),
                conversation.AssistantContent("us", spoken),
            ):
                chat_log.async_add_assistant_content_without_tools(content)
            result = conversation.async_get_result_from_chat_log(user_input, chat_log)

        assert (
            result.response.as_dict()
            == (await built_in_answer(home, text)).response.as_dict()
        )


async def test_our_own_conversation_is_not_disturbed(home: HomeAssistant) -> None:
    with (
        chat_session.async_get_chat_session(home, "our-talk", **OF_NOBODY) as session,
        conversation.async_get_chat_log(home, session) as chat_log,
    ):
        before = list(chat_log.content)
        await (
            Talk(home).dispatcher().dispatch(*sentence_call("turn on the counter lamp"))
        )

        assert chat_log.content == before
        assert chat_session.current_session.get() is session


async def test_an_automation_started_by_a_sentence_answers(home: HomeAssistant) -> None:
    await _automate(home, "good night", {"set_conversation_response": "Sleep well"})

    assert await Talk(home).say("good night") == "Sleep well"


async def test_an_automation_answers_a_sentence_that_could_be_a_delayed_command(
    home: HomeAssistant,
) -> None:
    await _automate(
        home,
        "start the spaceship in five minutes",
        {"set_conversation_response": "Engines on"},
    )

    assert await Talk(home).say("start the spaceship in five minutes") == "Engines on"


async def _automate(
    hass: HomeAssistant, command: str, *actions: dict[str, object], mode: str = "single"
) -> None:
    config = {
        "id": command,
        "alias": command,
        "mode": mode,
        "trigger": {"platform": "conversation", "command": [command]},
        "action": list(actions),
    }
    assert await async_setup_component(
        hass, automation.DOMAIN, {automation.DOMAIN: [config]}
    )
    await hass.async_block_till_done()


async def test_a_sentence_that_says_itself_comes_to_an_end(home: HomeAssistant) -> None:
    await set_up(
        home,
        offline_entry(rules=[{"verdict": "allow", "tools": [PROCESS_SENTENCE.name]}]),
    )
    (agent_id,) = [
        agent
        for agent in home.states.async_entity_ids("conversation")
        if "talker" in agent
    ]
    say_it_again: dict[str, object] = {
        "action": "conversation.process",
        "data": {"agent_id": agent_id, "text": "say it again"},
        "response_variable": "answer",
    }
    speech = "{{ answer.response.speech.plain.speech }}"
    await _automate(
        home,
        "say it again",
        say_it_again,
        {"set_conversation_response": speech},
        mode="parallel",
    )
    runs = async_capture_events(home, automation.EVENT_AUTOMATION_TRIGGERED)

    spoken = await Talk(home).say("say it again")

    assert len(runs) == MAX_NESTING
    assert spoken == sentence("common.spoken_sentence_calls_itself")
    assert await Talk(home).say("turn on the counter lamp") == "Turned on the light"


async def test_a_task_that_outlives_its_sentence_may_speak_as_often_as_it_likes(
    home: HomeAssistant,
) -> None:
    """Contexts are inherited: a task that a sentence started must not count that sentence for ever."""
    spoken: list[str] = []
    requests = asyncio.Queue[str]()

    async def outlive() -> None:
        spoken.append(
            await Talk(home, conversation_id="later").say(await requests.get())
        )

    async def start_task(_: object, __: object) -> str | None:
        tasks.append(asyncio.create_task(outlive()))
        return None

    tasks: list[asyncio.Task[None]] = []
    unregister = get_agent_manager(home).register_trigger(["start a task"], start_task)
    await Talk(home).say("start a task")
    for _ in range(MAX_NESTING + 1):
        requests.put_nowait("start a task")
        await tasks[-1]
    requests.put_nowait("turn on the counter lamp")
    await tasks[-1]

    assert spoken[-1] == "Turned on the light"
    unregister()


class SlowHandler(intent.IntentHandler):
    """An intent that takes for ever, and tells when it begins and ends."""

    intent_type = "TakeForEver"

    def __init__(self) -> None:
        self.running, self.ended = asyncio.Event(), asyncio.Event()

    @override
    async def async_handle(self, intent_obj: intent.Intent) -> intent.IntentResponse:
        self.running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        raise AssertionError


async def test_cancellation_ends_the_sentence(home: HomeAssistant) -> None:
    handler = SlowHandler()
    intent.async_register(home, handler)
    get_agent_manager(home).update_config_intents(
        {handler.intent_type: {"data": [{"sentences": ["take for ever"]}]}}
    )
    task = asyncio.create_task(
        Talk(home).dispatcher().dispatch(*sentence_call("take for ever"))
    )
    await handler.running.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert handler.ended.is_set()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("another", {SENTENCE: "hi"}), (PROCESS_SENTENCE.name, {SENTENCE: 5})],
)
async def test_the_dispatcher_runs_nothing_else(
    home: HomeAssistant, name: str, arguments: JsonObject
) -> None:
    outcome = (
        await Talk(home).dispatcher().dispatch(ToolCall("1", name, "{}"), arguments)
    )

    assert outcome.is_error
    assert isinstance(outcome.native, llm.ToolResult)
    assert PROCESS_SENTENCE.name in outcome.content
    assert Talk(home).dispatcher().targets(name, arguments) is None


async def test_the_languages_are_those_of_the_built_in_agent(
    home: HomeAssistant,
) -> None:
    languages = offline_languages(home)

    assert {"en", "de", "fr", "ja"} <= set(languages)
    assert languages == sorted(languages)
