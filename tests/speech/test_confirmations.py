"""What was done without a word of the model is confirmed as Home Assistant itself would say it."""

import pytest
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import intent, llm

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.events import StopReason
from custom_components.chatterbox.agent.messages import JsonObject, ToolResult
from custom_components.chatterbox.settings.agent import Confirmation
from custom_components.chatterbox.speech.confirmations import Confirmations, async_get_confirmations
from custom_components.chatterbox.speech.sentences import async_get_composer
from tests.support.llm_apis import offer_of, run, satellite
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import LIGHT_ON, Serve, move_into_the_demo_home, say, speech

TURN_ON = "intent__HassTurnOn"
TURN_OFF = "intent__HassTurnOff"
LIGHT_SET = "light__HassLightSet"
CEILING: JsonObject = {"name": "kitchen ceiling light", "domain": ["light"]}
PENDANT: JsonObject = {"name": "kitchen pendant", "domain": ["light"]}
BLINDS: JsonObject = {"name": "Living Room Blinds", "domain": ["cover"]}


@pytest.fixture
async def house(hass: HomeAssistant) -> HomeAssistant:
    """Move into the demo home."""
    await move_into_the_demo_home(hass)
    return hass


async def do(hass: HomeAssistant, tool: str, arguments: JsonObject, area_id: str | None = None) -> ToolResult:
    """Run a tool of Assist, in a room, and return its receipt."""
    offer = await offer_of(hass, llm.LLM_API_ASSIST, device_id=satellite(hass, area_id) if area_id else None)
    outcome = await run(offer, tool, **arguments)
    assert not outcome.is_error, outcome.content
    return ToolResult("call", tool, outcome.content, native=outcome.native)


async def said(hass: HomeAssistant, *receipts: ToolResult, language: str = "en") -> str:
    """Return what is said when the model says nothing."""
    return (await async_get_composer(hass, language)).compose(StopReason.COMPLETED, receipts, None)


@pytest.mark.parametrize(
    ("tool", "arguments", "english", "german"),
    [
        (TURN_ON, CEILING, "Turned on the light.", "Licht eingeschaltet."),
        (TURN_ON, {"name": "coffee machine"}, "Turned on the switch.", "Coffee Machine eingeschaltet."),
        (TURN_ON, {"area": "kitchen", "domain": ["light"]}, "Turned on the lights.", "Licht eingeschaltet."),
        (TURN_OFF, {"floor": "Upstairs", "domain": ["light"]}, "Turned off the lights.", "Licht ausgeschaltet."),
        (TURN_ON, {"name": "front door", "domain": ["lock"]}, "Locking.", "abgeschlossen."),
        (TURN_OFF, BLINDS, "Closing.", "geschlossen."),
        (TURN_OFF, {"area": "Lounge", "device_class": ["blind"]}, "Closing the blind.", "Jalousie geschlossen."),
        ("intent__HassSetPosition", {"name": "TV", "position": 4} | BLINDS, "Position set.", "Position festgelegt."),
        (LIGHT_SET, {"name": "Floor lamp", "brightness": 40}, "Brightness set.", "Helligkeit eingestellt."),
        (LIGHT_SET, {"name": "Floor lamp", "color": "red"}, "Color set.", "Farbe eingestellt."),
        ("vacuum__HassVacuumReturnToBase", {"name": "Robot Vacuum"}, "Returning.", "Kehrt zurück."),
        (
            "climate__HassClimateSetTemperature",
            {"name": "Living Room Thermostat", "temperature": 20},
            "Temperature set to 20 degrees.",
            "Temperatur auf 20 Grad gestellt.",
        ),
        ("todo__HassListAddItem", {"name": "Shopping list", "item": "milk"}, "Added milk.", "milk hinzugefügt."),
        ("intent__HassCancelAllTimers", {}, "No timers were canceled.", "Keine Timer gestoppt."),
        # No sentence of Home Assistant does two things at once or presses a button.
        (
            LIGHT_SET,
            {"name": "Floor lamp", "color": "red", "brightness": 9},
            "Done: Floor Lamp.",
            "Erledigt: Floor Lamp.",
        ),
        (TURN_ON, {"name": "Doorbell Chime"}, "Done: Doorbell Chime.", "Erledigt: Doorbell Chime."),
    ],
)
async def test_a_deed_is_confirmed_in_the_words_of_home_assistant(
    house: HomeAssistant, tool: str, arguments: JsonObject, english: str, german: str
) -> None:
    receipt = await do(house, tool, arguments)

    assert await said(house, receipt) == english
    assert await said(house, receipt, language="de-AT") == german


async def test_two_kinds_of_things_are_named(house: HomeAssistant) -> None:
    receipt = await do(house, TURN_ON, {"area": "Bathroom", "domain": ["fan", "light"]})

    words = await said(house, receipt)
    assert words.startswith("Done: ")
    assert sorted(words.removeprefix("Done: ").removesuffix(".").split(", ")) == ["Bathroom Fan", "Bathroom Light"]


async def test_rooms_are_called_by_their_names(house: HomeAssistant) -> None:
    receipt = await do(house, TURN_OFF, {"area": "lounge", "domain": ["cover"], "device_class": ["blind"]})

    assert "Living Room" in await said(house, receipt, language="zh-CN")
    assert (await said(house, receipt, language="zh-CN")).endswith("。")


async def test_the_room_of_the_speaker_is_no_part_of_what_was_said(house: HomeAssistant) -> None:
    receipt = await do(house, TURN_ON, {"domain": ["light"], "area": "kitchen"}, "kitchen")

    assert await said(house, receipt) == "Turned on the lights."


