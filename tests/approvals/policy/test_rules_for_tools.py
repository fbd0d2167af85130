"""A rule that names a tool holds for all that does the same: sentences, timers, scripts, old names of the tool."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.agent_manager import get_agent_manager
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.protocols import Ask, Deny
from custom_components.chatterbox.approvals.guard import CallGuard
from custom_components.chatterbox.approvals.review import Refusal
from custom_components.chatterbox.offline.provider import PROCESS_SENTENCE, SENTENCE
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.agent import AgentSettings
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    Policy,
    ToolSource,
    TrustLevel,
    policy_from_json,
)
from custom_components.chatterbox.tools.turn_tools import TurnTools, async_gather_tools
from tests.demo_house.move_in import move_in
from tests.support.config_entries import offline_entry, set_up
from tests.support.llm_apis import StubTool, register
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedFailure
from tests.support.talk import AGENT, Serve, move_into_the_demo_home, speech

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: den, name: Den }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Spot, id: light.spot, area: den, state: "off" }
  - { name: Front Door, id: lock.front, area: hall, state: locked }
  - name: Heater
    id: climate.heater
    area: den
    state: heat
    attributes: { current_temperature: 20, target_temperature: 20 }
"""
TURN_ON, TURN_OFF, TIMER = (
    "intent__HassTurnOn",
    "intent__HassTurnOff",
    "intent__HassStartTimer",
)
ANNA = Speaker("anna", device_id="hall", asking=Asking.PERSON)
LAMP_ON = "turn on the lamp"
CHIME: JsonObject = {
    "alias": "Chime",
    "sequence": [{"action": "light.turn_on", "target": {"entity_id": "light.lamp"}}],
}
WHISPER: JsonObject = {
    "alias": "Whisper",
    "sequence": [
        {"action": "conversation.process", "data": {"text": "turn on the lamp"}}
    ],
}


@pytest.fixture(autouse=True)
def _anna(hass: HomeAssistant) -> None:
    MockUser(id="anna", is_owner=True).add_to_hass(hass)


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    assert await async_setup_component(hass, "media_player", {})
    assert await async_setup_component(hass, "todo", {})
    assert await async_setup_component(
        hass, "script", {"script": {"chime": CHIME, "whisper": WHISPER}}
    )
    for name in ("chime", "whisper"):
        async_expose_entity(
            hass, conversation.DOMAIN, f"script.{name}", should_expose=True
        )
    return hass


def rule(verdict: str, tool: str, **conditions: JsonValue) -> JsonObject:
    return {"verdict": verdict, "tools": [tool], **conditions}


async def gathered(
    hass: HomeAssistant, device_id: str | None = None, *apis: str
) -> TurnTools:
    """Return the tools of a turn, with the understanding of sentences."""
    place = "conversation.us"
    user_input = ConversationInput(
        "", Context(), "a-talk", device_id, None, "en", place
    )
    settings = AgentSettings(llm_apis=(llm.LLM_API_ASSIST, *apis))
    return await async_gather_tools(
        hass, user_input, "a-talk", settings, understands_sentences=True, speaker=ANNA
    )


async def judged(
    tools: TurnTools,
    hass: HomeAssistant,
    name: str,
    arguments: JsonObject,
    *rules: JsonObject,
    sources: Mapping[str, ToolSource] | None = None,
    speaker: Speaker = ANNA,
) -> str:
    """Return the verdict on a call."""
    policy = Policy(policy_from_json([*rules]).rules, sources or {})
    effects_of = tools.dispatcher.async_effects
    guard = CallGuard(
        hass,
        HomeRules(policy=policy),
        speaker,
        effects_of,
        has_outside_content=False,
        labels=tools.labels,
    )
    tool = next(tool for tool in tools.definitions if tool.name == name)
    match await guard.pre_tool_use(tool, arguments):
        case Deny():
            assert guard.refusals == (Refusal.RULES,)
            return "deny"
        case Ask():
            return "ask"
        case _:
            return "allow"


async def heard(
    hass: HomeAssistant, sentence: str, *rules: JsonObject, device_id: str | None = None
) -> str:
    """Return the verdict on a sentence."""
    tools = await gathered(hass, device_id)
    return await judged(
        tools, hass, PROCESS_SENTENCE.name, {SENTENCE: sentence}, *rules
    )


