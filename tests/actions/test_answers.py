"""The actions that answer a question: who may call them, from where, and what they say when they do not."""

import asyncio
from collections.abc import Mapping

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.actions.answers import SERVICE_APPROVE, SERVICE_DENY
from custom_components.chatterbox.agent.messages import ToolAnnotations
from custom_components.chatterbox.approvals.questions import Question
from custom_components.chatterbox.approvals.review import ApprovalWay, GivenAnswer
from custom_components.chatterbox.const import DOMAIN, EVENT_APPROVAL_REQUESTED
from custom_components.chatterbox.effects.effect import (
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)
from custom_components.chatterbox.people.speakers import (
    MAX_CONTEXTS,
    async_get_context_watch,
)
from tests.support.config_entries import offline_entry, set_up
from tests.support.documented_yaml import blocks_with
from tests.support.one_home import in_one_home
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import Serve, say
from tests.support.waiting_questions import UNLOCK, ask, asked_call, question

BOTH = pytest.mark.parametrize("service", [SERVICE_APPROVE, SERVICE_DENY])


@pytest.fixture(autouse=True)
async def _actions(hass: HomeAssistant, hass_owner_user: MockUser) -> None:
    """Set up what is there without any entry, in a home that has an owner already."""
    assert hass_owner_user.is_admin
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, DOMAIN, {})


async def call(
    hass: HomeAssistant,
    service: str = SERVICE_APPROVE,
    *,
    context: Context | None = None,
    **data: str,
) -> object:
    """Call an action, and return its response."""
    return await hass.services.async_call(
        DOMAIN, service, data, blocking=True, context=context, return_response=True
    )


async def refusal(
    hass: HomeAssistant, service: str = SERVICE_APPROVE, **given: object
) -> HomeAssistantError:
    """Return why a call is refused."""
    context = given.pop("context", None)
    assert context is None or isinstance(context, Context)
    with pytest.raises(HomeAssistantError) as raised:
        await call(
            hass,
            service,
            context=context,
            **{key: str(value) for key, value in given.items()},
        )
    return raised.value


def of(user: MockUser | object) -> Context:
    """Return a context in which a user acts."""
    return Context(user_id=str(getattr(user, "id")))  # noqa: B009  # of any kind of user


async def test_the_only_question_is_approved_and_the_words_come_back(
    hass: HomeAssistant,
) -> None:
    pending = question()
    turn = ask(hass, pending)

    response = await call(hass)

    assert response == {"approval_id": pending.id, "speech": "It is unlocked."}
    assert turn.answers == [GivenAnswer(approved=True, way=ApprovalWay.ACTION)]


@BOTH
async def test_without_a_question_nothing_is_answered(
    hass: HomeAssistant, service: str
) -> None:
    error = await refusal(hass, service)

    assert isinstance(error, ServiceValidationError)
    assert str(error) == "There is no open question. Answer once an agent has asked one"


async def test_of_several_questions_one_is_named(hass: HomeAssistant) -> None:
    first, second = question(conversation_id="a"), question(conversation_id="b")
    turns = [ask(hass, first), ask(hass, second)]

    assert "Several questions are open" in str(await refusal(hass))
    await call(hass, approval_id=second.id)

    assert [len(turn.answers) for turn in turns] == [0, 1]


@BOTH
async def test_a_question_is_answered_once(hass: HomeAssistant, service: str) -> None:
    pending = question()
    turn = ask(hass, pending)
    turn.may_end = asyncio.Event()
    first = hass.async_create_task(call(hass, approval_id=pending.id))
    await asyncio.sleep(0)

    assert "is no longer open" in str(
        await refusal(hass, service, approval_id=pending.id)
    )
    assert "is no longer open" in str(
        await refusal(hass, service, approval_id="another")
    )

    turn.may_end.set()
    await first
    assert len(turn.answers) == 1


async def test_a_pin_cannot_be_sent_but_a_no_can(
    hass: HomeAssistant, hass_admin_user: MockUser
) -> None:
    turn = ask(hass, question(asked_call(needs_pin=True)))

    error = await refusal(hass, context=of(hass_admin_user))
    assert isinstance(error, ServiceValidationError)
    assert "Say it where the question was asked" in str(error)
    assert "type it on the page" in str(await refusal(hass))
    await call(hass, SERVICE_DENY, context=of(hass_admin_user))

    assert turn.answers == [
        GivenAnswer(approved=False, way=ApprovalWay.ACTION, user_id=hass_admin_user.id)
    ]


