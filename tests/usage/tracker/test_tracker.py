"""The usage of agents as their owner sees it: real turns, real storage, sensors and budgets."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import (
    CONF_LLM_HASS_API,
    EVENT_HOMEASSISTANT_FINAL_WRITE,
    STATE_UNKNOWN,
)
from homeassistant.core import CoreState, HomeAssistant, State
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.messages import Usage
from custom_components.chatterbox.const import (
    CONF_FALLBACKS,
    CONF_KEEP_HISTORY,
    DOMAIN,
    EVENT_TURN_FINISHED,
)
from custom_components.chatterbox.records.turn_record import (
    SIGNAL_REQUEST,
    RequestRecord,
)
from custom_components.chatterbox.usage.tracker import (
    UsageTotals,
    UsageTracker,
    async_get_usage_tracker,
)
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.singletons import forget
from tests.support.talk import (
    LIGHT_ON,
    PART,
    add_agents,
    move_into_the_demo_home,
    say,
    speech,
)
from tests.support.tasks import have_done, working
from tests.support.usage import counted

pytestmark = pytest.mark.usefixtures(
    "socket_enabled", "entity_registry_enabled_by_default"
)

PRICES: dict[str, object] = {
    "price_input": 1000.0,
    "price_cached": 100.0,
    "price_output": 2000.0,
}
"""US dollars for a million tokens: a thousand tokens cost a dollar."""
NOON = "2026-11-22 12:00:00-08:00"
"""In the time zone of the tests' home."""
ACTS = Script(
    answers=(
        ScriptedAnswer(
            tool_calls=(LIGHT_ON,),
            usage=ScriptedUsage(
                prompt_tokens=1000,
                completion_tokens=50,
                cached_tokens=400,
                reasoning_tokens=20,
            ),
        ),
        ScriptedAnswer(
            content="It is on.",
            usage=ScriptedUsage(
                prompt_tokens=1100, completion_tokens=30, cached_tokens=1000
            ),
        ),
    ),
    after_last="start again",
)
COST = (600 * 1000 + 400 * 100 + 50 * 2000 + 100 * 1000 + 1000 * 100 + 30 * 2000) / 1e6
TALKS = Script(
    answers=(
        ScriptedAnswer(
            content="Hello.",
            usage=ScriptedUsage(prompt_tokens=500, completion_tokens=250),
        ),
    ),
    after_last="start again",
)
"""Each turn costs a dollar."""
DOWN = Script(
    answers=(ScriptedFailure(status=404, body="no such model"),),
    after_last="start again",
)
"""Fails at once, and is not asked again, so that no clock has to move on."""
GONE = "My language model no longer exists. Please choose another one in my settings."
FILE = "chatterbox.usage"
type Storage = dict[str, Any]  # as Home Assistant's test storage is typed
SPENT = "My budget for today is used up."


async def add_agent(
    hass: HomeAssistant,
    address: str,
    name: str = "talker",
    server: str = "other",
    /,
    **options: object,
) -> MockConfigEntry:
    """Set up a service with one agent, whose name is its id."""
    return await add_agents(hass, address, [name], (), server, **options)


@pytest.fixture
async def address() -> AsyncGenerator[str]:
    """Return the address of a server whose turns cost a dollar each."""
    async with serving_script(TALKS) as base_url:
        yield base_url


@pytest.fixture(autouse=True)
async def _home(hass: HomeAssistant) -> AsyncGenerator[None]:
    await move_into_the_demo_home(hass, PART)
    yield
    for entry in hass.config_entries.async_entries(DOMAIN):
        await hass.config_entries.async_unload(entry.entry_id)


def entity_id(hass: HomeAssistant, number: str, agent: str = "talker") -> str:
    """Return the id of a sensor."""
    found = er.async_get(hass).async_get_entity_id(
        "sensor", DOMAIN, f"{agent}_{number}"
    )
    assert found is not None, number
    return found


def state_of(hass: HomeAssistant, number: str, agent: str = "talker") -> State:
    """Return what a sensor shows."""
    state = hass.states.get(entity_id(hass, number, agent))
    assert state is not None, number
    return state


def number_of(hass: HomeAssistant, number: str, agent: str = "talker") -> float:
    """Return the number that a sensor shows."""
    return float(state_of(hass, number, agent).state)


async def turn(hass: HomeAssistant, text: str = "hello") -> str:
    """Take a turn and wait until it is counted; returns what is said."""
    answer_text = speech(await say(hass, text))
    await counted(hass)
    return answer_text


def stored(storage: Storage) -> UsageTotals:
    """Return the usage that a crash would leave."""
    return (
        UsageTotals.from_json(storage[FILE]["data"])
        if FILE in storage
        else UsageTotals()
    )