DENIED = {
    "a command": (LAMP_ON, TURN_ON),
    "with the tool of its integration": (
        "set the heater to 21 degrees",
        "climate__HassClimateSetTemperature",
    ),
    "the first of two": ("turn on the lamp and lock the front door", TURN_ON),
    "the second of two": ("lock the front door and turn off the spot", TURN_OFF),
    "one that is read first": ("what time is it and turn off the lamp", TURN_OFF),
    "a guess": ("could you please switch off the lamp", TURN_OFF),
    "a timer": ("set a timer for 5 minutes", TIMER),
    "a question about a timer": (
        "how long is left on my timer",
        "intent__HassTimerStatus",
    ),
    "an older name": (LAMP_ON, "HassTurnOn"),
    "another prefix": (LAMP_ON, "assist__HassTurnOn"),
    "a shared name": (LAMP_ON, "intent__HassTurnOn_0a1b2c"),
    "a script as a tool": ("turn on chime", "script__chime"),
    "a script that says something": ("turn on whisper", TURN_ON),
}


@in_one_home(("sentence", "tool"), DENIED.values(), ids=DENIED)
async def test_a_sentence_is_judged_as_calls_of_the_tools_of_its_intents(
    home: HomeAssistant, sentence: str, tool: str
) -> None:
    assert await heard(home, sentence) in ("allow", "ask")
    assert await heard(home, sentence, rule("deny", tool)) == "deny"
    assert await heard(home, sentence, rule("ask", tool)) == "ask"
    assert await heard(home, sentence, rule("deny", "some__tool")) != "deny"


async def test_the_other_conditions_of_the_rule_hold_too(home: HomeAssistant) -> None:
    other_on = "turn on the spot"
    places: tuple[JsonObject, ...] = (
        {"areas": ["hall"]},
        {"entities": ["light.lamp"]},
        {"domains": ["light"], "areas": ["hall"]},
        {"domains": ["light"], "actions": ["light.turn_on"], "areas": ["hall"]},
    )
    for conditions in places:
        never = rule("deny", TURN_ON, **conditions)
        assert (
            await heard(home, LAMP_ON, never),
            await heard(home, other_on, never),
        ) == ("deny", "allow"), conditions
    people: tuple[tuple[str, JsonObject], ...] = (
        ("deny", {"users": ["anna"]}),
        ("allow", {"users": ["ben"]}),
        ("deny", {"devices": ["hall"]}),
        ("allow", {"devices": ["den"]}),
        (
            "deny",
            {"window": {"after": "00:00", "before": "23:59:59"}, "users": ["anna"]},
        ),
        ("allow", {"window": {"after": "23:59:58", "before": "23:59:59"}}),
    )
    for verdict, conditions in people:
        assert (
            await heard(home, LAMP_ON, rule("deny", TURN_ON, **conditions)) == verdict
        ), conditions


async def test_of_a_sentence_with_two_intents_each_is_judged_by_its_own_effects(
    home: HomeAssistant,
) -> None:
    off = "turn on the lamp and turn off the spot"

    assert (
        await heard(home, off, rule("deny", TURN_OFF, entities=["light.lamp"]))
        == "allow"
    )
    assert (
        await heard(home, off, rule("deny", TURN_ON, entities=["light.lamp"])) == "deny"
    )
    assert (
        await heard(home, off, rule("ask", TURN_ON), rule("deny", TURN_OFF)) == "deny"
    )


async def test_a_rule_for_sentences_holds_beside_those_for_tools(
    home: HomeAssistant,
) -> None:
    sentences = PROCESS_SENTENCE.name

    assert await heard(home, LAMP_ON, rule("deny", sentences)) == "deny"
    assert (
        await heard(home, LAMP_ON, rule("allow", sentences), rule("deny", TURN_ON))
        == "deny"
    )
    assert (
        await heard(home, LAMP_ON, rule("allow", TURN_ON), rule("deny", sentences))
        == "deny"
    )
    assert (
        await heard(home, LAMP_ON, rule("ask", sentences), rule("allow", TURN_ON))
        == "ask"
    )


async def test_a_tool_that_is_allowed_loosens_nothing_but_rules_for_itself(
    home: HomeAssistant,
) -> None:
    unlock = "unlock the front door"

    assert await heard(home, unlock, rule("allow", TURN_OFF)) == "ask"
    assert (
        await heard(
            home,
            LAMP_ON,
            rule("allow", TURN_ON),
            {"verdict": "deny", "domains": ["light"]},
        )
        == "deny"
    )
    only_lamp = rule("allow", TURN_ON, entities=["light.lamp"]), rule("deny", TURN_ON)
    assert await heard(home, LAMP_ON, *only_lamp) == "allow"
    assert await heard(home, "turn on the spot", *only_lamp) == "deny"
    assert (
        await heard(
            home, LAMP_ON, rule("allow", "other__HassTurnOn"), rule("deny", TURN_ON)
        )
        == "deny"
    )


