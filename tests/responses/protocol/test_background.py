"""Responses in the background: polled, followed, cancelled, bounded, and forgotten."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import override

import pytest

from custom_components.chatterbox.agent.errors import ProviderUnreachable
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.history.store.records import ResponseRecord
from custom_components.chatterbox.responses.protocol.backend import (
    BackendEvent,
    ToolsOffered,
    TurnRequest,
)
from custom_components.chatterbox.responses.protocol.background import (
    KEPT_SECONDS,
    MOST_RUNNING,
)
from custom_components.chatterbox.responses.protocol.errors import ApiError
from custom_components.chatterbox.responses.protocol.service import ResponsesService
from tests.agent.turns import run_other_tasks
from tests.responses.protocol.backend_double import (
    ANNA,
    BEN,
    BackendDouble,
    MemoryStore,
)
from tests.responses.protocol.service_talk import (
    ask,
    collected,
    last_response,
    mcp,
    objects,
    output_text,
    read,
    request,
    serving,
)
from tests.responses.protocol.valid_stream import check_resource, check_stream
from tests.support.doubles import Gate, ScriptedProvider, never, say


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


class SlowStore(MemoryStore):
    """A store that is slow to take a response that has ended."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    @override
    async def put(self, record: ResponseRecord) -> None:
        if record.response["status"] == "completed":
            await self._gate()
        await super().put(record)


class SlowToEnd(BackendDouble):
    """A backend whose turns take their time to end."""

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(provider)
        self.gate = Gate()

    @override
    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        try:
            async with aclosing(super().take(turn)) as events:
                async for event in events:
                    yield event
        finally:
            await self.gate()


class BrokenRecords(dict[str, ResponseRecord]):
    """Records that have a bug."""

    @override
    def __setitem__(self, key: str, value: ResponseRecord) -> None:
        raise RuntimeError("a bug")


class Unhurried(BackendDouble):
    """A backend that never comes to a beginning."""

    @override
    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        self.taking += 1
        try:
            await never()
            yield ToolsOffered({})
        finally:
            self.taking -= 1


class Broken(BackendDouble):
    """A backend that has a bug."""

    @override
    async def take(self, turn: TurnRequest) -> AsyncGenerator[BackendEvent]:
        raise RuntimeError("a bug")
        yield ToolsOffered({})  # type: ignore[unreachable]  # makes it a generator


async def begin(
    service: ResponsesService, text: str = "Hello!", **fields: JsonValue
) -> JsonObject:
    """Ask for a response in the background, and return it as it is at first."""
    answer = await service.create(
        json.dumps(request(text, background=True, **fields)), ANNA
    )
    assert isinstance(answer, dict)
    check_resource(answer)
    return answer


async def ended(backend: BackendDouble) -> None:
    """Wait until nothing runs in the background."""
    await asyncio.gather(*backend.tasks, return_exceptions=True)


async def test_a_response_in_the_background_is_polled_until_it_has_ended() -> None:
    """Invariant 56."""
    gate = Gate()
    backend, service = serving([gate, *say("Done.")])

    begun = await begin(service)
    assert (begun["status"], begun["background"], begun["output"]) == (
        "queued",
        True,
        [],
    )
    stored = backend.memory.records[str(begun["id"])].response
    await gate.reached.wait()
    running = await read(service, begun["id"])
    gate.opened.set()
    await ended(backend)
    polled = await read(service, begun["id"])

    assert (stored["status"], running["status"]) == ("queued", "in_progress")
    assert (polled["status"], output_text(polled)) == ("completed", "Done.")
    assert backend.memory.records[str(begun["id"])].response == polled
    assert await read(ResponsesService(backend), begun["id"]) == polled


async def test_what_is_wrong_with_a_request_is_told_at_once_also_in_the_background() -> (
    None
):
    backend = BackendDouble()
    service = ResponsesService(backend)

    with pytest.raises(ApiError) as refused:
        await begin(service, tools=[mcp("garage")])

    await run_other_tasks()
    assert refused.value.param == "tools"
    assert (backend.tasks, backend.memory.records) == (set(), {})


async def test_a_response_in_the_background_can_be_gone_on_from_and_belongs_to_who_asked() -> (
    None
):
    backend, service = serving(say("One."), say("Two."))
    begun = await begin(service)

    await ended(backend)
    page = await service.input_items(str(begun["id"]), ANNA, {})
    following = await ask(service, previous_response_id=begun["id"])

    assert [item["role"] for item in objects(page["data"])] == ["user"]
    assert output_text(following) == "Two."
    for lookup in (
        service.get(str(begun["id"]), BEN, {}),
        service.cancel(str(begun["id"]), BEN),
    ):
        with pytest.raises(ApiError) as missing:
            await lookup
        assert missing.value.status == 404