@BOTH
@in_one_home(
    ("entity_policy", "may_answer"),
    [
        (True, True),
        (
            {"entity_ids": {"lock.front_door": True, "light.lamp": {"control": True}}},
            True,
        ),
        ({"entity_ids": {"lock.front_door": True}}, False),
        (
            {"entity_ids": {"lock.front_door": {"read": True}, "light.lamp": True}},
            False,
        ),
        ({"domains": {"light": True}}, False),
        ({}, False),
    ],
    puts_back=True,
)
async def test_a_user_answers_for_what_they_may_control(
    hass: HomeAssistant,
    service: str,
    *,
    entity_policy: bool | dict[str, Mapping[str, object]],
    may_answer: bool,
) -> None:
    user = MockUser().add_to_hass(hass)
    user.mock_policy({"entities": entity_policy})  # type: ignore[dict-item]  # what a policy may hold is not written down
    lamp = EntityAction("light.lamp", "light.turn_on")
    turn = ask(hass, question(asked_call(), asked_call(Effects(frozenset({lamp})))))

    if may_answer:
        await call(hass, service, context=of(user))
    else:
        error = await refusal(hass, service, context=of(user))
        assert isinstance(error, Unauthorized)
        assert str(error).startswith(
            "You don't have permission to control what this question is about."
        )

    assert len(turn.answers) == may_answer


@BOTH
@in_one_home(
    "effects",
    [
        Effects(annotations=ToolAnnotations()),
        Effects(),
        Effects(
            unknowns=frozenset({Unknown(UnknownReason.SENTENCE)}),
            actions=frozenset({UNLOCK}),
        ),
    ],
    puts_back=True,
)
async def test_unknown_effects_need_an_administrator(
    hass: HomeAssistant, service: str, effects: Effects
) -> None:
    user = await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER])
    admin = await hass.auth.async_create_user("Ada", group_ids=[GROUP_ID_ADMIN])
    turn = ask(hass, question(asked_call(), asked_call(effects)))

    error = await refusal(hass, service, context=of(user))
    assert isinstance(error, Unauthorized)
    assert "only an administrator" in str(error)
    await call(hass, service, context=of(admin))

    assert [answer.user_id for answer in turn.answers] == [admin.id]


@BOTH
async def test_unknown_and_deactivated_users_may_not_answer(
    hass: HomeAssistant, service: str
) -> None:
    turn = ask(hass, question())
    admin = await hass.auth.async_create_user("Ada", group_ids=[GROUP_ID_ADMIN])
    await hass.auth.async_deactivate_user(admin)

    for context in (of(admin), Context(user_id="nobody")):
        error = await refusal(hass, service, context=context)
        assert isinstance(error, Unauthorized)
        assert "deactivated" in str(error)

    assert turn.answers == []


@BOTH
async def test_a_turn_does_not_answer_its_own_question(
    hass: HomeAssistant, service: str, hass_admin_user: MockUser
) -> None:
    context = of(hass_admin_user)
    turn = ask(hass, question(context=context))

    for inside in (context, Context(parent_id=context.id), Context(id=context.id)):
        error = await refusal(hass, service, context=inside)
        assert isinstance(error, ServiceValidationError)
        assert "An agent can't answer a question" in str(error)

    assert turn.answers == []


@BOTH
async def test_no_turn_of_any_agent_answers(hass: HomeAssistant, service: str) -> None:
    other = Context()
    async_get_context_watch(hass).take_for_turn(other)
    turn = ask(hass, question())

    for inside in (other, Context(parent_id=other.id)):
        assert "An agent can't answer a question" in str(
            await refusal(hass, service, context=inside)
        )

    assert turn.answers == []


@pytest.mark.parametrize("nested", [False, True])
async def test_a_model_does_not_say_yes_by_a_script(
    hass: HomeAssistant, serve: Serve, *, nested: bool
) -> None:
    approve = {"alias": "Approve", "sequence": [{"action": "chatterbox.approve"}]}
    helper = {"alias": "Helper", "sequence": [{"action": "script.approve"}]}
    assert await async_setup_component(
        hass, "script", {"script": {"approve": approve, "helper": helper}}
    )
    tool = "helper" if nested else "approve"
    entities = er.async_get(hass)
    entities.async_update_entity_options(
        f"script.{tool}", "conversation", {"should_expose": True}
    )
    run = ScriptedCall(name=f"script__{tool}", arguments={})
    script = Script(
        answers=(ScriptedAnswer(tool_calls=(run,)), ScriptedAnswer(content="I tried."))
    )
    server = await serve(
        script, rules=[{"verdict": "allow", "tools": [f"script__{tool}"]}]
    )
    waits = ask(hass, question(conversation_id="elsewhere"))

    await say(hass, "approve it")

    assert waits.answers == []
    assert "answer a question, neither by itself" in str(
        server.requests[1].body["messages"]
    )


