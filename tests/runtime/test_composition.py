"""An agent is built with the settings of its entry."""

from homeassistant.core import HomeAssistant

from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
)
from tests.support.talk import (
    LIGHT_ON,
    Serve,
    say,
)


async def test_an_agent_keeps_its_own_limits(hass: HomeAssistant, serve: Serve) -> None:
    server = await serve(
        Script(
            answers=(
                ScriptedAnswer(tool_calls=(LIGHT_ON,)),
                ScriptedAnswer(content="It is on."),
            )
        ),
        max_iterations=2,
    )
    await say(hass, "light!")

    assert [request.body.get("tool_choice") for request in server.requests] == [
        None,
        "none",
    ]
