"""A call does not do the opposite of the words of the person, nor act on what only a model chose."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util.ulid import ulid_now
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_mock_service,
)

from custom_components.chatterbox.agent.json.text import objects_in
from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.approvals.questions import (
    AnswerRefusal,
    async_get_approvals,
    async_refusal,
)
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import EVENT_CHANGE, EVENT_TURN_FINISHED
from custom_components.chatterbox.later.plans import async_get_plans
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import async_get_home_rules
from tests.demo_house.move_in import move_in
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.llm_apis import satellite
from tests.support.one_home import in_one_home
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: kitchen, name: Kitchen }
entities:
  - { name: Front Door, id: lock.front, area: hall, state: unlocked }
  - { name: Back Door, id: lock.back, area: kitchen, state: unlocked }
  - { name: Smart Curtain, id: cover.curtain, area: hall, state: open, attributes: { device_class: curtain } }
  - { name: Ceiling, id: light.hall, area: hall, state: "on" }
  - { name: Pendant, id: light.kitchen, area: kitchen, state: "on" }
  - { name: Fan, id: fan.fan, area: kitchen, state: "on" }
"""
OF_TODAY = {"HassTurnOn": "intent__HassTurnOn", "HassTurnOff": "intent__HassTurnOff"}


def on(name: str) -> ScriptedAnswer:
    return ScriptedAnswer(
        tool_calls=(ScriptedCall(name="HassTurnOn", arguments={"name": name}),)
    )


def off(name: str) -> ScriptedAnswer:
    return ScriptedAnswer(
        tool_calls=(ScriptedCall(name="HassTurnOff", arguments={"name": name}),)
    )


SATELLITE = "assist_satellite.hall"
SAYS = ScriptedAnswer(content="Done.")


async def talk(
    hass: HomeAssistant,
    text: str,
    *answers: ScriptedAnswer,
    room: str | None = None,
    language: str = "en",
    then: Sequence[str] = (),
    rules: Sequence[Mapping[str, object]] = ({"verdict": "allow"},),
    pre_tool_use: str | None = None,
    home: str = HOME,
    expose: Sequence[str] = (),
) -> str:
    """Say something where somebody can be asked, and `then` what follows, to a model; return what is heard last."""
    async with served(
        hass,
        room=room,
        rules=rules,
        pre_tool_use=pre_tool_use,
        home=home,
        expose=expose,
    ) as (
        model,
        device_id,
    ):
        sentences = (text, *then)
        return await heard_last(
            hass,
            model,
            sentences,
            answers,
            language=language,
            device_id=device_id,
            talk_id="chat",
        )


@asynccontextmanager
async def served(
    hass: HomeAssistant,
    *,
    room: str | None = None,
    rules: Sequence[Mapping[str, object]] = ({"verdict": "allow"},),
    pre_tool_use: str | None = None,
    home: str = HOME,
    expose: Sequence[str] = (),
) -> AsyncGenerator[tuple[ScriptedChatCompletions, str | None]]:
    """Set up a home and an agent; yield its model, and the device of the room."""
    await prepare(hass)
    await move_in(hass, home)
    for entity_id in expose:
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    device_id = satellite(hass, room) if room else None
    async with serving(
        (model := ScriptedChatCompletions(Script())).application()
    ) as address:
        await set_up(
            hass, server_entry(address, rules=[*rules], pre_tool_use=pre_tool_use)
        )
        yield model, device_id


async def heard_last(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    sentences: Sequence[str],
    answers: Sequence[ScriptedAnswer],
    *,
    language: str = "en",
    device_id: str | None = None,
    talk_id: str = "",
) -> str:
    """Say one thing after the other in a conversation of their own; return what is heard last."""
    model.play(Script(answers=(*answers, *(SAYS for _ in range(3)))))
    talk_id, heard = talk_id or f"talk {ulid_now()}", ""
    for words in sentences:
        result = await conversation.async_converse(
            hass, words, talk_id, Context(), language, AGENT, device_id, SATELLITE
        )
        await hass.async_block_till_done()
        heard = speech(result)
    return heard


async def as_before(hass: HomeAssistant) -> None:
    """Put the things of the home back, and drop what is asked."""
    for question in async_get_approvals(hass).waiting:
        async_get_approvals(hass).drop(question.id)
    for domain, service in (
        ("lock", "unlock"),
        ("cover", "open_cover"),
        ("light", "turn_on"),
        ("fan", "turn_on"),
    ):
        targets = {"entity_id": hass.states.async_entity_ids(domain)}
        await hass.services.async_call(domain, service, targets, blocking=True)
    await hass.async_block_till_done()