async def test_automations_triggered_by_a_turn_in_several_steps_do_not_answer(
    hass: HomeAssistant,
) -> None:
    first = {
        "alias": "First",
        "triggers": [
            {"trigger": "state", "entity_id": "input_boolean.party", "to": "on"}
        ],
        "actions": [{"event": "party_begins"}],
    }
    second = {
        "alias": "Second",
        "triggers": [{"trigger": "event", "event_type": "party_begins"}],
        "actions": [{"action": "chatterbox.approve"}],
    }
    assert await async_setup_component(
        hass, "automation", {"automation": [first, second]}
    )
    context = Context()
    async_get_context_watch(hass).take_for_turn(context)
    turn = ask(hass, question(conversation_id="elsewhere"))

    hass.states.async_set("input_boolean.party", "on", context=context)
    await hass.async_block_till_done()
    assert turn.answers == []

    hass.states.async_set("input_boolean.party", "off")
    hass.states.async_set("input_boolean.party", "on", context=Context())
    await hass.async_block_till_done()
    assert len(turn.answers) == 1


async def test_an_agent_asked_by_an_automation_does_not_answer(
    hass: HomeAssistant,
) -> None:
    context = Context()
    hass.bus.async_fire(
        "automation_triggered", {"entity_id": "automation.talks"}, context=context
    )
    async_get_context_watch(hass).take_for_turn(context)
    ask(hass, question())

    assert "An agent can't answer a question" in str(
        await refusal(hass, context=context)
    )


def run_automations(hass: HomeAssistant, times: int) -> None:
    """Have automations run that nobody here has to do with."""
    for _ in range(times):
        hass.bus.async_fire("automation_triggered", {"entity_id": "automation.busy"})


def two_steps_on(hass: HomeAssistant, context: Context) -> Context:
    """Return the context of an automation that follows what an automation has done that followed a context."""
    first = Context(parent_id=context.id)
    hass.bus.async_fire(
        "automation_triggered", {"entity_id": "automation.first"}, context=first
    )
    return Context(parent_id=first.id)


