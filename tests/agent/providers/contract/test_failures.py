"""Every way in which a service fails is one of our errors, ends in time, leaves nothing behind and tells no secret."""

import asyncio
import json
import logging
from contextlib import aclosing

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    ModelNotFound,
    PromptTooLong,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderRejectedKey,
    ProviderReplyInvalid,
    ProviderUnreachable,
)
from custom_components.chatterbox.agent.events import CompletionResult, TextDelta
from custom_components.chatterbox.agent.messages import (
    FinishReason,
    JsonObject,
    JsonValue,
    ToolCall,
)
from custom_components.chatterbox.agent.protocols import LLMProvider
from custom_components.chatterbox.agent.providers.profiles import ModelOptions
from custom_components.chatterbox.agent.providers.service_client import TimeLimits
from tests.support.servers.raw_http import (
    Ending,
    RawReply,
    head,
    raw_http_server,
    reply,
)

from .dialect import KEY, MODEL, Answer, Dialect
from .service import (
    HELLO,
    HI,
    IMPATIENT,
    answered,
    collect,
    provider_of,
    refused,
    streamed,
    text_of,
    until_finished,
    until_first_words,
)

LONG = Answer(text=("first ", "second ", "third"))


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, f"wrong key {KEY}", ProviderRejectedKey),
        (404, f"model '{MODEL}' not found", ModelNotFound),
        (429, "slow down", ProviderBusy),
        (500, "boom", ProviderFailed),
    ],
)
async def test_refusals(
    dialect: Dialect,
    status: int,
    message: str,
    kind: type[ProviderError],
    session: aiohttp.ClientSession,
) -> None:
    """Invariant 60: the service says how long to wait."""
    async with raw_http_server(
        refused(dialect, status, message, {"Retry-After": "7"})
    ) as server:
        provider = provider_of(dialect, server, session)
        for attempt in (lambda: collect(provider), provider.check):
            with pytest.raises(ProviderError, match=f"HTTP {status}") as caught:
                await attempt()
            assert type(caught.value) is kind
            assert message.replace(KEY, "…") in str(caught.value)
            assert KEY not in str(caught.value)
            assert (
                not isinstance(caught.value, ProviderBusy)
                or caught.value.retry_after == 7.0
            )

    assert len(server.requests) == 2


TOO_LONG = "This model's maximum context length is 4096 tokens. However, your request has 9000 input tokens."


@pytest.mark.parametrize("status", [400, 413, 429, 500])
async def test_a_prompt_that_does_not_fit(
    dialect: Dialect, status: int, session: aiohttp.ClientSession
) -> None:
    beyond = f"{TOO_LONG} Reduce `temperature` or `max_tokens`."
    async with raw_http_server(refused(dialect, status, beyond)) as server:
        provider = provider_of(
            dialect,
            server,
            session,
            options=ModelOptions(temperature=0.5, max_tokens=100),
        )
        with pytest.raises(PromptTooLong) as caught:
            await collect(provider)

    assert (caught.value.prompt_tokens, caught.value.window_tokens) == (9000, 4096)
    assert provider.overflow is not None
    assert (provider.overflow.prompt_tokens, provider.overflow.window_tokens) == (
        9000,
        4096,
    )
    assert len({request.body.count(b"0.5") for request in server.requests}) == 1, (
        "no wish is to blame"
    )