@pytest.fixture
async def model(hass: HomeAssistant) -> AsyncGenerator[ScriptedChatCompletions]:
    """Set up the home for rows that are tried in it one after the other."""
    async with served(hass) as (model, _):
        yield model


@in_one_home(
    ("language", "text", "wrong", "entity_id", "state"),
    [
        ("en", "Close the smart curtain", on("Smart Curtain"), "cover.curtain", "open"),
        ("en", "Turn the fan on", off("Fan"), "fan.fan", "on"),
        ("en", "Lock the front door", off("Front Door"), "lock.front", "unlocked"),
        ("de", "Mach den Fan bitte an", off("Fan"), "fan.fan", "on"),
        ("fr", "Ferme le Smart Curtain", on("Smart Curtain"), "cover.curtain", "open"),
        ("es", "Enciende el Fan", off("Fan"), "fan.fan", "on"),
        ("it", "Accendi Fan", off("Fan"), "fan.fan", "on"),
        ("nl", "Doe de Fan aan", off("Fan"), "fan.fan", "on"),
        ("pl", "Włącz Fan", off("Fan"), "fan.fan", "on"),
        ("pt", "Liga o Fan", off("Fan"), "fan.fan", "on"),
        ("pt-BR", "Ligue o Fan", off("Fan"), "fan.fan", "on"),
        ("sv", "Tänd Fan", off("Fan"), "fan.fan", "on"),
        ("zh-Hans", "打开Fan", off("Fan"), "fan.fan", "on"),
    ],
)
async def test_the_opposite_goes_back_to_the_model_and_is_asked_about_if_it_insists(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    language: str,
    text: str,
    wrong: ScriptedAnswer,
    entity_id: str,
    state: str,
) -> None:
    await as_before(hass)
    heard = await heard_last(hass, model, [text], [wrong, wrong], language=language)

    assert hass.states.is_state(entity_id, state)
    assert heard.endswith(("?", "？"))  # noqa: RUF001  # as it is written


@in_one_home(
    ("text", "call", "entity_id", "state"),
    [
        ("Turn off the fan and open the curtain", off("Fan"), "fan.fan", "off"),
        ("Turn the fan back on", on("Fan"), "fan.fan", "on"),
        ("Turn the fan on and kill the ceiling", off("Ceiling"), "light.hall", "off"),
        ("I turned the fan off by mistake", on("Fan"), "fan.fan", "on"),
        ("Don't turn off the fan", on("Fan"), "fan.fan", "on"),
        ("Switch on the movie mode please", off("Ceiling"), "light.hall", "off"),
        ("Don't leave the fan on", off("Fan"), "fan.fan", "off"),
        ("Close the smart curtain", off("Smart Curtain"), "cover.curtain", "closed"),
        (
            "It is too bright with the smart curtain",
            off("Smart Curtain"),
            "cover.curtain",
            "closed",
        ),
        ("Lock the front door", on("Front Door"), "lock.front", "locked"),
        ("Lock the door in the hall", on("Front Door"), "lock.front", "locked"),
        ("Turn off the light in the kitchen", off("Pendant"), "light.kitchen", "off"),
        ("Good night", off("Pendant"), "light.kitchen", "off"),
        ("Turn off the lights", off("Pendant"), "light.kitchen", "off"),
        ("light!", on("Pendant"), "light.kitchen", "on"),
    ],
)
async def test_what_the_words_may_mean_runs(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    text: str,
    call: ScriptedAnswer,
    entity_id: str,
    state: str,
) -> None:
    await as_before(hass)
    assert await heard_last(hass, model, [text], [call]) == "Done."
    assert hass.states.is_state(entity_id, state)


def lights_off(**place: str) -> ScriptedAnswer:
    arguments: JsonObject = {"domain": ["light"], **place}
    return ScriptedAnswer(
        tool_calls=(ScriptedCall(name="HassTurnOff", arguments=arguments),)
    )


