"""The page shows agents, questions and plans as they are now, and takes answers and changes."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import DATA_DISPATCHER
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.chatterbox.agent.errors import (
    CreditSpent,
    ModelNotFound,
    ProviderError,
    ProviderRejectedKey,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.messages import ToolAnnotations
from custom_components.chatterbox.approvals.questions import (
    SIGNAL_QUESTION,
    Question,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import ApprovalWay, CallOption
from custom_components.chatterbox.const import CONF_KEEP_HISTORY, REDACTED_PIN
from custom_components.chatterbox.effects.effect import Effects
from custom_components.chatterbox.later.plans import (
    VERSION,
    Asker,
    Condition,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import async_get_schedule
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.runtime.health import async_check_health
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from custom_components.chatterbox.settings.rules import HomeRules, async_get_home_rules
from tests.later.talk import act, remind, wait_for
from tests.panel.conftest import OpenPage
from tests.support.config_entries import only_agent, server_entry, set_up
from tests.support.home_rules import set_home_rules
from tests.support.leaks import Leaks
from tests.support.sentences import sentence
from tests.support.talk import AGENT, say
from tests.support.waiting_questions import UNLOCK, ask, asked_call, question

PIN, WRONG = "8593614207", "8593614208"
UNFORESEEN = asked_call(Effects(annotations=ToolAnnotations()))

type OpenAsBen = Callable[[], Awaitable[OpenPage]]


async def set_pin(hass: HomeAssistant) -> None:
    await async_get_home_rules(hass).async_enter(
        HomeRules(pin=PinHash.of(PIN, HashCost(2, 1)))
    )


async def now(page: OpenPage) -> Any:
    """Open the first view, and return what it shows."""
    await page.ask("now/subscribe")
    return await page.event()


def of_person(
    question: Question, person_id: str | None, user_id: str | None = None
) -> Question:
    return replace(
        question,
        speaker=Speaker(user_id, None, "Ben", Asking.PERSON, person_id=person_id),
    )


async def agent_now(page: OpenPage) -> dict[str, object]:
    (row,) = (await now(page))["agents"]
    assert isinstance(row, dict)
    return row


async def test_an_agent_without_a_model_is_fine(
    hass: HomeAssistant, page: OpenPage, agent: str
) -> None:
    await say(hass, "Hello")

    row = await agent_now(page)

    assert (row["id"], row["name"], row["entity_id"], row["service"]) == (
        agent,
        "Talker",
        AGENT,
        "Offline",
    )
    assert (row["state"], row["stands_in"], row["is_available"], row["detail"]) == (
        "offline",
        None,
        True,
        "",
    )
    assert (row["turns_today"], row["cost_month"]) == (1, None)
    assert row["usual_wait_ms"] is not None
    assert row["last_turn_at"] is not None


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (["Polish the moon"], "offline"),
        (["Polish the moon", "Polish the sun"], "failing"),
        (["Polish the moon", "Polish the sun", "Hello"], "offline"),
    ],
)
async def test_an_agent_whose_last_turns_failed_is_not_fine(
    hass: HomeAssistant, page: OpenPage, words: list[str], state: str
) -> None:
    for one in words:
        await say(hass, one)

    row = await agent_now(page)

    assert (row["state"], row["stands_in"], row["detail"]) == (state, None, "")


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ProviderUnreachable("No."), "down"),
        (ProviderRejectedKey("No."), "key"),
        (CreditSpent("No."), "credit"),
        (ModelNotFound("No."), "model_gone"),
    ],
)
async def test_an_agent_whose_model_does_not_answer_says_why_and_who_stands_in(
    hass: HomeAssistant,
    page: OpenPage,
    *,
    error: ProviderError,
    state: str,
    unused_tcp_port: int,
) -> None:
    entry = await set_up(hass, server_entry(f"http://127.0.0.1:{unused_tcp_port}"))
    model = entry.runtime_data.models[only_agent(entry).subentry_id]
    model.managed.tripped(error)
    async_check_health(hass)

    row = (await now(page))["agents"][1]

    assert (row["state"], row["stands_in"], row["is_available"]) == (
        state,
        "Home Assistant",
        True,
    )
    assert row["detail"].endswith(".")
    assert (row["since_at"] is not None) == (state == "down")


async def test_an_agent_of_a_service_that_is_off_is_not_loaded(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    await now(page)

    await hass.config_entries.async_unload(entry.entry_id)
    assert entry.state is ConfigEntryState.NOT_LOADED
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))

    (row,) = (await page.event())["agents"]
    assert (row["state"], row["is_available"]) == ("not_loaded", False)


async def test_a_question_is_shown_until_it_is_answered(
    hass: HomeAssistant, page: OpenPage, agent: str
) -> None:
    pending = replace(question(), request="Open the door")
    turn = ask(hass, pending)

    (row,) = (await now(page))["questions"]
    assert (row["id"], row["text"], row["agent"], row["words"]) == (
        pending.id,
        pending.text,
        "Talker",
        "Open the door",
    )
    assert (row["needs_pin"], row["is_choice"], row["may_answer"], row["who"]) == (
        False,
        False,
        None,
        "control",
    )
    assert row["calls"] == [
        {"sentence": "Unlock the front door", "entity_ids": [UNLOCK.entity_id]}
    ]
    assert (row["turn_id"], row["expires_at"]) == ("a-turn", pending.pending.expires_at)

    assert await page.ask("question/answer", question_id=pending.id, approved=True) == {
        "speech": "It is unlocked."
    }
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))

    assert (await page.event())["questions"] == []
    (answer,) = turn.answers
    assert (answer.approved, answer.way, answer.channel) == (
        True,
        ApprovalWay.PAGE,
        ApprovalWay.PAGE,
    )
    assert (
        await page.error("question/answer", question_id=pending.id, approved=False)
        == "gone"
    )
    assert agent


async def test_a_question_leads_to_no_turn_if_its_agent_keeps_none(
    hass: HomeAssistant, page: OpenPage, entry: MockConfigEntry
) -> None:
    data = {**only_agent(entry).data, CONF_KEEP_HISTORY: False}
    hass.config_entries.async_update_subentry(entry, only_agent(entry), data=data)
    await hass.async_block_till_done()
    ask(hass, question())

    (row,) = (await now(page))["questions"]
    assert row["turn_id"] is None


async def test_a_pin_is_not_shown_as_the_words_that_led_to_a_question(
    hass: HomeAssistant, page: OpenPage
) -> None:
    ask(hass, replace(question(), request=REDACTED_PIN))

    (row,) = (await now(page))["questions"]
    assert row["words"] == ""


async def test_which_one_is_meant_can_only_be_denied(
    hass: HomeAssistant, page: OpenPage
) -> None:
    call = asked_call()
    assert call.effects.is_known
    option = CallOption(UNLOCK.entity_id, call.call, call.effects)
    pending = question(replace(call, options=(option,)))
    turn = ask(hass, pending)

    (row,) = (await now(page))["questions"]
    assert (row["is_choice"], row["may_answer"]) == (True, "question_needs_choice")
    refused = await page.send("question/answer", question_id=pending.id, approved=True)
    assert (refused["error"]["code"], refused["error"]["translation_key"]) == (
        "refused",
        "question_needs_choice",
    )
    await page.ask("question/answer", question_id=pending.id, approved=False)
    assert [answer.approved for answer in turn.answers] == [False]


class TestPin:
    """A question that needs the PIN."""

    async def test_the_right_pin_is_typed_and_left_nowhere(
        self, hass: HomeAssistant, page: OpenPage, leaks: Leaks
    ) -> None:
        await set_pin(hass)
        pending = question(asked_call(needs_pin=True))
        turn = ask(hass, pending)
        (row,) = (await now(page))["questions"]
        assert (row["needs_pin"], row["may_answer"]) == (True, None)

        answer = await page.send(
            "question/answer", question_id=pending.id, approved=True
        )
        assert answer["error"]["translation_key"] == "question_needs_pin"
        assert (
            await page.error(
                "question/answer",
                question_id=pending.id,
                approved=True,
                password=f"{PIN}x",
            )
            == "invalid_format"
        )
        wrong = await page.send(
            "question/answer", question_id=pending.id, approved=True, password=WRONG
        )
        assert wrong["error"]["code"] == "wrong_pin"
        assert int(wrong["error"]["translation_placeholders"]["tries_left"]) > 0
        assert turn.answers == []
        result = await page.ask(
            "question/answer", question_id=pending.id, approved=True, password=PIN
        )

        assert result == {"speech": "It is unlocked."}
        (given,) = turn.answers
        assert (given.way, given.channel) == (ApprovalWay.PIN, ApprovalWay.PAGE)
        await hass.async_block_till_done()
        leaks.assert_nowhere(PIN)
        leaks.assert_nowhere(WRONG)

    async def test_guessing_is_stopped_for_each_question_and_each_user(
        self, hass: HomeAssistant, page: OpenPage
    ) -> None:
        await set_pin(hass)
        pending = question(asked_call(needs_pin=True))
        turn = ask(hass, pending)

        codes = [
            await page.error(
                "question/answer",
                question_id=pending.id,
                approved=True,
                password=f"859361420{digit}",
            )
            for digit in (0, 1, 2, 3, 4, 5, 6)
        ]

        assert codes[-1] == "locked"
        other = question(asked_call(needs_pin=True), conversation_id="another")
        ask(hass, other)
        locked = await page.send(
            "question/answer", question_id=other.id, approved=True, password=PIN
        )
        assert locked["error"]["code"] == "locked"
        assert int(locked["error"]["translation_placeholders"]["seconds"]) > 0
        assert turn.answers == []

    async def test_a_home_whose_pin_is_gone_approves_nothing(
        self, hass: HomeAssistant, page: OpenPage
    ) -> None:
        pending = question(asked_call(needs_pin=True))
        turn = ask(hass, pending)

        assert (
            await page.error(
                "question/answer", question_id=pending.id, approved=True, password=PIN
            )
            == "gone"
        )
        await page.ask("question/answer", question_id=pending.id, approved=False)
        assert [answer.approved for answer in turn.answers] == [False]


class TestUser:
    """A page of a user who is no administrator."""

    @pytest.fixture(autouse=True)
    async def shared(self, hass: HomeAssistant) -> None:
        await set_home_rules(hass, shows_page_to_all=True)

    async def test_sees_figures_of_nobody_and_their_own_questions(
        self, hass: HomeAssistant, open_as_ben: OpenAsBen
    ) -> None:
        own = of_person(question(conversation_id="a"), "ben")
        others = [
            of_person(question(conversation_id=person or "?"), person)
            for person in ("anna", None)
        ]
        for one in (own, *others):
            ask(hass, one)
        ben = await open_as_ben()

        row = await now(ben)

        assert [one["id"] for one in row["questions"]] == [own.id]
        assert (row["agents"][0]["turns_today"], row["agents"][0]["state"]) == (
            None,
            "offline",
        )
        for one in others:
            assert (
                await ben.error("question/answer", question_id=one.id, approved=False)
                == "gone"
            )
        assert len(async_get_approvals(hass).waiting) == 3

    async def test_approves_what_they_control(
        self, hass: HomeAssistant, open_as_ben: OpenAsBen, hass_read_only_user: MockUser
    ) -> None:
        pending, unforeseen = (
            of_person(question(conversation_id="a"), "ben"),
            of_person(question(UNFORESEEN), "ben"),
        )
        turns = [ask(hass, one) for one in (pending, unforeseen)]
        ben = await open_as_ben()

        reasons = {
            one["id"]: (one["may_answer"], one["who"])
            for one in (await now(ben))["questions"]
        }
        assert reasons == {
            pending.id: ("question_not_in_control", "control"),
            unforeseen.id: ("question_needs_admin", "admin"),
        }
        assert (
            await ben.error("question/answer", question_id=pending.id, approved=True)
            == "refused"
        )
        hass_read_only_user.mock_policy(
            {"entities": {"entity_ids": {UNLOCK.entity_id: True}}}
        )
        await ben.ask("question/answer", question_id=pending.id, approved=True)
        assert (
            await ben.error("question/answer", question_id=unforeseen.id, approved=True)
            == "refused"
        )
        assert [len(turn.answers) for turn in turns] == [1, 0]

    async def test_changes_their_own_plans_and_those_of_the_household(
        self, hass: HomeAssistant, open_as_ben: OpenAsBen
    ) -> None:
        schedule = async_get_schedule(hass)
        for text, person in (("mine", "ben"), ("hers", "anna"), ("ours", None)):
            await schedule.async_add(
                replace(remind(text), asker=Asker(person_id=person))
            )
        ids = {plan.text: plan.id for plan in schedule.plans.stored.plans}
        ben = await open_as_ben()

        assert [plan["text"] for plan in (await now(ben))["plans"]] == ["mine", "ours"]
        assert await ben.error("plan/cancel", plan_id=ids["hers"]) == "not_found"
        assert (
            await ben.error("plan/change", plan_id=ids["hers"], text="his")
            == "not_found"
        )
        assert await ben.error("plan/automation", plan_id=ids["mine"]) == "unauthorized"
        await ben.ask("plan/cancel", plan_id=ids["mine"])
        assert [plan.text for plan in schedule.plans.stored.plans] == ["hers", "ours"]

    async def test_gets_nothing_more_once_the_page_is_for_administrators(
        self, hass: HomeAssistant, page: OpenPage, open_as_ben: OpenAsBen
    ) -> None:
        ben = await open_as_ben()
        await now(ben)
        await ben.ask("turns/subscribe")

        await page.ask("page/share", everyone=False)
        ask(hass, of_person(question(), "ben"))
        async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))
        await hass.async_block_till_done()

        for command, data in (("now/subscribe", {}), ("plan/cancel", {"plan_id": "a"})):
            assert (
                await ben.error(command, **data) == "unauthorized"
            )  # the next message: no event came before it


async def test_plans_are_shown_changed_and_cancelled(
    hass: HomeAssistant, page: OpenPage, agent: str
) -> None:
    schedule = async_get_schedule(hass)
    hass.states.async_set("sensor.washer", "on", {"friendly_name": "Washer"})
    approved = act("unlock")
    assert approved.call
    plans = {
        "reminder": replace(
            remind(),
            agent=agent,
            asker=Asker(name="Anna", person_id="anna"),
            every="day",
        ),
        "call": act("turn off the heater"),
        "approved": replace(approved, call=replace(approved.call, terms="after a yes")),
        "news": wait_for("tell", Condition("sensor.washer", "off")),
    }
    for plan in plans.values():
        await schedule.async_add(plan)

    rows = {row["id"]: row for row in (await now(page))["plans"]}
    by_name = {name: rows[plan.id] for name, plan in plans.items()}
    reminder = by_name["reminder"]
    assert (
        reminder["kind"],
        reminder["text"],
        reminder["agent"],
        reminder["person"],
        reminder["every"],
    ) == (
        *("remind", "call Mum", "Talker", "Anna"),
        "day",
    )
    assert reminder["repeats"].startswith("Every day at ")
    assert {
        name: (row["can_change"], row["can_rename"]) for name, row in by_name.items()
    } == {
        "reminder": (True, True),
        "call": (True, False),
        "approved": (False, False),
        "news": (False, True),
    }
    assert (by_name["news"]["condition"], by_name["news"]["due_at"]) == (
        "Washer: Off",
        None,
    )

    due = dt_util.utcnow() + timedelta(hours=3)
    moved = await page.ask(
        "plan/change",
        plan_id=plans["reminder"].id,
        due_at=due.timestamp(),
        text=" call  Dad ",
    )
    assert (moved["text"], moved["due_at"]) == ("call Dad", due.timestamp())
    renamed = await page.ask("plan/change", plan_id=plans["news"].id, text="the washer")
    assert (renamed["text"], renamed["due_at"]) == ("the washer", None)

    async def refusal(name: str, **data: object) -> str:
        answer = await page.send("plan/change", plan_id=plans[name].id, **data)
        return str(answer["error"]["translation_key"])

    assert await refusal("approved", due_at=due.timestamp()) == "later_fixed"
    assert await refusal("call", due_at=0) == "later_no_time"
    assert await refusal("reminder", text="a" * 300) == "later_no_time"

    answer = await page.send("plan/automation", plan_id=plans["call"].id)
    assert answer["error"]["translation_key"] == "later_no_automation"
    await page.ask("plan/cancel", plan_id=plans["call"].id)
    assert await page.error("plan/cancel", plan_id=plans["call"].id) == "not_found"
    left = async_get_plans(hass).stored.plans
    assert [plan.id for plan in left] == [
        plans[name].id for name in ("reminder", "approved", "news")
    ]


@pytest.fixture
def damaged(hass_storage: dict[str, object]) -> None:
    for name, version in {"later": VERSION, "usage": 1, "evaluations": 1}.items():
        hass_storage[f"chatterbox.{name}"] = {"version": version, "data": 5}


@pytest.mark.usefixtures("damaged")
async def test_what_cannot_be_read_is_not_shown_as_empty(
    hass: HomeAssistant, page: OpenPage, hass_storage: dict[str, dict[str, object]]
) -> None:
    content = await now(page)
    assert (content["plans"], content["unreadable"]) == ([], ["usage", "later"])
    assert hass.states.is_state("todo.later", "unavailable")

    hass_storage["chatterbox.later"]["data"] = {"plans": []}
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(minutes=1, seconds=1))
    assert (await page.event())["unreadable"] == ["usage"]
    assert hass.states.is_state("todo.later", "0")

    await page.ask("evaluate/subscribe")
    assert (await page.event())["unreadable"] == ["usage", "evaluations"]


async def test_plans_come_in_order_of_time(hass: HomeAssistant, page: OpenPage) -> None:
    hass.states.async_set("sensor.washer", "on")
    plans = [
        wait_for("last", Condition("sensor.washer", "off")),
        act("third", 30),
        act("first", 10),
        act("second", 20),
    ]
    for plan in plans:
        await async_get_schedule(hass).async_add(plan)

    in_order = ["first", "second", "third", "last"]
    assert [row["text"] for row in (await now(page))["plans"]] == in_order
    listed = await hass.services.async_call(
        "todo",
        "get_items",
        {"entity_id": "todo.later"},
        blocking=True,
        return_response=True,
    )
    assert listed
    assert [item["summary"] for item in listed["todo.later"]["items"]] == in_order  # type: ignore[call-overload,index,union-attr]  # JSON


async def test_a_question_asks_for_a_pin_that_is_typed_in_the_language_of_the_user(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await set_pin(hass)
    ask(
        hass,
        question(
            asked_call(needs_pin=True),
            text="Unlock the Front Door? Please say the PIN.",
        ),
    )

    (row,) = (await now(page))["questions"]
    await page.ask("now/subscribe", language="de-CH")
    (german,) = (await page.event())["questions"]

    assert row["text"].endswith(f"? {sentence('common.enter_pin')}")
    assert german["text"].endswith(
        f"aufschließen? {sentence('common.enter_pin', 'de')}"
    )
    assert german["calls"][0]["sentence"].endswith("aufschließen")


async def test_a_page_that_is_closed_is_sent_nothing(
    hass: HomeAssistant, page: OpenPage
) -> None:
    def followers() -> int:
        return len(hass.data[DATA_DISPATCHER].get(SIGNAL_QUESTION, ()))

    before = followers()
    await now(page)
    assert followers() == before + 1
    await page.client.close()
    await hass.async_block_till_done()

    assert followers() == before
    ask(hass, question())
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=5))
    await hass.async_block_till_done()  # the test fails if a timer or a task is left


async def test_many_changes_are_one_message(
    hass: HomeAssistant, page: OpenPage
) -> None:
    await now(page)

    for number in range(20):
        ask(hass, question(conversation_id=str(number)))
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=1))

    assert len((await page.event())["questions"]) == 20
    assert await page.ask("page")  # no event came before it
