"""Conversations that become longer than a model can read, or than anybody wants to pay for."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import override

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from homeassistant.components import conversation
from homeassistant.components.conversation import (
    ConversationResult,
    ToolResultContent,
    async_get_chat_log,
)
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, llm
from pydantic import JsonValue

from custom_components.chatterbox.agent.conversation.prompt_fitter import PromptFitter
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_FALLBACKS,
    CONF_KIND,
    DOMAIN,
    ServiceKind,
)
from custom_components.chatterbox.runtime.agents import async_get_models
from tests.support.llm_apis import StubTool, register
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import (
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
)
from tests.support.talk import (
    LIGHT_ON,
    PART,
    Serve,
    add_agent,
    messages_of,
    move_into_the_demo_home,
    say,
    speech,
)
from tests.support.versions import OF_NOBODY

pytestmark = pytest.mark.usefixtures("socket_enabled")

TURNS = 110
ANSWERS = (
    ScriptedAnswer(
        content="It is a quarter past nine, and the sun is shining on the house. " * 3
    ),
    ScriptedAnswer(tool_calls=(LIGHT_ON,)),
    ScriptedAnswer(content="The light in the kitchen is on. " * 2),
)
SAID = {str(answer.content).strip() for answer in ANSWERS}
CHARACTERS_PER_TOKEN = 3


class SmallModelServer(ScriptedChatCompletions):
    """A server whose model reads so many tokens: it refuses longer prompts, and tells the numbers, as OpenAI's does."""

    def __init__(self, script: Script, tokens: int) -> None:
        super().__init__(script)
        self.tokens = tokens
        self.refused = 0

    @override
    def application(self) -> web.Application:
        application = super().application()

        @web.middleware
        async def refuse_long(
            request: web.Request, handler: Handler
        ) -> web.StreamResponse:
            length = tokens_of(await request.text())
            if request.path != self.answer_path or length <= self.tokens:
                return await handler(request)
            self.refused += 1
            message = (
                f"This model's maximum context length is {self.tokens} tokens. However, your messages resulted in"
                f" {length} tokens. Please reduce the length of the messages."
            )
            body = {
                "error": {
                    "message": message,
                    "type": "invalid_request_error",
                    "code": "context_length_exceeded",
                }
            }
            return web.json_response(body, status=400)

        application.middlewares.append(refuse_long)
        return application


def tokens_of(body: str) -> int:
    """Return the tokens of a request, as these servers count them."""
    return len(body) // CHARACTERS_PER_TOKEN


type Start = Callable[..., Awaitable[None]]


@pytest.fixture
async def add(hass: HomeAssistant) -> AsyncGenerator[Start]:
    """Serve model servers until the end of the test, each with an agent; the first one is `conversation.talker`."""
    await move_into_the_demo_home(hass, PART)
    async with AsyncExitStack() as stack:

        async def start(server: ScriptedChatCompletions, **options: object) -> None:
            address = await stack.enter_async_context(serving(server.application()))
            service: dict[str, object] = {
                CONF_KIND: ServiceKind.OPENAI_CHAT,
                CONF_BASE_URL: address,
            }
            defaults: dict[str, object] = {
                CONF_MODEL: "scripted-model",
                CONF_LLM_HASS_API: ["assist"],
            }
            await add_agent(hass, service, defaults | options)

        yield start
        for entry in hass.config_entries.async_loaded_entries(DOMAIN):
            await hass.config_entries.async_unload(entry.entry_id)


def fitter_of(hass: HomeAssistant) -> PromptFitter:
    """Return what stands before the model of the agent that was added last."""
    *_, model = async_get_models(hass).values()
    return model.fitter


LACKS_ROOM = sentence("common.spoken_lacks_room")


def prompts_of(requests: Sequence[ReceivedRequest]) -> list[list[dict[str, JsonValue]]]:
    """Return the messages of those requests with which a turn has begun."""
    return [
        messages
        for request in requests
        if (messages := messages_of(request))[-1]["role"] == "user"
    ]


def kept_share(prompts: Sequence[list[dict[str, JsonValue]]]) -> float:
    """Return the share of prompts that begin with all of the one before."""
    are_prefixes = [
        after[: len(before)] == before for before, after in pairwise(prompts)
    ]
    return sum(are_prefixes) / len(are_prefixes)


@pytest.mark.thorough
async def test_more_than_a_hundred_turns_never_outgrow_the_model(
    hass: HomeAssistant, add: Start
) -> None:
    server = SmallModelServer(Script(answers=ANSWERS, after_last="start again"), 16_384)
    await add(server)
    notices = 0
    for number in range(TURNS):
        answer = speech(
            await say(hass, f"What about room number {number}, is all well in there?")
        ).strip()
        assert answer.removesuffix(LACKS_ROOM).strip() in SAID
        notices += answer.endswith(LACKS_ROOM)

    assert notices == 1
    assert server.refused <= 1
    prompts = prompts_of(server.requests)
    assert len(prompts) == TURNS
    assert kept_share(prompts) >= 0.9
    assert len(prompts[-1]) < TURNS * 3 // 2
    message = str(prompts[-1][1]["content"])
    assert "[Earlier in this conversation, in short:\n" in message
    assert "HassTurnOn" in message
    size = fitter_of(hass).last_size
    assert size is not None
    assert size.window == 16_384
    assert size.dropped
    assert size.prompt < size.window


