"""A plan is moved, reworded and taken back only by those who could ask for what it does now."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components import conversation
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.const import CONF_RULES, DOMAIN
from custom_components.chatterbox.later.plans import (
    Asker,
    FuturePlan,
    PlannedCall,
    async_get_plans,
)
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.later.talk import (
    LIGHT_OFF,
    SATELLITE,
    UNLOCK,
    act,
    at_hall,
    later,
    pass_time,
    remind,
    script,
    state,
)
from tests.panel.conftest import OpenPage
from tests.support.config_entries import offline_entry, only_agent, set_up
from tests.support.home_rules import set_home_rules
from tests.support.one_home import in_one_home
from tests.support.talk import (
    AGENT,
    DOOR,
    PART,
    Serve,
    move_into_the_demo_home,
    say,
    speech,
)

LIST = "todo.later"
NOT_PERMITTED = "You don't have permission to control that"
NOT_ALLOWED = "The rules of this home don't allow that"
NEEDS_YES = "This needs confirmation for its new time. Cancel it and ask for it anew"
FIXED = "This was approved for its time. Cancel it and ask for it anew"
SOON = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Home:
    """A home with a door that is to be locked in an hour, and a user who may change the list alone."""

    hass: HomeAssistant
    user: MockUser
    page: OpenPage
    agent: str

    async def add(self, plan: FuturePlan) -> FuturePlan:
        await async_get_schedule(self.hass).async_add(plan)
        return plan

    @property
    def plans(self) -> tuple[FuturePlan, ...]:
        return async_get_plans(self.hass).stored.plans

    def locking(self, asker: Asker = Asker(), terms: str = "") -> FuturePlan:  # noqa: B008  # frozen
        call = PlannedCall(
            "conversation__process_sentence",
            '{"sentence":"lock the front door"}',
            terms,
        )
        due = dt_util.utcnow() + timedelta(hours=1)
        return replace(
            act("lock the front door", asker=asker),
            agent=self.agent,
            due=due,
            call=call,
        )

    def may(self, *entity_ids: str) -> None:
        self.user.mock_policy(
            {
                "entities": {
                    "entity_ids": dict.fromkeys((LIST, *entity_ids), True),
                    "all": {"read": True},
                }
            }
        )

    async def act(self, domain: str, action: str, **data: object) -> str:
        """Call an action as the user, and return why it is refused."""
        try:
            context = Context(user_id=self.user.id)
            await self.hass.services.async_call(
                domain, action, data, blocking=True, context=context
            )
        except ServiceValidationError as error:
            return str(error)
        return ""

    async def send(self, command: str, **data: object) -> str:
        """Send a command of the page as the user, and return why it is refused."""
        answer = await self.page.send(command, plan_id=self.plans[0].id, **data)
        return "" if answer["success"] else str(answer["error"]["message"])

    async def say(self, *texts: str) -> str:
        answer = ""
        for text in texts:
            answer = speech(
                await say(self.hass, text, context=Context(user_id=self.user.id))
            )
        return answer


@pytest.fixture
async def home(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,  # noqa: ARG001  # time stands still
    hass_ws_client: WebSocketGenerator,
    hass_read_only_user: MockUser,
    hass_read_only_access_token: str,
) -> Home:
    await hass.config.async_set_time_zone("UTC")  # which repeats no hour
    await move_into_the_demo_home(hass, PART)
    await set_up(hass, offline_entry())
    await set_home_rules(hass, shows_page_to_all=True)
    await hass.services.async_call("lock", "unlock", {"entity_id": DOOR}, blocking=True)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    page = OpenPage(await hass_ws_client(hass, hass_read_only_access_token))
    home = Home(hass, hass_read_only_user, page, next(iter(entry.subentries)))
    home.may()
    return home


type Change = Callable[[Home], Awaitable[str]]


def soon() -> str:
    return (dt_util.utcnow() + SOON).isoformat()


MOVES: dict[str, Change] = {
    "page": lambda home: home.send(
        "plan/change", due_at=(dt_util.utcnow() + SOON).timestamp()
    ),
    "words": lambda home: home.say("what have I asked you to do?", "in one minute"),
    "list": lambda home: home.act(
        "todo",
        "update_item",
        entity_id=LIST,
        item=home.plans[0].text,
        due_datetime=soon(),
    ),
}
CANCELS: dict[str, Change] = {
    "page": lambda home: home.send("plan/cancel"),
    "words": lambda home: home.say("cancel everything"),
    "completed": lambda home: home.act(
        "todo",
        "update_item",
        entity_id=LIST,
        item=home.plans[0].text,
        status="completed",
    ),
    "deleted": lambda home: home.act(
        "todo", "remove_item", entity_id=LIST, item=home.plans[0].text
    ),
    "action": lambda home: home.act(DOMAIN, "cancel_plan", plan_id=home.plans[0].id),
}


@in_one_home("change", MOVES.values(), ids=MOVES, puts_back=True)
async def test_who_moves_an_action_needs_the_right_to_it(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory, change: Change
) -> None:
    plan = await home.add(home.locking())

    assert NOT_PERMITTED in await change(home)
    assert home.plans == (plan,)
    await pass_time(hass, freezer, minutes=2)
    assert state(hass, DOOR) == "unlocked"

    home.may(DOOR)
    assert NOT_PERMITTED not in await change(home)
    assert home.plans[0].asker == plan.asker, "it gains no rights by those of the mover"
    home.may()
    await pass_time(hass, freezer, minutes=2)
    assert (state(hass, DOOR), len(home.plans)) == ("locked", 0)


@pytest.mark.each_row
@pytest.mark.parametrize("change", CANCELS.values(), ids=CANCELS)
async def test_who_takes_an_action_of_the_household_back_needs_the_right_to_it(
    home: Home, change: Change
) -> None:
    plan = await home.add(home.locking())

    assert NOT_PERMITTED in await change(home)
    assert home.plans == (plan,)

    home.may(DOOR)
    assert NOT_PERMITTED not in await change(home)
    assert not home.plans


async def test_a_plan_without_its_agent_needs_the_right_to_control_entities(
    home: Home,
) -> None:
    plan = await home.add(replace(home.locking(), agent="elsewhere"))

    assert NOT_PERMITTED in await CANCELS["page"](home)
    assert NOT_PERMITTED in await MOVES["page"](home)
    assert home.plans == (plan,)


@in_one_home("change", CANCELS.values(), ids=CANCELS, puts_back=True)
async def test_ones_own_plan_and_a_reminder_are_taken_back_without_rights(
    home: Home, change: Change
) -> None:
    own = Asker(home.user.id, home.user.id)
    for plan in (home.locking(own), remind()):
        await home.add(plan)
        await change(home)
        assert not home.plans


@pytest.mark.parametrize("change", MOVES.values(), ids=MOVES)
async def test_a_plan_of_ones_own_is_moved_with_the_rights_of_now(
    home: Home, change: Change
) -> None:
    plan = await home.add(home.locking(Asker(home.user.id, home.user.id)))

    assert NOT_PERMITTED in await change(home)

    assert home.plans == (plan,)


@pytest.mark.each_row
@pytest.mark.parametrize("surface", MOVES)
@pytest.mark.parametrize(
    ("verdict", "reason"),
    [("deny", NOT_ALLOWED), ("ask", NEEDS_YES), ("pin", NEEDS_YES)],
)
async def test_an_action_is_moved_by_the_rules_for_the_mover(
    home: Home, surface: str, verdict: str, reason: str
) -> None:
    home.may(DOOR)
    plan = await home.add(home.locking(Asker(satellite_id=SATELLITE)))
    await set_home_rules(
        home.hass,
        rules=[{"verdict": verdict, "domains": ["lock"], "users": [home.user.id]}],
    )

    assert reason in await MOVES[surface](home)

    assert home.plans == (plan,)
    assert not async_get_approvals(home.hass).waiting


async def test_no_action_is_moved_while_the_rules_are_not_known(home: Home) -> None:
    home.may(DOOR)
    plan = await home.add(home.locking(Asker(satellite_id=SATELLITE)))
    (entry,) = home.hass.config_entries.async_entries(DOMAIN)
    agent = entry.subentries[home.agent]
    home.hass.config_entries.async_update_subentry(
        entry, agent, data={**agent.data, CONF_RULES: []}
    )
    await home.hass.async_block_till_done()

    assert NOT_ALLOWED in await MOVES["list"](home)
    assert home.plans == (plan,)


@in_one_home(("is_theirs", "is_kept"), [(True, True), (False, False)], puts_back=True)
async def test_a_rule_against_the_speaker_keeps_a_plan_and_one_for_everybody_does_not(
    home: Home, *, is_theirs: bool, is_kept: bool
) -> None:
    home.may(DOOR)
    await home.add(home.locking())
    users = {"users": [home.user.id]} if is_theirs else {}
    await set_home_rules(
        home.hass, rules=[{"verdict": "deny", "domains": ["lock"], **users}]
    )

    answer = await CANCELS["page"](home)

    assert (answer, len(home.plans)) == ((NOT_ALLOWED, 1) if is_kept else ("", 0))


async def test_the_page_offers_the_changes_that_a_user_may_make(home: Home) -> None:
    async def offered() -> list[str]:
        await home.page.ask("now/subscribe")
        (row,) = (await home.page.event())["plans"]
        return [
            name for name in ("can_change", "can_rename", "can_cancel") if row[name]
        ]

    await home.add(home.locking())
    assert await offered() == []

    home.may(DOOR)
    assert await offered() == ["can_change", "can_cancel"]

    await set_home_rules(
        home.hass,
        shows_page_to_all=True,
        rules=[{"verdict": "ask", "domains": ["lock"]}],
    )
    assert await offered() == ["can_cancel"]


@pytest.mark.parametrize("change", MOVES.values(), ids=MOVES)
async def test_the_yes_for_its_time_is_told(home: Home, change: Change) -> None:
    home.may(DOOR)
    plan = await home.add(home.locking(terms="ask:after a yes"))

    assert FIXED in await change(home)

    assert home.plans == (plan,)


@in_one_home("surface", ["page", "list", "action"], puts_back=True)
async def test_a_rule_on_plans_holds_for_their_words(home: Home, surface: str) -> None:
    await home.add(remind())
    rule = {"verdict": "deny", "tools": ["chatterbox__later"], "users": [home.user.id]}
    await set_home_rules(home.hass, rules=[rule])
    changes: dict[str, Change] = {
        "page": lambda home: home.send("plan/change", text="call Dad"),
        "list": lambda home: home.act(
            "todo", "update_item", entity_id=LIST, item="call Mum", rename="call Dad"
        ),
        "action": lambda home: home.act(
            DOMAIN, "plan", message="call Dad", when="in 20 minutes"
        ),
    }

    assert await changes[surface](home) == NOT_ALLOWED

    assert [plan.text for plan in home.plans] == ["call Mum"]


async def test_a_mover_who_is_there_is_asked_and_the_plan_keeps_the_terms(
    hass: HomeAssistant, home: Home, freezer: FrozenDateTimeFactory
) -> None:
    await at_hall(hass, "lock the front door in twenty minutes")
    await set_home_rules(hass, rules=[{"verdict": "ask", "domains": ["lock"]}])

    question = await at_hall(hass, "not in twenty minutes, in ten minutes")
    assert question.endswith(", in 10 minutes. Lock the Front Door in the Hallway?")
    await at_hall(hass, "no")
    assert home.plans[0].due == dt_util.utcnow() + timedelta(minutes=20)

    await at_hall(hass, "what have I asked you to do?")
    await at_hall(hass, "in ten minutes")
    await at_hall(hass, "yes")

    (plan,) = home.plans
    assert (plan.due, bool(plan.call and plan.call.terms)) == (
        dt_util.utcnow() + timedelta(minutes=10),
        True,
    )
    await pass_time(hass, freezer, minutes=11)
    assert state(hass, DOOR) == "locked"


async def test_a_mover_elsewhere_is_told_that_it_needs_a_yes(
    hass: HomeAssistant, home: Home
) -> None:
    """The words of the plan may mean another thing there."""
    await at_hall(hass, "lock the front door in twenty minutes")
    (plan,) = home.plans
    await set_home_rules(hass, rules=[{"verdict": "ask", "domains": ["lock"]}])

    await say(hass, "what have I asked you to do?", "other", "assist_satellite.other")
    answer = speech(
        await say(hass, "in ten minutes", "other", "assist_satellite.other")
    )

    assert NEEDS_YES in answer
    assert home.plans == (plan,)


async def test_the_place_of_a_mover_is_judged_and_not_where_the_plan_was_made(
    hass: HomeAssistant, home: Home
) -> None:
    await at_hall(hass, "lock the front door in twenty minutes")
    (plan,) = home.plans
    await set_home_rules(
        hass, rules=[{"verdict": "deny", "domains": ["lock"], "devices": ["nursery"]}]
    )

    for text in ("what have I asked you to do?", "in one minute", "cancel everything"):
        place = "nursery", Context(), "en", AGENT, "nursery"
        answer = speech(await conversation.async_converse(hass, text, *place))
        assert (NOT_ALLOWED in answer) is not text.endswith("?")
        assert home.plans == (plan,)


async def test_everything_that_one_may_cancel_is_cancelled_and_the_rest_is_told(
    home: Home,
) -> None:
    plan = await home.add(home.locking())
    await home.add(remind())

    answer = await home.say("cancel everything")

    assert answer.startswith("Cancelled: call Mum, at ")
    assert answer.endswith(f". {NOT_PERMITTED}.")
    assert home.plans == (plan,)


async def test_an_intent_completes_nothing_in_the_name_of_others(
    hass: HomeAssistant, home: Home
) -> None:
    plan = await home.add(home.locking())
    item = hass.data["todo"].get_entity(LIST).todo_items[0]

    renamed = {"entity_id": LIST, "item": plan.text, "rename": "open the door"}
    await hass.services.async_call("todo", "update_item", renamed, blocking=True)
    with pytest.raises(HomeAssistantError):
        await (
            hass.data["todo"]
            .get_entity(LIST)
            .async_update_todo_item(replace(item, status="completed"))
        )

    assert home.plans == (plan,)


async def test_a_home_itself_and_its_administrators_move_and_cancel(
    hass: HomeAssistant, home: Home, hass_admin_user: MockUser
) -> None:
    for context in (Context(), Context(user_id=hass_admin_user.id)):
        await home.add(home.locking())
        data = {
            "entity_id": LIST,
            "item": "lock the front door",
            "due_datetime": soon(),
        }
        await hass.services.async_call(
            "todo", "update_item", data, blocking=True, context=context
        )
        assert home.plans[0].due == dt_util.utcnow() + SOON
        cancel = {"plan_id": home.plans[0].id}
        await hass.services.async_call(
            DOMAIN, "cancel_plan", cancel, blocking=True, context=context
        )
        assert not home.plans


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"decision": "deny", "reason": "The baby sleeps."}, NOT_ALLOWED),
        ({"decision": "ask", "reason": "The baby sleeps."}, NOT_ALLOWED),
        (
            {
                "decision": "allow",
                "arguments": {"sentence": "turn off the kitchen ceiling light"},
            },
            NOT_ALLOWED,
        ),
        ({"decision": "allow"}, ""),
    ],
)
async def test_a_script_that_decides_hears_of_the_mover(
    hass: HomeAssistant, home: Home, answer: dict[str, object], reason: str
) -> None:
    home.may(DOOR)
    judge = [
        {"variables": {"answer": answer}},
        {"stop": "decided", "response_variable": "answer"},
    ]
    assert await async_setup_component(
        hass, "script", {"script": {"judge": {"sequence": judge}}}
    )
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    data = {**only_agent(entry).data, "pre_tool_use": "script.judge"}
    hass.config_entries.async_update_subentry(entry, only_agent(entry), data=data)
    await hass.async_block_till_done()
    plan = await home.add(home.locking())
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)

    assert await MOVES["page"](home) == reason

    assert (home.plans == (plan,)) is bool(reason)
    (received,) = [
        call.data["service_data"] for call in calls if call.data["service"] == "judge"
    ]
    assert (received["user_id"], received["arguments"]) == (
        home.user.id,
        {"sentence": "lock the front door"},
    )
    assert await CANCELS["page"](home) == ""


async def test_a_rule_that_asks_about_plans_is_asked_once_in_words(
    hass: HomeAssistant, home: Home
) -> None:
    await at_hall(hass, "remind me in twenty minutes to call Mum")
    await set_home_rules(
        hass, rules=[{"verdict": "ask", "tools": ["chatterbox__later"]}]
    )

    assert (await at_hall(hass, "not in twenty minutes, in ten minutes")).endswith("?")
    await at_hall(hass, "yes")

    assert [plan.due for plan in home.plans] == [
        dt_util.utcnow() + timedelta(minutes=10)
    ]


@pytest.mark.parametrize("verdict", ["allow", "ask"])
async def test_a_model_that_moves_a_plan_cannot_have_it_do_something_else(
    hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory, verdict: str
) -> None:
    smuggled = {
        "kind": "move",
        "tool": UNLOCK["tool"],
        "arguments": UNLOCK["arguments"],
    }
    await serve(script(later(LIGHT_OFF), later(smuggled, "in 10 minutes")))
    await at_hall(hass, "turn off the kitchen light in twenty minutes")
    (before,) = async_get_plans(hass).stored.plans
    await set_home_rules(hass, rules=[{"verdict": verdict, "domains": ["light"]}])

    await at_hall(hass, "in ten minutes")
    await at_hall(hass, "yes")

    (plan,) = async_get_plans(hass).stored.plans
    assert plan.call
    assert before.call
    assert (plan.call.tool, plan.call.arguments) == (
        before.call.tool,
        before.call.arguments,
    )
    assert plan.due == dt_util.utcnow() + timedelta(minutes=10)
    await pass_time(hass, freezer, minutes=11)
    assert (state(hass, DOOR), async_get_plans(hass).stored.plans) == ("locked", ())