async def test_a_wish_that_takes_the_room_of_the_answer_is_left_out(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    wish = dialect.refusal
    words = (
        f"`{'.'.join(wish.path)}` is too large. The context length is 4096 "
        f"tokens and the prompt contains 1222 tokens."
    )
    async with raw_http_server(
        refused(dialect, 400, words), answered(dialect, HELLO)
    ) as server:
        provider = provider_of(dialect, server, session, options=wish.options)
        assert text_of(await collect(provider)) == "Hello"

    assert provider.overflow is None
    first, second = (json.loads(request.body) for request in server.requests)
    assert first.keys() - second.keys() <= {wish.path[0]}
    assert first != second


async def test_a_prompt_that_does_not_fit_as_the_reply_tells(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(
        streamed(dialect, [dialect.render_failure(TOO_LONG)])
    ) as server:
        provider = provider_of(dialect, server, session)
        with pytest.raises(PromptTooLong):
            await collect(provider)

    assert provider.overflow is not None


async def test_a_prompt_that_fits_is_news_after_one_that_did_not(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    refusals = [refused(dialect, 400, TOO_LONG)] * 2
    async with raw_http_server(*refusals, answered(dialect, HELLO)) as server:
        provider = provider_of(dialect, server, session)
        with pytest.raises(PromptTooLong):
            await collect(provider)
        while len(server.requests) < len(refusals):
            with pytest.raises(PromptTooLong):
                await collect(provider)
        assert provider.overflow is not None
        assert text_of(await collect(provider)) == "Hello"

    assert provider.overflow is None


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"<html>Welcome</html>", "text/html"),
        reply(b"Welcome", "text/plain"),
        reply(b"{nonsense"),
        reply(b'{"status":"ok"}'),
        reply(b"null"),
        reply(b""),
        reply(b"", status=301, headers={"Location": "https://elsewhere"}),
        reply(b"no gzip", headers={"Content-Encoding": "gzip"}),
        RawReply([b"SSH-2.0-OpenSSH_9.9\r\n"]),
    ],
    ids=[
        "page",
        "text",
        "no JSON",
        "other JSON",
        "null",
        "nothing",
        "redirect",
        "no gzip",
        "no HTTP",
    ],
)
async def test_answers_of_other_kinds_of_server(
    dialect: Dialect, answer: RawReply, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answer) as server:
        provider = provider_of(dialect, server, session)
        for attempt in (lambda: collect(provider), provider.list_models):
            with pytest.raises(ProviderReplyInvalid):
                await attempt()


async def test_nonsense_in_a_stream(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    stream = dialect.render(LONG).replace(b'"second ', b'second "')
    assert stream != dialect.render(LONG)

    async with raw_http_server(streamed(dialect, [stream])) as server:
        with pytest.raises(ProviderReplyInvalid):
            await collect(provider_of(dialect, server, session))


@pytest.mark.parametrize("when", ["at once", "amid the answer"])
async def test_a_failure_reported_in_the_stream(
    dialect: Dialect, when: str, session: aiohttp.ClientSession
) -> None:
    pieces = [
        until_first_words(dialect, dialect.render(LONG))
        if when == "amid the answer"
        else b"",
        dialect.render_failure(f"out of memory, {KEY}"),
    ]

    async with raw_http_server(streamed(dialect, pieces)) as server:
        with pytest.raises(ProviderError, match="out of memory, …"):
            await collect(provider_of(dialect, server, session))


@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE, Ending.RESET])
async def test_a_stream_that_is_cut(
    dialect: Dialect, ending: Ending, session: aiohttp.ClientSession
) -> None:
    answer = Answer(
        ("Wait.",),
        calls=(ToolCall("call00001", "on", '{"x":1}'),),
        finish=FinishReason.TOOL_CALLS,
    )
    stream = dialect.render(answer)
    whole = dialect.finished_after(stream)
    cuts = [*range(0, whole, 23), whole - 1]

    async with raw_http_server(
        *(streamed(dialect, [stream[:cut]], ending) for cut in cuts)
    ) as server:
        provider = provider_of(dialect, server, session)
        for _ in cuts:
            with pytest.raises((ProviderReplyInvalid, ProviderUnreachable)):
                await collect(provider)

    if ending is not Ending.RESET:
        assert len(server.requests) == len(cuts)


@pytest.mark.parametrize("ending", [Ending.KEEP, Ending.CLOSE, Ending.WAIT])
async def test_once_the_message_is_whole_nothing_can_go_wrong(
    dialect: Dialect, ending: Ending, session: aiohttp.ClientSession
) -> None:
    stream = until_finished(dialect, dialect.render(HELLO))

    async with raw_http_server(streamed(dialect, [stream], ending)) as server:
        *events, last = await collect(
            provider_of(dialect, server, session, limits=IMPATIENT)
        )

    assert text_of(events) == "Hello"
    assert isinstance(last, CompletionResult)


