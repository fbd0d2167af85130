"""How it is asked whether something may be done, and which answers repeat the question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from hypothesis import given, settings, strategies as st

from custom_components.chatterbox.agent.messages import (
    JsonValue,
    ToolAnnotations,
    ToolCall,
    canonical_json,
)
from custom_components.chatterbox.approvals.answers.yes_or_no import (
    Meaning,
    understand_answer,
)
from custom_components.chatterbox.approvals.asking import (
    asked_of,
    locked_pin_text,
    question_text,
    wrong_pin_text,
)
from custom_components.chatterbox.approvals.review import CallReview
from custom_components.chatterbox.effects.effect import (
    ARM_FOR_LESS,
    NOTHING,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.settings.rules import Verdict
from custom_components.chatterbox.speech.sentences import async_get_sentences
from tests.approvals.asked_calls import (
    FRONT,
    GARAGE,
    doing,
    from_outside,
    question,
    review_of,
)
from tests.behaviour.confirmation.labelled import NAMES
from tests.repository.test_translations import LANGUAGES
from tests.support.one_home import in_one_home
from tests.support.talk import move_into_the_demo_home
from tests.support.thorough import SOME_LANGUAGES, some_examples

SPRINKLER = EntityAction("valve.sprinkler", "valve.open_valve")
MOVIE = EntityAction("scene.movie_night", "scene.turn_on")
YES_AND_NO = {
    "de": ("Ja", "Nein"),
    "en": ("Yes", "No"),
    "es": ("Sí", "No"),
    "fr": ("Oui", "Non"),
    "it": ("Sì", "No"),
    "nl": ("Ja", "Nee"),
    "pl": ("Tak", "Nie"),
    "pt": ("Sim", "Não"),
    "pt-BR": ("Sim", "Não"),
    "sv": ("Ja", "Nej"),
    "zh-Hans": ("是的", "不要"),
}


def using(tool: str) -> CallReview:
    """Return a call of a tool that acts on no entity."""
    return review_of(Effects(annotations=ToolAnnotations()), tool=tool)


OPAQUE = Unknown(UnknownReason.CONTENT, MOVIE)
NIGHT = EntityAction("script.good_night", "script.turn_on")
SPRAYING = Unknown(
    UnknownReason.OPAQUE_ACTION, EntityAction("valve.sprinkler", "garden.spray")
)
LATER = Unknown(UnknownReason.SENTENCE)
LAMPS = tuple(
    EntityAction(f"light.{name}", "light.turn_off")
    for name in ("hallway", "bedroom", "garden", "bathroom")
)
KINDS: Mapping[str, Sequence[CallReview]] = {
    "one door": [doing(FRONT)],
    "one with its place in its name": [doing(GARAGE)],
    "several": [doing(FRONT), doing(GARAGE)],
    "several of a kind": [doing(GARAGE, SPRINKLER)],
    "many": [
        from_outside(
            *LAMPS, EntityAction("light.desk_lamp", "light.turn_off"), *LAMPS, FRONT
        )
    ],
    "with the rest": [review_of(Effects(frozenset({FRONT, *LAMPS})), FRONT)],
    "a scene that does it": [review_of(Effects(frozenset({FRONT, MOVIE})), FRONT)],
    "a scene that cannot be read": [
        review_of(Effects(frozenset({MOVIE}), unknowns=frozenset({OPAQUE})), OPAQUE)
    ],
    "a tool": [using("mail__send_email")],
    "a PIN": [doing(FRONT, verdict=Verdict.PIN)],
    **{
        action: [doing(EntityAction(entity_id, action))]
        for entity_id, action in (
            ("alarm_control_panel.house", "alarm_control_panel.alarm_arm_away"),
            ("alarm_control_panel.house", "alarm_control_panel.alarm_disarm"),
            ("button.doorbell_chime", "button.press"),
            ("climate.living_room", "climate.set_temperature"),
            ("cover.garage_door", "cover.close_cover"),
            ("cover.garage_door", "cover.toggle"),
            ("light.hallway", "light.toggle"),
            ("light.hallway", "light.turn_off"),
            ("light.hallway", "light.turn_on"),
            ("lock.front_door", "lock.lock"),
            ("lock.front_door", "lock.open"),
        )
    },
}


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await move_into_the_demo_home(hass)
    hass.states.async_set(
        "alarm_control_panel.house", "armed_away", {"friendly_name": "House Alarm"}
    )
    return hass


async def answered(
    hass: HomeAssistant, text: str, calls: Sequence[CallReview], language: str = "en"
) -> Meaning:
    sentences = await async_get_sentences(hass, language)
    return understand_answer(text, language, asked_of(hass, sentences, calls, language))


async def test_a_question_names_what_would_be_done(home: HomeAssistant) -> None:
    cases = [
        (KINDS["one door"], "Unlock the Front Door in the Hallway?"),
        (KINDS["a PIN"], "Unlock the Front Door in the Hallway? Please say the PIN."),
        (KINDS["one with its place in its name"], "Open the Garage Door?"),
        (KINDS["several"], "Unlock the Front Door and open the Garage Door?"),
        (KINDS["several of a kind"], "Open the Garage Door and the Sprinkler?"),
        (
            KINDS["with the rest"],
            "Unlock the Front Door and turn off the Bathroom Light and 3 more?",
        ),
        (KINDS["a scene that does it"], "Run Movie Night and unlock the Front Door?"),
        (
            [review_of(Effects(frozenset({FRONT, MOVIE, NIGHT})), FRONT)],
            "Unlock the Front Door and run Movie Night and good night?",
        ),
        (
            [
                review_of(Effects(frozenset({FRONT, *LAMPS[:1]})), FRONT),
                review_of(Effects(frozenset({GARAGE})), GARAGE),
            ],
            "Unlock the Front Door, open the Garage Door and turn off the Hallway Light?",
        ),
        (
            [
                review_of(
                    Effects(frozenset({MOVIE, *LAMPS}), unknowns=frozenset({OPAQUE})),
                    OPAQUE,
                )
            ],
            "I can't tell everything this would do. Run Movie Night?",
        ),
        (
            [review_of(Effects(unknowns=frozenset({SPRAYING})), SPRAYING)],
            "I can't tell everything this would do. Garden spray: the Sprinkler in the Garden?",
        ),
        (KINDS["a tool"], "Use send email?"),
        (
            KINDS["a scene that cannot be read"],
            "I can't tell everything this would do. Run Movie Night?",
        ),
        (
            [review_of(Effects(unknowns=frozenset({LATER})), LATER)],
            "I can't tell everything this would do. Should I do that?",
        ),
        (
            [
                review_of(
                    Effects(frozenset({FRONT}), unknowns=frozenset({LATER})), FRONT
                )
            ],
            "I can't tell everything this would do. Unlock the Front Door along with the rest?",
        ),
        (
            [review_of(NOTHING, verdict=Verdict.ALLOW, reason=" It is\nlate ")],
            "It is late. Should I do that?",
        ),
        ([doing(FRONT), doing(FRONT)], "Unlock the Front Door in the Hallway?"),
        ([using("weather"), using("lookUpThings")], "Use weather and look up things?"),
        (
            [
                review_of(
                    replace(
                        Effects(frozenset({GARAGE})), annotations=ToolAnnotations()
                    ),
                    tool="homeassistant__call_action",
                )
            ],
            "Open the Garage Door and use call action?",
        ),
        (
            [
                doing(
                    EntityAction("climate.living_room", "climate.turn_on"),
                    EntityAction("climate.living_room", "climate.set_temperature"),
                )
            ],
            "Turn on the Living Room Thermostat?",
        ),
        (
            [from_outside(EntityAction("light.hallway", "light.turn_on"))],
            (
                "This conversation includes content from outside your home, so I'm asking first. "
                "Turn on the Hallway Light?"
            ),
        ),
    ]
    for calls, text in cases:
        assert await question(home, calls) == text


async def test_every_action_has_its_word(home: HomeAssistant) -> None:
    cases = [
        ("alarm_control_panel.alarm_arm_away", "Arm the House Alarm?"),
        ("alarm_control_panel.alarm_disarm", "Disarm the House Alarm?"),
        ("button.press", "Press the Doorbell Chime in the Hallway?"),
        (
            "climate.set_temperature",
            "Set thermostat target temperature: the Living Room Thermostat?",
        ),
        ("cover.close_cover", "Close the Garage Door?"),
        ("cover.toggle", "Open or close the Garage Door?"),
        ("light.toggle", "Turn the Hallway Light on or off?"),
        ("light.turn_off", "Turn off the Hallway Light?"),
        ("light.turn_on", "Turn on the Hallway Light?"),
        ("lock.lock", "Lock the Front Door in the Hallway?"),
        ("lock.open", "Open the Front Door in the Hallway?"),
    ]
    for action, text in cases:
        assert await question(home, KINDS[action]) == text


async def test_an_action_that_could_do_anything_is_named(home: HomeAssistant) -> None:
    plain = Unknown(UnknownReason.OPAQUE_ACTION, action="shell_command.open_up")
    other = Unknown(UnknownReason.OPAQUE_ACTION, action="rest_command.order_2")
    spraying = replace(SPRAYING, action="garden.spray")
    cases = [
        (
            [review_of(Effects(unknowns=frozenset({plain})), plain)],
            "Perform the action shell command open up?",
        ),
        (
            [review_of(Effects(unknowns=frozenset({plain, other})), plain, other)],
            "Perform the action rest command order 2 and shell command open up?",
        ),
        (
            [review_of(Effects(unknowns=frozenset({spraying})), spraying)],
            "Garden spray: the Sprinkler in the Garden?",
        ),
        (
            [review_of(Effects(unknowns=frozenset({plain, LATER})), plain)],
            "Perform the action shell command open up along with the rest?",
        ),
        (
            [
                review_of(
                    replace(
                        Effects(unknowns=frozenset({plain})),
                        annotations=ToolAnnotations(),
                        is_complete=True,
                    )
                )
            ],
            "Perform the action shell command open up?",
        ),
        (
            [
                review_of(
                    replace(
                        Effects(unknowns=frozenset({plain})),
                        annotations=ToolAnnotations(),
                    ),
                    tool="mail__send",
                )
            ],
            "Use send and perform the action shell command open up?",
        ),
        (
            [
                review_of(
                    Effects(annotations=ToolAnnotations(), is_complete=True),
                    tool="home__call_action",
                )
            ],
            "Use call action?",
        ),
    ]
    for calls, text in cases:
        assert (await question(home, calls)).removeprefix(
            "I can't tell everything this would do. "
        ) == text
    calls = cases[0][0]
    assert await answered(home, "yes", calls) is Meaning.YES
    assert await answered(home, "yes, open it", calls) is Meaning.OTHER


@in_one_home("language", LANGUAGES)
async def test_arming_for_less_is_asked_as_what_it_is(
    home: HomeAssistant, language: str
) -> None:
    alarm = "alarm_control_panel.house"
    less = doing(
        EntityAction(alarm, "alarm_control_panel.alarm_arm_home"),
        EntityAction(alarm, ARM_FOR_LESS),
    )
    by_rule = replace(
        less, judgement=doing(EntityAction(alarm, ARM_FOR_LESS)).judgement
    )
    texts = {
        kind: await question(
            home,
            [doing(EntityAction(alarm, f"alarm_control_panel.alarm_{kind}"))],
            language,
        )
        for kind in ("disarm", "arm_home")
    }

    asked_for = {await question(home, [call], language) for call in (less, by_rule)}

    assert len(asked_for) == 1
    assert not asked_for & set(texts.values())
    if language == "en":
        assert asked_for == {"Arm the House Alarm with less protection?"}
        assert await answered(home, "yes, arm it", [less]) is Meaning.YES
        assert await answered(home, "yes, disarm it", [less]) is Meaning.OTHER


def setting(action: str, entity_id: str, **arguments: JsonValue) -> CallReview:
    """Return a call that sets an entity to something."""
    return replace(
        doing(EntityAction(entity_id, action)),
        call=ToolCall("call_1", "set", canonical_json(arguments)),
    )


HALF_OPEN = setting("valve.set_valve_position", "valve.sprinkler", position=50)


@in_one_home(
    ("call", "text"),
    [
        (HALF_OPEN, "Set the Sprinkler in the Garden to 50%?"),
        (
            setting("cover.set_cover_position", "cover.garage_door", position=0),
            "Set the Garage Door to 0%?",
        ),
        (
            setting("light.turn_on", "light.hallway", brightness=30),
            "Set the Hallway Light to 30%?",
        ),
        (
            setting("light.turn_on", "light.hallway", color="red"),
            "Set the Hallway Light to red?",
        ),
        (
            setting("light.turn_on", "light.hallway", color="red", brightness=30),
            "Set the Hallway Light to 30%, red?",
        ),
        (
            setting("light.turn_on", "light.hallway", brightness=True),
            "Turn on the Hallway Light?",
        ),
        (
            setting("climate.set_temperature", "climate.living_room", temperature=21.5),
            "Set the Living Room Thermostat to 21.5 °C?",
        ),
        (
            setting(
                "media_player.volume_set",
                "media_player.living_room_speaker",
                volume_level=40,
            ),
            "Set the Living Room Speaker to 40%?",
        ),
    ],
)
async def test_what_something_is_set_to_is_in_the_question(
    home: HomeAssistant, call: CallReview, text: str
) -> None:
    assert await question(home, [call]) == text


@in_one_home("language", LANGUAGES)
async def test_a_level_is_asked_about_in_every_language(
    home: HomeAssistant, language: str
) -> None:
    text = await question(home, [HALF_OPEN], language)

    assert re.search(r"50\s?%", text)
    assert text != await question(home, [doing(SPRINKLER)], language)


async def test_different_levels_are_asked_about_without_any(
    home: HomeAssistant,
) -> None:
    other = setting("cover.set_cover_position", "cover.garage_door", position=10)

    assert (
        await question(home, [HALF_OPEN, other])
        == "Open the Sprinkler and the Garage Door?"
    )
    assert (
        await question(home, [HALF_OPEN, doing(GARAGE)])
        == "Open the Sprinkler and the Garage Door?"
    )


async def test_a_position_that_is_not_closed_is_open(home: HomeAssistant) -> None:
    for action in ("cover.set_cover_position", "valve.set_valve_position"):
        calls = [doing(EntityAction(GARAGE.entity_id, action))]
        assert await question(home, calls) == "Open the Garage Door?"
        assert await answered(home, "yes, open it", calls) is Meaning.YES


async def test_in_other_languages_names_stay_as_they_are(home: HomeAssistant) -> None:
    home.states.async_set("lock.front_door", "locked", {"friendly_name": "Haustür"})
    home.states.async_set("cover.garage_door", "closed", {"friendly_name": "iTor"})

    assert (
        await question(home, [doing(FRONT), doing(GARAGE)], "de-CH")
        == "Haustür aufschließen und iTor öffnen?"
    )
    assert (
        await question(home, [doing(GARAGE)], "pl")
        == "iTor w obszarze Garage: otworzyć?"
    )
    assert (
        await question(home, [using("mail__send_email")], "nl")
        == "Send email gebruiken?"
    )
    assert (
        await question(home, [doing(FRONT)], "es") == "¿Desbloquear Haustür en Hallway?"
    )
    assert (
        await question(home, [doing(FRONT)], "de")
        == "Haustür im Bereich Hallway aufschließen?"
    )


async def test_a_place_is_repeated_as_it_was_asked(home: HomeAssistant) -> None:
    home.states.async_set("lock.front_door", "locked", {"friendly_name": "Haustür"})

    for words in (
        "ja, die Haustür im Bereich Hallway",
        "ja, im Bereich Hallway",
        "ja, aufschließen im Bereich Hallway",
    ):
        assert await answered(home, words, [doing(FRONT)], "de") is Meaning.YES
    assert (
        await answered(home, "ja, die Haustür im Bereich Garage", [doing(FRONT)], "de")
        is Meaning.OTHER
    )


@in_one_home(
    ("language", "unlock", "lock"),
    [
        ("de", "auf(ge)?schl[io]", "ab(ge)?schl[io]"),
        ("fr", "déverrouill", r"\bverrouill"),
        ("it", "sblocca", r"\bblocca"),
        ("nl", "ontgrendel", "vergrendel"),
        ("sv", "lås.* upp", r"\blås"),
    ],
)
async def test_the_question_and_the_logbook_have_one_word_for_a_lock(
    hass: HomeAssistant, language: str, unlock: str, lock: str
) -> None:
    sentences = await async_get_sentences(hass, language)

    for word, action in ((unlock, "unlock"), (lock, "lock")):
        for key in (
            f"asked_{action}",
            f"change_did_{action}",
            f"change_did_not_{action}",
        ):
            assert re.search(word, sentences[key]), key


async def test_an_article_is_not_said_twice(home: HomeAssistant) -> None:
    for name, words in (
        ("Anna's Door", "Anna's Door"),
        ("The Gate", "The Gate"),
        ("Thermos", "the Thermos"),
    ):
        home.states.async_set("lock.anna", "locked", {"friendly_name": name})
        assert (
            await question(home, [doing(EntityAction("lock.anna", "lock.unlock"))])
            == f"Unlock {words}?"
        )


async def test_what_has_no_name_is_not_called_by_its_id(home: HomeAssistant) -> None:
    gone, nameless = (
        doing(EntityAction(f"lock.{one}", "lock.unlock"))
        for one in ("old_shed", "side_door")
    )
    home.states.async_set("lock.side_door", "locked", {"friendly_name": "🚪"})

    assert await question(home, [gone]) == "Unlock the old shed?"
    assert await question(home, [nameless]) == "Unlock the side door?"


async def test_of_a_name_only_what_can_be_said_is_said(home: HomeAssistant) -> None:
    cases = [
        ("**Front** {door} `x`", "Front door x"),
        ('<b>Say "yes"? Now!</b>', "b Say yes Now b"),
        ("Fan 2.5 kW.", "Fan 2.5 kW"),
        ("a\u202eb\u00a0c", "ab c"),
        ("x" * 90, "x" * 60 + "…"),
        ("word " * 30, "word " * 11 + "word…"),
    ]
    for name, words in cases:
        home.states.async_set("lock.odd", "locked", {"friendly_name": name})
        assert (
            await question(home, [doing(EntityAction("lock.odd", "lock.unlock"))])
            == f"Unlock the {words}?"
        )


async def test_nothing_that_a_model_wrote_is_said(home: HomeAssistant) -> None:
    for calls in KINDS.values():
        assert "whatever" not in await question(home, calls)


async def test_reasons_of_the_owner_are_said_once_and_as_they_are(
    home: HomeAssistant,
) -> None:
    effects = Effects(frozenset({FRONT}))
    late = [
        review_of(effects, verdict=Verdict.ALLOW, reason=reason)
        for reason in ("Nobody is at home!", "It is late")
    ]

    assert await question(home, [*late, *late]) == (
        "Nobody is at home! It is late. Unlock the Front Door in the Hallway?"
    )


async def test_answers_that_repeat_the_question(home: HomeAssistant) -> None:
    cases = [
        ("one door", "yes, unlock the front door", Meaning.YES),
        ("one door", "yes, the front door", Meaning.YES),
        ("one door", "yes, the front door in the hallway", Meaning.YES),
        ("one door", "yes, unlock it in our hallway", Meaning.YES),
        ("one door", "yes, the front door in the kitchen", Meaning.OTHER),
        (
            "one with its place in its name",
            "yes, open the garage door in the garage",
            Meaning.YES,
        ),
        ("one door", "unlock the front door", Meaning.OTHER),
        ("one door", "yes, the garage door", Meaning.OTHER),
        ("one door", "yes, lock it", Meaning.OTHER),
        ("one door", "don't unlock the front door", Meaning.NO),
        ("several", "yes, both", Meaning.YES),
        ("several", "yes, unlock the front door", Meaning.OTHER),
        ("several", "yes, unlock the front door and open the garage door", Meaning.YES),
        ("several of a kind", "yes, open them", Meaning.YES),
        ("with the rest", "yes, the front door", Meaning.OTHER),
        ("with the rest", "yes, everything", Meaning.YES),
        ("a scene that does it", "yes, run movie night", Meaning.OTHER),
        ("a scene that cannot be read", "yes, run movie night", Meaning.YES),
        ("a tool", "yes, use send email", Meaning.YES),
        ("a tool", "yes, run it", Meaning.OTHER),
        ("many", "yes, all of them", Meaning.YES),
    ]
    for calls, text, answer in cases:
        assert await answered(home, text, KINDS[calls]) is answer, text


async def test_an_alias_is_as_good_as_a_name(home: HomeAssistant) -> None:
    er.async_get(home).async_update_entity(
        "lock.front_door", aliases=[er.COMPUTED_NAME, "Main entrance"]
    )

    assert (
        await answered(home, "yes, the main entrance", KINDS["one door"]) is Meaning.YES
    )


async def test_a_name_that_another_entity_has_too_is_no_answer(
    home: HomeAssistant,
) -> None:
    async_expose_entity(home, "conversation", "lock.other", should_expose=True)
    for other in ("Front Door", "the front-door", "front  DOOR"):
        home.states.async_set("lock.other", "locked", {"friendly_name": other})
        assert (
            await answered(home, "yes, the front door", KINDS["one door"])
            is Meaning.OTHER
        )
        assert (
            await answered(
                home, "yes, the front door in the hallway", KINDS["one door"]
            )
            is Meaning.YES
        )
        assert (
            await answered(
                home, "yes, unlock the front door in the hallway", KINDS["one door"]
            )
            is Meaning.YES
        )


async def test_a_name_that_is_given_twice_in_a_room_is_no_answer_with_that_room(
    home: HomeAssistant,
) -> None:
    registry = er.async_get(home)
    other = registry.async_get_or_create(
        "lock", "test", "other", original_name="Front Door"
    )
    registry.async_update_entity(other.entity_id, area_id="hallway")
    async_expose_entity(home, "conversation", other.entity_id, should_expose=True)
    home.states.async_set(other.entity_id, "locked", {"friendly_name": "Front Door"})

    assert (
        await answered(home, "yes, the front door in the hallway", KINDS["one door"])
        is Meaning.OTHER
    )
    assert await answered(home, "yes", KINDS["one door"]) is Meaning.YES


async def test_an_article_does_not_tell_two_names_apart(home: HomeAssistant) -> None:
    home.states.async_set("lock.front_door", "locked", {"friendly_name": "Entrée"})
    assert await answered(home, "oui, l'entrée", KINDS["one door"], "fr") is Meaning.YES

    async_expose_entity(home, "conversation", "lock.other", should_expose=True)
    for own, other in (
        ("Entrée", "L\N{RIGHT SINGLE QUOTATION MARK}entrée"),
        ("Entrée", "la entrée"),
        ("L'entrée", "Entrée"),
    ):
        home.states.async_set("lock.front_door", "locked", {"friendly_name": own})
        home.states.async_set("lock.other", "locked", {"friendly_name": other})
        assert (
            await answered(home, "oui, l'entrée", KINDS["one door"], "fr")
            is Meaning.OTHER
        )


async def test_a_name_with_its_area_may_be_the_name_of_another_entity(
    home: HomeAssistant,
) -> None:
    async_expose_entity(home, "conversation", "lock.other", should_expose=True)
    async_expose_entity(home, "conversation", "lock.third", should_expose=True)
    home.states.async_set("lock.other", "locked", {"friendly_name": "Front Door"})
    home.states.async_set(
        "lock.third", "locked", {"friendly_name": "Front Door in the Hallway"}
    )

    assert (
        await answered(home, "yes, the front door in the hallway", KINDS["one door"])
        is Meaning.OTHER
    )


async def test_what_no_assistant_may_see_is_not_meant(home: HomeAssistant) -> None:
    home.states.async_set("lock.other", "locked", {"friendly_name": "Front Door"})
    async_expose_entity(home, "conversation", "lock.other", should_expose=False)

    assert await answered(home, "yes, the front door", KINDS["one door"]) is Meaning.YES


async def test_a_name_that_a_room_has_too_is_no_answer(home: HomeAssistant) -> None:
    ar.async_get(home).async_create("Porch", aliases={"front door"})

    assert (
        await answered(home, "yes, the front door", KINDS["one door"]) is Meaning.OTHER
    )


async def test_one_of_two_alike_is_named_with_its_place(home: HomeAssistant) -> None:
    entities, devices = er.async_get(home), dr.async_get(home)
    for entity_id in ("cover.garage_door", "cover.bedroom_curtains"):
        entry = entities.async_get(entity_id)
        assert entry is not None
        assert entry.device_id is not None
        devices.async_update_device(entry.device_id, name_by_user="Door")
    await home.async_block_till_done()
    both = doing(
        *(
            EntityAction(one, "cover.open_cover")
            for one in ("cover.garage_door", "cover.bedroom_curtains")
        )
    )

    text = await question(home, [both])

    assert sorted(text.removeprefix("Open ").removesuffix("?").split(" and ")) == [
        "the Door in the Bedroom",
        "the Door in the Garage",
    ]


async def test_a_question_in_a_language_without_words_has_a_plain_answer(
    home: HomeAssistant,
) -> None:
    sentences = await async_get_sentences(home, "sw")

    assert (
        question_text(home, sentences, KINDS["one door"])
        == "Unlock the Front Door in the Hallway?"
    )
    assert not asked_of(home, sentences, KINDS["one door"], "xx").names


def test_every_language_has_a_yes_and_a_no() -> None:
    assert sorted(YES_AND_NO) == LANGUAGES


async def test_who_repeats_a_question_behind_a_yes_agrees(
    home: HomeAssistant, pytestconfig: pytest.Config
) -> None:
    is_thorough = pytestconfig.getoption("thorough")
    for language, (yes, no) in YES_AND_NO.items():
        if not is_thorough and language not in SOME_LANGUAGES:
            continue
        home.states.async_set(
            "lock.front_door",
            "locked",
            {"friendly_name": NAMES[language.partition("-")[0]]},
        )
        sentences = await async_get_sentences(home, language)
        for kind, calls in KINDS.items():
            named = asked_of(home, sentences, calls, language)
            repeated = named.repetition
            assert repeated, (language, kind)
            assert (
                repeated.casefold() in question_text(home, sentences, calls).casefold()
            ), (language, kind)
            assert (
                understand_answer(f"{yes}, {repeated}", language, named) is Meaning.YES
            ), (language, kind)
            for words in (
                f"{no}, {repeated}",
                repeated,
                f"{yes}, {no}, {repeated}",
                f"{yes}, {repeated}?",
            ):
                assert understand_answer(words, language, named) is not Meaning.YES, (
                    language,
                    kind,
                )


async def test_a_question_is_well_formed_for_any_names(home: HomeAssistant) -> None:
    sentences = {
        language: await async_get_sentences(home, language) for language in LANGUAGES
    }

    @given(
        st.text(max_size=100),
        st.text(max_size=100),
        st.sampled_from(sorted(KINDS)),
        st.sampled_from(LANGUAGES),
    )
    @settings(max_examples=some_examples(150))
    def hold(one: str, other: str, kind: str, language: str) -> None:
        for entity_id, name in (
            ("lock.front_door", one),
            ("cover.garage_door", other),
            ("light.hallway", other),
        ):
            home.states.async_set(entity_id, "on", {"friendly_name": name})
        text = question_text(home, sentences[language], KINDS[kind])
        assert text.count(sentences[language]["asked_question"][-1]) == 1
        assert not set(text) & set('{}[]<>*_`|\\"\n\t')
        assert len(text) < 700
        named = asked_of(home, sentences[language], KINDS[kind], language)
        yes, no = YES_AND_NO[language]
        assert understand_answer(yes, language, named) is Meaning.YES
        assert understand_answer(no, language, named) is not Meaning.YES

    hold()


@in_one_home(
    ("seconds", "text"),
    [
        (20.0, "in a minute"),
        (89.0, "in a minute"),
        (100.0, "in 2 minutes"),
        (600.0, "in 10 minutes"),
    ],
)
async def test_a_locked_pin_says_for_how_many_minutes(
    hass: HomeAssistant, seconds: float, text: str
) -> None:
    assert locked_pin_text(await async_get_sentences(hass, "en"), seconds).endswith(
        f"{text}."
    )


async def test_a_wrong_pin_says_how_many_attempts_are_left(hass: HomeAssistant) -> None:
    sentences = await async_get_sentences(hass, "en")

    assert "2 attempts" in wrong_pin_text(sentences, 2)
    assert "one attempt" in wrong_pin_text(sentences, 1)
