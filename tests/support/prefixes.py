"""The common beginning of two requests before a person says anything; and a Home Assistant of its own that asks one.

Run with `python -m tests.prefixes FOLDER`: it moves into the demo home, asks a model
server once, and prints what its request begins with. What differs from one start of
Home Assistant to the next differs from one process to the next.
"""

import tests.support.early_plugin  # noqa: F401  # isort: skip  # before what it is for

import asyncio
import json
import sys

from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.helpers import frame
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from custom_components.chatterbox.const import CONF_BASE_URL, CONF_KIND, ServiceKind
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import is_from_user
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import add_agent, move_into_the_demo_home, say

HELLO = Script(answers=(ScriptedAnswer(content="Hello."),), after_last="start again")


def prefix_of(body: dict[str, JsonValue]) -> str:
    """Return all of a request that comes before the first words of a person, with tools and settings, as it came.

    The wish to be told of progress is left out: a request that is sent ahead does not
    have it, and no model reads it.
    """
    conversation = "input" if "input" in body else "messages"
    messages = body[conversation]
    assert isinstance(messages, list)
    before: list[JsonValue] = []
    for message in messages:
        assert isinstance(message, dict)
        if is_from_user(message):
            break
        before.append(message)
    whole = {name: value for name, value in body.items() if name != "return_progress"}
    return json.dumps({**whole, conversation: before}, ensure_ascii=False)


def words_of(body: dict[str, JsonValue]) -> str:
    """Return the last message of a request, as it came."""
    messages = body["input" if "input" in body else "messages"]
    assert isinstance(messages, list)
    return json.dumps(messages[-1], ensure_ascii=False)


async def _print_prefix(folder: str) -> None:
    scripted = ScriptedChatCompletions(HELLO)
    async with (
        serving(scripted.application()) as address,
        async_test_home_assistant(config_dir=folder) as hass,
    ):
        frame.async_setup(hass)
        hass.data.pop(DATA_CUSTOM_COMPONENTS)
        await move_into_the_demo_home(hass)
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: address,
        }
        await add_agent(
            hass, service, {CONF_MODEL: "scripted-model", CONF_LLM_HASS_API: ["assist"]}
        )
        await say(hass, "hello")
        await hass.async_stop(force=True)
    sys.stdout.write(prefix_of(scripted.requests[-1].body))


if __name__ == "__main__":
    asyncio.run(_print_prefix(sys.argv[1]))
