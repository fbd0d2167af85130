"""Files that people show in a chat reach the model, and the answer names those that cannot be shown."""

import os
import threading
from base64 import b64encode
from pathlib import Path, PosixPath
from typing import override

from homeassistant.components.conversation import Attachment, ChatLog, UserContent
from homeassistant.core import HomeAssistant
from pydantic import JsonValue

from custom_components.chatterbox.agent.messages import UserMessage
from custom_components.chatterbox.turns.chat_log import attached_paths, words
from custom_components.chatterbox.turns.shown_files import (
    MAX_FILE,
    MAX_FILES,
    async_read_shown_files,
)
from tests.support.servers.model_server import ReceivedRequest
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import Serve, messages_of, say, talking

PNG = b"\x89PNG\r\n\x1a\n, and then the door"
ANSWERS = Script(
    answers=(ScriptedAnswer(content="A door."), ScriptedAnswer(content="It is red."))
)


def picture(
    path: Path, content: bytes = PNG, mime_type: str = "image/png"
) -> Attachment:
    """Write a file, and return it as Home Assistant hands it over."""
    path.write_bytes(content)
    return Attachment("media-source://camera/camera.door", mime_type, path)


async def show(hass: HomeAssistant, text: str, *attachments: Attachment) -> None:
    """Say something in a chat, and show something with it."""
    with talking(hass, text, "kitchen-talk") as chat_log:
        chat_log.content[-1] = UserContent(text, list(attachments))
        await say(hass, text)


async def read(
    hass: HomeAssistant, *attachments: Attachment, seconds: float = 5
) -> UserMessage:
    """Return what a model receives of these files."""
    chat_log = ChatLog(hass, "kitchen-talk")
    chat_log.async_add_user_content(UserContent("what is this?", list(attachments)))
    return words(
        chat_log, await async_read_shown_files(hass, attached_paths(chat_log), seconds)
    )


def users_part(
    request: ReceivedRequest, message: int = -1
) -> str | list[dict[str, JsonValue]]:
    """Return the content of one of the user's messages in a request."""
    contents = [
        sent["content"] for sent in messages_of(request) if sent["role"] == "user"
    ]
    content = contents[message]
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return [part for part in content if isinstance(part, dict)]


def as_data(content: bytes, mime_type: str = "image/png") -> dict[str, JsonValue]:
    """Return a picture as Chat Completions takes it."""
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{mime_type};base64,{b64encode(content).decode()}"},
    }


async def test_a_model_is_shown_what_the_person_shows(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    server = await serve(ANSWERS)

    await show(
        hass,
        "what is this?",
        picture(tmp_path / "door.png"),
        picture(tmp_path / "lock.png", b"lock"),
    )

    content = users_part(server.requests[0])
    assert isinstance(content, list)
    assert content[1:] == [as_data(PNG), as_data(b"lock")]
    assert str(content[0]["text"]).endswith("what is this?")


async def test_a_picture_is_sent_as_what_it_is(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    """home-assistant/core#167208."""
    server = await serve(ANSWERS)
    files = (
        (b"\xff\xd8\xff\xe0 a door", "image/png", "image/jpeg"),
        (b"\xff\xd8\xff\xe0 a lock", "image/jpg", "image/jpeg"),
        (b"GIF89a a door", "application/octet-stream", "image/gif"),
        (b"a door", "image/webp", "image/webp"),
    )

    pictures = [
        picture(tmp_path / f"{place}", content, kind)
        for place, (content, kind, _) in enumerate(files)
    ]
    await show(hass, "what is this?", *pictures)

    parts = users_part(server.requests[0])
    assert parts[1:] == [as_data(content, sent) for content, _, sent in files]


async def test_a_model_is_shown_it_again_when_the_talk_goes_on(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    server = await serve(ANSWERS)

    await show(hass, "what is this?", picture(tmp_path / "door.png"))
    await say(hass, "what colour is it?")

    assert users_part(server.requests[1], 0) == users_part(server.requests[0])
    assert str(users_part(server.requests[1])).endswith("what colour is it?")


async def test_a_file_that_is_gone_is_told(
    hass: HomeAssistant, serve: Serve, tmp_path: Path
) -> None:
    server = await serve(ANSWERS)
    door = picture(tmp_path / "door.png")

    await show(hass, "what is this?", door)
    door.path.unlink()
    await say(hass, "what colour is it?")

    content = users_part(server.requests[1], 0)
    assert isinstance(content, str)
    assert (
        "door.png of type image/png was attached here. You cannot see it, since it is not there any more"
        in content
    )
    assert content.endswith("what is this?")


async def test_only_regular_files_are_opened(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "door.png")

    attachments = await read(
        hass, Attachment("media-source://x", "image/png", tmp_path / "door.png")
    )

    assert "not there any more" in attachments.context


async def test_a_file_that_is_too_large_is_told(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    largest, larger = (
        picture(tmp_path / "a.png", bytes(MAX_FILE)),
        picture(tmp_path / "b.png", bytes(MAX_FILE + 1)),
    )

    attachments = await read(hass, largest, larger)

    assert [file.name for file in attachments.attachments] == ["a.png"]
    assert (
        "b.png of type image/png was attached here. You cannot see it, since it is too large"
        in attachments.context
    )


async def test_the_newest_files_are_shown_when_all_are_too_many(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    a, b, c = (
        picture(tmp_path / f"{name}.png", bytes(MAX_FILES // 2)) for name in "abc"
    )
    chat_log = ChatLog(hass, "kitchen-talk")
    for files in ([a], [b, c]):
        chat_log.async_add_user_content(UserContent("and this?", files))

    files_of_turn = await async_read_shown_files(hass, attached_paths(chat_log), 5)

    (_, note), (content, _) = (
        files_of_turn.shown_with(messages)
        for messages in chat_log.content
        if isinstance(messages, UserContent)
    )
    assert "a.png of type image/png was attached here. You cannot see it" in note
    assert [file.name for file in content] == ["b.png", "c.png"]


async def test_a_file_that_was_shown_twice_is_read_once(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    half = picture(tmp_path / "a.png", bytes(MAX_FILES // 2))

    assert len((await read(hass, half, half, half)).attachments) == 3


class SleepyShare(PosixPath):
    """A path on a share that does not answer until it is woken."""

    wakes = threading.Event()

    @override
    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self.wakes.wait() and super().is_file(follow_symlinks=follow_symlinks)


async def test_a_file_that_comes_late_is_told(
    hass: HomeAssistant, tmp_path: Path
) -> None:
    attachments = await read(
        hass, picture(SleepyShare(tmp_path / "door.png")), seconds=0.01
    )

    SleepyShare.wakes.set()
    assert attachments.attachments == ()
    assert (
        "door.png of type image/png was attached here. You cannot see it, since it could not be read"
        in attachments.context
    )
