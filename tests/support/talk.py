"""Talking with an agent in the demo home, as Home Assistant and its pipeline do."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol

import yaml
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    Content,
    ConversationInput,
    ConversationResult,
    ToolResultContent,
    UserContent,
)
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
from homeassistant.setup import async_setup_component
from pydantic import JsonValue
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket

from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_FALLBACKS,
    CONF_KIND,
    CONF_LOCAL_COMMANDS,
    CONF_SERVER,
    DOMAIN,
    SUBENTRY_CONVERSATION,
    ServiceKind,
)
from custom_components.chatterbox.settings.pin_hash import HashCost, PinHash
from tests.demo_house.move_in import move_in
from tests.support.home_rules import set_home_rules, split
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer, ScriptedCall
from tests.support.versions import OF_NOBODY

AGENT = "conversation.talker"
SATELLITE = "assist_satellite.kitchen"
DOOR = "lock.front_door"
LIGHT = "light.kitchen_ceiling"
LIGHT_ON = ScriptedCall(
    name="HassTurnOn", arguments={"name": "Kitchen ceiling light", "domain": "light"}
)
BLINDS_DOWN = ScriptedCall(
    name="intent__HassTurnOff",
    arguments={"name": "Living Room Blinds", "domain": ["cover"]},
)
UNLOCK = ScriptedCall(
    name="HassTurnOff", arguments={"name": "Front Door", "domain": "lock"}
)
QUESTION = "Unlock the Front Door in the Hallway?"
ASKS = ScriptedAnswer(tool_calls=(UNLOCK,))
UNLOCKS = Script(answers=(ASKS, ScriptedAnswer(content="Come in.")))
NOT_DONE = "As far as I can tell, that wasn't done."
"""The end of an answer if all that the model tried has failed."""
DEMO_HOUSE = Path(__file__).resolve().parents[2] / "demo" / "home.yaml"


PART = frozenset(
    {
        LIGHT,
        DOOR,
        "climate.living_room",
        "cover.garage_door",
        "cover.living_room_blinds",
        "light.bedroom",
        "light.floor_lamp",
        "light.garden",
        "light.kitchen_counter",
        "light.living_room_ceiling",
        "switch.coffee_machine",
        "todo.shopping_list",
    }
)
"""The entities of the demo home that most tests need."""


class Serve(Protocol):
    """Starts a server that plays a script, and an agent with these options."""

    async def __call__(
        self, script: Script, **options: object
    ) -> ScriptedChatCompletions:
        """Return the server, to ask it what it was sent."""


async def move_into_the_demo_home(
    hass: HomeAssistant, only: frozenset[str] | None = None
) -> None:
    """Set up the home around an agent, with all entities or only some."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    await move_in(hass, _home_with(only))


@cache
def _home_with(only: frozenset[str] | None) -> str:
    """Return the file of the demo home, with these entities and their devices."""
    text = DEMO_HOUSE.read_text(encoding="utf-8")
    if only is None:
        return text
    home = yaml.load(text, yaml.CSafeLoader)
    entities = [one for one in home["entities"] if one["id"] in only]
    needed = {one.get("device") for one in entities}
    devices = [one for one in home["devices"] if one["id"] in needed]
    part = home | {"devices": devices, "entities": entities}
    return yaml.dump(part, Dumper=yaml.CSafeDumper)