@in_one_home(
    ("text", "runs"),
    [
        ("Turn off the lights in the kitchen", False),
        ("Turn off the light in the kitchen please", False),
        ("Turn off the lights in the hall", True),
        ("I am in the kitchen, turn off the lights of the hall", True),
        ("Turn off the ceiling in the kitchen", True),
        ("Turn off the lights", True),
        ("Turn off all the lights in the kitchen", False),
        ("Turn off the lights except in the kitchen", True),
    ],
)
async def test_a_call_for_a_room_is_for_the_one_that_the_words_name(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str, *, runs: bool
) -> None:
    await as_before(hass)

    await heard_last(hass, model, [text], [lights_off(area="Hall")])

    assert hass.states.is_state("light.hall", "off" if runs else "on")


TWO_FLOORS = """
floors:
  - { id: up, name: Upstairs }
  - { id: ground, name: Ground Floor }
areas:
  - { id: study, name: Study, floor: up }
  - { id: kitchen, name: Kitchen, floor: ground }
  - { id: pantry, name: Pantry, floor: ground }
entities:
  - { name: Desk Lamp, id: light.study, area: study, state: "on" }
  - { name: Pendant, id: light.kitchen, area: kitchen, state: "on" }
  - { name: Heating, id: switch.heating, area: study, state: "on" }
"""


async def test_a_call_for_a_floor_is_for_the_room_that_the_words_name(
    hass: HomeAssistant,
) -> None:
    text, right = "Turn off the lights in the kitchen", lights_off(area="Kitchen")
    wrong = lights_off(floor="Upstairs")

    assert await talk(hass, text, wrong, right, home=TWO_FLOORS) == "Done."

    assert hass.states.is_state("light.study", "on")
    assert hass.states.is_state("light.kitchen", "off")


async def test_a_model_that_insists_on_another_room_than_the_words_name_is_believed(
    hass: HomeAssistant,
) -> None:
    text, call = "Lights off, dinner is in the kitchen", lights_off(area="Hall")

    assert await talk(hass, text, call, call) == "Done."

    assert hass.states.is_state("light.hall", "off")


async def test_what_a_room_has_not_may_be_done_from_another(
    hass: HomeAssistant,
) -> None:
    text = "Switch it off in the pantry"
    await talk(hass, text, lights_off(area="Study"), home=TWO_FLOORS)

    assert hass.states.is_state("light.study", "off")


@pytest.mark.parametrize("domain", ["input_boolean", "remote", "siren"])
async def test_the_opposite_of_all_that_is_switched_is_asked_about(
    hass: HomeAssistant, domain: str
) -> None:
    hass.states.async_set(f"{domain}.gadget", "off", {"friendly_name": "Gadget"})
    calls = async_mock_service(hass, domain, "turn_on")
    heard = await talk(
        hass,
        "Turn off the gadget",
        on("Gadget"),
        on("Gadget"),
        expose=[f"{domain}.gadget"],
    )

    assert heard == "Turn on the Gadget?"
    assert not calls


BLINDS = """
areas:
  - { id: hall, name: Hall }
entities:
  - name: Blinds
    id: cover.blinds
    area: hall
    state: open
    attributes: { current_position: 40, supported_features: [OPEN, CLOSE, SET_POSITION] }
"""


@pytest.mark.parametrize(
    ("text", "position", "runs"),
    [("Close", 100, 0), ("Open", 0, 0), ("Open", 100, 1), ("Close", 0, 1)],
)
async def test_a_position_that_opens_or_closes_may_be_the_opposite(
    hass: HomeAssistant, text: str, position: int, runs: int
) -> None:
    call = ScriptedAnswer(
        tool_calls=(
            ScriptedCall(
                name="HassSetPosition",
                arguments={"name": "Blinds", "position": position},
            ),
        )
    )
    heard = await talk(hass, f"{text} the blinds", call, call, home=BLINDS)

    assert (heard == "Done.") == bool(runs)
    state = hass.states.get("cover.blinds")
    assert state
    assert state.attributes["current_position"] == (position if runs else 40)


async def test_the_right_call_after_the_opposite_runs(hass: HomeAssistant) -> None:
    assert (
        await talk(
            hass, "Close the smart curtain", on("Smart Curtain"), off("Smart Curtain")
        )
        == "Done."
    )
    assert hass.states.is_state("cover.curtain", "closed")


async def test_which_one_is_asked_with_the_names(hass: HomeAssistant) -> None:
    assert (
        await talk(hass, "Lock the door", on("Front Door"))
        == "The Front Door or the Back Door?"
    )
    assert hass.states.is_state("lock.front", "unlocked")


