"""The next words after a question are read as what they are, and a PIN is compared only where one is needed."""

from dataclasses import replace

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.conversation import ConversationInput
from homeassistant.core import Context, HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st

from custom_components.chatterbox.agent.text import heard_answer
from custom_components.chatterbox.approvals.answers.yes_or_no import (
    Meaning,
    understand_answer,
)
from custom_components.chatterbox.approvals.pin.pin_detection import may_be_pin
from custom_components.chatterbox.approvals.pin.pin_guard import Locked
from custom_components.chatterbox.approvals.pin_tries import Wrong
from custom_components.chatterbox.approvals.questions import ApprovalScope
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.turns.input import async_read_answer
from tests.support.listening_agent import place_satellite
from tests.support.one_home import in_one_home
from tests.support.talk import AGENT
from tests.support.thorough import some_examples
from tests.support.waiting_questions import NAMED, scope, unlocking
from tests.support.watched_pin import watched

PIN = "8593614207"
SAID = "eight five nine three six one four two oh seven"


async def read(  # as what it calls
    hass: HomeAssistant,
    text: str,
    pin: PinHash | None,
    *,
    needs_pin: bool = True,
    is_late: bool = False,
    where: ApprovalScope | None = None,
    context: Context | None = None,
) -> Meaning | Wrong | Locked:
    """Read an answer to the question whether the front door shall be unlocked."""
    question = unlocking(where or scope(), needs_pin=needs_pin)
    context = context or Context()
    question = replace(question, context=context)
    user_input = ConversationInput(text, context, None, None, None, "en", AGENT)
    return await async_read_answer(
        hass, question, user_input, heard_answer(text, "en"), NAMED, pin, is_late
    )


@in_one_home(
    ("text", "reading"),
    [
        ("Yes.", Meaning.YES),
        ("Yes, unlock the front door.", Meaning.YES),
        ("No, leave it.", Meaning.NO),
        ("Yes, the garage.", Meaning.OTHER),
        ("turn on the light", Meaning.OTHER),
        ("wake me at 12:30", Meaning.OTHER),
        (PIN, Meaning.PIN_NOT_NEEDED),
        (f"Yes, {PIN}", Meaning.PIN_NOT_NEEDED),
        (f"{PIN}?", Meaning.PIN_NOT_NEEDED),
        ("no, at 10:15", Meaning.OTHER),
        ("ten minutes", Meaning.OTHER),
    ],
)
async def test_a_question_without_a_pin_compares_none(
    hass: HomeAssistant, text: str, reading: Meaning | Wrong
) -> None:
    pin = watched(PIN)

    assert await read(hass, text, pin, needs_pin=False) == reading
    assert pin.compared == []


@pytest.mark.parametrize("is_late", [True, False])
@pytest.mark.parametrize("text", ["ten thirty", "12:30", PIN, f"Yes, {PIN}"])
async def test_numbers_are_a_request_to_an_agent_without_a_pin(
    hass: HomeAssistant, text: str, *, is_late: bool
) -> None:
    assert (
        await read(hass, text, None, needs_pin=False, is_late=is_late) == Meaning.OTHER
    )


@pytest.mark.usefixtures("hass_storage")
@in_one_home(
    ("text", "reading"),
    [
        ("one moment", Meaning.OTHER),
        ("ten minutes", Meaning.OTHER),
        ("Yes.", Meaning.PIN_MISSING),
        ("No.", Meaning.NO),
        ("turn on the light", Meaning.OTHER),
        ("set a timer for ten minutes", Meaning.OTHER),
        ("set a timer for 10 minutes", Meaning.PIN_UNCLEAR),
        (f"My pen is {PIN}.", Meaning.YES_WITH_PIN),
        (f"ES{PIN}", Meaning.YES_WITH_PIN),
        (f"My bill is {PIN}. Thank you.", Meaning.YES_WITH_PIN),
        ("My pen is 4711.", Wrong(4)),
        (f"My pen is not {PIN}.", Meaning.PIN_UNCLEAR),
        (f"2 pens, {PIN}.", Meaning.PIN_UNCLEAR),
        (f"Two pens, {PIN}.", Meaning.PIN_UNCLEAR),
        (f"the pen that I have told you is {PIN}", Meaning.PIN_UNCLEAR),
        ("The code is I-284", Meaning.PIN_UNCLEAR),
        ("12:30 it is", Meaning.PIN_UNCLEAR),
        (SAID, Meaning.YES_WITH_PIN),
        (f"my PIN is {PIN}", Meaning.YES_WITH_PIN),
        (f"Yes, unlock the front door, {PIN}", Meaning.YES_WITH_PIN),
        ("47 11", Wrong(4)),
        (f"{PIN}?", Meaning.PIN_UNCLEAR),
        (f"No, {PIN}", Meaning.PIN_UNCLEAR),
        ("for seven one one", Meaning.PIN_UNCLEAR),
    ],
)
async def test_a_question_that_needs_a_pin_takes_nothing_less(
    hass: HomeAssistant, text: str, reading: Meaning | Wrong
) -> None:
    pin = watched(PIN)

    assert await read(hass, text, pin) == reading
    assert len(pin.compared) == (
        isinstance(reading, Wrong) or reading is Meaning.YES_WITH_PIN
    )