async def test_bytes_after_the_end_of_a_stream_are_not_read(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    pieces = [dialect.render(HELLO), b"nonsense\n\n", b"data: nonsense\n\n"]

    async with raw_http_server(streamed(dialect, pieces)) as server:
        assert text_of(await collect(provider_of(dialect, server, session))) == "Hello"


async def test_a_stream_that_is_over_is_not_waited_for(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    limits = TimeLimits(after_finish=1000, after_done=0.01)

    async with raw_http_server(
        streamed(dialect, [dialect.render(HELLO)], Ending.WAIT)
    ) as server:
        assert (
            text_of(await collect(provider_of(dialect, server, session, limits=limits)))
            == "Hello"
        )
        await server.left.wait()


async def test_one_connection_serves_all_inferences_of_a_turn(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server:
        provider = provider_of(dialect, server, session)
        for _ in range(3):
            await collect(provider)

    assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_a_connection_that_the_server_has_given_up_is_no_failure(
    dialect: Dialect, ending: Ending, session: aiohttp.ClientSession
) -> None:
    hello = answered(dialect, HELLO)

    async with raw_http_server(hello, RawReply([], ending), hello) as server:
        provider = provider_of(dialect, server, session)
        for _ in range(2):
            assert text_of(await collect(provider)) == "Hello"

    assert len(server.requests) == 3


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_a_service_that_leaves_without_an_answer_is_asked_once(
    dialect: Dialect, ending: Ending, session: aiohttp.ClientSession
) -> None:
    """Invariant 60."""
    async with raw_http_server(RawReply([], ending)) as server:
        with pytest.raises(ProviderUnreachable):
            await collect(provider_of(dialect, server, session))

    assert len(server.requests) == 1


@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.RESET])
async def test_a_request_is_repeated_once_at_most(
    dialect: Dialect, ending: Ending, session: aiohttp.ClientSession
) -> None:
    """Invariant 60."""
    async with raw_http_server(
        answered(dialect, HELLO), RawReply([], ending)
    ) as server:
        provider = provider_of(dialect, server, session)
        await collect(provider)
        with pytest.raises(ProviderUnreachable):
            await collect(provider)

    assert len(server.requests) == 3


async def test_a_session_that_is_closed_reaches_nobody(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server:
        await session.close()
        with pytest.raises(ProviderUnreachable):
            await collect(provider_of(dialect, server, session))


async def test_long_headers_are_read(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    stream = dialect.render(HELLO)
    headers = {
        "Content-Type": dialect.content_type,
        "Content-Security-Policy": "x" * 20_000,
    }
    long = RawReply(
        [head(200, headers | {"Content-Length": str(len(stream))}), stream], Ending.KEEP
    )

    async with raw_http_server(long) as server:
        assert text_of(await collect(provider_of(dialect, server, session))) == "Hello"


async def test_a_server_that_is_not_there(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server:
        pass
    provider = provider_of(dialect, server, session)

    for attempt in (lambda: collect(provider), provider.check, provider.list_models):
        with pytest.raises(ProviderUnreachable, match="no connection to the service: "):
            await attempt()


@pytest.mark.parametrize("when", ["no answer", "half a head", "half a stream"])
async def test_a_service_that_falls_silent_is_left(
    dialect: Dialect, when: str, session: aiohttp.ClientSession
) -> None:
    silence = {
        "no answer": RawReply([], Ending.WAIT),
        "half a head": RawReply([b"HTTP/1.1 200 OK\r\n"], Ending.WAIT),
        "half a stream": streamed(
            dialect, [until_first_words(dialect, dialect.render(LONG))], Ending.WAIT
        ),
    }

    async with raw_http_server(silence[when]) as server:
        with pytest.raises(ProviderUnreachable, match="in time"):
            await collect(provider_of(dialect, server, session, limits=IMPATIENT))
        await server.left.wait()


async def test_questions_to_a_service_that_never_ends_its_answers_are_bounded(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    endless = RawReply(
        [head(200, {"Content-Type": dialect.content_type}), b" "], Ending.REPEAT
    )

    async with raw_http_server(endless) as server:
        provider = provider_of(
            dialect, server, session, limits=TimeLimits(connect=0.1, between_bytes=0.2)
        )
        for question in (provider.check, provider.list_models):
            with pytest.raises(ProviderUnreachable, match="in time"):
                await question()
        await server.left.wait()


async def test_leaving_early_closes_the_connection(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    start = until_first_words(dialect, dialect.render(LONG))

    async with raw_http_server(streamed(dialect, [start], Ending.WAIT)) as server:
        events = provider_of(dialect, server, session).stream(HI)
        assert await anext(events) == TextDelta("first ")
        await events.aclose()
        await server.left.wait()


@pytest.mark.parametrize("when", ["before the first word", "amid the answer"])
async def test_cancelling_closes_the_connection_and_leaves_no_task(
    dialect: Dialect, when: str, session: aiohttp.ClientSession
) -> None:
    """Invariant 54."""
    begun = when == "amid the answer"
    start = until_first_words(dialect, dialect.render(LONG)) if begun else b""
    heard = asyncio.Event()

    async def follow(provider: LLMProvider) -> None:
        async with aclosing(provider.stream(HI)) as events:
            async for _ in events:
                heard.set()

    before = asyncio.all_tasks()
    async with raw_http_server(streamed(dialect, [start], Ending.WAIT)) as server:
        following = asyncio.create_task(follow(provider_of(dialect, server, session)))
        await server.arrived.wait()
        if begun:
            await heard.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        await server.left.wait()

    assert asyncio.all_tasks() == before


async def test_a_refused_parameter_is_left_out_from_then_on(
    dialect: Dialect, caplog: pytest.LogCaptureFixture, session: aiohttp.ClientSession
) -> None:
    refusal = dialect.refusal
    hello = answered(dialect, HELLO)

    async with raw_http_server(reply(refusal.body, status=400), hello) as server:
        provider = provider_of(dialect, server, session, options=refusal.options)
        for _ in range(2):
            assert text_of(await collect(provider)) == "Hello"

    first, second, third = (json.loads(request.body) for request in server.requests)
    assert has(first, refusal.path)
    assert not has(second, refusal.path)
    assert second == third
    warnings = [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING
    ]
    assert warnings == [
        f"{MODEL} refuses the parameter {'.'.join(refusal.path)}; it is left out from now on"
    ]


def has(payload: JsonValue, path: tuple[str, ...]) -> bool:
    """Return whether there is something at `path`."""
    for name in path:
        if not isinstance(payload, dict) or name not in payload:
            return False
        payload = payload[name]
    return True


async def test_a_check_that_succeeds_leaves_at_the_first_word(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    start = until_first_words(dialect, dialect.render(LONG))

    async with raw_http_server(streamed(dialect, [start], Ending.WAIT)) as server:
        await provider_of(dialect, server, session).check()
        await server.left.wait()

    payload: JsonObject = json.loads(server.requests[0].body)
    assert server.requests[0].target == dialect.completion_target
    assert len(dialect.history(payload)) == 1
    assert "tools" not in payload


async def test_models_are_listed(
    dialect: Dialect, session: aiohttp.ClientSession
) -> None:
    models = reply(dialect.model_list(["small-1", "Large", "small-1", "medium"]))

    async with raw_http_server(models) as server:
        assert await provider_of(dialect, server, session).list_models() == [
            "Large",
            "medium",
            "small-1",
        ]

    assert (server.requests[0].method, server.requests[0].target) == (
        "GET",
        dialect.models_target,
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ProviderRejectedKey), (404, ProviderReplyInvalid), (503, ProviderBusy)],
)
async def test_no_list_of_models(
    dialect: Dialect,
    status: int,
    kind: type[ProviderError],
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(refused(dialect, status)) as server:
        with pytest.raises(kind, match=f"HTTP {status}"):
            await provider_of(dialect, server, session).list_models()


@pytest.mark.parametrize("key", [KEY, f" {KEY}\n"])
async def test_the_key_stands_in_its_header_and_nowhere_else(
    dialect: Dialect, key: str, session: aiohttp.ClientSession
) -> None:
    name, value = dialect.key_header()

    async with raw_http_server(answered(dialect, HELLO)) as server:
        provider = provider_of(dialect, server, session, key=key)
        await collect(provider)

    [request] = server.requests
    assert request.headers.pop(name) == value
    assert KEY not in f"{request}{provider!r}"


@pytest.mark.parametrize("key", [None, "", " "])
async def test_without_a_key_none_is_sent(
    dialect: Dialect, key: str | None, session: aiohttp.ClientSession
) -> None:
    async with raw_http_server(answered(dialect, HELLO)) as server:
        await collect(provider_of(dialect, server, session, key=key))

    assert dialect.key_header()[0] not in server.requests[0].headers


@pytest.mark.parametrize(
    ("base_url", "key", "kind"),
    [
        ("http://user:pass@127.0.0.1:1", KEY, ProviderRejectedKey),
        ("http://127.0.0.1:1", "two\nlines", ProviderRejectedKey),
        ("127.0.0.1:1", None, ProviderUnreachable),
    ],
)
async def test_an_invalid_address_or_key_is_an_error_of_the_first_call(
    dialect: Dialect,
    base_url: str,
    key: str | None,
    kind: type[ProviderError],
    session: aiohttp.ClientSession,
) -> None:
    provider = dialect.provider_class(session, base_url, MODEL, key)

    for attempt in (lambda: collect(provider), provider.list_models, provider.check):
        with pytest.raises(kind) as caught:
            await attempt()
        assert "pass" not in str(caught.value).replace("password", "")
    assert "pass" not in repr(provider)