@in_one_home(
    ("answers", "locked"),
    [
        (["the back door"], {"lock.back"}),
        (["Back door, please."], {"lock.back"}),
        (["the second one"], {"lock.back"}),
        (["the first one please"], {"lock.front"}),
        (["the last one"], {"lock.back"}),
        (["the one in the kitchen"], {"lock.back"}),
        (["front"], {"lock.front"}),
        (["both"], {"lock.front", "lock.back"}),
        (["neither"], set()),
        (["no"], set()),
        (["yes"], set()),
        (["the door", "the back one"], {"lock.back"}),
        (["the door", "the door"], set()),
        (["the third one"], set()),
        (["not the back door"], set()),
        (["not now"], set()),
    ],
)
async def test_the_answer_picks(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    answers: Sequence[str],
    locked: set[str],
) -> None:
    await as_before(hass)
    heard = await heard_last(
        hass, model, ["Lock the door", *answers], [on("Front Door")]
    )

    assert {
        one
        for one in ("lock.front", "lock.back")
        if hass.states.is_state(one, "locked")
    } == locked
    assert locked == set() or heard == "Done."


async def test_after_two_unclear_answers_nothing_is_done(hass: HomeAssistant) -> None:
    heard = await talk(
        hass, "Lock the door", on("Front Door"), then=["the door", "yes"]
    )

    assert heard == "I still don't know which one you mean, so I left it."


async def test_an_unclear_answer_is_asked_once_more(hass: HomeAssistant) -> None:
    heard = await talk(hass, "Lock the door", on("Front Door"), then=["the door"])

    assert heard == "The Front Door or the Back Door?"


async def test_a_new_request_takes_the_place_of_the_answer(hass: HomeAssistant) -> None:
    assert (
        await talk(
            hass,
            "Lock the door",
            on("Front Door"),
            off("Fan"),
            then=["Turn off the fan"],
        )
        == "Done."
    )
    assert hass.states.is_state("fan.fan", "off")
    assert hass.states.is_state("lock.front", "unlocked")


async def test_a_rule_still_asks_about_what_was_chosen(hass: HomeAssistant) -> None:
    rules = ({"verdict": "ask"},)
    heard = await talk(
        hass, "Lock the door", on("Front Door"), then=["the back door"], rules=rules
    )

    assert heard == "Lock the Back Door in the Kitchen?"
    assert hass.states.is_state("lock.back", "unlocked")


async def test_a_rule_refuses_what_was_chosen(hass: HomeAssistant) -> None:
    rules = ({"verdict": "deny", "entities": ["lock.back"]}, {"verdict": "allow"})
    await talk(
        hass, "Lock the door", on("Front Door"), then=["the back door"], rules=rules
    )

    assert hass.states.is_state("lock.back", "unlocked")


async def test_a_yes_from_elsewhere_chooses_nothing(hass: HomeAssistant) -> None:
    await talk(hass, "Lock the door", on("Front Door"))
    (question,) = async_get_approvals(hass).waiting

    assert (
        await async_refusal(hass, question, Context(), approved=True)
        is AnswerRefusal.NEEDS_CHOICE
    )
    await async_get_approvals(hass).answer(
        question.id, GivenAnswer(approved=True, way=ApprovalWay.ACTION)
    )
    assert hass.states.is_state("lock.front", "unlocked")
    assert hass.states.is_state("lock.back", "unlocked")


@pytest.mark.parametrize(
    ("text", "call", "entity_id", "state"),
    [
        ("Lock the door", on("Front Door"), "lock.front", "unlocked"),
        ("Lock the front door", on("Back Door"), "lock.back", "unlocked"),
        ("Turn off the light", off("Pendant"), "light.kitchen", "on"),
    ],
)
async def test_what_only_a_model_chose_is_left_alone(
    hass: HomeAssistant, text: str, call: ScriptedAnswer, entity_id: str, state: str
) -> None:
    await talk(hass, text, call)
    assert hass.states.is_state(entity_id, state)


async def test_the_only_one_in_the_room_of_the_person_is_meant(
    hass: HomeAssistant,
) -> None:
    assert (
        await talk(hass, "Turn off the light", off("Pendant"), room="kitchen")
        == "Done."
    )
    assert hass.states.is_state("light.kitchen", "off")


