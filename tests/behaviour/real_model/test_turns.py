"""Turns on a real llama.cpp server: given texts, noise, calls, loops, several turns at once, and a server that ends."""

import asyncio

import aiohttp
import pytest
from homeassistant.components.conversation import AssistantContent, ChatLog
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from pydantic import BaseModel, TypeAdapter

from custom_components.chatterbox.const import DOMAIN
from tests.behaviour.real_model.conftest import Llama
from tests.support.listening_room import StreamingVoice, furnish
from tests.support.sentences import sentence
from tests.support.servers.llama_cpp.process import (
    LlamaServer,
    LlamaSetup,
    llama_server,
)
from tests.support.talk import (
    LIGHT,
    assert_no_orphans,
    say,
    speech,
    talk_as_the_pipeline_does,
    talking,
)
from tests.support.tasks import have_done, task_entry

pytestmark = [pytest.mark.usefixtures("socket_enabled"), pytest.mark.timeout(90)]

ON = '{"name": "HassTurnOn", "arguments": {"name": "Kitchen ceiling light", "domain": "light"}}'
CALLS = {"\n": f"<tool_call>\n{ON}\n</tool_call>", "\n\n": "The kitchen is lit now."}
MISSPELT = {
    "\n": '<tool_call>\n{"name": "HassTurnUp',
    "\n\n": "I have tried it.",
}
WARM = {"\n": "The kitchen is warm, and the light is off."}
MARKUP = ("<tool_call>", "<|im_", "</context>", "<context>", '"name":', '"arguments":')


class Slot(BaseModel):
    """The state of the slot of a server."""

    is_processing: bool
    n_prompt_tokens: int
    """Tokens of the prompt and of the answer so far."""


def states_of(hass: HomeAssistant) -> dict[str, str]:
    """Return the states of the home."""
    return {
        one.entity_id: one.state
        for one in hass.states.async_all()
        if one.domain != "conversation"
    }


async def slot_of(server: LlamaServer) -> Slot:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{server.url}/slots") as response,
    ):
        (slot,) = TypeAdapter(list[Slot]).validate_json(await response.read())
        return slot


class HeardAnswer:
    """An answer as it is written."""

    def __init__(self) -> None:
        self.text = ""
        self._more = asyncio.Event()

    def listen(self, _log: ChatLog, delta: dict[str, object]) -> None:
        self.text += str(delta.get("content") or "")
        self._more.set()

    async def has(self, characters: int) -> None:
        """Wait for so many characters."""
        while len(self.text) < characters:
            self._more.clear()
            await self._more.wait()


async def freed(server: LlamaServer) -> Slot:
    """Return the state of the slot once it is free."""
    while (slot := await slot_of(server)).is_processing:
        pass
    return slot


def assert_sane(hass: HomeAssistant, conversation_id: str = "kitchen-talk") -> None:
    """Each call has a result, and nothing of the model's markup is in its words."""
    with talking(hass, "And now?", conversation_id) as chat_log:
        contents = chat_log.content[1:]
    assert_no_orphans(contents)
    for content in contents:
        if isinstance(content, AssistantContent):
            assert not any(part in (content.content or "") for part in MARKUP)


async def test_words_and_a_call(hass: HomeAssistant, llama: Llama) -> None:
    await llama(LlamaSetup(CALLS))

    result = await say(hass, "turn on the kitchen light")

    assert speech(result) == "The kitchen is lit now."
    assert hass.states.is_state(LIGHT, "on")
    assert_sane(hass)


@pytest.mark.thorough
async def test_a_call_arrives_from_a_template_without_tools(
    hass: HomeAssistant, llama: Llama
) -> None:
    """The server hands it on as words."""
    await llama(LlamaSetup(CALLS, shows_tools=False))

    result = await say(hass, "turn on the kitchen light")

    assert speech(result) == "The kitchen is lit now."
    assert hass.states.is_state(LIGHT, "on")
    assert_sane(hass)


@pytest.mark.thorough
async def test_an_answer_is_heard_while_it_is_written_until_someone_interrupts(
    hass: HomeAssistant, llama: Llama
) -> None:
    """The noise of the model would end with the context."""
    setup = LlamaSetup(endless=True)
    server = await llama(setup)
    room = await furnish(hass, StreamingVoice())

    for words in ("tell me a story", "tell it again"):
        turn = hass.async_create_task(room.say(words, "kitchen-talk"))
        await room.hear("]")
        assert (await slot_of(server)).is_processing

        turn.cancel()
        room.fall_silent()
        assert (await freed(server)).n_prompt_tokens < setup.context - 1000

    assert_sane(hass)


