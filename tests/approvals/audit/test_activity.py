"""Entries of changes in Home Assistant's Activity: through its own command, from a real recorder."""

import pytest
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import CONF_KIND, DOMAIN, ServiceKind
from custom_components.chatterbox.people.speakers import Speaker
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import (
    HomeRules,
    Policy,
    Rule,
    Verdict,
    async_get_home_rules,
)
from tests.support.audited_turns import (
    AGENT,
    LAMP_ON,
    UNLOCK,
    AuditedTalk,
    begin_talk,
    calling,
)
from tests.support.doubles import call, say
from tests.support.llm_apis import StubTool, register
from tests.support.talk import (
    PART,
    add_agent,
    move_into_the_demo_home,
    say as tell,
)

YES = GivenAnswer(approved=True, way=ApprovalWay.VOICE)
PIN = "2580"
LOCKS_BY_PIN = HomeRules(
    policy=Policy((Rule(verdict=Verdict.PIN, domains=frozenset({"lock"})),)),
    pin=PinHash.of(PIN, HashCost(2, 1)),
)
HALL = "assist_satellite.hall"


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: object) -> None:
    """Have the recorder's own fixture begin before that of Home Assistant, as it wants to."""


class Activity:
    """The entries of Activity since it was opened."""

    def __init__(self, hass: HomeAssistant, hass_ws_client: WebSocketGenerator) -> None:
        self._hass = hass
        self._hass_ws_client = hass_ws_client
        self._opened = dt_util.utcnow()

    async def entries(
        self, *keys: str, domain: str | None = DOMAIN
    ) -> list[tuple[object, ...]]:
        """Return the entries of ours, or those of one domain of entities."""
        await self._hass.async_block_till_done()
        await async_wait_recording_done(self._hass)
        client = await self._hass_ws_client()
        await client.send_json_auto_id(
            {"type": "logbook/get_events", "start_time": self._opened.isoformat()}
        )
        entries: list[dict[str, object]] = (await client.receive_json())["result"]
        found = [
            one
            for one in entries
            if one.get("domain") == domain
            or (domain != DOMAIN and str(one.get("entity_id")).startswith(f"{domain}."))
        ]
        return [tuple(entry.get(key) for key in keys) for entry in found]


@pytest.fixture
async def activity(
    recorder_mock: Recorder,  # noqa: ARG001 the logbook reads from it
    hass: HomeAssistant,
    hass_ws_client: WebSocketGenerator,
) -> Activity:
    assert await async_setup_component(hass, "logbook", {})
    return Activity(hass, hass_ws_client)


@pytest.fixture
async def talk(activity: Activity, hass: HomeAssistant) -> AuditedTalk:  # noqa: ARG001 the recorder begins first
    return await begin_talk(hass)


async def move_in(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass, PART)
    await add_agent(hass, {CONF_KIND: ServiceKind.OFFLINE.value}, {})
    hass.states.async_set(HALL, "idle", {"friendly_name": "Hall"})


async def test_a_plain_change_is_shown_by_home_assistant_alone(
    activity: Activity, hass: HomeAssistant
) -> None:
    await move_in(hass)

    await tell(hass, "turn on the kitchen ceiling light", satellite_id=HALL)

    assert await activity.entries(
        "entity_id", "state", "context_entity_id", domain="light"
    ) == [("light.kitchen_ceiling", "on", "conversation.talker")]
    assert await activity.entries("message") == []


async def test_a_command_after_the_pin_is_one_entry(
    activity: Activity, hass: HomeAssistant
) -> None:
    await move_in(hass)
    await async_get_home_rules(hass).async_enter(LOCKS_BY_PIN)

    for text in ("unlock the front door", PIN):
        await tell(hass, text, satellite_id=HALL)

    assert await activity.entries("name", "message", "entity_id") == [
        ("Front Door", "unlocked by Hall, after the PIN", "lock.front_door")
    ]


async def test_only_the_agent_that_was_asked_is_said_to_have_responded(
    hass: HomeAssistant,
) -> None:
    await move_in(hass)
    built_in = hass.states.get("conversation.home_assistant")

    await tell(hass, "turn on the kitchen lights", satellite_id=HALL)

    assert built_in is not None
    assert hass.states.get("conversation.home_assistant") == built_in
    assert hass.states.is_state("light.kitchen_ceiling", "on")


