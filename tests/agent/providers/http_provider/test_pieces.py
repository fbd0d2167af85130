"""Text is passed on in pieces, however much of it arrives at once."""

import json

import aiohttp

from custom_components.chatterbox.agent.events import TextDelta
from tests.agent.providers.chat_completions import (
    DONE,
    REQUEST,
    STOP,
    collect,
    provider_of,
)
from tests.support.servers.raw_http import event_stream, raw_http_server


async def test_text_that_arrives_at_once_is_passed_on_in_pieces(
    session: aiohttp.ClientSession,
) -> None:
    words = [
        json.dumps({"choices": [{"index": 0, "delta": {"content": letter * 400}}]})
        for letter in "abcde"
    ]
    chunk = b"".join(b"data: " + word.encode() + b"\n\n" for word in words)

    async with raw_http_server(event_stream([chunk, STOP, DONE])) as server:
        events = await collect(provider_of(server, session), REQUEST)

    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(texts) == "".join(letter * 400 for letter in "abcde")
    assert max(map(len, texts)) == 512
