"""An answer of a model tells what was done, too, if it only tells what was not."""

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import AGENT, LIGHT_ON, Serve, speech

BLINDS = ScriptedCall(
    name="intent__HassTurnOff", arguments={"area": "Kitchen", "domain": ["cover"]}
)
DOOR = ScriptedCall(
    name="intent__HassTurnOff", arguments={"name": "Front Door", "domain": ["lock"]}
)
LOCKED = {"rules": [{"verdict": "deny", "domains": ["lock"]}]}


@pytest.mark.each_row
@pytest.mark.parametrize(
    ("calls", "rules", "answer", "spoken"),
    [
        (
            (LIGHT_ON, BLINDS),
            {},
            "I can't find any blinds.",
            "I can't find any blinds. Done: Kitchen Ceiling Light. That didn't work: Kitchen.",
        ),
        (
            (BLINDS, LIGHT_ON),
            {},
            "I can't find any blinds.",
            "I can't find any blinds. Done: Kitchen Ceiling Light.",
        ),
        ((BLINDS, LIGHT_ON), {}, "", "Done: Kitchen Ceiling Light."),
        (
            (LIGHT_ON, DOOR),
            LOCKED,
            "I may not do that.",
            "I may not do that. Done: Kitchen Ceiling Light.",
        ),
        (
            (LIGHT_ON, DOOR),
            LOCKED,
            "",
            "Done: Kitchen Ceiling Light. The rules of this home don't allow that.",
        ),
        (
            (LIGHT_ON, DOOR),
            {},
            "",
            "Done: Kitchen Ceiling Light. Unlock the Front Door in the Hallway?",
        ),
        (
            (LIGHT_ON, BLINDS),
            {},
            "I turned on the light, but I can't find any blinds.",
            "I turned on the light, but I can't find any blinds. That didn't work: Kitchen.",
        ),
        ((LIGHT_ON,), {}, "The house is yours.", "The house is yours."),
    ],
)
async def test_what_was_done_is_told(  # noqa: PLR0917  # the columns of a table
    hass: HomeAssistant,
    serve: Serve,
    hass_admin_user: MockUser,
    calls: tuple[ScriptedCall, ...],
    rules: dict[str, object],
    answer: str,
    spoken: str,
) -> None:
    await serve(
        Script(
            answers=(ScriptedAnswer(tool_calls=calls), ScriptedAnswer(content=answer))
        ),
        **rules,
    )
    context = Context(user_id=hass_admin_user.id)

    result = await conversation.async_converse(
        hass, "light, blinds and door", None, context, "en", AGENT
    )

    assert speech(result) == spoken