async def test_a_stream_is_resumed_where_it_broke_off() -> None:
    """Invariant 56."""
    gate = Gate()
    _, service = serving([*say("One. ")[:1], gate, *say("Two.")])

    answer = await service.create(
        json.dumps(request(background=True, stream=True)), ANNA
    )
    assert isinstance(answer, AsyncGenerator)
    first: list[JsonObject] = []
    async with aclosing(answer) as events:
        async for event in events:
            first.append(event)
            if event["type"] == "response.output_text.delta":
                break
    response = first[0]["response"]
    assert isinstance(response, dict)
    response_id = str(response["id"])
    again = await service.get(
        response_id, ANNA, {"stream": "true", "starting_after": str(len(first) - 1)}
    )
    following = asyncio.create_task(collected(again))
    await run_other_tasks()
    gate.opened.set()
    rest = await following

    check_stream([*first, *rest])
    assert rest[0]["sequence_number"] == len(first)
    assert output_text(last_response(rest)) == "One. Two."
    everything = await collected(await service.get(response_id, ANNA, {"stream": "1"}))
    assert everything == [*first, *rest]
    assert (
        await collected(
            await service.get(
                response_id, ANNA, {"stream": "1", "starting_after": "9999"}
            )
        )
        == []
    )


async def test_a_cancelled_response_stays_cancelled() -> None:
    """Invariant 55."""
    provider = ScriptedProvider([*say("Half")[:1], never])
    backend = BackendDouble(provider)
    service = ResponsesService(backend)
    begun = await begin(service)
    await run_other_tasks()
    response_id = str(begun["id"])
    followed = asyncio.create_task(
        collected(await service.get(response_id, ANNA, {"stream": "true"}))
    )

    cancelled, again = await asyncio.gather(
        service.cancel(response_id, ANNA), service.cancel(response_id, ANNA)
    )

    assert (cancelled["status"], output_text(cancelled)) == ("cancelled", "Half")
    check_resource(cancelled)
    assert (
        cancelled
        == again
        == await service.cancel(response_id, ANNA)
        == await read(service, response_id)
    )
    assert last_response(await followed) == cancelled
    assert (provider.open_streams, backend.taking) == (0, 0)
    await ended(backend)
    assert await read(ResponsesService(backend), response_id) == cancelled


async def test_cancelling_twice_lets_a_turn_end_in_peace() -> None:
    """Invariant 55."""
    backend = SlowToEnd(ScriptedProvider([never]))
    service = ResponsesService(backend)
    begun = await begin(service)
    await run_other_tasks()

    cancelling = [asyncio.create_task(service.cancel(str(begun["id"]), ANNA))]
    await backend.gate.reached.wait()
    cancelling.append(asyncio.create_task(service.cancel(str(begun["id"]), ANNA)))
    await run_other_tasks()
    assert not any(one.done() for one in cancelling)
    backend.gate.opened.set()
    await asyncio.gather(*cancelling)

    assert backend.gate.passed.is_set()


async def test_a_model_that_fails_in_the_background_is_told_and_stored() -> None:
    backend, service = serving([ProviderUnreachable("gone")])
    begun = await begin(service)
    await ended(backend)

    for one in (service, ResponsesService(backend)):
        failed = await read(one, begun["id"])
        assert isinstance(failed["error"], dict)
        assert (failed["status"], failed["error"]["code"]) == (
            "failed",
            "model_unreachable",
        )


async def test_cancelling_what_has_ended_changes_nothing() -> None:
    """Invariant 55: racing with completion."""
    gate = Gate()
    backend = BackendDouble(ScriptedProvider(say("Done.")), memory=SlowStore(gate))
    service = ResponsesService(backend)
    begun = await begin(service)
    await gate.reached.wait()

    followed = asyncio.create_task(
        collected(await service.get(str(begun["id"]), ANNA, {"stream": "true"}))
    )
    cancelling = asyncio.create_task(service.cancel(str(begun["id"]), ANNA))
    await run_other_tasks()
    gate.opened.set()
    check_stream(await followed)

    assert (await cancelling)["status"] == "completed"
    assert backend.memory.records[str(begun["id"])].response["status"] == "completed"
    assert (await service.cancel(str(begun["id"]), ANNA))["status"] == "completed"


async def test_a_deleted_response_ends_and_is_not_stored_again() -> None:
    provider = ScriptedProvider([never])
    backend = BackendDouble(provider)
    service = ResponsesService(backend)
    begun = await begin(service)
    await run_other_tasks()

    await service.delete(str(begun["id"]), ANNA)

    await ended(backend)
    assert (backend.memory.records, provider.open_streams) == ({}, 0)
    with pytest.raises(ApiError):
        await service.get(str(begun["id"]), ANNA, {})


