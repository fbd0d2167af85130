"""The entities that are meant are those that Home Assistant would find, and it notices every change at once."""

from random import Random

import pytest
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    intent,
)

from custom_components.chatterbox.home.entity_matches import matching_states
from tests.demo_house.move_in import move_in
from tests.support.random_homes import ALIASES, AREAS, FLOORS, RandomHome


def found(hass: HomeAssistant, constraints: intent.MatchTargetsConstraints) -> set[str]:
    """Return what is found here, and assert that Home Assistant finds the same."""
    ours = {state.entity_id for state in matching_states(hass, constraints)}
    assert ours == {
        state.entity_id
        for state in intent.async_match_targets(hass, constraints).states
    }, constraints
    return ours


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_found_is_what_home_assistant_finds(
    hass: HomeAssistant, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 a home that can be built again
    home = RandomHome(hass, random)
    await home.build()
    hass.states.async_set("light.unregistered", "on", {"friendly_name": "Lamp"})
    registry = er.async_get(hass)
    names = [
        *home.names,
        *ALIASES,
        " lamp",
        "LIGHT.unregistered",
        "light.unregistered",
        home.entity_ids[0],
        "Nobody",
    ]
    seen = 0
    for _ in range(200):
        if random.random() < 0.2:
            entity_id = random.choice(home.entity_ids)
            registry.async_update_entity(
                entity_id, name=random.choice(names), aliases=[random.choice(ALIASES)]
            )
            async_expose_entity(
                hass,
                conversation.DOMAIN,
                entity_id,
                should_expose=random.random() < 0.5,
            )
        constraints = intent.MatchTargetsConstraints(
            name=random.choice([None, random.choice(names)]),
            area_name=random.choice([None, None, *AREAS, "Nowhere"]),
            floor_name=random.choice([None, None, *FLOORS]),
            domains=random.choice(
                [None, None, {"light"}, {"lock", "cover", "switch"}, {"unheard_of"}]
            ),
            device_classes=random.choice([None, None, {"garage", "outlet"}]),
            assistant=random.choice([conversation.DOMAIN, None]),
            allow_duplicate_names=True,
        )
        if constraints.has_constraints:
            seen += bool(found(hass, constraints))
    assert seen > 10


async def test_a_move_or_another_name_of_a_device_is_noticed(
    hass: HomeAssistant,
) -> None:
    await move_in(
        hass,
        """
areas: [{ id: hall, name: Hall }, { id: garden, name: Garden }]
devices: [{ id: chest, name: Chest, area: hall }]
entities: [{ name: Chest Lid, id: cover.lid, device: chest, state: closed }]
""",
    )
    by_name = intent.MatchTargetsConstraints(name="chest lid")
    in_garden = intent.MatchTargetsConstraints(area_name="Garden")
    assert found(hass, by_name) == {"cover.lid"}
    assert found(hass, in_garden) == set()
    entry = er.async_get(hass).async_get("cover.lid")
    garden = ar.async_get(hass).async_get_area_by_name("Garden")
    assert entry
    assert entry.device_id
    assert garden

    dr.async_get(hass).async_update_device(
        entry.device_id, area_id=garden.id, name_by_user="Trunk"
    )

    assert found(hass, by_name) == set()
    assert found(hass, intent.MatchTargetsConstraints(name="trunk lid")) == {
        "cover.lid"
    }
    assert found(hass, in_garden) == {"cover.lid"}
    ar.async_get(hass).async_update(garden.id, name="Yard")
    assert found(hass, in_garden) == set()


async def test_only_what_is_meant_anyway_can_be_found_among_others(
    hass: HomeAssistant,
) -> None:
    await move_in(
        hass,
        """
areas: [{ id: hall, name: Hall }]
entities:
  - { name: Lamp, id: light.lamp, area: hall }
  - { name: Spot, id: light.spot, area: hall }
  - { name: Door, id: lock.door, area: hall }
""",
    )
    lights = intent.MatchTargetsConstraints(area_name="Hall", domains={"light"})

    def found_among(*entity_ids: str) -> list[str]:
        return [state.entity_id for state in matching_states(hass, lights, entity_ids)]

    assert found_among("light.spot", "lock.door", "light.gone") == ["light.spot"]
    assert found_among() == []
