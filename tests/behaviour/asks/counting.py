"""Counts the questions that a home asks when everyday requests and recorded runs are spoken in it."""

from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.llm import ToolAnnotations
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    QuestionUpdate,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import CallState
from custom_components.chatterbox.const import EVENT_TURN_FINISHED
from custom_components.chatterbox.settings.rules import OutsideCare
from tests.behaviour.asks.everyday import REQUESTS, Request
from tests.behaviour.recorded_runs.replay import Way, replay
from tests.behaviour.recorded_runs.runs import Batch
from tests.demo_house.move_in import move_in
from tests.support.config_entries import prepare, server_entry, set_up
from tests.support.llm_apis import StubTool, register, satellite
from tests.support.page_tables import MEASURED, table
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, DEMO_HOUSE

PAGE: Final = MEASURED / "asks.md"
_MORE_DOORS: Final = """
  - { name: Back Door, id: lock.back_door, area: kitchen, state: locked }
  - { name: Cellar Door, id: lock.cellar_door, area: hallway, state: locked }
  - name: Second Garage Door
    id: cover.second_garage_door
    area: garage
    state: closed
    attributes: { device_class: garage, supported_features: [OPEN, CLOSE, STOP] }
"""
_ALARM: Final = {
    "platform": "manual",
    "name": "Alarm",
    "arming_time": 0,
    "code_arm_required": False,
}
_SCRIPTS: Final[Mapping[str, object]] = {
    "play_music": {
        "alias": "Play music",
        "fields": {"song": {"selector": {"text": {}}}},
        "sequence": [
            {
                "action": "media_player.volume_set",
                "target": {"entity_id": "media_player.living_room_speaker"},
                "data": {"volume_level": "{{ 0.4 if song else 0.3 }}"},
            }
        ],
    },
    "good_night": {
        "alias": "Good night",
        "sequence": [
            {
                "action": "light.turn_off",
                "target": {"area_id": ["kitchen", "living_room"]},
            },
            {
                "action": "cover.close_cover",
                "target": {"entity_id": "cover.living_room_blinds"},
            },
            {
                "action": "climate.set_temperature",
                "target": {"entity_id": "climate.living_room"},
                "data": {"temperature": 19},
            },
        ],
    },
    "tell_the_family": {
        "alias": "Tell the family",
        "sequence": [
            {"action": "notify.notify", "data": {"message": "Dinner is ready."}}
        ],
    },
    **{
        f"{name}_the_alarm": {
            "alias": f"{name} the alarm",
            "sequence": [
                {
                    "action": f"alarm_control_panel.alarm_{service}",
                    "target": {"entity_id": "alarm_control_panel.alarm"},
                }
            ],
        }
        for name, service in (("arm", "arm_away"), ("disarm", "disarm"))
    },
}
_SCENE: Final = {
    "name": "Movie Evening",
    "entities": {
        "light.floor_lamp": {"state": "on", "brightness": 40},
        "cover.living_room_blinds": "closed",
    },
}
_TOOLS: Final = {
    "web_search": ToolAnnotations(read_only=True),
    "timetable": ToolAnnotations(read_only=True),
    "play_track": ToolAnnotations(destructive=False, open_world=False),
    "book_court": ToolAnnotations(),
}
_SHOWN: Final = (OutsideCare.EVERY_CHANGE, OutsideCare.RISKY, OutsideCare.NOTHING)
_RISKY_HOMES: Final = ("cover-garage", "lock", "valve")
_MOST_ANSWERS: Final = 5
"""Yeses that one request gets."""


@dataclass(frozen=True, slots=True)
class QuestionCount:
    """How often some requests were asked about."""

    is_risky: bool
    requests: int
    questions: int


@asynccontextmanager
async def _everyday_agent(
    hass: HomeAssistant, care: OutsideCare
) -> AsyncGenerator[tuple[ScriptedChatCompletions, str]]:
    """Set up the home, the tools of servers, the agent and a satellite; yield its model and the satellite."""
    await prepare(hass)
    for domain, given in (
        ("alarm_control_panel", [_ALARM]),
        ("script", _SCRIPTS),
        ("scene", [_SCENE]),
    ):
        assert await async_setup_component(hass, domain, {domain: given})
    await move_in(hass, DEMO_HOUSE.read_text(encoding="utf-8") + _MORE_DOORS)
    async_mock_service(hass, "notify", "notify")
    await hass.services.async_call(
        "media_player", "media_play", {"entity_id": "media_player.living_room_speaker"}
    )
    satellite_id = satellite(hass, "kitchen")
    async_register_timer_handler(hass, satellite_id, lambda *_: None)
    for name, annotations in _TOOLS.items():
        tool = StubTool(
            name=name, answer={"text": "Whatever you looked for, or asked to be done."}
        )
        tool.annotations = annotations
        register(hass, name, tool)
    await hass.async_block_till_done()
    for state in hass.states.async_all():
        async_expose_entity(
            hass, conversation.DOMAIN, state.entity_id, should_expose=True
        )
    model = ScriptedChatCompletions(Script())
    async with serving(model.application()) as address:
        entry = await set_up(
            hass,
            server_entry(
                address,
                llm_hass_api=["assist", *_TOOLS],
                ask_after_outside_content=care,
            ),
        )
        yield model, satellite_id
        assert await hass.config_entries.async_unload(entry.entry_id)


