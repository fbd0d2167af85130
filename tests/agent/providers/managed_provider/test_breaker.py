"""A circuit opens after failures in a row, lets one probe through after a while, and heals by a success."""

from typing import override

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from custom_components.chatterbox.agent.errors import (
    ConnectTimeout,
    CreditSpent,
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.providers.managed_provider import (
    BreakerPolicy,
    BreakerState,
    CircuitBreaker,
    Permit,
)
from tests.agent.providers.manual_clock import ManualClock
from tests.support.thorough import some_examples

CLOSED, OPEN, HALF_OPEN = BreakerState
POLICY = BreakerPolicy(failures=3, cool_down=10, growth=2, longest_cool_down=35)
DOWN = ProviderUnreachable("down")


class Circuit:
    """A breaker with its clock, and short words for what requests come to."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.breaker = CircuitBreaker(POLICY, self.clock)

    def admit(self) -> Permit:
        permit = self.breaker.admit()
        assert permit is not None
        return permit

    def fail(self, times: int = 1, error: ProviderError = DOWN) -> None:
        for _ in range(times):
            with self.admit() as permit:
                permit.failed(error)

    def open(self) -> None:
        self.fail(POLICY.failures)
        assert self.breaker.state is OPEN


@pytest.fixture
def circuit() -> Circuit:
    return Circuit()


def test_failures_in_a_row_open_it(circuit: Circuit) -> None:
    circuit.fail(2)
    assert (circuit.breaker.state, circuit.breaker.failures) == (CLOSED, 2)

    circuit.fail(1, ConnectTimeout("late"))

    assert (circuit.breaker.state, circuit.breaker.failures) == (OPEN, 3)
    assert circuit.breaker.last_error is ConnectTimeout
    assert circuit.breaker.admit() is None
    assert circuit.breaker.seconds_until_probe == 10


@pytest.mark.parametrize(
    "error",
    [ProviderRejectedKey("no"), ModelNotFound("gone"), CreditSpent("pay")],
    ids=repr,
)
def test_a_permanent_error_opens_it_at_once(
    circuit: Circuit, error: ProviderError
) -> None:
    circuit.fail(1, error)
    assert circuit.breaker.state is OPEN


def test_after_the_cool_down_one_request_passes(circuit: Circuit) -> None:
    circuit.open()
    circuit.clock.advance(9.999)
    assert circuit.breaker.admit() is None
    circuit.clock.advance(0.001)

    assert circuit.breaker.state is HALF_OPEN
    assert circuit.breaker.seconds_until_probe == 0
    probe = circuit.admit()
    assert circuit.breaker.admit() is None

    probe.succeeded()

    assert circuit.breaker.state is CLOSED
    assert circuit.breaker.failures == 0
    circuit.admit()


def test_a_probe_whose_request_is_refused_shows_that_the_service_is_up(
    circuit: Circuit,
) -> None:
    circuit.open()
    circuit.clock.advance(10)

    circuit.admit().failed(ProviderRejectedRequest("too long"))

    assert (circuit.breaker.state, circuit.breaker.failures) == (CLOSED, 0)


def test_each_failed_probe_makes_the_next_wait_longer_up_to_a_bound(
    circuit: Circuit,
) -> None:
    circuit.open()
    waits = []
    for _ in range(4):
        circuit.clock.advance(circuit.breaker.seconds_until_probe)
        circuit.fail()
        assert circuit.breaker.state is OPEN
        waits.append(circuit.breaker.seconds_until_probe)
    assert waits == [20, 35, 35, 35]

    circuit.clock.advance(35)
    circuit.admit().succeeded()
    circuit.open()

    assert circuit.breaker.seconds_until_probe == 10


@pytest.mark.parametrize(
    ("retry_after", "wait"), [(None, 10), (3.0, 10), (20.0, 20), (3600.0, 35)], ids=repr
)
def test_a_service_that_names_a_time_is_left_alone_for_it(
    circuit: Circuit, retry_after: float | None, wait: float
) -> None:
    circuit.fail(3, ProviderBusy("slow down", retry_after))
    assert circuit.breaker.seconds_until_probe == wait


def test_a_failure_found_elsewhere_opens_it_at_once(circuit: Circuit) -> None:
    circuit.breaker.trip(ProviderRejectedKey("no"))

    assert (circuit.breaker.state, circuit.breaker.failures) == (OPEN, 1)
    assert circuit.breaker.last_error is ProviderRejectedKey
    assert circuit.breaker.seconds_until_probe == 10


def test_it_opens_for_no_longer_than_at_first_once_it_was_whole_again(
    circuit: Circuit,
) -> None:
    circuit.open()
    circuit.clock.advance(10)
    circuit.fail()
    circuit.clock.advance(20)
    circuit.admit().succeeded()

    circuit.breaker.trip(DOWN)
    assert circuit.breaker.seconds_until_probe == 10


def test_a_server_that_refuses_connections_is_asked_until_it_is_there_again(
    circuit: Circuit,
) -> None:
    refused = ProviderUnreachable("nothing listens")
    refused.is_refused = True
    circuit.fail(4, refused)
    assert (circuit.breaker.state, circuit.breaker.failures) == (OPEN, 4)

    circuit.admit().succeeded()

    assert circuit.breaker.state is CLOSED


def test_a_server_that_no_longer_refuses_connections_is_left_alone_while_it_fails(
    circuit: Circuit,
) -> None:
    refused = ProviderUnreachable("nothing listens")
    refused.is_refused = True
    circuit.fail(3, refused)

    circuit.fail(error=ConnectTimeout("nobody picks up"))

    assert circuit.breaker.admit() is None


def test_an_open_circuit_stays_open_for_longer_when_it_is_found_out_anew(
    circuit: Circuit,
) -> None:
    circuit.open()
    circuit.clock.advance(10)
    circuit.fail()
    circuit.clock.advance(20)
    probe = circuit.admit()

    circuit.breaker.trip(DOWN)
    assert circuit.breaker.seconds_until_probe == 20
    probe.failed(DOWN)
    assert circuit.breaker.seconds_until_probe == 20

    circuit.breaker.trip(ProviderBusy("slow down", 35))
    assert circuit.breaker.seconds_until_probe == 35


def test_insisting_on_a_half_open_circuit_takes_the_probe(circuit: Circuit) -> None:
    circuit.open()
    circuit.clock.advance(10)
    probe = circuit.breaker.insist()
    assert circuit.breaker.admit() is None

    probe.failed(DOWN)

    assert circuit.breaker.seconds_until_probe == 20


def test_a_permit_counts_once(circuit: Circuit) -> None:
    with circuit.admit() as permit:
        for _ in range(5):
            permit.failed(DOWN)
    permit.succeeded()

    assert circuit.breaker.failures == 1


class Traffic(RuleBasedStateMachine):
    """Requests of any number of turns at once, ending in any way and order, while time passes."""

    @override
    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.breaker = CircuitBreaker(POLICY, self.clock)
        self.under_way: list[Permit] = []
        self.probe: Permit | None = None
        self.last_wait = 0.0

    @rule()
    def a_turn_asks(self) -> None:
        state, probe_under_way = self.breaker.state, self.probe is not None
        permit = self.breaker.admit()
        assert (permit is not None) == (
            state is CLOSED or (state is HALF_OPEN and not probe_under_way)
        )
        if permit is not None:
            self.under_way.append(permit)
            if state is HALF_OPEN:
                self.probe = permit

    @precondition(lambda self: self.breaker.state is OPEN)
    @rule()
    def a_turn_has_nobody_else_to_ask(self) -> None:
        self.under_way.append(self.breaker.insist())

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def a_request_succeeds(self, data: st.DataObject) -> None:
        self._take(data).succeeded()
        self.probe = None
        assert (self.breaker.state, self.breaker.failures) == (CLOSED, 0)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), retry_after=st.none() | st.floats(0, 100))
    def a_request_fails(self, data: st.DataObject, retry_after: float | None) -> None:
        state, failures, wait = (
            self.breaker.state,
            self.breaker.failures,
            self.breaker.seconds_until_probe,
        )
        permit = self._take(data)
        permit.failed(
            DOWN if retry_after is None else ProviderBusy("slow down", retry_after)
        )
        assert self.breaker.failures == failures + 1
        if permit is self.probe:
            self.probe = None
            assert self.breaker.state is OPEN
            assert self.breaker.seconds_until_probe >= min(
                2 * POLICY.cool_down, POLICY.longest_cool_down
            )
        elif state is CLOSED:
            opens = failures + 1 >= POLICY.failures
            assert self.breaker.state is (OPEN if opens else CLOSED)
            assert not opens or self.breaker.seconds_until_probe >= POLICY.cool_down
        else:
            assert (self.breaker.state, self.breaker.seconds_until_probe) == (
                state,
                wait,
            )

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), refused=st.booleans())
    def a_request_tells_nothing(self, data: st.DataObject, *, refused: bool) -> None:
        before = (
            self.breaker.state,
            self.breaker.failures,
            self.breaker.seconds_until_probe,
        )
        permit = self._take(data)
        with permit:
            if refused:
                permit.failed(ProviderRejectedRequest("too long"))
        if permit is self.probe:
            self.probe = None
            before = (CLOSED, 0, 0) if refused else before
        assert (
            self.breaker.state,
            self.breaker.failures,
            self.breaker.seconds_until_probe,
        ) == before

    @rule()
    def somebody_else_finds_out(self) -> None:
        self.breaker.trip(DOWN)
        self.probe = None
        assert self.breaker.state is OPEN
        assert self.breaker.seconds_until_probe >= POLICY.cool_down

    @rule(seconds=st.sampled_from([0.5, 9, 10, 20, 35]))
    def time_passes(self, seconds: float) -> None:
        state, wait = self.breaker.state, self.breaker.seconds_until_probe
        self.clock.advance(seconds)
        if state is OPEN:
            assert self.breaker.state is (OPEN if seconds < wait else HALF_OPEN)
        else:
            assert self.breaker.state is state

    @invariant()
    def it_is_what_it_says(self) -> None:
        state, wait = self.breaker.state, self.breaker.seconds_until_probe
        assert (state is OPEN) == (wait > 0)
        assert wait <= POLICY.longest_cool_down
        assert state is not CLOSED or self.breaker.failures < POLICY.failures

    @override
    def teardown(self) -> None:
        for permit in self.under_way:
            with permit:
                pass
        self.clock.advance(self.breaker.seconds_until_probe)
        probe = self.breaker.admit()
        assert probe is not None, "a service that nobody would ever ask again"
        probe.succeeded()
        assert self.breaker.state is CLOSED

    def _take(self, data: st.DataObject) -> Permit:
        return self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))


def test_random_traffic_keeps_the_rules() -> None:
    run_state_machine_as_test(
        Traffic,
        settings=settings(max_examples=some_examples(100), stateful_step_count=30),
    )
