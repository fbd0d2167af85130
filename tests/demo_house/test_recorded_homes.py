"""Every home of the recorded runs can be built, and every task in it can be done."""

from dataclasses import dataclass

import pytest
import yaml
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from tests.demo_house.move_in import move_in, states_of
from tests.support.assist_mini import Home, Task, read_homes, snapshot


@dataclass(frozen=True, slots=True)
class Action:
    """An intent with its slots."""

    intent_type: str
    slots: dict[str, str | int]


ACTIONS = {
    "Please turn on the kitchen light": Action("HassTurnOn", {"name": "Kitchen Light"}),
    "Turn on the living room light": Action(
        "HassTurnOn", {"area": "Living Room", "domain": "light"}
    ),
    "Turn on the Backyard light": Action(
        "HassTurnOn", {"area": "Backyard", "domain": "light"}
    ),
    "Kitchen light off": Action("HassTurnOff", {"name": "Kitchen Light"}),
    "Dining room light off": Action("HassTurnOff", {"name": "Dining Room Light"}),
    "Put history homework on personal tasks todo list": Action(
        "HassListAddItem", {"name": "Personal Tasks", "item": "history homework"}
    ),
    "Close the garage door": Action(
        "HassTurnOff", {"area": "Garage", "domain": "cover"}
    ),
    "Please open the garage door": Action(
        "HassTurnOn", {"name": "Garage Door Opener", "domain": "cover"}
    ),
    "Lock smart lock": Action("HassTurnOn", {"name": "Smart Lock", "domain": "lock"}),
    "Unlock smart lock": Action("HassTurnOff", {"area": "Entry", "domain": "lock"}),
    "Start vacuum in the living room": Action(
        "HassVacuumStart", {"area": "Living Room"}
    ),
    "Return Roborock Downstairs to base": Action(
        "HassVacuumReturnToBase", {"name": "Roborock Downstairs"}
    ),
    "open the front yard valve": Action(
        "HassTurnOn", {"area": "Front yard", "domain": "valve"}
    ),
    "close the front yard valve": Action("HassTurnOff", {"name": "Irrigation Valve"}),
    "set the irrigation valve to 50%": Action(
        "HassSetPosition", {"name": "Irrigation Valve", "position": 50}
    ),
    "Turn on the bedroom 1 fan": Action(
        "HassTurnOn", {"area": "Bedroom 1", "domain": "fan"}
    ),
    "Turn off the bedroom fan": Action("HassTurnOff", {"name": "Bedroom Fan"}),
    "Set the living room light to 50% brightness": Action(
        "HassLightSet", {"area": "Living Room", "brightness": 50}
    ),
    "Open the smart curtain": Action("HassTurnOn", {"name": "Smart Curtain"}),
    "Close the smart curtains": Action(
        "HassTurnOff", {"area": "Living Room", "domain": "cover"}
    ),
    "Set the smart curtain to 50%": Action(
        "HassSetPosition", {"name": "Smart Curtain", "position": 50}
    ),
    "Pause Outdoor Speakers": Action("HassMediaPause", {"name": "Outdoor Speakers"}),
    "Resume Outdoor Speakers": Action("HassMediaUnpause", {"name": "Outdoor Speakers"}),
    "Skip song on outdoor speakers": Action(
        "HassMediaNext", {"area": "Rooftop Terrace"}
    ),
    "Set outdoor speakers volume to 50%": Action(
        "HassSetVolume", {"name": "Outdoor Speakers", "volume_level": 50}
    ),
    "Mute the outdoor speakers": Action(
        "HassSetVolume", {"name": "Outdoor Speakers", "volume_level": 0}
    ),
    "Turn off the Outdoor Speakers": Action(
        "HassTurnOff", {"name": "Outdoor Speakers"}
    ),
}
"""The call that does a task, by its first sentence."""

TASKS = [
    pytest.param(home, task, id=f"{home.name}-{number}")
    for home in read_homes()
    for number, task in enumerate(home.tasks)
]


@pytest.mark.parametrize("home", read_homes(), ids=lambda home: home.name)
async def test_a_recorded_home_has_every_entity_of_its_file(
    hass: HomeAssistant, home: Home
) -> None:
    entry = await move_in(hass, home.description)

    written = yaml.load(home.description, yaml.CSafeLoader)["entities"]
    assert [(state.entity_id, state.name) for state in states_of(hass, entry)] == [
        (entity["id"], entity["name"]) for entity in written
    ]


@pytest.mark.parametrize(("home", "task"), TASKS)
async def test_a_task_begins_with_its_setup_and_can_be_done_by_an_intent(
    hass: HomeAssistant, home: Home, task: Task
) -> None:
    entry = await move_in(hass, home.description, task.initial_states())
    before = snapshot(states_of(hass, entry))
    for entity_id, change in task.setup.items():
        # A vacuum robot knows no "off", a light that is off has no brightness, a
        # valve's position decides.
        if not entity_id.startswith(("vacuum.", "valve.")):
            assert before[entity_id]["state"] == change.state
    action = ACTIONS[task.sentences[0]]

    slots = {name: {"value": value} for name, value in action.slots.items()}
    await intent.async_handle(
        hass, "test", action.intent_type, slots, assistant="conversation"
    )
    await hass.async_block_till_done()

    assert task.wrong_states(before, snapshot(states_of(hass, entry))) == {}
