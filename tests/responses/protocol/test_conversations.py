"""Conversations whose items clients keep: who sees them, what they hold, and responses that continue them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import override

import pytest

from custom_components.chatterbox.agent.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolCall,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.responses.protocol.backend import (
    Caller,
    ModelInfo,
    ResponseStore,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.responses.protocol.backend_double import KITCHEN, BackendDouble, MemoryStore
from tests.responses.protocol.service_talk import (
    ask,
    function,
    objects,
    output,
    output_text,
)
from tests.support.doubles import Line, ScriptedProvider, call, say

ANNA = Caller("anna", "token_1")
HELLO: JsonObject = {"role": "user", "content": "Hello!"}
HI: JsonObject = {"role": "assistant", "content": "Hi."}


class Client:
    """A client that keeps one conversation."""

    def __init__(self, *script: list[Line], caller: Caller = ANNA) -> None:
        self.backend = BackendDouble(ScriptedProvider(*script))
        self.now = 1_800_000_000.0
        self.service = ResponsesService(self.backend, clock=lambda: self.now)
        self.caller = caller
        self.id = ""

    async def begin(self, *items: JsonObject, **fields: JsonValue) -> JsonObject:
        made = await self.service.conversations.create(
            json.dumps({"items": [*items], **fields}), self.caller
        )
        self.id = str(made["id"])
        return made

    async def add(self, *items: JsonValue) -> list[JsonObject]:
        body = json.dumps({"items": [*items]})
        return objects(
            (await self.service.conversations.add(self.id, body, self.caller))["data"]
        )

    async def page(self, **query: str) -> JsonObject:
        return await self.service.conversations.list_items(self.id, self.caller, query)

    async def texts(self) -> list[str]:
        listed = objects((await self.page(order="asc"))["data"])
        return [
            str(part["text"]) for item in listed for part in objects(item["content"])
        ]


async def test_a_conversation_holds_what_was_added_in_order() -> None:
    client = Client()

    made = await client.begin(HELLO, metadata={"room": "kitchen"})
    added = await client.add(HI, {"role": "user", "content": "Bye!"})

    assert made == {
        "id": client.id,
        "object": "conversation",
        "created_at": 1_800_000_000,
        "metadata": {"room": "kitchen"},
    }
    assert await client.service.conversations.get(client.id, ANNA) == made
    assert await client.texts() == ["Hello!", "Hi.", "Bye!"]
    newest = await client.page(limit="2")
    assert objects(newest["data"]) == added[::-1]
    assert newest["has_more"] is True
    rest = await client.page(limit="2", after=str(newest["last_id"]))
    assert [item["role"] for item in objects(rest["data"])] == ["user"]
    assert rest["has_more"] is False


async def test_its_metadata_are_replaced_and_its_items_stay() -> None:
    client = Client()
    made = await client.begin(HELLO, metadata={"room": "kitchen"})

    changed = await client.service.conversations.update(
        client.id, '{"metadata": {"floor": "1"}}', ANNA
    )

    assert (
        changed
        == {**made, "metadata": {"floor": "1"}}
        == await client.service.conversations.get(client.id, ANNA)
    )
    assert await client.texts() == ["Hello!"]
    with pytest.raises(ApiError, match="metadata"):
        await client.service.conversations.update(
            client.id, '{"metadata": {"floor": 1}}', ANNA
        )


async def test_one_item_is_read_by_its_id() -> None:
    client = Client()
    await client.begin(HELLO)
    _, last = await client.add(HI, HELLO)

    assert (
        await client.service.conversations.get_item(client.id, str(last["id"]), ANNA)
        == last
    )
    with pytest.raises(ApiError) as error:
        await client.service.conversations.get_item(client.id, "msg_unknown", ANNA)
    assert (error.value.status, error.value.code) == (404, "item_not_found")


async def test_an_empty_conversation_needs_no_body() -> None:
    client = Client()

    client.id = str((await client.service.conversations.create("", ANNA))["id"])

    assert await client.page() == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


async def test_an_item_is_taken_away_and_one_that_comes_again_gets_an_id_of_its_own() -> (
    None
):
    client = Client()
    await client.begin()
    [first] = await client.add({**HELLO, "id": "msg_1"})
    [again] = await client.add({**HELLO, "id": "msg_1"})
    assert first["id"] == "msg_1" != again["id"]

    left = await client.service.conversations.delete_item(client.id, "msg_1", ANNA)

    assert left["id"] == client.id
    assert objects((await client.page())["data"]) == [again]
    with pytest.raises(ApiError, match="No item 'msg_1'") as missing:
        await client.service.conversations.delete_item(client.id, "msg_1", ANNA)
    assert missing.value.status == 404


@pytest.mark.parametrize("other", [Caller("anna", "token_2"), Caller("ben", "token_1")])
async def test_a_conversation_belongs_to_the_token_that_made_it(other: Caller) -> None:
    client = Client(say("Never."))
    await client.begin(HELLO)
    conversations = client.service.conversations
    added = json.dumps({"items": [HI]})

    attempts: list[Callable[[], Awaitable[object]]] = [
        lambda: conversations.get(client.id, other),
        lambda: conversations.list_items(client.id, other, {}),
        lambda: conversations.add(client.id, added, other),
        lambda: conversations.delete_item(client.id, "msg_1", other),
        lambda: conversations.delete(client.id, other),
        lambda: ask(client.service, "And?", other, conversation=client.id),
    ]
    for asking in attempts:
        with pytest.raises(ApiError) as refused:
            await asking()
        assert (refused.value.status, refused.value.code) == (
            404,
            "conversation_not_found",
        )
    assert await client.texts() == ["Hello!"]


async def test_a_conversation_that_was_deleted_is_gone_and_its_responses_stay() -> None:
    client = Client(say("Hi."))
    await client.begin(HELLO)
    await client.add(HI)
    response = await ask(client.service, "And?", ANNA, conversation=client.id)

    deleted = await client.service.conversations.delete(client.id, ANNA)

    assert deleted == {
        "id": client.id,
        "object": "conversation.deleted",
        "deleted": True,
    }
    assert [*client.backend.memory.records] == [response["id"]]
    with pytest.raises(ApiError, match="not found"):
        await client.page()
    with pytest.raises(ApiError, match="not found"):
        await ask(client.service, "And?", ANNA, conversation=client.id)


async def test_an_addition_under_way_does_not_bring_a_deleted_conversation_back() -> (
    None
):
    client = Client()
    await client.begin(HELLO)

    async with asyncio.TaskGroup() as together:
        together.create_task(client.add(HI))
        together.create_task(client.service.conversations.delete(client.id, ANNA))

    assert client.backend.memory.records == {}


async def test_a_response_continues_the_items_and_becomes_part_of_them() -> None:
    client = Client(
        say("Anna."),
        say("You asked for your name."),
        call(ToolCall("c", "show_page", "{}")),
        say("Done."),
    )
    await client.begin({"role": "user", "content": "I am Anna."}, HI)

    await ask(client.service, "Who am I?", ANNA, conversation=client.id)
    await client.add({"role": "user", "content": "Now listen."})
    answer = await ask(client.service, "What did I ask?", ANNA, conversation=client.id)

    assert output_text(answer) == "You asked for your name."
    before = (
        UserMessage("I am Anna."),
        AssistantMessage("Hi."),
        UserMessage("Who am I?"),
        AssistantMessage("Anna."),
    )
    assert client.backend.turns[1].transcript == (
        *before,
        UserMessage("Now listen."),
        UserMessage("What did I ask?"),
    )
    texts = [
        "I am Anna.",
        "Hi.",
        "Who am I?",
        "Anna.",
        "Now listen.",
        "What did I ask?",
        "You asked for your name.",
    ]
    assert await client.texts() == texts

    page: JsonValue = [function("show_page")]
    await ask(client.service, "Show!", ANNA, conversation=client.id, tools=page)
    await ask(
        client.service, [output("c", "shown")], ANNA, conversation=client.id, tools=page
    )
    assert client.backend.turns[-1].transcript[-1] == ToolResult(
        "c", "show_page", "shown", open_world=True
    )


async def test_what_continues_a_response_of_it_knows_what_it_held_then() -> None:
    client = Client(
        say("Anna."), say("Blue."), say("Anna, and blue."), say("I do not know.")
    )
    await client.begin({"role": "user", "content": "I am Anna."})
    client.now += 1
    await ask(client.service, "Who am I?", ANNA, conversation=client.id)
    client.now += 1
    await client.add({"role": "user", "content": "I like blue."})
    client.now += 1
    second = await ask(client.service, "What do I like?", ANNA, conversation=client.id)
    client.now += 1
    await client.add({"role": "user", "content": "Now I like red."})
    client.now += 1

    await ask(client.service, "Say it again.", ANNA, previous_response_id=second["id"])
    await ask(
        client.service,
        "And again.",
        Caller("anna", "token_2"),
        previous_response_id=second["id"],
    )

    answered = (
        *(UserMessage("Who am I?"), AssistantMessage("Anna.")),
        *(UserMessage("What do I like?"), AssistantMessage("Blue.")),
    )
    assert client.backend.turns[2].transcript == (
        *(
            UserMessage("I am Anna."),
            *answered[:2],
            UserMessage("I like blue."),
            *answered[2:],
        ),
        UserMessage("Say it again."),
    )
    assert client.backend.turns[3].transcript == (*answered, UserMessage("And again."))
    assert len(await client.texts()) == 7, "what leaves it is no part of it"


class TwoServices(BackendDouble):
    """A service with an agent and a database more, which comes first."""

    def __init__(self) -> None:
        super().__init__()
        self.later = MemoryStore()

    def add_service(self) -> None:
        self.cards.insert(0, ModelInfo("conversation.attic", 0))

    @override
    def store(self, agent: str) -> ResponseStore | None:
        return self.later if agent == "conversation.attic" else self.memory

    @override
    def stores(self) -> list[ResponseStore]:
        return [self.later, self.memory]


async def test_what_is_added_is_stored_beside_its_conversation() -> None:
    client, backend = Client(), TwoServices()
    client.service = ResponsesService(backend)
    await client.begin(HELLO)
    backend.add_service()

    [first, _] = await client.add(HI, {"role": "user", "content": "Bye!"})
    await client.service.conversations.delete_item(client.id, str(first["id"]), ANNA)

    assert backend.later.records == {}
    assert await client.texts() == ["Hello!", "Bye!"]
    backend.later.is_down = True
    await client.add(HI)
    assert await client.texts() == ["Hello!", "Bye!", "Hi."]
    backend.cards = backend.cards[:1]
    with pytest.raises(ApiError, match="is gone"):
        await client.add(HI)


async def test_a_response_that_failed_is_no_part_of_it() -> None:
    client = Client()
    await client.begin(HELLO)

    failed = await client.service.create(
        json.dumps(
            {
                "model": KITCHEN,
                "input": "And?",
                "tools": [],
                "conversation": client.id,
                "background": True,
            }
        ),
        ANNA,
    )
    await client.backend.shut_down()

    assert isinstance(failed, dict)
    assert await client.texts() == ["Hello!"]


async def test_items_that_nobody_can_read_are_refused_when_they_are_added_or_when_they_are_read() -> (
    None
):
    client = Client(say("Never."))
    await client.begin()
    wrong: Mapping[str, JsonValue] = {
        "items[0]": 5,
        "input[0].type": {"type": "unheard_of"},
    }
    for item in wrong.values():
        with pytest.raises(ApiError) as refused:
            await client.add(item)
        assert refused.value.status == 400
    with pytest.raises(ApiError, match="Unknown parameter: 'colour'"):
        await client.service.conversations.create('{"colour": "red"}', ANNA)

    await client.add(
        {"type": "compaction", "encrypted_content": "made before a restart"}
    )
    with pytest.raises(ApiError, match="cannot be continued") as unread:
        await ask(client.service, "And?", ANNA, conversation=client.id)
    assert unread.value.param == "conversation"


async def test_a_conversation_has_an_end() -> None:
    client = Client()
    await client.begin()
    await client.add(*[HELLO] * 2_040)

    with pytest.raises(ApiError, match="up to 2048 items") as full:
        await client.add(*[HELLO] * 9)
    assert full.value.code == "conversation_full"
    await client.add(*[HELLO] * 8)


async def test_it_is_kept_from_its_last_addition_on() -> None:
    client = Client()
    await client.begin()
    client.now += 1_000

    await client.add(HELLO)

    assert client.backend.memory.records[client.id].created_at == client.now
    assert (await client.service.conversations.get(client.id, ANNA))[
        "created_at"
    ] == 1_800_000_000


async def test_what_is_kept_is_no_response() -> None:
    client = Client()
    await client.begin(HELLO)

    for stored in client.backend.memory.records:
        with pytest.raises(ApiError, match="not found"):
            await client.service.get(stored, ANNA, {})
        with pytest.raises(ApiError, match="not found"):
            await ask(client.service, "And?", ANNA, previous_response_id=stored)


async def test_agents_that_store_nothing_have_none() -> None:
    backend = BackendDouble(cards=[ModelInfo(KITCHEN, 0, stores_responses=False)])

    with pytest.raises(ApiError, match="No agent stores anything"):
        await ResponsesService(backend).conversations.create("{}", ANNA)
