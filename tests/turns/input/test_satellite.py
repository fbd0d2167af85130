"""Words spoken at a device are spoken at its satellite, if that is its only one."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.chatterbox.approvals.questions import async_get_approvals
from custom_components.chatterbox.later.plans import Asker, News, async_get_plans
from custom_components.chatterbox.later.schedule import async_get_schedule
from tests.later.talk import UNLOCK, later, remind, script
from tests.support.talk import AGENT, Serve, speech


def device_with(hass: HomeAssistant, satellites: int, disabled: int = 0) -> str:
    """Return the id of a device with satellites, the last of which are disabled, and a button."""
    entry = MockConfigEntry(domain="esphome")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("esphome", "x")}
    )
    entities = er.async_get(hass)
    entities.async_get_or_create("button", "test", "b", device_id=device.id)
    for number in range(satellites):
        is_disabled = number >= satellites - disabled
        entities.async_get_or_create(
            "assist_satellite",
            "test",
            f"{number}",
            suggested_object_id=f"test_{number}",
            device_id=device.id,
            disabled_by=er.RegistryEntryDisabler.USER if is_disabled else None,
        )
    return device.id


async def at_device(
    hass: HomeAssistant, text: str, device_id: str, context: Context | None = None
) -> str:
    where = context or Context(), "en", AGENT
    return speech(
        await conversation.async_converse(
            hass, text, "talk", *where, device_id=device_id
        )
    )


@pytest.mark.parametrize(
    ("satellites", "disabled", "heard_at"),
    [
        (0, 0, None),
        (1, 0, "assist_satellite.test_0"),
        (2, 0, None),
        (2, 1, "assist_satellite.test_0"),
        (1, 1, None),
    ],
)
async def test_a_plan_and_its_question_belong_to_the_only_satellite_of_a_device(
    hass: HomeAssistant,
    serve: Serve,
    satellites: int,
    disabled: int,
    heard_at: str | None,
) -> None:
    await serve(script(later(UNLOCK)))
    device_id = device_with(hass, satellites, disabled)

    await at_device(hass, "unlock the front door in twenty minutes", device_id)
    (question,) = async_get_approvals(hass).waiting
    assert (question.scope.device_id, question.scope.satellite_id) == (
        device_id,
        heard_at,
    )
    await at_device(hass, "yes", device_id)

    (plan,) = async_get_plans(hass).stored.plans
    assert (plan.asker.device_id, plan.asker.satellite_id) == (device_id, heard_at)


@pytest.mark.parametrize("is_signed_in", [False, True])
async def test_news_of_a_satellite_are_heard_by_those_who_surely_are_there(
    hass: HomeAssistant,
    serve: Serve,
    hass_read_only_user: MockUser,
    *,
    is_signed_in: bool,
) -> None:
    await serve(script(later({"kind": "list"}, "")))
    device_id = device_with(hass, 1)
    asker = Asker("user-1", "anna", satellite_id="assist_satellite.test_0")
    news = News(
        text="Call Mum.", language="en", asker=asker, plan=remind(), is_kept=True
    )
    plans = async_get_plans(hass)
    await plans.async_change(lambda stored: stored.with_news(news))

    context = Context(user_id=hass_read_only_user.id) if is_signed_in else Context()
    answer = await at_device(hass, "what is planned?", device_id, context)

    assert ("Call Mum." in answer) is not is_signed_in
    heard = async_get_schedule(hass).last_heard("assist_satellite.test_0")
    assert (heard is None) is is_signed_in
