"""The events that Chatterbox fires are an output: any user can forge one, so nothing in Chatterbox listens to them."""

import ast
import re
from pathlib import Path

from custom_components.chatterbox import const

PRODUCT = Path(const.__file__).parent
OUR_EVENTS = {
    name: value for name, value in vars(const).items() if name.startswith("EVENT_")
}
LISTENING = re.compile(r"async_(?:track|listen)\w*")


def listens_to(source: str) -> set[str]:
    """Return which of our events are an argument of a call that listens."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    listening = (
        call
        for call in calls
        if LISTENING.fullmatch(ast.unparse(call.func).rpartition(".")[2])
    )
    arguments = " ".join(
        ast.unparse(argument) for call in listening for argument in call.args
    )
    return set(re.findall(r"\w+", arguments)) & {*OUR_EVENTS, *OUR_EVENTS.values()}


def test_nothing_listens_to_our_own_events() -> None:
    assert len(OUR_EVENTS) == 6
    assert all(value.startswith(f"{const.DOMAIN}_") for value in OUR_EVENTS.values())
    found = {
        path.name: events
        for path in PRODUCT.rglob("*.py")
        if (events := listens_to(path.read_text()))
    }

    assert found == {}


def test_a_module_that_listens_would_be_found() -> None:
    assert listens_to("hass.bus.async_listen_once(EVENT_CHANGE, tell)") == {
        "EVENT_CHANGE"
    }
    assert listens_to("hass.bus.async_listen('chatterbox_change', tell)") == {
        "chatterbox_change"
    }
    assert listens_to("hass.bus.async_fire(EVENT_CHANGE, {})") == set()
