"""Whoever guesses is locked out, and nothing but time or the right PIN lets them in again."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.approvals.pin.pin_guard import (
    LOCK_SECONDS,
    MAX_TRIES,
    Allowed,
    Locked,
    Permission,
    PinGuard,
    Tries,
)

HALL, KITCHEN, PHONES = "hall", "kitchen", ""
NOW = 1_800_000_000.0


def tried(
    times: Iterable[float], place: str = HALL, guard: PinGuard | None = None
) -> tuple[PinGuard, Permission]:
    """Try a wrong PIN at each time; return the guard and the last permission."""
    guard = guard or PinGuard()
    permission: Permission = Locked(0)
    for now in times:
        guard, permission = guard.begin_try(place, now)
    return guard, permission


def locked_hall() -> PinGuard:
    """Return a guard of which the hall was locked at `NOW`."""
    return tried([NOW] * MAX_TRIES)[0]


def test_five_tries_are_allowed_and_then_none_for_ten_minutes() -> None:
    guard, permissions = PinGuard(), list[Permission]()
    for _ in range(7):
        guard, permission = guard.begin_try(HALL, NOW)
        permissions.append(permission)

    assert permissions == [*map(Allowed, (4, 3, 2, 1, 0)), Locked(600), Locked(600)]


def test_the_lock_ends_with_time_and_not_before() -> None:
    guard = locked_hall()

    assert guard.begin_try(HALL, NOW + 599)[1] == Locked(1)
    assert guard.begin_try(HALL, NOW + 600)[1] == Allowed(4)


def test_asking_while_it_is_locked_does_not_lock_it_for_longer() -> None:
    guard, _ = tried([NOW + 300, NOW + 500], guard=locked_hall())

    assert guard.begin_try(HALL, NOW + 600)[1] == Allowed(4)


def test_tries_that_lie_far_apart_count_together() -> None:
    _, permission = tried(
        [NOW, NOW + 1e5, NOW + 2e5, NOW + 3e5, NOW + 4e5, NOW + 4e5 + 1]
    )

    assert permission == Locked(599)


def test_success_begins_anew() -> None:
    guard, _ = tried([NOW] * 4)
    guard = guard.succeed(HALL)

    assert guard == PinGuard()
    assert guard.begin_try(HALL, NOW)[1] == Allowed(4)


@pytest.mark.parametrize("place", [KITCHEN, PHONES])
def test_places_are_counted_apart(place: str) -> None:
    guard, permission = tried([NOW], place, locked_hall())

    assert permission == Allowed(4)
    assert guard.begin_try(HALL, NOW)[1] == Locked(600)
    assert guard.succeed(place).begin_try(HALL, NOW)[1] == Locked(600)


def test_a_clock_that_was_set_back_locks_for_ten_minutes_at_most() -> None:
    long_ago = NOW - 1e6
    guard, permission = locked_hall().begin_try(HALL, long_ago)

    assert permission == Locked(600)
    assert guard.begin_try(HALL, long_ago + 600)[1] == Allowed(4)


def test_locks_that_are_over_are_forgotten_and_tries_are_not() -> None:
    guard, _ = tried([NOW], KITCHEN, locked_hall())
    guard, _ = tried([NOW + 600], PHONES, guard)

    assert guard.tries == (Tries(KITCHEN, 1), Tries(PHONES, 1))


def test_a_restart_changes_nothing() -> None:
    guard, _ = tried([NOW] * 3, KITCHEN, locked_hall())
    restarted = PinGuard.from_json(json.loads(json.dumps(guard.as_json())))

    assert restarted == guard
    assert restarted.begin_try(HALL, NOW + 10)[1] == Locked(590)
    assert restarted.begin_try(KITCHEN, NOW + 10)[1] == Allowed(1)


PLACE: dict[str, JsonValue] = {"device": "hall"}


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        "[]",
        ["x"],
        [{}],
        [{**PLACE, "begun": 0, "locked_until": None}],
        [{**PLACE, "begun": 5, "locked_until": None}],
        [{**PLACE, "begun": 6, "locked_until": NOW}],
        [{**PLACE, "begun": 4, "locked_until": NOW}],
        [{**PLACE, "begun": 5, "locked_until": "soon"}],
        [{**PLACE, "begun": 5, "locked_until": float("nan")}],
        [{**PLACE, "begun": 5, "locked_until": float("inf")}],
        [{**PLACE, "begun": "1", "locked_until": None}],
        [{"begun": 1, "locked_until": None}],
        [{**PLACE, "device": None, "begun": 1, "locked_until": None}],
    ],
)
def test_what_was_not_stored_is_not_read(stored: JsonValue) -> None:
    with pytest.raises(ValueError, match="stored tries"):
        PinGuard.from_json(stored)


def test_whole_seconds_are_read_too() -> None:
    guard = PinGuard.from_json([{**PLACE, "begun": 5, "locked_until": 1_800_000_600}])

    assert guard.begin_try(HALL, NOW)[1] == Locked(600)


STEPS = st.lists(
    st.tuples(
        st.sampled_from([HALL, KITCHEN, PHONES]),
        st.floats(0, 2 * LOCK_SECONDS),
        st.sampled_from(["wrong", "wrong", "wrong", "right", "restart"]),
    ),
    max_size=60,
)


@given(STEPS)
def test_nobody_gets_more_than_five_wrong_tries_in_ten_minutes(
    steps: list[tuple[str, float, str]],
) -> None:
    guard, now = PinGuard(), NOW
    wrong: dict[str, list[float]] = {}
    for place, wait, outcome in steps:
        now += wait
        if outcome == "restart":
            guard = PinGuard.from_json(json.loads(json.dumps(guard.as_json())))
            continue
        guard, permission = guard.begin_try(place, now)
        match permission:
            case Locked(seconds):
                assert 0 < seconds <= LOCK_SECONDS
            case Allowed(left):
                assert 0 <= left < MAX_TRIES
                if outcome == "right":
                    guard = guard.succeed(place)
                    wrong[place] = []
                else:
                    wrong.setdefault(place, []).append(now)
                    sixth_last = wrong[place][-6:-5]
                    assert all(
                        now - then >= LOCK_SECONDS - 0.001 for then in sixth_last
                    )