async def test_earlier_turns_take_no_more_than_the_owner_allows(
    hass: HomeAssistant, add: Start
) -> None:
    server = ScriptedChatCompletions(Script(answers=ANSWERS, after_last="start again"))
    await add(server, history_tokens=1_000)
    for number in range(24):
        await say(hass, f"What about room number {number}?")
    prompts = prompts_of(server.requests)
    assert max(len(json.dumps(prompt[1:])) for prompt in prompts) < 6_000
    assert len(prompts[-1]) < 24
    assert kept_share(prompts) >= 0.75


async def ask_second(hass: HomeAssistant, text: str) -> ConversationResult:
    """Say something to the agent that was added second."""
    return await conversation.async_converse(
        hass, text, "a-talk", Context(), "en", "conversation.talker_2"
    )


async def test_a_smaller_model_that_takes_over_reads_only_the_end(
    hass: HomeAssistant, add: Start
) -> None:
    small = SmallModelServer(
        Script(
            answers=(ScriptedAnswer(content="I am small."),), after_last="start again"
        ),
        6_000,
    )
    await add(small)
    (small_agent,) = async_get_models(hass)
    long = ScriptedAnswer(
        content="".join(
            f"The sun is shining on house {number}. " for number in range(100)
        )
    )
    answers: list[ScriptedAnswer | ScriptedFailure] = [long] * 12
    answers += [ScriptedFailure(status=500)] * 4
    large = ScriptedChatCompletions(Script(answers=tuple(answers)))
    await add(large, **{CONF_FALLBACKS: [small_agent], "history_tokens": 100_000})
    for number in range(12):
        await ask_second(hass, f"What about room number {number}?")
    answer = await ask_second(hass, "And now?")

    assert speech(answer) == f"I am small. {LACKS_ROOM}"
    assert len(messages_of(large.requests[-1])) == 26
    assert len(messages_of(small.requests[-1])) < 12


async def test_what_a_model_can_read_is_found_out(
    hass: HomeAssistant, add: Start
) -> None:
    class Telling(ScriptedChatCompletions):
        @override
        def list_of(self, models: tuple[str, ...]) -> JsonValue:
            return {"data": [{"id": name, "max_model_len": 16_384} for name in models]}

    await add(Telling(Script(answers=(ScriptedAnswer(content="Hello."),))))
    assert fitter_of(hass).context_window == 32_768
    await say(hass, "hello")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert fitter_of(hass).context_window == 16_384


async def test_a_model_reads_a_large_result_in_part_and_the_chat_log_keeps_it_whole(
    hass: HomeAssistant, add: Start
) -> None:
    books: JsonValue = [
        {"title": f"Book {number}", "shelf": "upstairs"} for number in range(9_000)
    ]
    assert isinstance(books, list)
    shelf = StubTool(name="books", answer={"books": books})
    shelf.annotations = llm.ToolAnnotations(read_only=True)
    register(hass, "library", shelf)
    called = ScriptedAnswer(tool_calls=(ScriptedCall(name="books", arguments={}),))
    server = ScriptedChatCompletions(
        Script(
            answers=(
                called,
                ScriptedAnswer(content="Many."),
                ScriptedAnswer(content="Yes."),
            )
        )
    )
    await add(server, **{CONF_LLM_HASS_API: ["library"]})
    await say(hass, "which books do we have?")
    await say(hass, "really?")

    _, first, second = (messages_of(request) for request in server.requests)
    parsed = json.loads(str(first[-1]["content"]))
    assert first[:-1] == second[: len(first) - 1]
    assert len(str(second[len(first) - 1]["content"])) <= 1_000
    assert len(str(first[-1]["content"])) < 100_000
    assert parsed["result"]["books"][:100] == books[:100]
    assert "call books again for less at once; it takes: query." in parsed["left_out"]
    with (
        chat_session.async_get_chat_session(
            hass, "kitchen-talk", **OF_NOBODY
        ) as session,
        async_get_chat_log(hass, session) as log,
    ):
        remaining = [
            content.result.data
            for content in log.content
            if isinstance(content, ToolResultContent)
        ]
    assert remaining == [{"books": books}]


async def test_a_home_of_a_thousand_entities_is_searched_and_not_sent(
    hass: HomeAssistant, serve: Serve
) -> None:
    look = ScriptedCall(
        name="homeassistant__GetLiveContext", arguments={"domain": "sensor"}
    )
    answers = (ScriptedAnswer(tool_calls=(look,)), ScriptedAnswer(content="Too many."))
    server = await serve(Script(answers=answers))
    for number in range(1_000):
        name = f"Датчик 🌡️ Nr. {number} Wohnzimmer links oben"
        hass.states.async_set(
            f"sensor.s{number}",
            "20",
            {"friendly_name": name, "unit_of_measurement": "°C"},
        )
        async_expose_entity(
            hass, conversation.DOMAIN, f"sensor.s{number}", should_expose=True
        )

    await say(hass, "please list all sensors")

    first, second = server.requests
    assert len(json.dumps(first.body, ensure_ascii=False)) < 40_000
    assert "find_entities" in json.dumps(first.body["tools"])
    assert all(len(str(message["content"])) < 40_000 for message in messages_of(second))
