"""Pictures from a server that speaks OpenAI's Images format."""

import json
from base64 import b64encode

import aiohttp
import pytest

from custom_components.chatterbox.agent.errors import (
    FirstTokenTimeout,
    ModelNotFound,
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderReplyInvalid,
)
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    Picture,
    Usage,
)
from custom_components.chatterbox.agent.providers.openai_images import (
    OpenAIImageProvider,
)
from tests.support.picture_files import jpeg, png
from tests.support.servers.raw_http import (
    Ending,
    RawHTTPServer,
    RawReply,
    raw_http_server,
    reply,
)

FILE = png(3, 2)


def answer(file: bytes = FILE, **more: JsonValue) -> RawReply:
    """Return the answer of a server that has made a picture; OpenAI sends one in this shape."""
    item: JsonObject = {"b64_json": b64encode(file).decode(), **more}
    usage: JsonObject = {"input_tokens": 14, "output_tokens": 272, "total_tokens": 286}
    body: JsonObject = {
        "created": 1713833628,
        "data": [item],
        "output_format": "png",
        "usage": usage,
    }
    return reply(json.dumps(body).encode())


def provider(
    server: RawHTTPServer,
    session: aiohttp.ClientSession,
    model: str = "gpt-image-1",
    seconds: float = 5,
) -> OpenAIImageProvider:
    return OpenAIImageProvider(
        session, f"http://127.0.0.1:{server.port}", model, "sk-secret", seconds
    )


def sent(server: RawHTTPServer) -> list[JsonObject]:
    """Return what the server was asked."""
    return [json.loads(request.body) for request in server.requests]


async def test_a_picture_is_made_of_words(session: aiohttp.ClientSession) -> None:
    async with raw_http_server(answer(revised_prompt="A blue cat.")) as server:
        picture = await provider(server, session).draw("A cat")

    assert picture == Picture(FILE, "image/png", "A blue cat.", Usage(14, 272))
    assert sent(server) == [{"model": "gpt-image-1", "prompt": "A cat", "n": 1}]
    assert server.requests[0].target == "/v1/images/generations"
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"


async def test_other_models_are_asked_for_the_picture_itself(
    session: aiohttp.ClientSession,
) -> None:
    async with raw_http_server(answer(jpeg(640, 480))) as server:
        picture = await provider(server, session, "imagen-4").draw("A cat")

    assert (picture.mime_type, picture.revised_prompt) == ("image/jpeg", None)
    assert sent(server)[0]["response_format"] == "b64_json"


async def test_a_parameter_that_is_refused_is_left_out(
    session: aiohttp.ClientSession,
) -> None:
    refusal = reply(
        b'{"error": {"message": "Unknown parameter: \'response_format\'."}}', status=400
    )
    async with raw_http_server(refusal, answer()) as server:
        await provider(server, session, "new-image-model").draw("A cat")

    assert sent(server)[1] == {"model": "new-image-model", "prompt": "A cat", "n": 1}


@pytest.mark.usefixtures("loop_clock")
@pytest.mark.parametrize(
    ("answered", "error"),
    [
        (reply(b'{"error": {"message": "no"}}', status=401), ProviderRejectedKey),
        (reply(b'{"error": {"message": "slow down"}}', status=429), ProviderBusy),
        (
            reply(b'{"error": {"message": "The model does not exist"}}', status=404),
            ModelNotFound,
        ),
        (reply(b'{"data": []}'), ProviderReplyInvalid),
        (
            reply(b'{"data": [{"url": "http://elsewhere/cat.png"}]}'),
            ProviderReplyInvalid,
        ),
        (reply(b'{"data": [{"b64_json": "~"}]}'), ProviderReplyInvalid),
        (reply(b'{"data": [{"b64_json": "PHN2Zy8+"}]}'), ProviderReplyInvalid),
        (reply(b"{}"), ProviderReplyInvalid),
        (reply(b"<html>"), ProviderReplyInvalid),
        (RawReply([], Ending.WAIT), FirstTokenTimeout),
    ],
)
async def test_failures_of_an_image_service(
    session: aiohttp.ClientSession, answered: RawReply, error: type[ProviderError]
) -> None:
    async with raw_http_server(answered) as server:
        with pytest.raises(error) as raised:
            await provider(server, session, seconds=2).draw("A cat")

    assert type(raised.value) is error
    assert "sk-secret" not in str(raised.value)


def test_the_representation_has_no_key(session: aiohttp.ClientSession) -> None:
    assert repr(
        OpenAIImageProvider(session, "http://user:pass@host", "m", "sk-secret", 1)
    ) == ("OpenAIImageProvider(model='m')")