async def test_a_sentence_somebody_wrote_runs_an_intent_and_that_of_an_automation_none(
    hass: HomeAssistant,
) -> None:
    sentences = Path(hass.config.config_dir) / "custom_sentences" / "en"
    sentences.mkdir(parents=True)
    (sentences / "mine.yaml").write_text(
        'language: "en"\nintents:\n  HassTurnOn:\n    data:\n      - sentences: ["sparkle {name}"]\n'
        '  Make_Music:\n    data:\n      - sentences: ["make music"]\n',
        encoding="utf-8",
    )
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    assert await async_setup_component(
        hass, "intent_script", {"intent_script": {"Make_Music": {"action": []}}}
    )

    async def run(*_: object) -> str:
        raise AssertionError("nothing may run")

    get_agent_manager(hass).register_trigger(["good night"], run)

    assert await heard(hass, "sparkle lamp", rule("deny", TURN_ON)) == "deny"
    assert (
        await heard(hass, "make music", rule("deny", "intent_script__Make_Music"))
        == "deny"
    )
    assert await heard(hass, "good night", rule("deny", TURN_ON)) == "ask"


async def test_a_tool_is_known_by_its_old_name_and_one_of_somebody_else_is_not(
    home: HomeAssistant,
) -> None:
    register(
        home,
        "other",
        StubTool(name="other__HassTurnOn"),
        StubTool(name="script__chime_2"),
    )
    tools = await gathered(home, None, "other")

    async def verdict(name: str, *rules: JsonObject) -> str:
        return await judged(
            tools, home, name, {"name": "Lamp"} if name == TURN_ON else {}, *rules
        )

    assert await verdict(TURN_ON, rule("deny", "HassTurnOn")) == "deny"
    assert (
        await verdict(
            TURN_ON, rule("allow", TURN_ON), rule("deny", "other__HassTurnOn")
        )
        == "allow"
    )
    assert await verdict("other__HassTurnOn", rule("allow", TURN_ON)) == "ask"
    assert await verdict("script__chime", rule("deny", "script__chime_2")) == "allow"


async def test_a_script_is_the_same_tool_however_it_is_run(home: HomeAssistant) -> None:
    tools = await gathered(home)

    ways: tuple[JsonObject, ...] = (
        {"name": "Chime"},
        {"name": "all", "domain": ["script"]},
    )
    for way in ways:
        assert (
            await judged(tools, home, TURN_ON, way, rule("deny", "script__chime"))
            == "deny"
        )
    only_hall = rule("deny", "script__chime", areas=["hall"])
    assert await judged(tools, home, TURN_ON, {"name": "Chime"}, only_hall) == "deny"
    assert (
        await judged(
            tools, home, TURN_ON, {"name": "Chime"}, rule("allow", "script__chime")
        )
        == "allow"
    )
    trusted = {"script.chime": ToolSource(level=TrustLevel.ASK)}
    assert await judged(
        tools,
        home,
        TURN_ON,
        {"name": "Chime"},
        rule("allow", "script__chime"),
        sources=trusted,
    ) == ("ask")


WAYS: Mapping[str, tuple[Script, Mapping[str, object]]] = {
    "before a model": (Script(), {"local_commands": "first"}),
    "after a model that did nothing": (
        Script(answers=(ScriptedAnswer(content="The floor lamp is on now."),)),
        {"local_commands": "when_undone"},
    ),
    "without a model that answers": (
        Script(answers=(ScriptedFailure(status=500),), after_last="start again"),
        {"local_commands": "never"},
    ),
}


@pytest.mark.parametrize(("script", "options"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("verdict", ["deny", "ask", "pin"])
async def test_a_rule_holds_in_all_ways_of_understanding_a_sentence(
    hass: HomeAssistant,
    serve: Serve,
    script: Script,
    options: Mapping[str, object],
    verdict: str,
) -> None:
    await serve(script, rules=[rule(verdict, TURN_ON)], **options)

    answer = await conversation.async_converse(
        hass,
        "turn on the floor lamp",
        "a-talk",
        Context(),
        "en",
        AGENT,
        satellite_id="assist_satellite.hall",
    )
    await hass.async_block_till_done()

    assert hass.states.is_state("light.floor_lamp", "off")
    assert answer.continue_conversation is (verdict == "ask")
    assert ("?" in speech(answer)) is (verdict == "ask")


async def test_the_agent_without_a_model_keeps_to_it_too(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    await set_up(hass, offline_entry(rules=[rule("deny", TURN_ON)]))

    sentence = await conversation.async_converse(
        hass, "turn on the floor lamp", "a-talk", Context(), "en", AGENT
    )

    assert speech(sentence) == "The rules of this home don't allow that."
    assert hass.states.is_state("light.floor_lamp", "off")
