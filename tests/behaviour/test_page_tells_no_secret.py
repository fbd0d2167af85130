"""No command of the page tells a PIN, a key or words that were withheld, or anything to a user without rights."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockUser
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.evaluate.trials import async_get_trials
from tests.evaluate.conftest import evaluate
from tests.panel.conftest import OpenPage
from tests.support.config_entries import offline_entry, set_up
from tests.support.servers.in_process import serving_script
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.talk import (
    PART,
    UNLOCK,
    add_agent,
    locks_need,
    move_into_the_demo_home,
    say,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

PIN, KEY, WITHHELD = "8593614207", "sk-a-key-of-a-service", "nobody-may-read-it"
AGENT: Final[dict[str, object]] = {
    "model": "scripted-model",
    "llm_hass_api": ["assist"],
    "user_prompt_submit": "script.judge",
    **locks_need(PIN),
}
JUDGE: Final[list[dict[str, object]]] = [
    {
        "variables": {
            "answer": {
                "decision": f"{{{{ 'deny' if '{WITHHELD}' in text else 'allow' }}}}"
            }
        }
    },
    {"stop": "decided", "response_variable": "answer"},
]
LEAKY = ScriptedCall(
    name="HassTurnOn",
    arguments={"name": "Kitchen ceiling light", "code": PIN, "area": KEY},
)
NAMED = ScriptedCall(name="HassTurnOn", arguments={"name": KEY})
REPEATED = (
    ScriptedAnswer(tool_calls=(LEAKY, NAMED)),
    ScriptedAnswer(content=f"I was told {KEY}."),
)
ANSWERS = (
    *(ScriptedAnswer(tool_calls=(UNLOCK,)), ScriptedAnswer(content="Come in.")),
    *REPEATED,
    ScriptedAnswer(tool_calls=(UNLOCK,)),
    *(REPEATED * 3),
)

COMMANDS: Final[dict[str, dict[str, object]]] = {
    "page": {},
    "page/share": {"everyone": True},
    "now/subscribe": {},
    "question/answer": {"question_id": "a", "approved": True, "password": PIN},
    "plan/change": {"plan_id": "a", "text": "a"},
    "plan/automation": {"plan_id": "a"},
    "plan/cancel": {"plan_id": "a"},
    "turns/list": {"limit": 200},
    "turns/get": {},
    "turns/report": {},
    "turns/subscribe": {},
    "permissions/get": {"language": "en"},
    "permissions/subscribe": {},
    "permissions/tools": {},
    "permissions/devices": {"language": "en"},
    "permissions/choose": {
        "language": "en",
        "version": "a",
        "entity_id": "lock.front_door",
        "verdict": "ask",
    },
    "permissions/set_rules": {"language": "en", "version": "a", "rules": []},
    "permissions/set_pin": {
        "language": "en",
        "version": "a",
        "new_password": PIN,
        "uses": ["unlock"],
    },
    "permissions/try": {"language": "en", "sentence": "light!", "agent": "a"},
    "evaluate/preview": {},
    "evaluate/start": {"requests": 1},
    "evaluate/result": {"result_id": ""},
    "evaluate/subscribe": {},
    "evaluate/stop": {},
    "turns/delete": {},
}
"""The fields of each command, in this order."""


OF_A_TURN: Final = {"turns/get", "turns/report", "turns/delete"}
OF_RULES: Final = {
    f"permissions/{name}" for name in ("get", "choose", "set_rules", "set_pin")
}
"""Each returns the rules with their version, of which the next one is a change."""
SUCCEEDING: Final = {
    command for command in COMMANDS if command.startswith(("permissions/", "evaluate/"))
}
SECRETS: Final = (PIN, KEY, WITHHELD, "scrypt", "digest")


async def test_no_command_tells_a_secret(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator, hass_admin_user: MockUser
) -> None:
    await move_into_the_demo_home(hass, PART)
    assert await async_setup_component(
        hass, "script", {"script": {"judge": {"sequence": JUDGE}}}
    )
    async with serving_script(Script(answers=ANSWERS)) as address:
        service: dict[str, object] = {
            CONF_KIND: ServiceKind.OPENAI_CHAT,
            CONF_BASE_URL: address,
            "api_key": KEY,
        }
        await add_agent(hass, service, AGENT)
        for words in (
            "unlock the front door",
            PIN,
            "light!",
            f"It is {WITHHELD}",
            "unlock the front door",
        ):
            await say(hass, words, context=Context(user_id=hass_admin_user.id))
        assert {f"{DOMAIN}/{one}" for one in COMMANDS} == {
            one for one in hass.data["websocket_api"] if one.startswith(f"{DOMAIN}/")
        }
        page = OpenPage(await hass_ws_client(hass))
        turns = [row["id"] for row in (await page.ask("turns/list"))["turns"]]
        assert len(turns) == 5
        assert (
            len(
                [
                    turn
                    for turn in turns
                    if (await page.ask("turns/get", turn_id=turn))["withheld"]
                ]
            )
            == 2
        )

        (agent,) = (one["id"] for one in (await page.ask("page"))["agents"])
        version = result_id = ""
        for command, data in COMMANDS.items():
            known = {"version": version, "agent": agent, "result_id": result_id}
            ids = {name: value for name, value in known.items() if name in data}
            for turn in turns if command in OF_A_TURN else [""]:
                message = await answer(
                    page, command, **(data | ids), **({"turn_id": turn} if turn else {})
                )
                assert message["success"] or command not in SUCCEEDING, (
                    f"{command}: {message}"
                )
                version = (
                    message["result"]["version"] if command in OF_RULES else version
                )
                if (trial := async_get_trials(hass).running) and trial.task:
                    await trial.task
                    result_id = trial.id
        assert leaked(await evaluate(hass, requests=1)) == []


async def test_a_user_without_rights_gets_nothing(
    hass: HomeAssistant,
    hass_ws_client: WebSocketGenerator,
    hass_read_only_access_token: str,
) -> None:
    await set_up(hass, offline_entry())
    page = OpenPage(await hass_ws_client(hass, hass_read_only_access_token))

    for command, data in COMMANDS.items():
        fields = {"turn_id": "a", **data} if command in OF_A_TURN else data
        assert await page.error(command, **fields) == "unauthorized", command


def leaked(data: object) -> list[str]:
    """Return the secrets in an answer."""
    return [secret for secret in SECRETS if secret in json.dumps(data)]


async def answer(page: OpenPage, command: str, **data: object) -> Mapping[str, Any]:
    """Send a command, look for secrets in its answer and in all events before it, and return the answer."""
    await page.client.send_json_auto_id({"type": f"{DOMAIN}/{command}", **data})
    while True:
        message = await page.client.receive_json()
        assert leaked(message) == [], f"{command}: {message}"
        if message["type"] == "result":
            return dict(message)
