"""No request is answered locally and wrong that a model got right; without a model, only questions cost anything."""

import pytest
from homeassistant.core import HomeAssistant

from tests.behaviour.local_requests.counting import (
    PAGE,
    count_local,
    count_offline,
    try_locally,
)
from tests.behaviour.recorded_runs.runs import read_runs
from tests.support.assist_mini import Home, read_homes

PARAMETERS = [
    pytest.param(home, id=home.name, marks=pytest.mark.thorough if at else ())
    for at, home in enumerate(read_homes())
]

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.mark.parametrize("home", PARAMETERS)
async def test_what_is_answered_locally_is_as_right_as_a_model(
    hass: HomeAssistant, home: Home
) -> None:
    count = count_local(await try_locally(hass, home), read_runs())

    assert count.lost == 0
    assert f"| {' | '.join([home.name, *count.cells()])} |\n" in PAGE.read_text(
        encoding="utf-8"
    ), "run script/local"


@pytest.mark.parametrize("home", PARAMETERS)
async def test_without_a_model_only_questions_are_the_difference(
    hass: HomeAssistant, home: Home
) -> None:
    count = await count_offline(hass, home)

    assert count.unanswered + count.questions >= count.built_in
    assert count.with_yes >= count.built_in
    assert f"| {' | '.join([home.name, *count.cells()])} |\n" in PAGE.read_text(
        encoding="utf-8"
    ), "run script/local"
