"""A PIN is kept so that it can be recognised, and not read."""

import json
import traceback

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.settings.pin_hash import (
    HashCost,
    PinFlaw,
    PinHash,
    flaw_of_pin,
)

CHEAP = HashCost(memory=2, repeats=1)
STORED = PinHash.of("4711", CHEAP).as_json()


@pytest.mark.parametrize(
    ("pin", "flaw"),
    [
        ("4711", None),
        ("0815", None),
        ("2580", None),
        ("1223334444", None),
        ("1123", None),
        ("", PinFlaw.NOT_DIGITS),
        ("47 11", PinFlaw.NOT_DIGITS),
        ("abcd", PinFlaw.NOT_DIGITS),
        ("٤٧١١", PinFlaw.NOT_DIGITS),
        ("-471", PinFlaw.NOT_DIGITS),
        ("471", PinFlaw.TOO_SHORT),
        ("1", PinFlaw.TOO_SHORT),
        ("47114711471", PinFlaw.TOO_LONG),
        ("0000", PinFlaw.OBVIOUS),
        ("9999999999", PinFlaw.OBVIOUS),
        ("1234", PinFlaw.OBVIOUS),
        ("7890", PinFlaw.OBVIOUS),
        ("4321", PinFlaw.OBVIOUS),
        ("1098", PinFlaw.OBVIOUS),
        ("1212", PinFlaw.OBVIOUS),
        ("474747", PinFlaw.OBVIOUS),
        ("47474", PinFlaw.OBVIOUS),
    ],
)
def test_a_pin_that_is_none_or_soon_guessed_is_refused(
    pin: str, flaw: PinFlaw | None
) -> None:
    assert flaw_of_pin(pin) is flaw


@pytest.mark.parametrize("pin", ["1234", "471", "secret", "4711\ud800"])
def test_a_refused_pin_is_not_quoted(pin: str) -> None:
    with pytest.raises(ValueError, match="cannot be chosen") as refusal:
        PinHash.of(pin, CHEAP)

    assert pin not in "".join(traceback.format_exception_only(refusal.value))


def test_a_pin_is_recognised_and_no_other_is() -> None:
    pin_hash = PinHash.of("4711", CHEAP)

    assert pin_hash.matches("4711")
    assert [
        other
        for other in ("4712", "04711", "47110", "471", "", "4711 ", "\ud800")
        if pin_hash.matches(other)
    ] == []


def test_a_hash_takes_the_work_that_it_is_to_take_unasked() -> None:
    pin_hash = PinHash.of("4711")

    assert pin_hash.cost == HashCost(memory=2**14, repeats=5)
    assert PinHash.from_json(pin_hash.as_json()).matches("4711")


def test_each_hash_of_a_pin_has_its_own_salt() -> None:
    one, other = PinHash.of("4711", CHEAP), PinHash.of("4711", CHEAP)

    assert one.salt != other.salt
    assert one.digest != other.digest
    assert len(one.salt) == 16


def test_the_cost_is_part_of_the_hash() -> None:
    pin_hash = PinHash.of("4711", CHEAP)

    assert not PinHash(
        pin_hash.salt, pin_hash.digest, HashCost(memory=4, repeats=1)
    ).matches("4711")
    assert not PinHash(
        pin_hash.salt, pin_hash.digest, HashCost(memory=2, repeats=2)
    ).matches("4711")


def test_a_hash_shows_nothing_of_itself() -> None:
    pin_hash = PinHash.of("4711", CHEAP)

    assert {repr(pin_hash), str(pin_hash), f"{pin_hash}", f"{[pin_hash]}"} == {
        "PinHash(…)",
        "[PinHash(…)]",
    }


@given(
    st.text("0123456789", min_size=4, max_size=10).filter(
        lambda pin: flaw_of_pin(pin) is None
    )
)
def test_what_is_stored_is_what_is_read(pin: str) -> None:
    hash_text = PinHash.of(pin, CHEAP)
    stored = json.dumps(hash_text.as_json())

    assert PinHash.from_json(json.loads(stored)) == hash_text
    assert PinHash.from_json(json.loads(stored)).matches(pin)
    assert f'"{pin}"' not in stored


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {},
        "4711",
        {**STORED, "scheme": "plain"},
        {**STORED, "memory": 3},
        {**STORED, "memory": 2**40},
        {**STORED, "memory": "2"},
        {**STORED, "repeats": 0},
        {**STORED, "repeats": 17},
        {**STORED, "salt": "AAAA"},
        {**STORED, "salt": "not Base64"},
        {**STORED, "salt": "é"},
        {**STORED, "digest": ""},
        {**STORED, "digest": 1},
        {**STORED, "length": "4"},
        {**STORED, "length": 3},
        {**STORED, "length": 11},
        {**STORED, "length": True},
        {key: value for key, value in STORED.items() if key != "digest"},
    ],
)
def test_what_was_not_stored_is_not_read_and_not_quoted(stored: JsonValue) -> None:
    with pytest.raises(ValueError, match="choose it again") as refusal:
        PinHash.from_json(stored)

    report = "".join(traceback.format_exception(refusal.value))
    assert str(STORED["salt"]) not in report
    assert refusal.value.__context__ is None


def test_a_pin_that_was_stored_without_its_length_still_matches() -> None:
    stored = PinHash.from_json(
        {key: value for key, value in STORED.items() if key != "length"}
    )

    assert stored.length is None
    assert stored.matches("4711")
    assert stored.as_json() == {
        key: value for key, value in STORED.items() if key != "length"
    }


@pytest.mark.parametrize(
    ("memory", "repeats"),
    [(0, 1), (1, 1), (3, 1), (-2, 1), (2**17, 1), (2, 0), (2, 17)],
)
def test_a_cost_that_cannot_be_borne_is_refused(memory: int, repeats: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        HashCost(memory, repeats)


def test_the_highest_cost_can_be_worked_out() -> None:
    assert PinHash.of("4711", HashCost(memory=2**16, repeats=1)).matches("4711")
