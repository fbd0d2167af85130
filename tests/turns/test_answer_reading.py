"""The next words after a question are read as what they are, and a PIN is compared only where one is needed."""

import asyncio
from dataclasses import dataclass, field
from typing import override

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st

from custom_components.chatterbox.agent.confirmation.answers import Answer, understand_answer
from custom_components.chatterbox.agent.confirmation.pin import HashCost, PinHash
from custom_components.chatterbox.agent.confirmation.pin_detection import may_be_pin
from custom_components.chatterbox.approvals.questions import ApprovalScope
from custom_components.chatterbox.turns.input import (
    Agreed,
    Declined,
    PinLocked,
    PinMissing,
    PinNotNeeded,
    PinUnclear,
    Reading,
    SomethingElse,
    TooLate,
    WrongPin,
    async_read_answer,
)
from tests.support.leaks import Leaks
from tests.support.waiting_questions import NAMED, scope, unlocking

PIN = "8593614207"
SAID = "eight five nine three six one four two oh seven"


@dataclass(frozen=True, slots=True)
class WatchedPin(PinHash):
    """A PIN that notes what it is compared with."""

    compared: list[str] = field(default_factory=list)

    @override
    def matches(self, pin: str) -> bool:
        self.compared.append(pin)
        return PinHash.matches(self, pin)


def watched_pin() -> WatchedPin:
    """Return the PIN, not compared with anything yet."""
    pin = PinHash.of(PIN, HashCost(memory=2, repeats=1))
    return WatchedPin(pin.salt, pin.digest, pin.cost)


async def read(  # as what it calls
    hass: HomeAssistant,
    text: str,
    pin: PinHash | None,
    *,
    needs_pin: bool = True,
    is_late: bool = False,
    where: ApprovalScope | None = None,
) -> Reading:
    """Read an answer to the question whether the front door shall be unlocked."""
    question = unlocking(where or scope(), needs_pin=needs_pin)
    return await async_read_answer(hass, question, text, "en", NAMED, pin, is_late)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Yes.", Agreed(with_pin=False)),
        ("Yes, unlock the front door.", Agreed(with_pin=False)),
        ("No, leave it.", Declined()),
        ("Yes, the garage.", SomethingElse()),
        ("turn on the light", SomethingElse()),
        ("wake me at 12:30", SomethingElse()),
        (PIN, PinNotNeeded()),
        (f"Yes, {PIN}", PinNotNeeded()),
        (f"{PIN}?", PinNotNeeded()),
        ("no, at 10:15", SomethingElse()),
        ("ten minutes", SomethingElse()),
    ],
)
async def test_a_question_without_a_pin_compares_none(hass: HomeAssistant, text: str, reading: Reading) -> None:
    pin = watched_pin()

    assert await read(hass, text, pin, needs_pin=False) == reading
    assert pin.compared == []


@pytest.mark.parametrize("is_late", [True, False])
@pytest.mark.parametrize("text", ["ten thirty", "12:30", PIN, f"Yes, {PIN}"])
async def test_numbers_are_a_request_to_an_agent_without_a_pin(
    hass: HomeAssistant, text: str, *, is_late: bool
) -> None:
    assert await read(hass, text, None, needs_pin=False, is_late=is_late) == SomethingElse()


@pytest.mark.usefixtures("hass_storage")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("one moment", SomethingElse()),
        ("ten minutes", SomethingElse()),
        ("Yes.", PinMissing()),
        ("No.", Declined()),
        ("turn on the light", SomethingElse()),
        ("set a timer for 10 minutes", SomethingElse()),
        (SAID, Agreed(with_pin=True)),
        (f"my PIN is {PIN}", Agreed(with_pin=True)),
        (f"Yes, unlock the front door, {PIN}", Agreed(with_pin=True)),
        ("47 11", WrongPin(4)),
        (f"{PIN}?", PinUnclear()),
        (f"No, {PIN}", PinUnclear()),
        ("for seven one one", PinUnclear()),
    ],
)
async def test_a_question_that_needs_a_pin_takes_nothing_less(hass: HomeAssistant, text: str, reading: Reading) -> None:
    pin = watched_pin()

    assert await read(hass, text, pin) == reading
    assert len(pin.compared) == isinstance(reading, WrongPin | Agreed)