async def test_a_pin_is_still_needed_for_what_was_chosen(hass: HomeAssistant) -> None:
    pin = PinHash.of("4711", HashCost(2, 1))
    async_get_home_rules(hass).async_change(lambda rules: replace(rules, pin=pin))
    rules = ({"verdict": "pin", "domains": ["lock"]},)
    heard = await talk(
        hass, "Lock the door", on("Front Door"), then=["the back door"], rules=rules
    )

    assert heard == "Lock the Back Door in the Kitchen? Please say the PIN."
    assert hass.states.is_state("lock.back", "unlocked")


async def test_the_one_in_the_room_of_the_person_takes_the_place_of_another(
    hass: HomeAssistant,
) -> None:
    assert (
        await talk(
            hass, "Turn off the light", off("Ceiling"), off("Pendant"), room="kitchen"
        )
        == "Done."
    )
    assert hass.states.is_state("light.kitchen", "off")
    assert hass.states.is_state("light.hall", "on")


async def test_of_two_in_the_room_of_the_person_none_takes_the_place_of_another(
    hass: HomeAssistant,
) -> None:
    home = f'{HOME}  - {{ name: Spot, id: light.spot, area: kitchen, state: "on" }}\n'
    heard = await talk(
        hass, "Turn off the light", off("Ceiling"), room="kitchen", home=home
    )

    assert heard == "The Ceiling, the Pendant or the Spot?"
    assert hass.states.is_state("light.hall", "on")


async def test_a_model_that_insists_on_another_room_is_asked_about(
    hass: HomeAssistant,
) -> None:
    heard = await talk(
        hass, "Turn off the light", off("Ceiling"), off("Ceiling"), room="kitchen"
    )

    assert heard == "The Ceiling or the Pendant?"
    assert hass.states.is_state("light.hall", "on")


@pytest.mark.parametrize(
    ("text", "call", "entity_id", "state", "asks"),
    [
        ("Lock the back door", off("Front Door"), "lock.front", "unlocked", ""),
        (
            "Lock the back door",
            on("Front Door"),
            "lock.front",
            "unlocked",
            "The Front Door or the Back Door?",
        ),
        (
            "Turn off the pendant light",
            off("Ceiling"),
            "light.hall",
            "on",
            "The Ceiling or the Pendant?",
        ),
    ],
)
async def test_words_that_name_another_one_outweigh_the_room_of_the_person(  # noqa: PLR0917  # a row
    hass: HomeAssistant,
    text: str,
    call: ScriptedAnswer,
    entity_id: str,
    state: str,
    asks: str,
) -> None:
    heard = await talk(hass, text, call, call, room="hall")

    assert hass.states.is_state(entity_id, state)
    assert heard == asks or not asks


async def test_no_choice_is_offered_past_a_script_that_judges_calls(
    hass: HomeAssistant,
) -> None:
    script = {
        "sequence": [
            {"variables": {"answer": {}}},
            {"stop": "", "response_variable": "answer"},
        ]
    }
    assert await async_setup_component(hass, "script", {"script": {"judge": script}})

    heard = await talk(
        hass, "Lock the door", on("Front Door"), pre_tool_use="script.judge"
    )

    assert heard == "Done. As far as I can tell, that wasn't done.", (
        "the model is told to ask, and does not"
    )
    assert hass.states.is_state("lock.front", "unlocked")


async def test_what_is_planned_is_no_choice_because_what_is_chosen_runs_at_once(
    hass: HomeAssistant,
) -> None:
    plan = '{"kind": "act", "when": "in ten minutes", "tool": "HassTurnOn", "arguments": {"name": "Front Door"}}'
    later = ScriptedAnswer(
        tool_calls=(ScriptedCall(name="chatterbox__later", arguments=plan),)
    )

    heard = await talk(hass, "Lock the door in ten minutes", later)

    assert heard == "Done. As far as I can tell, that wasn't done.", (
        "the model is told to ask, and does not"
    )
    assert async_get_plans(hass).stored.plans == ()


THREE_LIGHTS = """
areas:
  - {{ id: hall, name: Hall }}
  - {{ id: bath, name: {bath} }}
  - {{ id: entry, name: {entry} }}
entities:
  - {{ name: Ceiling, id: light.hall, area: hall, state: "{hall}" }}
  - {{ name: Pendant, id: light.bath, area: bath, state: "on" }}
  - {{ name: Spot, id: light.entry, area: entry, state: "on" }}
"""