async def restarted(hass: HomeAssistant) -> UsageTracker:
    """Return what another start of Home Assistant would have, in place of what there was."""
    forget(hass, async_get_usage_tracker)
    tracker = async_get_usage_tracker(hass)
    await tracker.async_start()
    return tracker


def budget_issue(
    hass: HomeAssistant, agent: str = "talker", key: str = "budget_spent"
) -> ir.IssueEntry | None:
    """Return the issue that tells of a spent budget."""
    return ir.async_get(hass).async_get_issue(DOMAIN, f"{key}_{agent}")


async def test_a_turn_is_counted_as_its_requests_were(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to(NOON)
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    async with serving_script(ACTS) as address:
        await add_agent(hass, address, **PRICES)
        assert {
            number_of(hass, key)
            for key in ("input_tokens", "turns", "cost", "spent_today")
        } == {0}
        assert (
            state_of(hass, "turn_time").state
            == state_of(hass, "cache_hit_ratio").state
            == STATE_UNKNOWN
        )

        assert await turn(hass, "turn on the kitchen light") == "It is on."

    usage_data = turns[0].data["usage"]
    counted = {
        key: number_of(hass, key)
        for key in (
            "input_tokens",
            "cached_tokens",
            "output_tokens",
            "reasoning_tokens",
        )
    }
    assert counted == {key: usage_data[key] for key in counted}
    assert counted == {
        "input_tokens": 2100,
        "cached_tokens": 1400,
        "output_tokens": 80,
        "reasoning_tokens": 20,
    }
    done = {
        key: number_of(hass, key)
        for key in ("inferences", "turns", "tool_calls", "failures", "failovers")
    }
    assert done == {
        "inferences": 2,
        "turns": 1,
        "tool_calls": 1,
        "failures": 0,
        "failovers": 0,
    }
    assert [
        number_of(hass, key) for key in ("cost", "spent_today", "spent_this_month")
    ] == [pytest.approx(COST)] * 3
    assert number_of(hass, "cache_hit_ratio") == pytest.approx(100 * 1400 / 2100)
    assert number_of(hass, "turn_time") >= 0 <= number_of(hass, "time_to_first_token")


@pytest.mark.parametrize("keeps", [True, False])
async def test_an_answer_time_leads_to_a_turn_that_is_kept(
    hass: HomeAssistant, address: str, *, keeps: bool
) -> None:
    turns = async_capture_events(hass, EVENT_TURN_FINISHED)
    await add_agent(hass, address, **{CONF_KEEP_HISTORY: keeps})
    await turn(hass)

    page = f"/chatterbox/turns/{turns[0].data['turn_id']}" if keeps else None
    assert state_of(hass, "turn_time").attributes.get("page") == page


async def test_a_cost_right_before_midnight_is_shown_for_its_day(
    hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
) -> None:
    midnight = datetime.fromisoformat(NOON) + timedelta(hours=12)
    freezer.move_to(midnight - timedelta(seconds=5))
    await add_agent(hass, address, **PRICES)
    await say(hass, "hello")
    async_fire_time_changed(hass, midnight - timedelta(seconds=0.5))
    await hass.async_block_till_done()

    assert number_of(hass, "spent_today") == 1


async def test_the_used_window_is_shown_with_its_parts(hass: HomeAssistant) -> None:
    async with serving_script(ACTS) as address:
        await add_agent(hass, address, context_window=11_000)
        assert state_of(hass, "window_used").state == STATE_UNKNOWN
        await turn(hass, "turn on the kitchen light")

    parts = state_of(hass, "window_used").attributes
    # The service has counted 1100 tokens for the last request.
    assert number_of(hass, "window_used") == pytest.approx(10)
    assert parts["tools"] + parts["instructions"] + parts["history"] == 1100
    assert min(parts["tools"], parts["instructions"], parts["history"]) > 0
    assert (parts["window"], parts["dropped_messages"]) == (11_000, 0)


async def test_sensors_can_be_plotted_and_summed_up(
    hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to(NOON)
    await add_agent(hass, address, **PRICES)

    attributes = {
        key: state_of(hass, key).attributes
        for key in (
            "input_tokens",
            "cost",
            "spent_today",
            "spent_this_month",
            "turn_time",
            "cache_hit_ratio",
        )
    }
    classes = {
        key: (one["state_class"], one["unit_of_measurement"])
        for key, one in attributes.items()
    }
    assert classes == {
        "input_tokens": ("total_increasing", "tokens"),
        "cost": ("total", "USD"),
        "spent_today": ("total", "USD"),
        "spent_this_month": ("total", "USD"),
        "turn_time": ("measurement", "s"),
        "cache_hit_ratio": ("measurement", "%"),
    }
    assert attributes["spent_today"]["last_reset"] == "2026-11-22T00:00:00-08:00"
    assert attributes["spent_this_month"]["last_reset"] == "2026-11-01T00:00:00-07:00"


async def test_an_agent_without_a_model_has_no_tokens(hass: HomeAssistant) -> None:
    entry = await set_up(hass, offline_entry())
    agent = only_agent(entry).subentry_id

    await turn(hass, "turn on the kitchen ceiling light")

    entities = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    keys = {
        one.unique_id.removeprefix(f"{agent}_")
        for one in entities
        if one.domain == "sensor"
    }
    assert keys == {"waiting_questions", "turns", "tool_calls", "failures", "turn_time"}
    assert number_of(hass, "turns", agent) == 1


async def test_each_token_counts_for_the_model_that_has_read_it(
    hass: HomeAssistant,
) -> None:
    async with serving_script(DOWN) as broken, serving_script(TALKS) as working:
        await add_agent(hass, working, "helper", **PRICES)
        await add_agent(
            hass, broken, "talker", **{CONF_FALLBACKS: ["helper"]}, **PRICES
        )

        assert await turn(hass) == "Hello."

    of_talker = [
        number_of(hass, key) for key in ("turns", "failovers", "input_tokens", "cost")
    ]
    of_helper = [
        number_of(hass, key, "helper")
        for key in ("turns", "input_tokens", "output_tokens", "cost")
    ]
    assert of_talker == [1, 1, 0, 0]
    assert of_helper == [0, 500, 250, 1]


async def test_requests_outside_of_turns_count_too(
    hass: HomeAssistant, address: str
) -> None:
    await add_agent(hass, address, **PRICES)
    async_dispatcher_send(
        hass, SIGNAL_REQUEST, RequestRecord("talker", Usage(1000, 500))
    )
    async_dispatcher_send(
        hass, SIGNAL_REQUEST, RequestRecord("talker", Usage(1000, 500), is_priced=False)
    )  # a picture
    await counted(hass)

    assert [number_of(hass, key) for key in ("input_tokens", "cost", "turns")] == [
        2000,
        2,
        0,
    ]


async def test_usage_continues_after_a_restart(
    hass: HomeAssistant,
    address: str,
    hass_storage: Storage,
    freezer: FrozenDateTimeFactory,
) -> None:
    freezer.move_to(NOON)
    entry = await add_agent(hass, address, **PRICES)
    await turn(hass)
    await turn(hass)
    before_the_end = stored(hass_storage)
    await hass.config_entries.async_unload(entry.entry_id)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()

    assert [number_of(hass, key) for key in ("turns", "cost", "spent_today")] == [
        2,
        2,
        2,
    ]
    assert before_the_end.of("talker").turns == 2

    assert (await restarted(hass)).usage("talker").cost == 2


async def test_usage_is_stored_before_it_is_shown(
    hass: HomeAssistant, address: str, hass_storage: Storage
) -> None:
    await add_agent(hass, address, **PRICES)
    await asyncio.gather(*(say(hass, "hello", f"talk-{number}") for number in range(5)))
    await hass.async_block_till_done()
    assert (number_of(hass, "turns"), stored(hass_storage).of("talker").turns) == (0, 0)

    await counted(hass)

    assert (number_of(hass, "turns"), stored(hass_storage).of("talker").turns) == (5, 5)


async def test_usage_is_stored_ten_seconds_after_the_first_change(
    hass: HomeAssistant, address: str, hass_storage: Storage
) -> None:
    await add_agent(hass, address, **PRICES)
    tracker = async_get_usage_tracker(hass)
    for seconds in (6, 11):
        async_dispatcher_send(
            hass, SIGNAL_REQUEST, RequestRecord("talker", Usage(10, 1))
        )
        async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=seconds))
        await hass.async_block_till_done()

    assert (
        stored(hass_storage).of("talker").input_tokens
        == tracker.usage("talker").input_tokens
        == 20
    )