async def count_everyday(
    hass: HomeAssistant, care: OutsideCare
) -> tuple[QuestionCount, ...]:
    """Make each request in a conversation of its own, say yes to every question, and return how many there were."""
    async with _everyday_agent(hass, care) as (model, satellite_id):
        return tuple(
            [await _ask(hass, model, satellite_id, request) for request in REQUESTS]
        )


async def count_recorded(hass: HomeAssistant, batch: Batch) -> QuestionCount:
    """Replay the recorded runs of a home, and return how many questions there were. Nobody answers them."""
    with counting_questions(hass) as questions:
        await replay(hass, batch, Way.ASKING)
    return QuestionCount(
        batch.name.endswith(_RISKY_HOMES), len(batch.runs), len(questions)
    )


async def _ask(
    hass: HomeAssistant,
    model: ScriptedChatCompletions,
    device_id: str,
    request: Request,
) -> QuestionCount:
    answers = (ScriptedAnswer(tool_calls=calls) for calls in request.rounds)
    model.play(
        Script(answers=(*answers, *(ScriptedAnswer(content="There you are."),) * 2))
    )
    failed: list[str] = []

    @callback
    def note(event: Event[Mapping[str, list[dict[str, str]]]]) -> None:
        failed.extend(
            call["name"] for call in event.data["tool_calls"] if call["is_error"]
        )

    stop = hass.bus.async_listen(EVENT_TURN_FINISHED, note)
    with counting_questions(hass) as questions:
        words = request.words
        for _ in range(_MOST_ANSWERS):
            await conversation.async_converse(
                hass, words, request.words, Context(), "en", AGENT, device_id
            )
            await hass.async_block_till_done()
            words = "yes"
            if not async_get_approvals(hass).waiting:
                break
    stop()
    if failed:
        raise RuntimeError(
            f"the model of {request.words!r} is no good: {failed} failed"
        )
    return QuestionCount(request.is_risky, 1, len(questions))


@contextmanager
def counting_questions(hass: HomeAssistant) -> Generator[list[Question]]:
    """Collect the questions that are asked meanwhile."""
    questions: list[Question] = []

    @callback
    def note(update: QuestionUpdate) -> None:
        if update.state is CallState.WAITING:
            questions.append(update.question)

    stop = async_dispatcher_connect(hass, SIGNAL_QUESTION, note)
    yield questions
    stop()


def per_hundred(question: Iterable[QuestionCount], *, risky: bool) -> float:
    """Return how many questions a hundred requests lead to that touch, or do not touch, a lock, a door or an alarm."""
    those = [one for one in question if one.is_risky is risky]
    return (
        100 * sum(one.questions for one in those) / sum(one.requests for one in those)
    )


def _everyday_row(
    everyday: Mapping[OutsideCare, Sequence[QuestionCount]], *, risky: bool
) -> list[str]:
    count = sum(request.is_risky is risky for request in REQUESTS)
    kind = (
        "that touch a lock, a door or an alarm"
        if risky
        else "that touch none, half of them after a page"
    )
    figures = (per_hundred(everyday[care], risky=risky) for care in _SHOWN)
    return [
        f"{count} everyday requests {kind}",
        *(f"{figure:.1f}" for figure in figures),
    ]


def asks_table(
    everyday: Mapping[OutsideCare, Sequence[QuestionCount]],
    recorded: Iterable[QuestionCount],
    attacks: Sequence[bool],
) -> str:
    """Return the table of the page. `attacks` tells of each whether it was stopped."""
    head = [
        "questions per 100",
        "every change",
        "important changes (default)",
        "no extra confirmation",
    ]
    rows = [_everyday_row(everyday, risky=risky) for risky in (False, True)]
    runs = tuple(recorded)
    for risky, kind in (
        (False, "that touch none"),
        (True, "that touch a lock, a garage or a valve"),
    ):
        count = sum(one.requests for one in runs if one.is_risky is risky)
        rows.append(
            [
                f"{count} recorded runs {kind}",
                "",
                f"{per_hundred(runs, risky=risky):.1f}",
                "",
            ]
        )
    through = sum(not stopped for stopped in attacks)
    return table(
        head,
        [*rows, [f"**{len(attacks)} attacks, let through**", "", f"**{through}**", ""]],
    )