def lights(hall: str = "on", bath: str = "Bath", entry: str = "Porch") -> str:
    return THREE_LIGHTS.format(hall=hall, bath=bath, entry=entry)


@pytest.mark.parametrize(
    ("language", "text", "room"),
    [
        ("de", "Mach das Light im Bad aus", {"bath": "Badezimmer"}),
        ("de", "Mach das Light im Badezimmer aus", {"bath": "Bad"}),
        ("nl", "Doe het light in het bad uit", {"bath": "Badkamer"}),
        ("sv", "Släck light i badrummet", {"bath": "Bad"}),
        ("fr", "Éteins la lumière de l'entrée", {"bath": "Entrée"}),
        (
            "fr",
            "Éteins la lumière de l\N{RIGHT SINGLE QUOTATION MARK}entrée",
            {"bath": "Entrée"},
        ),
        ("it", "Spegni la luce dell'ingresso", {"bath": "Ingresso"}),
        ("it", "Spegni la luce nell'ingresso", {"bath": "Ingresso"}),
        ("pt", "Apaga a luz d'Água", {"bath": "Água"}),
    ],
)
async def test_a_room_is_found_behind_an_elision_and_by_its_short_form(
    hass: HomeAssistant, language: str, text: str, room: Mapping[str, str]
) -> None:
    await talk(hass, text, off("Pendant"), language=language, home=lights(**room))
    assert hass.states.is_state("light.bath", "off")


async def test_what_is_off_is_no_choice(hass: HomeAssistant) -> None:
    heard = await talk(
        hass, "Turn off the light", off("Pendant"), home=lights(hall="off")
    )
    assert heard == "The Pendant or the Spot?"


async def test_what_cannot_be_reached_is_no_choice(hass: HomeAssistant) -> None:
    hass.states.async_set("light.attic", "unavailable", {"friendly_name": "Attic"})
    heard = await talk(
        hass,
        "Turn off the light",
        off("Pendant"),
        home=lights(),
        expose=["light.attic"],
    )
    assert heard == "The Pendant, the Ceiling or the Spot?"


async def test_what_the_words_lead_to_is_meant_although_it_cannot_be_reached(
    hass: HomeAssistant,
) -> None:
    hass.states.async_set("light.attic", "unavailable", {"friendly_name": "Attic"})
    await talk(
        hass,
        "Turn off the attic light",
        off("Pendant"),
        home=lights(),
        expose=["light.attic"],
    )
    assert hass.states.is_state("light.bath", "on")


async def test_what_rules_forbid_is_no_choice(hass: HomeAssistant) -> None:
    rules = (
        {"verdict": "deny", "entities": ["light.hall", "light.entry"]},
        {"verdict": "allow"},
    )
    assert (
        await talk(
            hass, "Turn off the light", off("Pendant"), home=lights(), rules=rules
        )
        == "Done."
    )
    assert hass.states.is_state("light.bath", "off")


async def test_what_the_words_lead_to_is_meant_although_rules_forbid_it(
    hass: HomeAssistant,
) -> None:
    rules = ({"verdict": "deny", "entities": ["lock.back"]}, {"verdict": "allow"})
    await talk(hass, "Lock the back door", on("Front Door"), rules=rules)
    assert hass.states.is_state("lock.front", "unlocked")


async def test_a_vacuum_that_stands_is_not_meant_by_stop(hass: HomeAssistant) -> None:
    home = """
    entities:
      - name: Robot One
        id: vacuum.one
        state: cleaning
        attributes: { supported_features: [STATE, START, RETURN_HOME] }
      - { name: Robot Two, id: vacuum.two, state: docked }
    """
    call = ScriptedAnswer(
        tool_calls=(
            ScriptedCall(
                name="HassVacuumReturnToBase", arguments={"name": "Robot One"}
            ),
        )
    )
    assert await talk(hass, "Stop the robot", call, home=home) == "Done."
    assert hass.states.is_state("vacuum.one", "returning")


async def test_a_place_that_the_home_does_not_have_is_told_to_the_model(
    hass: HomeAssistant,
) -> None:
    says = ScriptedAnswer(content="There is no attic. The ceiling or the pendant?")
    assert (
        await talk(hass, "Turn off the light in the attic", off("Pendant"), says)
        == says.content
    )
    assert hass.states.is_state("light.kitchen", "on")