async def test_at_the_end_of_home_assistant_usage_is_stored_at_once(
    hass: HomeAssistant, address: str, hass_storage: Storage
) -> None:
    await add_agent(hass, address, **PRICES)
    async_get_usage_tracker(hass)
    async_dispatcher_send(hass, SIGNAL_REQUEST, RequestRecord("talker", Usage(10, 1)))
    hass.set_state(CoreState.final_write)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    assert stored(hass_storage).of("talker").input_tokens == 10

    async_dispatcher_send(
        hass, SIGNAL_REQUEST, RequestRecord("talker", Usage(10, 1))
    )  # by a turn that the end cuts off
    await hass.async_block_till_done()

    assert stored(hass_storage).of("talker").input_tokens == 20


@pytest.mark.parametrize(
    "content",
    [{"version": 1, "data": {"agents": []}}, {"version": 9, "data": {}}],
    ids=repr,
)
async def test_an_unreadable_file_stops_no_turn(
    hass: HomeAssistant,
    address: str,
    hass_storage: Storage,
    content: Storage,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hass_storage[FILE] = content
    await add_agent(hass, address, **PRICES)

    assert await turn(hass) == "Hello."

    meanwhile = UsageTotals.from_json(hass_storage[f"{FILE}.meanwhile"]["data"])
    assert number_of(hass, "turns") == meanwhile.of("talker").turns == 1
    assert hass_storage[FILE] == content
    assert "chatterbox.usage cannot be read" in caplog.text


async def test_agents_that_are_removed_are_forgotten(
    hass: HomeAssistant, address: str, hass_storage: Storage
) -> None:
    entry = await add_agent(hass, address, "helper", **PRICES)
    await add_agent(hass, address, **PRICES)
    async_dispatcher_send(hass, SIGNAL_REQUEST, RequestRecord("helper", Usage(1, 1)))
    await turn(hass)
    assert set(stored(hass_storage).agents) == {"helper", "talker"}

    await hass.config_entries.async_remove(entry.entry_id)
    await counted(hass)

    assert set(stored(hass_storage).agents) == {"talker"}


async def test_an_unknown_price_has_no_cost(hass: HomeAssistant, address: str) -> None:
    """LiteLLM is local and asks others, which may charge for it."""
    await add_agent(hass, address, "talker", "litellm")
    await turn(hass)

    assert {
        state_of(hass, key).state for key in ("cost", "spent_today", "spent_this_month")
    } == {STATE_UNKNOWN}
    assert number_of(hass, "input_tokens") == 500


class TestBudgets:
    """Budgets, and the turns after a budget is spent."""

    @pytest.fixture(autouse=True)
    def _noon(self, freezer: FrozenDateTimeFactory) -> None:
        freezer.move_to(NOON)

    async def test_at_the_limit_the_next_one_of_the_chain_answers(
        self, hass: HomeAssistant
    ) -> None:
        turns = async_capture_events(hass, EVENT_TURN_FINISHED)
        stands_in = Script(
            answers=(ScriptedAnswer(content="I stand in."),), after_last="start again"
        )
        async with serving_script(TALKS) as address, serving_script(stands_in) as other:
            await add_agent(hass, other, "helper")
            await add_agent(
                hass, address, budget_day=2.0, **{CONF_FALLBACKS: ["helper"]}, **PRICES
            )

            answers = [await turn(hass) for _ in range(3)]

        assert answers == ["Hello.", "Hello.", "I stand in."]
        assert turns[2].data["handovers"] == [
            {"to": "Helper", "reason": "Talker: BudgetSpent"}
        ]
        assert number_of(hass, "spent_today") == 2

    async def test_a_budget_holds_for_every_agent_that_would_use_the_model(
        self, hass: HomeAssistant
    ) -> None:
        async with serving_script(TALKS) as address, serving_script(DOWN) as broken:
            await add_agent(
                hass, address, "helper", budget_day=1.0, when_spent="refuse", **PRICES
            )
            await add_agent(
                hass, broken, **{CONF_FALLBACKS: ["helper"], CONF_LLM_HASS_API: []}
            )

            answers = [await turn(hass) for _ in range(2)]

        assert answers == ["Hello.", GONE]
        assert number_of(hass, "cost", "helper") == 1

    @pytest.mark.parametrize(
        ("options", "answers"),
        [
            ({"budget_day": 1.0, "when_spent": "refuse"}, ["Hello.", SPENT]),
            (
                {"budget_month": 1.0, CONF_LLM_HASS_API: []},
                ["Hello.", "My budget for this month is used up."],
            ),
        ],
    )
    async def test_an_agent_that_refuses_or_has_no_fallback_says_why(
        self,
        hass: HomeAssistant,
        address: str,
        options: dict[str, object],
        answers: list[str],
    ) -> None:
        await add_agent(hass, address, **PRICES, **options)

        assert [await turn(hass), await turn(hass)] == answers

    async def test_home_assistant_itself_says_why_it_answers(
        self, hass: HomeAssistant, address: str
    ) -> None:
        await add_agent(hass, address, budget_day=1.0, **PRICES)
        await turn(hass)

        assert (
            await turn(hass, "turn on the kitchen ceiling light")
            == f"{SPENT} Turned on the light"
        )

    async def test_a_turn_that_has_begun_is_not_cut_for_money(
        self, hass: HomeAssistant
    ) -> None:
        async with serving_script(ACTS) as address:
            await add_agent(
                hass, address, budget_day=0.0001, when_spent="refuse", **PRICES
            )

            assert await turn(hass, "turn on the kitchen light") == "It is on."
            assert await turn(hass) == SPENT

    async def test_a_spent_budget_has_an_issue_until_the_new_day(
        self, hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
    ) -> None:
        await add_agent(hass, address, budget_day=1.0, when_spent="refuse", **PRICES)
        assert budget_issue(hass) is None
        await turn(hass)
        issue = budget_issue(hass)
        assert issue is not None
        assert issue.translation_placeholders == {"agent": "Talker", "limit": "1.00"}

        freezer.move_to("2026-11-23 00:00:01-08:00")
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

        assert budget_issue(hass) is None
        assert [
            number_of(hass, key) for key in ("spent_today", "spent_this_month", "cost")
        ] == [0, 1, 1]
        assert (
            state_of(hass, "spent_today").attributes["last_reset"]
            == "2026-11-23T00:00:00-08:00"
        )
        assert await turn(hass) == "Hello."

    async def test_a_month_has_a_note_of_its_own(
        self, hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
    ) -> None:
        await add_agent(
            hass,
            address,
            budget_day=9.0,
            budget_month=1.0,
            when_spent="refuse",
            **PRICES,
        )
        await turn(hass)
        assert budget_issue(hass) is None
        assert budget_issue(hass, key="budget_spent_month") is not None

        freezer.move_to("2026-12-01 00:00:01-08:00")
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

        assert budget_issue(hass, key="budget_spent_month") is None
        assert number_of(hass, "spent_this_month") == 0

    async def test_the_issue_goes_when_the_budget_is_raised(
        self, hass: HomeAssistant, address: str
    ) -> None:
        entry = await add_agent(hass, address, budget_day=1.0, **PRICES)
        await turn(hass)
        assert budget_issue(hass) is not None
        (agent,) = entry.subentries.values()
        hass.config_entries.async_update_subentry(
            entry, agent, data={**agent.data, "budget_day": 1.5}
        )
        await hass.async_block_till_done()

        assert budget_issue(hass) is None

    async def test_impossible_counts_of_a_server_spend_no_budget(
        self, hass: HomeAssistant
    ) -> None:
        lie = ScriptedUsage(
            prompt_tokens=10**30, completion_tokens=10**30, reasoning_tokens=10**30
        )
        lies = Script(
            answers=(ScriptedAnswer(content="Hello.", usage=lie),),
            after_last="start again",
        )
        async with serving_script(lies) as address:
            await add_agent(
                hass, address, budget_day=50.0, context_window=32_768, **PRICES
            )
            for _ in range(2):
                assert await turn(hass) == "Hello."

        assert budget_issue(hass) is None
        assert 0 < number_of(hass, "spent_today") < 50
        assert 0 < number_of(hass, "window_used") < 50
        assert 0 < number_of(hass, "output_tokens") < 50

    async def test_neither_a_crash_nor_a_clock_gives_a_second_budget(
        self, hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
    ) -> None:
        entry = await add_agent(
            hass, address, budget_day=1.0, when_spent="refuse", **PRICES
        )
        await say(hass, "hello")
        await hass.async_block_till_done()
        await hass.config_entries.async_unload(entry.entry_id)
        await restarted(hass)
        await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        assert await turn(hass) == SPENT

        freezer.tick(timedelta(days=1))
        assert await turn(hass) == "Hello."
        freezer.move_to(NOON)
        assert await turn(hass) == SPENT


async def test_a_task_is_counted_and_kept_to_its_budget(hass: HomeAssistant) -> None:
    async with working(
        hass,
        TALKS,
        budget_day=1.0,
        when_spent="refuse",
        price_input=1000.0,
        price_output=2000.0,
    ):
        assert await have_done(hass) == "Hello."
        await counted(hass)
        (worker,) = [
            one.subentry_id
            for one in hass.config_entries.async_entries(DOMAIN)[0].subentries.values()
            if one.title == "Worker"
        ]
        assert (number_of(hass, "turns", worker), number_of(hass, "cost", worker)) == (
            1,
            1,
        )
        assert budget_issue(hass, worker) is not None

        with pytest.raises(HomeAssistantError) as raised:
            await have_done(hass)

    assert raised.value.translation_key == "budget_spent"
