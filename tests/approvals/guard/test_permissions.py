"""Effects of a call that a user may not cause, for real users of Home Assistant."""

import pytest
from homeassistant.auth.const import GROUP_ID_ADMIN, GROUP_ID_READ_ONLY, GROUP_ID_USER
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.agent.messages import ToolAnnotations
from custom_components.chatterbox.approvals.guard import async_is_permitted
from custom_components.chatterbox.effects.effect import (
    NOTHING,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
)

LAMP = EntityAction("light.lamp", "light.turn_on")
DOOR = EntityAction("lock.door", "lock.unlock")
LAMP_AND_DOOR = Effects(frozenset({LAMP, DOOR}))
SCRIPT_OF_UNKNOWN_CONTENT = Effects(
    unknowns=frozenset(
        {Unknown(UnknownReason.CONTENT, EntityAction("script.party", "script.turn_on"))}
    ),
    actions=frozenset({LAMP}),
)
FOREIGN_TOOL = Effects(annotations=ToolAnnotations())
LOOK_UP = Effects(annotations=ToolAnnotations(read_only=True))
EVERYTHING = (LAMP_AND_DOOR, SCRIPT_OF_UNKNOWN_CONTENT, FOREIGN_TOOL, LOOK_UP, NOTHING)


@pytest.fixture(autouse=True)
async def owner(hass: HomeAssistant) -> None:
    """Let nobody of the tests be the first user of the home, who may do everything."""
    await hass.auth.async_create_user("Owner", group_ids=[GROUP_ID_ADMIN])


def lights_only(hass: HomeAssistant) -> MockUser:
    """Return a user who may control lights, and nothing else."""
    user = MockUser(name="Ben").add_to_hass(hass)
    user.mock_policy(
        {
            "entities": {
                "domains": {"light": {POLICY_CONTROL: True}},
                "all": {"read": True},
            }
        }
    )
    return user


@pytest.mark.parametrize("group", [GROUP_ID_ADMIN, GROUP_ID_USER])
async def test_whoever_may_control_everything_may_do_everything(
    hass: HomeAssistant, group: str
) -> None:
    user = await hass.auth.async_create_user("Anna", group_ids=[group])

    assert all(
        [await async_is_permitted(hass, user.id, effects) for effects in EVERYTHING]
    )


async def test_without_a_user_nothing_is_forbidden(hass: HomeAssistant) -> None:
    assert all(
        [await async_is_permitted(hass, None, effects) for effects in EVERYTHING]
    )


async def test_a_user_who_may_only_look_may_change_nothing(hass: HomeAssistant) -> None:
    user = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_READ_ONLY])

    assert not await async_is_permitted(hass, user.id, LAMP_AND_DOOR)
    assert not await async_is_permitted(hass, user.id, FOREIGN_TOOL)
    assert await async_is_permitted(hass, user.id, LOOK_UP)
    assert await async_is_permitted(hass, user.id, NOTHING)


async def test_one_entity_without_permission_is_enough(hass: HomeAssistant) -> None:
    ben = lights_only(hass)

    assert await async_is_permitted(hass, ben.id, Effects(frozenset({LAMP})))
    assert not await async_is_permitted(hass, ben.id, LAMP_AND_DOOR)


async def test_what_cannot_be_told_is_forbidden_to_whoever_may_not_control_everything(
    hass: HomeAssistant,
) -> None:
    ben = lights_only(hass)

    assert not await async_is_permitted(hass, ben.id, SCRIPT_OF_UNKNOWN_CONTENT)
    assert not await async_is_permitted(hass, ben.id, FOREIGN_TOOL)
    assert await async_is_permitted(hass, ben.id, LOOK_UP)


async def test_permission_is_needed_for_everything_within_reach(
    hass: HomeAssistant,
) -> None:
    ben = lights_only(hass)

    def reaching(*actions: EntityAction) -> Effects:
        return Effects(
            unknowns=frozenset(
                {Unknown(UnknownReason.TEMPLATE, reach=frozenset(actions))}
            )
        )

    assert await async_is_permitted(hass, ben.id, reaching(LAMP))
    assert not await async_is_permitted(hass, ben.id, reaching(LAMP, DOOR))


@pytest.mark.parametrize("is_removed", [True, False])
async def test_a_removed_or_deactivated_user_may_change_nothing(
    hass: HomeAssistant, *, is_removed: bool
) -> None:
    user = await hass.auth.async_create_user("Guest", group_ids=[GROUP_ID_USER])
    await (
        hass.auth.async_remove_user if is_removed else hass.auth.async_deactivate_user
    )(user)

    assert not await async_is_permitted(hass, user.id, Effects(frozenset({LAMP})))
    assert not await async_is_permitted(hass, user.id, FOREIGN_TOOL)
    assert await async_is_permitted(hass, user.id, LOOK_UP)