async def test_a_model_is_told_a_name_as_its_call_has_to_give_it(
    hass: HomeAssistant,
) -> None:
    home = HOME.replace("name: Pendant", 'name: "Pendant, large"')
    async with served(hass, home=home) as (model, _):
        text = "Turn off the light in the attic"
        await heard_last(hass, model, [text], [off("Pendant, large"), SAYS])

    message = str(objects_in(model.requests[-1].body["messages"])[-1]["content"])
    assert '"Pendant, large"' in message
    assert "\\" not in message


async def test_a_long_text_is_not_compared(hass: HomeAssistant) -> None:
    text = "Close the smart curtain. " * 50
    assert await talk(hass, text, on("Smart Curtain")) == "Done."


LOCK_AND_FAN = ScriptedAnswer(
    tool_calls=(
        ScriptedCall(name="HassTurnOn", arguments={"name": "Front Door"}),
        ScriptedCall(name="HassTurnOff", arguments={"name": "Fan"}),
    )
)
ASKS_OF_FANS = ({"verdict": "ask", "domains": ["fan"]}, {"verdict": "allow"})


@pytest.mark.parametrize(
    ("answers", "heard", "locked", "fan"),
    [
        ([], "The Front Door or the Back Door?", "unlocked", "on"),
        (
            ["the back door"],
            "Done: Back Door. Turn off the Fan in the Kitchen?",
            "locked",
            "on",
        ),
        (["the back door", "yes"], "Done.", "locked", "off"),
        (["the back door", "no"], "Done.", "locked", "on"),
        (
            ["neither"],
            "I didn't do it: turn off the Fan in the Kitchen. Done.",
            "unlocked",
            "on",
        ),
        (
            ["How are you?"],
            "I didn't do it: turn off the Fan in the Kitchen. Done.",
            "unlocked",
            "on",
        ),
        (
            ["the door", "the door"],
            "I still don't know which one you mean, so I left it. I didn't do it: turn off the Fan in the Kitchen.",
            "unlocked",
            "on",
        ),
    ],
)
async def test_what_waits_beside_a_choice_is_asked_about_after_it(  # a row
    hass: HomeAssistant, answers: Sequence[str], heard: str, locked: str, fan: str
) -> None:
    text = "Lock the door, turn off the fan"
    assert (
        await talk(hass, text, LOCK_AND_FAN, then=answers, rules=ASKS_OF_FANS) == heard
    )
    assert hass.states.is_state("lock.back", locked)
    assert hass.states.is_state("fan.fan", fan)


async def test_the_pin_is_asked_for_after_a_choice(hass: HomeAssistant) -> None:
    pin = PinHash.of("4711", HashCost(2, 1))
    async_get_home_rules(hass).async_change(lambda rules: replace(rules, pin=pin))
    rules = ({"verdict": "pin", "domains": ["fan"]}, {"verdict": "allow"})
    heard = await talk(
        hass,
        "Lock the door, turn off the fan",
        LOCK_AND_FAN,
        then=["the back door", "4711"],
        rules=rules,
    )

    assert heard == "Done."
    assert hass.states.is_state("lock.back", "locked")
    assert hass.states.is_state("fan.fan", "off")


async def test_a_pin_beside_the_words_of_a_choice_goes_no_further(
    hass: HomeAssistant,
) -> None:
    pin = PinHash.of("4711", HashCost(2, 1))
    async_get_home_rules(hass).async_change(lambda rules: replace(rules, pin=pin))
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    heard = await talk(
        hass, "Lock the door", on("Front Door"), then=["the first one 4711"]
    )

    assert heard == "The Front Door or the Back Door?"
    assert "4711" not in str([turn.data for turn in turns])


async def test_the_opposite_beside_a_choice_is_asked_about_after_it(
    hass: HomeAssistant,
) -> None:
    wrong = ScriptedAnswer(
        tool_calls=(
            *LOCK_AND_FAN.tool_calls[:1],
            ScriptedCall(name="HassTurnOn", arguments={"name": "Fan"}),
        )
    )
    heard = await talk(
        hass,
        "Lock the door, turn off the fan",
        on("Fan"),
        wrong,
        then=["the back door"],
    )

    assert heard == "Done: Back Door. Turn on the Fan in the Kitchen?"


