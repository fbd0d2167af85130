"""The words for what became of a call, and the event that they stand in."""

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_bytes
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.chatterbox.agent.messages import (
    JsonObject,
    ToolAnnotations,
    ToolCall,
)
from custom_components.chatterbox.approvals.audit import (
    ChangeTexts,
    async_get_change_texts,
    async_publish_change,
)
from custom_components.chatterbox.approvals.policy import Judgement
from custom_components.chatterbox.approvals.review import (
    ApprovalWay,
    CallReview,
    CallState,
    GivenAnswer,
)
from custom_components.chatterbox.const import EVENT_CHANGE
from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.settings.rules import Verdict
from tests.repository.test_translations import LANGUAGES
from tests.support.one_home import in_one_home

SCRIPT = EntityAction("script.night", "script.turn_on")


def touching(*actions: tuple[str, str]) -> Effects:
    return Effects(frozenset(EntityAction(*action) for action in actions))


WITHOUT_ANSWER = {
    ApprovalWay.NOT_NEEDED,
    ApprovalWay.MISSING,
    ApprovalWay.TRUSTED_AUTOMATION,
}


def record_of(
    effects: Effects,
    outcome: CallState = CallState.DONE,
    *,
    approval: ApprovalWay = ApprovalWay.NOT_NEEDED,
    done_to: Iterable[str] = (),
    error: str = "",
    arguments: str = "{}",
) -> CallReview:
    needed = Judgement(
        Verdict.ALLOW if approval is ApprovalWay.NOT_NEEDED else Verdict.ASK, ()
    )
    answer = (
        None if approval in WITHOUT_ANSWER else GivenAnswer(approved=True, way=approval)
    )
    review = CallReview(
        ToolCall("a-call", "mcp__order", arguments),
        effects,
        needed,
        state=outcome,
        answer=answer,
    )
    return replace(review, error=error, done_to=frozenset(done_to))


@pytest.fixture
async def words(hass: HomeAssistant) -> ChangeTexts:
    for entity_id, name in (
        ("light.lamp", "Lamp"),
        ("light.spot", "Spot"),
        ("light.lights", "All Lights"),
        ("lock.front", "Front Door"),
        ("script.night", "Good Night"),
        ("climate.heater", "Heater"),
        ("alarm_control_panel.home", "Alarm"),
        ("cover.garage", "Garage"),
    ):
        hass.states.async_set(entity_id, "unknown", {"friendly_name": name})
    return await async_get_change_texts(hass)


@in_one_home(
    ("entity_id", "action", "sentence"),
    [
        ("lock.front", "lock.unlock", "unlocked Front Door"),
        ("lock.front", "lock.lock", "locked Front Door"),
        ("lock.front", "lock.open", "opened Front Door"),
        ("cover.garage", "cover.open_cover", "opened Garage"),
        ("cover.garage", "cover.close_cover", "closed Garage"),
        ("cover.garage", "cover.stop_cover", "used Garage"),
        (
            "alarm_control_panel.home",
            "alarm_control_panel.alarm_disarm",
            "disarmed Alarm",
        ),
        (
            "alarm_control_panel.home",
            "alarm_control_panel.alarm_arm_night",
            "armed Alarm",
        ),
        ("light.lamp", "light.turn_on", "turned on Lamp"),
        ("light.lamp", "light.turn_off", "turned off Lamp"),
        ("light.lamp", "light.toggle", "toggled Lamp"),
        ("cover.garage", "cover.toggle", "opened or closed Garage"),
        ("script.night", "script.turn_on", "ran Good Night"),
        ("climate.heater", "climate.set_temperature", "changed Heater"),
    ],
)
async def test_every_kind_of_action_has_a_word(
    words: ChangeTexts, entity_id: str, action: str, sentence: str
) -> None:
    assert words.message(record_of(touching((entity_id, action)))) == sentence


def test_a_script_that_did_not_run_has_a_word_too(words: ChangeTexts) -> None:
    run = touching(("script.night", "script.turn_on"))

    assert (
        words.message(record_of(run, CallState.DENIED))
        == "did not run Good Night: you said no"
    )
    assert (
        words.message(record_of(run, CallState.NOT_RUN))
        == "did not run Good Night: it was approved, but did not run"
    )


@pytest.mark.parametrize(
    ("effects", "changes"),
    [
        (NOTHING, False),
        (touching(("light.lamp", "light.turn_on")), True),
        (Effects(unknowns=frozenset({Unknown(UnknownReason.SENTENCE)})), True),
        (Effects(annotations=ToolAnnotations()), True),
        (Effects(annotations=ToolAnnotations(read_only=True)), False),
    ],
)
def test_what_changes_something_is_known(effects: Effects, changes: bool) -> None:  # noqa: FBT001 what is expected
    assert record_of(effects).changes_something == changes


def test_what_cannot_be_told_is_admitted(words: ChangeTexts) -> None:
    unknowns = frozenset({Unknown(UnknownReason.TEMPLATE, SCRIPT)})

    assert (
        words.message(
            record_of(Effects(unknowns=unknowns, actions=frozenset({SCRIPT})))
        )
        == "ran Good Night, and possibly more"
    )
    assert words.message(record_of(Effects(unknowns=unknowns))) == "used order"