@pytest.mark.parametrize("needs_pin", [True, False])
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Yes.", TooLate()),
        ("No.", TooLate()),
        (PIN, TooLate()),
        (f"Yes, {PIN}", TooLate()),
        ("turn on the light", SomethingElse()),
    ],
)
async def test_a_question_that_has_run_out_compares_nothing(
    hass: HomeAssistant, text: str, reading: Reading, *, needs_pin: bool
) -> None:
    pin = watched_pin()

    assert await read(hass, text, pin, needs_pin=needs_pin, is_late=True) == reading
    assert pin.compared == []


@pytest.mark.parametrize(
    ("text", "reading"), [("Yes.", TooLate()), (PIN, TooLate()), ("No.", Declined()), ("hello", SomethingElse())]
)
async def test_nothing_is_agreed_to_if_the_pin_was_taken_away(hass: HomeAssistant, text: str, reading: Reading) -> None:
    assert await read(hass, text, None) == reading


@pytest.mark.usefixtures("hass_storage")
async def test_a_place_is_locked_after_five_wrong_pins_whatever_the_conversation(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    pin = watched_pin()
    said = [await read(hass, "4711", pin, where=scope(f"talk-{talk}", "made-up")) for talk in range(5)]

    assert said == [WrongPin(4), WrongPin(3), WrongPin(2), WrongPin(1), WrongPin(0)]
    assert await read(hass, PIN, pin) == PinLocked(600)
    assert await read(hass, "Yes.", pin) == PinMissing()
    assert await read(hass, "No.", pin) == Declined()
    assert await read(hass, PIN, pin, where=scope(agent_id="conversation.otto")) == Agreed(with_pin=True)
    freezer.tick(600)
    assert await read(hass, PIN, pin) == Agreed(with_pin=True)
    assert pin.compared == ["4711"] * 5 + [PIN] * 2


async def test_nothing_of_a_pin_is_left_behind(hass: HomeAssistant, leaks: Leaks) -> None:
    pin = watched_pin()
    await asyncio.gather(*(read(hass, text, pin) for text in (SAID, f"yes, {PIN}", f"{PIN}?", "8593614208")))
    await read(hass, PIN, pin, needs_pin=False)
    await read(hass, PIN, pin, is_late=True)
    await read(hass, PIN, None)

    assert sorted(pin.compared) == [PIN, PIN, "8593614208"]
    leaks.assert_nowhere(PIN, SAID)
    leaks.assert_nowhere("8593614208")


WORDS = st.lists(
    st.sampled_from(
        [
            "yes",
            "no",
            "4711",
            "four",
            "seven",
            "one",
            "eleven",
            "please",
            "my PIN is",
            "the light",
            "wake me",
            "12",
            "?",
        ]
    ),
    max_size=7,
).map(" ".join)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(WORDS, st.text(max_size=40)), needs_pin=st.booleans(), is_late=st.booleans())
async def test_a_request_holds_no_pin_and_only_a_plain_yes_or_the_pin_agrees(
    hass: HomeAssistant, text: str, *, needs_pin: bool, is_late: bool
) -> None:
    pin = watched_pin()
    answer = understand_answer(text, "en", NAMED)

    reading = await read(hass, text, pin, needs_pin=needs_pin, is_late=is_late)

    match reading:
        case SomethingElse():
            assert not may_be_pin(text, "en", NAMED, is_asked_for=needs_pin)
        case Agreed(with_pin=False):
            assert (answer, needs_pin, is_late) == (Answer.YES, False, False)
        case Agreed(with_pin=True):
            pytest.fail("nobody said the PIN")
        case Declined():
            assert answer is Answer.NO
        case _:
            assert needs_pin or is_late or reading == PinNotNeeded()