async def test_the_record_of_a_choice_tells_what_was_chosen_and_that_rules_asked_for_nothing(
    hass: HomeAssistant,
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    await talk(hass, "Lock the door", on("Front Door"), then=["the back door"])

    assert [
        (one.data["outcome"], one.data["entity_ids"], one.data["approval"])
        for one in changes
    ] == [
        ("waiting", changes[0].data["entity_ids"], "missing"),
        ("done", ["lock.back"], "choice"),
    ]
    assert {*changes[0].data["entity_ids"]} == {"lock.back", "lock.front"}
    assert changes[1].data["answered_through"] == "voice"
    assert changes[1].data["question_id"] == changes[0].data["question_id"]
    assert changes[1].data["message"] == "locked Back Door, after a choice"


async def test_the_record_of_a_call_beside_a_choice_tells_that_it_waited(
    hass: HomeAssistant,
) -> None:
    changes = async_capture_events(hass, EVENT_CHANGE)
    await talk(
        hass,
        "Lock the door, turn off the fan",
        LOCK_AND_FAN,
        then=["neither"],
        rules=ASKS_OF_FANS,
    )

    outcomes = [
        one.data["outcome"] for one in changes if one.data["entity_ids"] == ["fan.fan"]
    ]
    assert outcomes == ["waiting", "denied"]


@pytest.mark.parametrize("answer", ["the last one", "the fifth one"])
async def test_what_a_question_has_not_named_is_not_chosen_by_its_place(
    hass: HomeAssistant, answer: str
) -> None:
    names = ("Oak", "Elm", "Ash", "Fir", "Yew", "Box")
    home = "entities:" + "".join(
        f"\n  - {{ name: {one} Light, id: light.{one.lower()}, state: 'on' }}"
        for one in names
    )
    heard = await talk(
        hass, "Turn off the light", off("Oak Light"), home=home, then=[answer]
    )

    assert heard.startswith("The Oak Light, ")
    assert all(hass.states.is_state(f"light.{one.lower()}", "on") for one in names)


async def test_a_model_that_insists_after_a_no_has_not_been_given_a_choice(
    hass: HomeAssistant,
) -> None:
    await talk(
        hass, "Lock the door", on("Front Door"), on("Front Door"), then=["neither"]
    )
    assert hass.states.is_state("lock.front", "unlocked")


QUESTIONS = {
    "de": "Hat jemand den Fan angelassen?",
    "en": "Did somebody leave the fan running?",
    "es": "¿Alguien dejó el Fan encendido?",
    "fr": "Est-ce que quelqu'un a laissé le Fan allumé ?",
    "it": "Qualcuno ha lasciato acceso il Fan?",
    "nl": "Heeft iemand de Fan aan gelaten?",
    "pl": "Czy ktoś zostawił włączony Fan?",
    "pt": "Alguém deixou o Fan ligado?",
    "pt-BR": "Alguém deixou o Fan ligado?",
    "sv": "Har någon lämnat Fan på?",
    "zh-Hans": "有人忘了关 Fan 吗?",
}


@in_one_home("language", [*QUESTIONS], share=5)
async def test_a_question_changes_nothing(
    hass: HomeAssistant, model: ScriptedChatCompletions, language: str
) -> None:
    """A call goes back to the model once, and the person is asked if it insists."""
    once = await heard_last(
        hass, model, [QUESTIONS[language]], [off("Fan"), SAYS], language=language
    )
    assert hass.states.is_state("fan.fan", "on")
    assert "asked a question" in str(model.requests[-1].body["messages"])

    twice = await heard_last(
        hass, model, [QUESTIONS[language]], [off("Fan"), off("Fan")], language=language
    )
    assert hass.states.is_state("fan.fan", "on")

    assert (once.endswith(("?", "\N{FULLWIDTH QUESTION MARK}")), "Fan" in twice) == (
        False,
        True,
    )
    assert [question.needs_pin for question in async_get_approvals(hass).waiting] == [
        False
    ]
    await as_before(hass)


@in_one_home(
    "text",
    [
        "Can you turn off the fan?",
        "Is it possible to turn the fan off?",
        "Why don't you turn the fan off?",
    ],
)
async def test_a_polite_command_is_done_at_once(
    hass: HomeAssistant, model: ScriptedChatCompletions, text: str
) -> None:
    await heard_last(hass, model, [text], [off("Fan")])

    assert hass.states.is_state("fan.fan", "off")
    await as_before(hass)