async def test_several_deeds_are_each_confirmed_once(house: HomeAssistant) -> None:
    light, blinds = await do(house, TURN_ON, CEILING), await do(house, TURN_OFF, BLINDS)

    assert await said(house, light, blinds, light) == "Turned on the light. Closing."


async def test_two_things_that_sound_the_same_are_named(house: HomeAssistant) -> None:
    one, other, blinds = [
        await do(house, *deed) for deed in ((TURN_ON, CEILING), (TURN_ON, PENDANT), (TURN_OFF, BLINDS))
    ]

    assert await said(house, one, blinds, other) == "Closing. Done: Kitchen Ceiling Light, Kitchen Pendant."


async def test_many_deeds_are_listed(house: HomeAssistant) -> None:
    deeds: list[tuple[str, JsonObject]] = [
        (TURN_ON, CEILING),
        (TURN_OFF, BLINDS),
        (TURN_ON, {"name": "coffee machine"}),
        (LIGHT_SET, {"name": "Floor lamp", "color": "red"}),
        ("vacuum__HassVacuumReturnToBase", {"name": "Robot Vacuum"}),
    ]
    receipts = [await do(house, *deed) for deed in deeds]

    assert await said(house, *receipts[:4]) == "Turned on the light. Closing. Turned on the switch. Color set."
    assert (await said(house, *receipts)).startswith("Done: Kitchen Ceiling Light, Living Room Blinds, Coffee Machine")


async def test_done_is_one_word(house: HomeAssistant) -> None:
    receipts = [await do(house, TURN_ON, CEILING), await do(house, TURN_OFF, BLINDS)]
    for language, word in {"en": "Done.", "de": "Erledigt."}.items():
        composer = await async_get_composer(house, language, confirmation=Confirmation.DONE)

        assert composer.compose(StopReason.COMPLETED, receipts, None) == word


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize(
    ("options", "words"),
    [({}, "Turned on the light."), ({"confirmation": "done"}, "Done.")],
)
async def test_an_agent_confirms_as_it_is_set(
    hass: HomeAssistant, serve: Serve, options: dict[str, object], words: str
) -> None:
    await serve(Script(answers=(ScriptedAnswer(tool_calls=(LIGHT_ON,)), ScriptedAnswer(content=""))), **options)

    assert speech(await say(hass, "turn on the kitchen light")) == words


async def test_a_turn_that_went_wrong_says_what_it_did_whatever_is_set(house: HomeAssistant) -> None:
    receipts = [await do(house, TURN_ON, CEILING)]
    composer = await async_get_composer(house, "en", confirmation=Confirmation.DONE)

    for reason, error in ((StopReason.DEADLINE, None), (StopReason.PROVIDER_FAILED, ProviderUnreachable("gone"))):
        assert composer.compose(reason, receipts, error).startswith("Turned on the light. ")


async def test_a_language_that_home_assistant_does_not_speak_names_the_target(house: HomeAssistant) -> None:
    receipt = await do(house, TURN_ON, CEILING)

    assert await said(house, receipt, language="tlh") == "Done: Kitchen Ceiling Light."


def response(hass: HomeAssistant, kind: str, slots: dict[str, object], *entities: str) -> intent.IntentResponse:
    """Return what an intent for these slots answers after it changed these entities."""
    given = {name: {"value": value} for name, value in slots.items()}
    made = intent.IntentResponse("en", intent.Intent(hass, "test", kind, given, None, None, "en"))  # type: ignore[arg-type]  # no context is needed to speak
    made.async_set_results(
        [intent.IntentResponseTarget(entity, intent.IntentResponseTargetType.ENTITY, entity) for entity in entities]
    )
    made.async_set_states([State(entity, "on", {"friendly_name": entity}) for entity in entities])
    return made


@pytest.fixture
async def english(hass: HomeAssistant) -> Confirmations:
    """Return what Home Assistant says in English."""
    return await async_get_confirmations(hass, "en")


@pytest.mark.parametrize(
    ("slots", "sentence"),
    [
        ({"minutes": 5}, "Timer set for 5 minutes."),
        ({"hours": 1, "minutes": 5, "seconds": 0}, "Timer set for 1 hour and 5 minutes."),
        ({"minutes": 1, "name": "pasta"}, "Timer set for 1 minute named pasta."),
    ],
)
async def test_a_timer_is_confirmed_with_its_time(
    hass: HomeAssistant, english: Confirmations, slots: dict[str, object], sentence: str
) -> None:
    assert english.sentence(response(hass, "HassStartTimer", slots)) == sentence


@pytest.mark.parametrize(
    "unclear",
    [
        intent.IntentResponse("en"),
        pytest.param("HassOfTomorrow", id="an intent without words"),
    ],
)
async def test_no_words_are_put_together_for_what_is_not_known(
    hass: HomeAssistant, english: Confirmations, unclear: intent.IntentResponse | str
) -> None:
    known = unclear if isinstance(unclear, intent.IntentResponse) else response(hass, unclear, {"name": "x"}, "light.x")

    assert english.sentence(known) is None


async def test_a_template_that_lacks_what_it_speaks_of_is_not_spoken(
    hass: HomeAssistant, english: Confirmations
) -> None:
    without_state = response(hass, "HassTurnOn", {"name": "Lamp"}, "light.lamp")
    without_state.matched_states.clear()

    assert english.sentence(without_state) is None