def test_each_kind_of_action_has_its_entities(words: ChangeTexts) -> None:
    night = touching(
        ("script.night", "script.turn_on"),
        ("lock.front", "lock.lock"),
        ("light.lamp", "light.turn_off"),
        ("light.spot", "light.turn_off"),
    )

    assert (
        words.message(record_of(night))
        == "turned off Lamp, Spot; locked Front Door; ran Good Night"
    )


def test_what_a_tool_names_itself_is_what_was_done(words: ChangeTexts) -> None:
    either = touching(
        ("light.lamp", "light.turn_on"),
        ("light.lights", "light.turn_on"),
        ("lock.front", "lock.unlock"),
    )

    assert (
        words.message(record_of(either, done_to=["light.lights"]))
        == "turned on All Lights; unlocked Front Door"
    )


def test_many_are_counted(words: ChangeTexts) -> None:
    lamps = touching(
        *((f"light.lamp_{number}", "light.turn_on") for number in range(1, 8))
    )
    kinds = touching(*((f"{domain}.x", f"{domain}.turn_on") for domain in "abcdef"))
    many = touching(*((f"lock.x{at}", service) for at, service in enumerate(KINDS)))

    assert (
        words.message(record_of(lamps))
        == "turned on lamp 1, lamp 2, lamp 3, lamp 4 and 3 more"
    )
    assert words.message(record_of(kinds)) == "turned on x"
    assert (
        words.message(record_of(many)) == "unlocked x0; locked x1; opened x2 and 2 more"
    )


KINDS = ("lock.unlock", "lock.lock", "lock.open", "cover.close_cover", "script.turn_on")


def test_an_entity_without_a_state_has_the_name_that_is_known(
    hass: HomeAssistant, words: ChangeTexts
) -> None:
    entry = er.async_get(hass).async_get_or_create(
        "lock", "test", "1", original_name="Cellar"
    )

    assert (
        words.message(record_of(touching((entry.entity_id, "lock.lock"))))
        == "locked Cellar"
    )


def test_a_place_without_a_device_is_that_of_the_satellite_or_the_agent(
    hass: HomeAssistant, words: ChangeTexts
) -> None:
    hass.states.async_set(
        "assist_satellite.hall", "idle", {"friendly_name": "Hall satellite"}
    )
    hass.states.async_set("conversation.butler", "idle", {"friendly_name": "Butler"})
    typed: JsonObject = {
        "entity_id": "conversation.butler",
        "satellite_id": None,
        "device_id": None,
    }
    spoken = {**typed, "satellite_id": "assist_satellite.hall", "device_id": "gone"}

    assert (words.place(spoken), words.place(typed), words.place({})) == (
        "Hall satellite",
        "Butler",
        "",
    )


SOMETHING = touching(("light.lamp", "light.turn_on"))


@in_one_home("language", LANGUAGES)
async def test_every_outcome_has_words_in_every_language(
    hass: HomeAssistant, language: str
) -> None:
    hass.config.language = language
    words = await async_get_change_texts(hass)
    ways = set(ApprovalWay) - {
        ApprovalWay.MISSING
    }  # one that is done without a yes that it needed there is not
    outcomes = set(CallState) - {
        CallState.APPROVED,
        CallState.CONCLUDED,
    }  # states of a question
    doing = {words.message(record_of(SOMETHING, approval=way)) for way in ways}
    ends = {
        words.message(record_of(SOMETHING, outcome, error="Oh no"))
        for outcome in outcomes
    }

    assert {record_of(SOMETHING, approval=way).approval for way in ways} == ways
    assert (len(doing), len(ends)) == (len(ways), len(outcomes))
    assert all("lamp" in message for message in doing | ends)
    assert any("Oh no" in message for message in ends)


@pytest.mark.parametrize("character", ["x", "灯", "💡", '"', "\x00"])
def test_every_event_can_be_recorded(
    hass: HomeAssistant, words: ChangeTexts, character: str
) -> None:
    events = async_capture_events(hass, EVENT_CHANGE)
    entity_ids = [f"light.{number:03}{'x' * 246}" for number in range(300)]
    for entity_id in entity_ids:
        hass.states.async_set(
            entity_id, "on", {"friendly_name": f"{entity_id[:10]}{character * 5_000}"}
        )
    unknowns = frozenset(
        {Unknown(UnknownReason.TEMPLATE, EntityAction(entity_ids[0], "light.turn_on"))}
    )
    actions = frozenset(
        EntityAction(entity_id, "light.turn_on") for entity_id in entity_ids
    )
    record = record_of(
        Effects(unknowns=unknowns, actions=actions),
        CallState.FAILED,
        done_to=entity_ids,
        error=character * 50_000,
        arguments=json.dumps({"name": character * 50_000}),
    )

    async_publish_change(words, record, {}, Context())

    (event,) = events
    assert len(json_bytes(event.data)) < 32_768
    assert (len(event.data["actions"]), event.data["more_actions"]) == (20, 280)