async def add_agent(
    hass: HomeAssistant, service: dict[str, object], options: dict[str, object]
) -> None:
    """Set up a service with one agent, whose model gets all requests unless the options say otherwise.

    Rules of the home among the options are those of the home.
    """
    rules, options = split({CONF_LOCAL_COMMANDS: "never", **options})
    await set_home_rules(hass, **rules)
    entry = MockConfigEntry(
        domain=DOMAIN,
        data=service,
        subentries_data=[
            {
                "subentry_type": SUBENTRY_CONVERSATION,
                "title": "Talker",
                "unique_id": None,
                "data": options,
            }
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)


async def add_agents(
    hass: HomeAssistant,
    address: str,
    names: Sequence[str],
    fallbacks: Sequence[str] = (),
    server: str = "",
    /,
    **options: object,
) -> MockConfigEntry:
    """Set up a service whose agents have their names as ids, and fall back on the same others.

    An empty `server` is that of a service which was made before services said which
    server it is.
    """
    data = {
        CONF_MODEL: "scripted-model",
        CONF_LLM_HASS_API: ["assist"],
        CONF_FALLBACKS: list(fallbacks),
        **options,
    }
    data = {CONF_LOCAL_COMMANDS: "never", **data}
    entry = MockConfigEntry(
        domain=DOMAIN,
        data={CONF_KIND: ServiceKind.OPENAI_CHAT, CONF_BASE_URL: address}
        | ({CONF_SERVER: server} if server else {}),
        subentries_data=[
            {
                "subentry_type": SUBENTRY_CONVERSATION,
                "subentry_id": name,
                "title": name.capitalize(),
                "unique_id": None,
                "data": data,
            }
            for name in names
        ],
    )
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    return entry


async def say(
    hass: HomeAssistant,
    text: str,
    conversation_id: str = "kitchen-talk",
    satellite_id: str | None = None,
    agent_id: str = AGENT,
    *,
    language: str = "en",
    context: Context | None = None,
) -> ConversationResult:
    """Say something to the agent."""
    return await conversation.async_converse(
        hass,
        text,
        conversation_id,
        context or Context(),
        language,
        agent_id,
        satellite_id=satellite_id,
    )


def locks_need(pin: str) -> dict[str, object]:
    """Return the options of a home with a PIN, without which no lock is touched."""
    return {
        "pin": PinHash.of(pin, HashCost(2, 1)).as_json(),
        "rules": [{"verdict": "pin", "domains": ["lock"]}],
    }


def speech(result: ConversationResult) -> str:
    """Return what is spoken."""
    return str(result.response.speech["plain"]["speech"])


def messages_of(request: ReceivedRequest) -> list[dict[str, JsonValue]]:
    """Return the messages of a request to the server."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return [message for message in messages if isinstance(message, dict)]


def assert_no_orphans(contents: Sequence[Content]) -> None:
    """Every call has one result, and every result a call."""
    calls = [
        call.id
        for content in contents
        if isinstance(content, AssistantContent)
        for call in content.tool_calls or ()
    ]
    results = [
        content.tool_call_id
        for content in contents
        if isinstance(content, ToolResultContent)
    ]
    assert calls == results


@contextmanager
def talking(
    hass: HomeAssistant, text: str, conversation_id: str = "a-talk"
) -> Generator[ChatLog]:
    """Open the ChatLog for a turn with these words."""
    with (
        chat_session.async_get_chat_session(
            hass, conversation_id, **OF_NOBODY
        ) as session,
        conversation.async_get_chat_log(hass, session) as chat_log,
    ):
        chat_log.async_add_user_content(UserContent(text))
        yield chat_log


type Listener = Callable[[ChatLog, dict[str, object]], None]


async def talk_as_the_pipeline_does(
    hass: HomeAssistant,
    text: str,
    conversation_id: str,
    listener: Listener,
    satellite_id: str | None = None,
) -> ConversationResult:
    """Open session and ChatLog around the turn, and listen to its deltas."""
    user_input = ConversationInput(
        text, Context(), conversation_id, None, satellite_id, "en", AGENT
    )
    with (
        chat_session.async_get_chat_session(
            hass, conversation_id, **OF_NOBODY
        ) as session,
        conversation.async_get_chat_log(
            hass, session, user_input, chat_log_delta_listener=listener
        ),
    ):
        return await say(hass, text, conversation_id, satellite_id)


async def type_in_dialog(
    client: MockHAClientWebSocket, text: str, conversation_id: str | None = None
) -> str:
    """Write in Home Assistant's dialog, and return the id of the conversation, which the dialog sends next time."""
    run = {
        "start_stage": "intent",
        "end_stage": "intent",
        "input": {"text": text},
        "conversation_id": conversation_id,
    }
    await client.send_json_auto_id({"type": "assist_pipeline/run", **run})
    assert (await client.receive_json())["success"]
    while (event := (await client.receive_json())["event"])["type"] != "intent-end":
        pass
    assert (await client.receive_json())["event"]["type"] == "run-end"
    return str(event["data"]["intent_output"]["conversation_id"])