@in_one_home(
    "times", [2 * MAX_CONTEXTS // 5, MAX_CONTEXTS, MAX_CONTEXTS + 1], puts_back=True
)
async def test_automations_triggered_by_a_turn_do_not_answer_in_a_busy_home(
    hass: HomeAssistant, times: int
) -> None:
    """When so much happens that what led to an answer is forgotten, the answer is not taken."""
    context = Context()
    async_get_context_watch(hass).take_for_turn(context)
    turn = ask(hass, question(context=context))
    later = two_steps_on(hass, context)
    run_automations(hass, times)

    assert "An agent can't answer a question" in str(await refusal(hass, context=later))

    hass.bus.async_fire("script_started", {"entity_id": "script.second"}, context=later)
    assert "An agent can't answer a question" in str(await refusal(hass, context=later))
    assert turn.answers == []


async def test_a_turn_of_which_much_is_forgotten_does_not_answer(
    hass: HomeAssistant,
) -> None:
    other = Context()
    async_get_context_watch(hass).take_for_turn(other)
    ask(hass, question())
    run_automations(hass, MAX_CONTEXTS)

    assert "An agent can't answer a question" in str(await refusal(hass, context=other))

    hass.bus.async_fire("script_started", {"entity_id": "script.late"}, context=other)
    for inside in (other, Context(parent_id=other.id)):
        assert "An agent can't answer a question" in str(
            await refusal(hass, context=inside)
        )


async def test_others_may_answer_in_a_busy_home(
    hass: HomeAssistant, hass_admin_user: MockUser
) -> None:
    await automate(hass, {"trigger": "event", "event_type": EVENT_APPROVAL_REQUESTED})
    run_automations(hass, MAX_CONTEXTS + 1)

    by_automation = ask(hass, question(context=Context()))
    await hass.async_block_till_done()
    by_user = ask(hass, question(asked_call(), conversation_id="another"))
    await call(hass, context=of(hass_admin_user))
    by_device = ask(hass, question(conversation_id="a-third"))
    await call(hass, context=two_steps_on(hass, Context()))

    assert [len(turn.answers) for turn in (by_automation, by_user, by_device)] == [
        1,
        1,
        1,
    ]


async def test_a_context_id_without_a_time_is_accepted_until_contexts_are_forgotten(
    hass: HomeAssistant,
) -> None:
    turn = ask(hass, question())
    of_somebody = Context(id="made-up")

    await call(hass, context=of_somebody)
    assert len(turn.answers) == 1
    ask(hass, question())
    hass.bus.async_fire(
        "automation_triggered", {"entity_id": "automation.odd"}, context=of_somebody
    )
    run_automations(hass, MAX_CONTEXTS)

    assert "An agent can't answer a question" in str(
        await refusal(hass, context=of_somebody)
    )
    assert "An agent can't answer a question" in str(
        await refusal(hass, context=Context(id="also-made-up"))
    )
    await call(hass, context=Context())


async def test_an_event_that_a_turn_forges_by_an_automation_makes_no_other_one_answer(
    hass: HomeAssistant,
) -> None:
    forged = {
        "trigger": "event",
        "event_type": EVENT_APPROVAL_REQUESTED,
        "event_data": {"question": "Light?"},
    }
    await automate(hass, forged)
    context = Context()
    async_get_context_watch(hass).take_for_turn(context)
    turn = ask(hass, question(context=context))
    await hass.async_block_till_done()

    below = Context(parent_id=context.id)
    hass.bus.async_fire(EVENT_APPROVAL_REQUESTED, {"question": "Light?"}, context=below)
    await hass.async_block_till_done()

    assert turn.answers == []


async def test_an_automation_that_hears_of_the_question_answers(
    hass: HomeAssistant,
) -> None:
    await automate(hass, {"trigger": "event", "event_type": EVENT_APPROVAL_REQUESTED})
    async_get_context_watch(hass).take_for_turn(context := Context())

    turn = ask(hass, question(context=context))
    await hass.async_block_till_done()

    assert turn.answers == [GivenAnswer(approved=True, way=ApprovalWay.ACTION)]


async def test_a_forged_event_makes_no_automation_answer(hass: HomeAssistant) -> None:
    forged = {
        "trigger": "event",
        "event_type": EVENT_APPROVAL_REQUESTED,
        "event_data": {"question": "Light?"},
    }
    await automate(hass, forged)
    guest = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_READ_ONLY])
    pending = question()
    turn = ask(hass, pending)

    # As the app on the phone of a guest can do it.
    data = {"approval_id": pending.id, "question": "Light?"}
    hass.bus.async_fire(EVENT_APPROVAL_REQUESTED, data, context=of(guest))
    await hass.async_block_till_done()

    assert turn.answers == []


async def test_the_documented_automation_opens_the_shed_when_anna_is_home(
    hass: HomeAssistant,
) -> None:
    (automation,) = blocks_with("chatterbox.approve")
    assert await async_setup_component(
        hass, "automation", {"automation": {"alias": "Shed", **automation}}
    )
    hass.states.async_set("person.anna", "not_home")
    shed = asked_call(Effects(frozenset({EntityAction("lock.shed", "lock.unlock")})))

    away = ask(hass, question(shed))
    await hass.async_block_till_done()
    hass.states.async_set("person.anna", "home")
    door = ask(hass, question(asked_call(), shed))
    await hass.async_block_till_done()
    script = Effects(
        unknowns=frozenset({Unknown(UnknownReason.TEMPLATE)}),
        actions=frozenset({EntityAction("lock.shed", "lock.unlock")}),
    )
    unknown = ask(hass, question(asked_call(script)))
    await hass.async_block_till_done()
    home = ask(hass, question(shed))
    await hass.async_block_till_done()

    assert (away.answers, door.answers, unknown.answers) == ([], [], [])
    assert [answer.approved for answer in home.answers] == [True]


async def test_the_actions_are_there_without_any_entry_and_after_one_is_gone(
    hass: HomeAssistant,
) -> None:
    entry = await set_up(hass, offline_entry())
    waits: Question = question()
    turn = ask(hass, waits)

    await hass.config_entries.async_unload(entry.entry_id)

    assert "no open question" in str(await refusal(hass))
    assert turn.answers == []


async def automate(hass: HomeAssistant, trigger: Mapping[str, object]) -> None:
    """Set up an automation that approves the only question."""
    automation = {
        "alias": "Yes",
        "triggers": [trigger],
        "actions": [{"action": "chatterbox.approve"}],
    }
    assert await async_setup_component(hass, "automation", {"automation": automation})
    await hass.async_block_till_done()