async def test_a_no_is_told_as_a_person_would(
    activity: Activity, hass: HomeAssistant
) -> None:
    await move_in(hass)

    for text in ("unlock the front door", "no"):
        await tell(hass, text, satellite_id=HALL)
    await tell(hass, "unlock the front door")

    # An entry has the icon of its entity; one without an entity has none.
    assert await activity.entries("name", "message", "entity_id") == [
        ("Hall", "kept Front Door locked: you said no", HALL),
        (
            "Talker",
            "kept Front Door locked: nobody was there to confirm it",
            "conversation.talker",
        ),
    ]


async def test_nothing_is_said_to_be_kept_as_it_was_not(
    activity: Activity, talk: AuditedTalk
) -> None:
    question = await talk.take(call(UNLOCK))
    talk.hass.states.async_set("lock.front", "jammed", {"friendly_name": "Front Door"})
    await talk.answer(
        question,
        GivenAnswer(approved=False, way=ApprovalWay.VOICE),
        say("As you like."),
    )

    assert await activity.entries("message") == [
        ("did not unlock Front Door: you said no",)
    ]


async def test_where_home_assistant_does_not_name_the_agent_an_entry_does(
    activity: Activity, talk: AuditedTalk
) -> None:
    await talk.events_of(call(LAMP_ON), say("It is on."))
    await talk.answer(await talk.take(call(UNLOCK)), YES, say("There you are."))

    assert await activity.entries("name", "message", "entity_id") == [
        ("Lamp", "turned on by Kitchen satellite (Anna)", "light.lamp"),
        (
            "Front Door",
            "unlocked by Kitchen satellite (Anna), after a yes",
            "lock.front",
        ),
    ]


async def test_a_turn_of_several_changes_is_one_entry(
    activity: Activity, talk: AuditedTalk
) -> None:
    register(
        talk.hass,
        "server",
        *(StubTool(name=name) for name in ("order", "pay", "wrap", "send", "thank")),
    )
    talk.apis = ["server"]
    calls = [
        calling(name, {}, name) for name in ("order", "pay", "wrap", "send", "thank")
    ]
    await talk.answer(await talk.take(call(*calls)), YES, say("It is on its way."))

    after = "after a yes"
    assert await activity.entries("name", "message", "entity_id") == [
        (
            "Kitchen satellite (Anna)",
            f"used order, {after}; used pay, {after}; used wrap, {after} and 2 more",
            "assist_satellite.kitchen",
        )
    ]


async def test_a_change_that_leaves_the_state_as_it_is_has_an_entry(
    activity: Activity, hass: HomeAssistant
) -> None:
    await move_in(hass)

    await tell(hass, "set the living room temperature to 22 degrees", satellite_id=HALL)

    (entry,) = await activity.entries("message", "entity_id")
    assert entry[0] == "changed by Hall"


async def _fail(_: ServiceCall) -> None:
    raise HomeAssistantError("It is broken")


async def test_refused_and_failed_changes_are_shown_as_such(
    activity: Activity, talk: AuditedTalk
) -> None:
    talk.speaker = Speaker()
    await talk.events_of(call(UNLOCK), say("Nobody is there."))
    talk.hass.services.async_register("light", "turn_on", _fail)
    await talk.events_of(call(LAMP_ON), say("I cannot."))

    assert await activity.entries("name", "message") == [
        ("Kitchen satellite", "kept Front Door locked: nobody was there to confirm it"),
        ("Kitchen satellite", "did not turn on Lamp: failed (It is broken)"),
    ]


async def test_a_dropped_question_is_one_entry(
    activity: Activity, talk: AuditedTalk
) -> None:
    await talk.take(call(UNLOCK))
    async_get_approvals(talk.hass).drop_all_of(AGENT)

    assert await activity.entries("message") == [
        ("kept Front Door locked: nobody answered the question",)
    ]


async def test_names_are_written_as_they_are(
    activity: Activity, talk: AuditedTalk
) -> None:
    talk.hass.states.async_set(
        AGENT, "unknown", {"friendly_name": "qwen3:8b\n(\u202enear)"}
    )
    talk.device_id, talk.apis = "no-device", (llm.LLM_API_ASSIST,)
    talk.hass.states.async_set(
        "assist_satellite.kitchen", "idle", {"friendly_name": "qwen3:8b\n(\u202enear)"}
    )
    await talk.events_of(call(LAMP_ON), say("It is on."))

    assert await activity.entries("message") == [
        ("turned on by qwen3:8b (near) (Anna)",)
    ]
