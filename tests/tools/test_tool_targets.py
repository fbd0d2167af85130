"""Which entities a call may change, known before it runs."""

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.tools.dispatch import LlmToolDispatcher, targets_of
from custom_components.chatterbox.tools.turn_tools import EffectDispatcher
from tests.demo_house.move_in import move_in
from tests.support.llm_apis import asked, offer_of

HOME = """
floors:
  - { id: ground, name: Ground Floor, level: 0 }
areas:
  - { id: kitchen, name: Kitchen, floor: ground }
  - { id: office, name: Office }
entities:
  - { name: Ceiling, id: light.kitchen_ceiling, area: kitchen, state: "off" }
  - { name: Counter, id: light.counter, area: kitchen, state: "off", aliases: [Worktop] }
  - { name: Ceiling, id: light.office_ceiling, area: office, state: "off" }
  - { name: Kettle, id: switch.kettle, area: kitchen, attributes: { device_class: outlet } }
  - { name: Blinds, id: cover.blinds, area: office, attributes: { device_class: blind } }
  - name: Radio
    id: media_player.radio
    area: kitchen
    state: playing
    attributes: { supported_features: [PLAY, PAUSE] }
  - { name: Chime, id: button.chime, area: office }
  - { name: Chores, id: todo.chores }
"""


@pytest.fixture
async def dispatcher(hass: HomeAssistant) -> EffectDispatcher:
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    hass.states.async_set("light.all", "off", {"friendly_name": "Both", "entity_id": ["light.counter", "light.inner"]})
    hass.states.async_set("light.inner", "off", {"entity_id": ["light.kitchen_ceiling", "light.all"]})
    async_expose_entity(hass, conversation.DOMAIN, "light.all", should_expose=True)
    async_expose_entity(hass, conversation.DOMAIN, "light.inner", should_expose=False)
    return (await offer_of(hass, llm.LLM_API_ASSIST)).dispatcher


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("intent__HassTurnOn", {"name": "worktop"}, {"light.counter"}),
        ("intent__HassTurnOn", {"name": "Ceiling"}, {"light.kitchen_ceiling", "light.office_ceiling"}),
        ("intent__HassTurnOn", {"name": "Ceiling", "area": "office"}, {"light.office_ceiling"}),
        ("intent__HassTurnOff", {"area": "Kitchen", "domain": ["light"]}, {"light.kitchen_ceiling", "light.counter"}),
        ("intent__HassTurnOff", {"area": "Kitchen", "domain": "switch"}, {"switch.kettle"}),
        ("intent__HassTurnOff", {"floor": "Ground Floor", "device_class": ["outlet"]}, {"switch.kettle"}),
        ("light__HassLightSet", {"area": "Office", "brightness": 5}, {"light.office_ceiling"}),
        ("intent__HassSetPosition", {"name": "Blinds", "position": 5}, {"cover.blinds"}),
        (
            "intent__HassTurnOn",
            {"name": "Both"},
            {"light.all", "light.counter", "light.inner", "light.kitchen_ceiling"},
        ),
        # It is playing, and can be resumed only after an earlier call of the same message has paused it.
        ("media_player__HassMediaUnpause", {"name": "Radio"}, {"media_player.radio"}),
        ("intent__HassTurnOn", {"name": "all", "domain": ["cover"]}, {"cover.blinds"}),
        ("todo__HassListAddItem", {"name": "Chores", "item": "Dust"}, {"todo.chores"}),
    ],
)
async def test_intents_tell_what_they_would_change(
    dispatcher: EffectDispatcher, tool: str, arguments: JsonObject, expected: set[str] | None
) -> None:
    assert dispatcher.targets(tool, arguments) == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("intent__HassTurnOn", {"name": "Nobody"}),
        ("intent__HassTurnOn", {"area": "Cellar"}),
        ("intent__HassTurnOn", {}),
        ("intent__HassTurnOn", {"name": "Chime"}),  # what a button does is not in its state
        ("nobody__has_this_tool", {"name": "Worktop"}),
    ],
)
async def test_what_cannot_be_told_is_unknown(dispatcher: EffectDispatcher, tool: str, arguments: JsonObject) -> None:
    assert dispatcher.targets(tool, arguments) is None


async def test_asking_changes_nothing(hass: HomeAssistant, dispatcher: EffectDispatcher) -> None:
    before = {state.entity_id: state.state for state in hass.states.async_all()}

    dispatcher.targets("intent__HassTurnOn", {"area": "Kitchen"})

    await hass.async_block_till_done()
    assert {state.entity_id: state.state for state in hass.states.async_all()} == before


class TimerHandler(intent.IntentHandler):
    """Starts a timer, for all that can be told of it before."""

    intent_type = intent.INTENT_START_TIMER


@pytest.mark.usefixtures("dispatcher")
async def test_what_a_timer_will_say_is_nothing_that_a_call_changes_now(hass: HomeAssistant) -> None:
    instance = await llm.async_get_api(hass, llm.LLM_API_ASSIST, asked())
    instance.tools.append(llm.IntentTool("start_timer", TimerHandler()))
    timers = LlmToolDispatcher(instance)
    arguments: JsonObject = {"minutes": 5, "conversation_command": "turn on the worktop"}

    effects = await timers.async_effects("start_timer", arguments)

    assert targets_of(effects) == frozenset({"light.counter"}), "that is what it will change"
    assert timers.targets("start_timer", arguments) is None
