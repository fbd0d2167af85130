"""Answers to questions, said in a conversation."""

from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ConversationResult,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant

from tests.support.talk import (
    AGENT,
)

TALK = "a-talk"


async def say(
    hass: HomeAssistant,
    text: str,
    device_id: str | None = "the-hall",
    satellite_id: str | None = None,
    language: str = "en",
) -> ConversationResult:
    """Say something at a device."""
    return await conversation.async_converse(
        hass,
        text,
        TALK,
        Context(),
        language,
        AGENT,
        device_id=device_id,
        satellite_id=satellite_id,
    )


def last_words(hass: HomeAssistant) -> str | None:
    """Return what the conversation ends with."""
    last = hass.data[DATA_CHAT_LOGS][TALK].content[-1]
    assert isinstance(last, AssistantContent)
    return last.content