@pytest.mark.thorough
async def test_two_turns_at_once_share_a_slot(
    hass: HomeAssistant, llama: Llama
) -> None:
    await llama(LlamaSetup(CALLS))

    results = await asyncio.gather(
        *(
            say(hass, "turn on the kitchen light", talk)
            for talk in ("kitchen-talk", "bedroom-talk")
        )
    )

    assert [speech(result) for result in results] == ["The kitchen is lit now."] * 2
    assert_sane(hass)
    assert_sane(hass, "bedroom-talk")


async def test_a_home_that_does_not_fit_the_context_is_told_and_acts_without_the_model(
    hass: HomeAssistant, llama: Llama
) -> None:
    await llama(LlamaSetup(WARM, context=2048))

    results = [
        speech(await say(hass, text))
        for text in ("turn on the kitchen light", "what is love?")
    ]

    assert all(
        result.startswith("That's more than my language model can read at once. ")
        for result in results
    )
    assert hass.states.is_state(LIGHT, "on")
    issues = {
        one.translation_key: one
        for one in ir.async_get(hass).issues.values()
        if one.domain == DOMAIN
    }
    assert [*issues] == ["prompt_too_long"]
    issue = issues["prompt_too_long"]
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["window_tokens"] == "2\u202f048"


@pytest.mark.thorough
async def test_a_long_conversation_is_shortened(
    hass: HomeAssistant, llama: Llama
) -> None:
    await llama(LlamaSetup(WARM, context=6144))

    answers = [
        speech(
            await say(
                hass,
                f"{number}. Remember this: "
                + f"The lamp {number} is blue, green or red. " * 50,
            )
        )
        for number in range(8)
    ]

    notices = [answer for answer in answers if answer != WARM["\n"]]
    assert notices == [f"{WARM['\n']} {sentence('common.spoken_lacks_room')}"]


@pytest.mark.thorough
async def test_a_server_that_ends_in_mid_answer_and_comes_back(
    hass: HomeAssistant, llama: Llama
) -> None:
    server = await llama(LlamaSetup(endless=True))
    answer = HeardAnswer()
    turn = hass.async_create_task(
        talk_as_the_pipeline_does(
            hass, "tell me a story", "kitchen-talk", answer.listen
        )
    )
    await answer.has(300)

    server.process.kill()
    cut = speech(await turn)
    down = [speech(await say(hass, "what is love?")) for _ in range(3)]
    async with llama_server(LlamaSetup(WARM, port=server.port)):
        up = speech(await say(hass, "how warm is it?"))

    assert cut.endswith("I lost the connection to the language model.")
    assert all(answer.startswith("I can't reach my language model.") for answer in down)
    assert up == WARM["\n"]
    assert_sane(hass)


@pytest.mark.thorough
async def test_a_loop_is_spoken_once(hass: HomeAssistant, llama: Llama) -> None:
    sentence = "The kitchen is warm, and the light is off. "
    server = await llama(LlamaSetup({"\n": sentence}, endless=True))

    result = await say(hass, "how warm is it?")

    assert speech(result) == sentence
    assert (await freed(server)).n_prompt_tokens < 8000


@pytest.mark.thorough
@pytest.mark.parametrize("shows_tools", [True, False])
async def test_noise_is_spoken_and_ends(
    hass: HomeAssistant, llama: Llama, *, shows_tools: bool
) -> None:
    await llama(LlamaSetup(shows_tools=shows_tools), max_tokens=300)
    before = states_of(hass)

    for _ in range(3):
        assert speech(await say(hass, "how are you?")).strip()

    assert states_of(hass) == before
    assert_sane(hass)


@pytest.mark.thorough
async def test_a_call_that_is_cut_does_nothing(
    hass: HomeAssistant, llama: Llama
) -> None:
    """From a tool that is not offered, the grammar of the server leads to a call of another, with any arguments."""
    await llama(LlamaSetup(MISSPELT), max_tokens=20)
    before = states_of(hass)

    result = await say(hass, "how are you?")

    assert (
        speech(result)
        == "My answer got too long and was cut off. Please ask for a shorter one."
    )
    assert states_of(hass) == before
    assert_sane(hass)


@pytest.mark.thorough
async def test_a_task_gets_data_of_its_structure(
    hass: HomeAssistant, llama: Llama
) -> None:
    """The grammar of the server makes noise fit, except for numbers, whose bounds it does not know."""
    server = await llama(LlamaSetup())
    entry = task_entry(server.url, server="llama_cpp")
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    rooms = ["Kitchen", "Bedroom", "Hallway"]
    room = {"required": True, "selector": {"select": {"options": rooms}}}
    others = {
        "required": True,
        "selector": {"select": {"options": rooms, "multiple": True}},
    }

    answer = await have_done(
        hass,
        structure={
            "room": room,
            "others": others,
            "is_lit": {"selector": {"boolean": {}}},
        },
    )

    assert answer["room"] in rooms
    assert {*answer["others"]} <= {*rooms}
    assert isinstance(answer.get("is_lit"), bool | None)
