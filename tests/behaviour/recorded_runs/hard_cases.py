"""The hard cases: what weaker models said, and what has to come of each of their messages.

Knows the format of `fixtures/recorded-runs/hard-cases.jsonl`, and what a person read
out of the messages that are not what they seem. Must not know how Chatterbox reads
them.
"""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from tests.behaviour.recorded_runs.runs import RecordedCall, RecordedMessage

_CASES = Path(__file__).parents[2] / "fixtures" / "recorded-runs" / "hard-cases.jsonl"

TOOLS: Final = {
    "calendar_get_events": "calendar__get_events",
    "GetDateTime": "llm__GetDateTime",
    "GetLiveContext": "homeassistant__GetLiveContext",
    "HassClimateSetTemperature": "climate__HassClimateSetTemperature",
    "HassListAddItem": "todo__HassListAddItem",
    "HassSetPosition": "intent__HassSetPosition",
    "HassSetVolume": "media_player__HassSetVolume",
    "HassStopMoving": "intent__HassStopMoving",
    "HassTurnOff": "intent__HassTurnOff",
    "HassTurnOn": "intent__HassTurnOn",
    "HassVacuumReturnToBase": "vacuum__HassVacuumReturnToBase",
    "HassVacuumStart": "vacuum__HassVacuumStart",
    "todo_get_items": "todo__get_items",
}
"""The tools that models called, by the names that they had when the cases were recorded, with those of today."""


class Meaning(BaseModel):
    """One message as a person understands it."""

    model_config = ConfigDict(frozen=True)

    says: str
    """The text for ears, without markup."""
    calls: tuple[RecordedCall, ...] = ()
    """Calls that stand in the text."""


class HardCase(BaseModel):
    """One case, with the keys of the fixtures' README."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str
    task: str
    text: str
    asst: tuple[RecordedMessage, ...]
    why: str

    @property
    def id(self) -> str:
        """Return what tells the case from all others."""
        return f"{self.model} {self.task}"

    def meaning(self, number: int) -> Meaning:
        """Return what a message is: what a person read out of it, or else exactly what it says."""
        return _READ_BY_HAND.get((self.id, number)) or Meaning(
            says=self.asst[number].content or ""
        )

    def calls(self) -> list[RecordedCall]:
        """Return all calls of the case in order, those in a text before the others of their message."""
        return [
            call
            for number, message in enumerate(self.asst)
            for call in (*self.meaning(number).calls, *message.tool_calls)
        ]


def read_hard_cases() -> tuple[HardCase, ...]:
    """Read all cases, in their order."""
    return tuple(
        HardCase.model_validate_json(line)
        for line in _CASES.read_text(encoding="utf-8").splitlines()
    )


def is_read_by_hand(case: HardCase) -> bool:
    """Return whether a message of the case is not what it seems."""
    return any((case.id, number) in _READ_BY_HAND for number in range(len(case.asst)))


def _call(name: str, /, **arguments: JsonValue) -> tuple[RecordedCall]:
    return (RecordedCall(name=name, args=arguments),)


_CLIMATE: Final = "gpt-oss-120b suburban_familiy_home_be_climate"
_READ_BY_HAND: Final = {
    (
        "qwen3-1.7b urban_loft_au_calendar-from_my_personal_calendar_how_many_nights_do_i_need_to_cook_this_week-3",
        0,
    ): Meaning(
        says="", calls=_call("calendar_get_events", calendar="Personal", range="week")
    ),
    ("qwen3-1.7b urban_loft_au_light-how_many_lights_are_currently_on-3", 0): Meaning(
        says="", calls=_call("GetLiveContext")
    ),
    (
        "qwen3-1.7b suburban_familiy_home_be_switch-is_the_plug_in_the_kitchen_on-1",
        0,
    ): Meaning(
        says="",
        calls=_call(
            "HassGetDeviceState",
            area="Kitchen",
            domain=["switch"],
            name="Kitchen Appliance Plug",
        ),
    ),
    # Headers of channels without their tokens: "a", for what was cut of "analysis", and
    # then the name of the next one.
    (
        f"{_CLIMATE}-set_the_target_temperature_to_22_in_the_guest_room_if_it_is_above_23-2",
        0,
    ): Meaning(
        says="The temperature in the Guest Room was above 23 °C, so I set the target temperature to 22 °C."
    ),
    # "assistant" alone is what is left of a header: what follows is mostly the model
    # arguing with itself, and nothing tells which of it is not. These messages call
    # tools; the answer comes once the results are there.
    (
        f"{_CLIMATE}-set_the_target_temperature_to_22_in_the_guest_room_if_it_is_above_23-6",
        0,
    ): Meaning(says=""),
    ("gpt-oss-120b urban_loft_au_light-how_many_lights_are_currently_on-9", 0): Meaning(
        says=""
    ),
}
