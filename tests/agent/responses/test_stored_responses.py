"""Reading, paging and forgetting what is stored, each caller its own."""

from dataclasses import replace
from typing import override

import pytest

from custom_components.chatterbox.agent.messages import JsonValue
from custom_components.chatterbox.agent.responses.backend import ResponseStore
from custom_components.chatterbox.agent.responses.errors import ApiError
from custom_components.chatterbox.agent.responses.service import ResponsesService
from tests.agent.responses.backend_double import ANNA, BEN, BackendDouble, MemoryStore
from tests.agent.responses.service_talk import ask, objects, read, said
from tests.support.doubles import ScriptedProvider, say


class TwoStores(BackendDouble):
    """A backend that has another store, which holds nothing."""

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider)
        self.other = MemoryStore()

    @override
    def stores(self) -> list[ResponseStore]:
        return [self.other, self.memory]


async def test_a_response_is_read_as_it_was_told() -> None:
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))

    response = await ask(service)

    assert await read(service, response["id"]) == response


async def test_a_response_of_somebody_else_is_not_there() -> None:
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))
    response_id = str((await ask(service))["id"])

    for asked in (
        service.get(response_id, BEN, {}),
        service.delete(response_id, BEN),
        service.cancel(response_id, BEN),
        service.input_items(response_id, BEN, {}),
        service.get("resp_0", ANNA, {}),
    ):
        with pytest.raises(ApiError, match="not found") as missing:
            await asked
        assert (missing.value.status, missing.value.param) == (404, "response_id")
    await read(service, response_id)


async def test_a_deleted_response_is_gone() -> None:
    backend = BackendDouble(ScriptedProvider(say("Hello.")))
    service = ResponsesService(backend)
    response_id = str((await ask(service))["id"])

    deleted = await service.delete(response_id, ANNA)

    assert deleted == {"id": response_id, "object": "response", "deleted": True}
    assert backend.memory.records == {}
    with pytest.raises(ApiError):
        await service.delete(response_id, ANNA)


async def test_input_is_paged() -> None:
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))
    sent: JsonValue = [{"role": "user", "content": str(number), "id": f"m{number}"} for number in range(5)]
    response_id = str((await ask(service, sent))["id"])

    async def page(**query: str) -> tuple[list[JsonValue], JsonValue, JsonValue, JsonValue]:
        listed = await service.input_items(response_id, ANNA, query)
        assert listed["object"] == "list"
        ids = [item["id"] for item in objects(listed["data"])]
        return ids, listed["first_id"], listed["last_id"], listed["has_more"]

    assert await page() == (["m4", "m3", "m2", "m1", "m0"], "m4", "m0", False)
    assert await page(limit="2", order="asc") == (["m0", "m1"], "m0", "m1", True)
    assert await page(limit="2", order="asc", after="m1") == (["m2", "m3"], "m2", "m3", True)
    assert await page(limit="2", after="m1") == (["m0"], "m0", "m0", False)
    assert await page(after="m0", order="desc") == ([], None, None, False)
    assert (await page(limit="100"))[3] is False


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "²"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "nobody"}, "after"),
    ],
)
async def test_a_page_that_there_cannot_be_is_refused(query: dict[str, str], param: str) -> None:
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError) as refused:
        await service.input_items(response_id, ANNA, query)
    assert (refused.value.status, refused.value.param) == (400, param)


@pytest.mark.parametrize(
    ("query", "param"),
    [({"stream": "true"}, "stream"), ({"stream": "yes"}, "stream"), ({"starting_after": "1"}, "starting_after")],
)
async def test_only_what_is_made_in_the_background_is_streamed_again(query: dict[str, str], param: str) -> None:
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError) as refused:
        await service.get(response_id, ANNA, query)
    assert (refused.value.status, refused.value.param) == (400, param)


async def test_a_response_is_found_in_whichever_store_it_is() -> None:
    backend = TwoStores(ScriptedProvider(say("Bye."), say("Hello."), say("Again.")))
    service = ResponsesService(backend)
    assert (await service.delete(str((await ask(service))["id"]), ANNA))["deleted"] is True
    response = await ask(service)
    backend.other.is_down = True

    assert await read(service, response["id"]) == response
    assert said(await ask(service, previous_response_id=response["id"])) == "Again."
    assert (await service.delete(str(response["id"]), ANNA))["deleted"] is True
    with pytest.raises(ApiError) as trouble:
        await read(service, "resp_0")
    assert (trouble.value.status, trouble.value.code) == (503, "store_unavailable")
    backend.other.is_down, backend.memory.is_down = False, True
    with pytest.raises(ApiError) as unknown:
        await ask(service, conversation="conv_1")
    assert unknown.value.status == 503


async def test_what_cannot_be_deleted_is_not_said_to_be_gone() -> None:
    """A response in the background, whose store goes down while it is made."""
    backend = TwoStores(ScriptedProvider(say("Hello.")))
    service = ResponsesService(backend)
    response = await ask(service, background=True)
    backend.other.is_down = backend.memory.is_down = True

    with pytest.raises(ApiError) as trouble:
        await service.delete(str(response["id"]), ANNA)
    assert trouble.value.status == 503
    await backend.shut_down()


async def test_a_conversation_whose_responses_cannot_be_read_is_not_gone_on_with() -> None:
    backend = TwoStores(ScriptedProvider())
    backend.other.is_down = True

    with pytest.raises(ApiError) as trouble:
        await ask(ResponsesService(backend), conversation="conv_1")
    assert trouble.value.status == 503


async def test_a_response_that_nobody_works_on_any_more_has_failed() -> None:
    """A restart in the middle of a response in the background."""
    backend = BackendDouble(ScriptedProvider(say("Hello.")))
    service = ResponsesService(backend)
    response_id = str((await ask(service))["id"])
    record = backend.memory.records[response_id]
    left = {**record.response, "status": "queued", "background": True, "completed_at": None}
    backend.memory.records[response_id] = replace(record, response=left)

    for resource in (await read(service, response_id), await service.cancel(response_id, ANNA)):
        error = resource["error"]
        assert isinstance(error, dict)
        assert (resource["status"], error["code"]) == ("failed", "interrupted")


async def test_only_a_response_in_the_background_is_cancelled() -> None:
    """Invariant 55."""
    service = ResponsesService(BackendDouble(ScriptedProvider(say("Hello."))))
    response_id = str((await ask(service))["id"])

    with pytest.raises(ApiError, match="background") as refused:
        await service.cancel(response_id, ANNA)
    assert refused.value.status == 400