async def test_what_the_home_interrupts_has_failed() -> None:
    backend, service = serving([*say("Half")[:1], never])
    begun = await begin(service)
    await run_other_tasks()
    following = asyncio.create_task(
        collected(await service.get(str(begun["id"]), ANNA, {"stream": "true"}))
    )
    await run_other_tasks()
    (task,) = backend.tasks

    await backend.shut_down()

    events = await following
    check_stream(events)
    assert task.cancelled()
    assert (events[-2]["type"], last_response(events)["status"]) == ("error", "failed")
    for one in (service, ResponsesService(backend)):
        answer = await one.get(str(begun["id"]), ANNA, {})
        assert isinstance(answer, dict)
        error = answer["error"]
        assert isinstance(error, dict)
        assert (answer["status"], error["code"]) == ("failed", "interrupted")


async def test_a_home_that_shuts_down_as_a_request_comes_says_so() -> None:
    backend = Unhurried()
    asking = asyncio.create_task(begin(ResponsesService(backend)))
    await run_other_tasks()

    await backend.shut_down()

    with pytest.raises(ApiError) as refused:
        await asking
    assert (refused.value.status, refused.value.code) == (503, "interrupted")


async def test_a_client_that_leaves_before_the_first_event_ends_the_response() -> None:
    backend = Unhurried()
    service = ResponsesService(backend)
    asking = asyncio.create_task(begin(service))
    await run_other_tasks()

    asking.cancel()
    await asyncio.wait({asking})
    await ended(backend)

    assert (backend.taking, backend.memory.records, asking.cancelled()) == (0, {}, True)


async def test_a_bug_before_the_first_event_is_raised() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        await begin(ResponsesService(Broken()))


async def test_a_bug_after_the_first_event_is_raised() -> None:
    gate = Gate()
    backend = BackendDouble(ScriptedProvider(say("Done.")), memory=SlowStore(gate))
    begun = await begin(ResponsesService(backend))
    await gate.reached.wait()
    (task,) = backend.tasks
    backend.memory.records = BrokenRecords()
    gate.opened.set()

    with pytest.raises(RuntimeError, match="a bug"):
        await task
    assert begun["status"] == "queued"


async def test_only_so_many_run_at_once_for_a_caller() -> None:
    backend, service = serving(*[[never]] * MOST_RUNNING, say("Fine."), say("Ben's."))
    begun = [await begin(service) for _ in range(MOST_RUNNING)]

    with pytest.raises(ApiError) as refused:
        await begin(service)
    await run_other_tasks()
    await service.cancel(str(begun[0]["id"]), ANNA)
    await begin(service)
    others = await service.create(json.dumps(request(background=True)), BEN)

    assert (refused.value.status, refused.value.code) == (
        429,
        "too_many_background_responses",
    )
    assert isinstance(others, dict)
    await backend.shut_down()


async def test_what_has_ended_is_forgotten_after_a_while_and_read_from_the_store() -> (
    None
):
    clock = Clock()
    backend = BackendDouble(ScriptedProvider(say("Done.")))
    service = ResponsesService(backend, clock=clock)
    begun = await begin(service)
    await ended(backend)
    whole = await read(service, begun["id"])

    clock.now += KEPT_SECONDS - 1
    await collected(await service.get(str(begun["id"]), ANNA, {"stream": "true"}))
    clock.now += 1

    assert await read(service, begun["id"]) == whole
    assert await service.cancel(str(begun["id"]), ANNA) == whole
    with pytest.raises(ApiError, match="ten minutes") as refused:
        await service.get(str(begun["id"]), ANNA, {"stream": "true"})
    assert refused.value.param == "stream"


LONG = " ".join(map(str, range(850_000)))


async def test_what_has_ended_takes_only_so_much_room() -> None:
    """About 11 MB for each long question and answer, of 32: the words once to show them, and once to go on from."""
    talk = ((LONG, "Hello!"), ("Hello!", LONG), (LONG, "Hello!"), ("Short.", "Short."))
    backend, service = serving(*(say(answer) for _, answer in talk))
    begun = []
    for question, _ in talk:
        begun.append(await begin(service, question))
        await ended(backend)

    async def is_kept(response: JsonObject) -> bool:
        try:
            answer = await service.get(
                str(response["id"]), ANNA, {"stream": "true", "starting_after": "8"}
            )
        except ApiError:
            return False
        return len(await collected(answer)) == 1

    assert [await is_kept(response) for response in begun] == [False, True, True, True]