@pytest.mark.usefixtures("hass_storage")
@in_one_home(
    ("text", "reading"),
    [
        ("My pin is 77001", Meaning.PIN_UNCLEAR),
        ("double seven oh one two", Meaning.PIN_UNCLEAR),
        ("77001", Wrong(4)),
        ("0071.", Wrong(3)),
        ("4711", Meaning.YES_WITH_PIN),
        ("770013", Meaning.PIN_UNCLEAR),
    ],
)
async def test_a_wrong_number_of_digits_costs_no_try_twice(
    hass: HomeAssistant, text: str, reading: Meaning | Wrong
) -> None:
    assert (
        await read(hass, text, PinHash.of("4711", HashCost(memory=2, repeats=1)))
        == reading
    )


@pytest.mark.parametrize("needs_pin", [True, False])
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Yes.", Meaning.TOO_LATE),
        ("No.", Meaning.TOO_LATE),
        (PIN, Meaning.TOO_LATE),
        (f"Yes, {PIN}", Meaning.TOO_LATE),
        ("turn on the light", Meaning.OTHER),
    ],
)
async def test_a_question_that_has_run_out_compares_nothing(
    hass: HomeAssistant, text: str, reading: Meaning, *, needs_pin: bool
) -> None:
    pin = watched(PIN)

    assert await read(hass, text, pin, needs_pin=needs_pin, is_late=True) == reading
    assert pin.compared == []


@in_one_home(
    ("text", "reading"),
    [
        ("Yes.", Meaning.TOO_LATE),
        (PIN, Meaning.TOO_LATE),
        ("No.", Meaning.NO),
        ("hello", Meaning.OTHER),
    ],
)
async def test_nothing_is_agreed_to_if_the_pin_was_taken_away(
    hass: HomeAssistant, text: str, reading: Meaning | Wrong
) -> None:
    assert await read(hass, text, None) == reading


@pytest.mark.usefixtures("hass_storage")
async def test_a_place_is_locked_after_five_wrong_pins_whatever_the_conversation(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    pin = watched(PIN)
    words = [
        await read(hass, "4711", pin, where=scope(f"talk-{talk}", "made-up"))
        for talk in range(5)
    ]

    assert words == [Wrong(4), Wrong(3), Wrong(2), Wrong(1), Wrong(0)]
    assert await read(hass, PIN, pin) == Locked(600)
    assert await read(hass, "Yes.", pin) == Meaning.PIN_MISSING
    assert await read(hass, "No.", pin) == Meaning.NO
    assert await read(
        hass, PIN, pin, where=scope(agent_id="conversation.otto")
    ) == Locked(600), "the PIN is the home's"
    freezer.tick(600)
    assert await read(hass, PIN, pin) == Meaning.YES_WITH_PIN
    assert pin.compared == ["4711"] * 5 + [PIN]


@pytest.mark.usefixtures("hass_storage")
async def test_a_user_who_writes_as_a_satellite_does_not_lock_it(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.tick(0)
    device_id = place_satellite(hass)
    there = scope("typed", device_id)
    pin = watched(PIN)
    by_user = Context(user_id="a-user")
    at_satellite = Context(user_id="a-user", parent_id=Context().id)
    for _ in range(5):
        await read(hass, "4711", pin, where=there, context=by_user)

    typed = await read(hass, PIN, pin, where=there, context=by_user)
    elsewhere = await read(hass, PIN, pin, where=scope("talk", "made-up"))
    heard = await read(hass, PIN, pin, where=there, context=at_satellite)

    assert (typed, elsewhere) == (Locked(600), Locked(600))
    assert heard == Meaning.YES_WITH_PIN


PARTS = (
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
)
WORDS = st.lists(st.sampled_from(PARTS), max_size=7).map(" ".join)


@settings(
    max_examples=some_examples(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.one_of(WORDS, st.text(max_size=40)),
    needs_pin=st.booleans(),
    is_late=st.booleans(),
)
async def test_a_request_holds_no_pin_and_only_a_plain_yes_or_the_pin_agrees(
    hass: HomeAssistant, text: str, *, needs_pin: bool, is_late: bool
) -> None:
    pin = watched(PIN)
    answer = understand_answer(text, "en", NAMED)

    reading = await read(hass, text, pin, needs_pin=needs_pin, is_late=is_late)

    match reading:
        case Meaning.OTHER:
            assert not may_be_pin(text, "en", NAMED, is_asked_for=needs_pin)
        case Meaning.YES:
            assert (answer, needs_pin, is_late) == (Meaning.YES, False, False)
        case Meaning.YES_WITH_PIN:
            pytest.fail("nobody said the PIN")
        case Meaning.NO:
            assert answer is Meaning.NO
        case _:
            assert needs_pin or is_late or reading == Meaning.PIN_NOT_NEEDED
