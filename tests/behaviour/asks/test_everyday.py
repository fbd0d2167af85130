"""People are seldom asked about what they say every day, and the page tells how often."""

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.settings.rules import OutsideCare
from tests.behaviour.asks.counting import PAGE, count_everyday, per_hundred
from tests.behaviour.asks.everyday import REQUESTS
from tests.support.thorough import some

MOST = {OutsideCare.RISKY: 2, OutsideCare.NOTHING: 2, OutsideCare.EVERY_CHANGE: 60}
"""Questions per 100 requests that touch no lock, door or alarm."""


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("care", some(OutsideCare, [OutsideCare.RISKY]))
async def test_everyday_requests_are_seldom_asked_about(
    hass: HomeAssistant, care: OutsideCare
) -> None:
    times = await count_everyday(hass, care)

    assert len(times) == len(REQUESTS) == 60
    assert per_hundred(times, risky=False) <= MOST[care]
    page = PAGE.read_text(encoding="utf-8")
    for risky in (False, True):
        assert f" {per_hundred(times, risky=risky):.1f} |" in page, "run script/asks"
