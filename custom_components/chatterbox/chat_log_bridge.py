"""ChatLog ⇄ transcript, and the events of a turn → ChatLog deltas.

Knows Home Assistant's ChatLog and our messages and events. Must not know providers, tools
or how a turn is driven. Our loop runs the tools itself, so calls enter the ChatLog as
`external` and results as the native `llm.ToolResult` that keeps cards and targets.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from homeassistant.components.conversation import (
    AssistantContentDeltaDict,
    ChatLog,
    SystemContent,
    ToolResultContentDeltaDict,
    UserContent,
)
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import chat_session

from .agent.events import (
    MessageDone,
    PromptReplaced,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
)
from .agent.messages import (
    ToolResult,
    Transcript,
    UserMessage,
)
from .chat_log_contents import SpokenContent, content_of, message_of, tool_input, user_message
from .native_results import to_native
from .shown_files import NO_FILES, ShownFiles
from .turn_report import TurnReport

type Delta = AssistantContentDeltaDict | ToolResultContentDeltaDict


async def _at_once() -> None:
    """Wait for nothing."""


@callback
def keep_context(chat_log: ChatLog, context: str) -> None:
    """Keep what holds now beside the words that were just said."""
    said = chat_log.content[-1]
    if isinstance(said, UserContent):
        chat_log.content[-1] = SpokenContent(said.content, said.attachments, context)


def history(chat_log: ChatLog, files: ShownFiles = NO_FILES) -> Transcript:
    """Return what was said before the user's words of this turn, with what `files` tells of what was shown."""
    contents = chat_log.content
    if contents and isinstance(contents[-1], UserContent):
        contents = contents[:-1]
    return tuple(
        [message_of(chat_log.hass, content, files) for content in contents if not isinstance(content, SystemContent)]
    )


@callback
def put_before(chat_log: ChatLog, earlier: Transcript, agent_id: str) -> None:
    """Put what was said earlier in a conversation before the words that were just said."""
    contents = chat_log.content
    place = len(contents) - bool(contents and isinstance(contents[-1], UserContent))
    contents[place:place] = [content_of(message, agent_id) for message in earlier]


@callback
def is_fresh(chat_log: ChatLog) -> bool:
    """Tell whether nothing was said in a conversation but the words of this turn."""
    return not [content for content in chat_log.content[:-1] if not isinstance(content, SystemContent)]


def words(chat_log: ChatLog, files: ShownFiles) -> UserMessage:
    """Return the user's words of this turn, with what is shown with them and what was kept beside them."""
    said = chat_log.content[-1]
    return user_message(said, files) if isinstance(said, UserContent) else UserMessage("")


async def async_record_turn(
    chat_log: ChatLog,
    agent_id: str,
    events: AsyncGenerator[TurnEvent],
    report: TurnReport,
    settle: Callable[[], Awaitable[None]] = _at_once,
) -> None:
    """Stream a turn into the ChatLog, and into the report; then `settle` is waited for.

    When the turn is cut off, by barge-in or by a bug, the ChatLog still gets what happened,
    every call with one result, and keeps it for the next turn. What another turn of the
    conversation has added meanwhile stays, before this one. Who waits for anything after this, and before Home
    Assistant has put the ChatLog away, loses what another turn adds then.
    """
    before = len(chat_log.content)
    start = before - isinstance(chat_log.content[-1], UserContent)
    saved = _saved(chat_log)
    deltas = _deltas(chat_log, events, report)
    try:
        async with aclosing(chat_log.async_add_delta_content_stream(agent_id, deltas)) as contents:
            async for _ in contents:
                pass
        await settle()
    except BaseException:
        await deltas.aclose()
        chat_log.content[before:] = [content_of(message, agent_id) for message in report.recorder.interrupted()]
        _async_keep(chat_log, start, saved)
        raise
    newer = _saved(chat_log)
    if newer is not None and newer is not chat_log:
        chat_log.content[start:start] = newer.content[start:]


async def _deltas(chat_log: ChatLog, events: AsyncGenerator[TurnEvent], report: TurnReport) -> AsyncGenerator[Delta]:
    """Take the events into the report, and say them as ChatLog deltas. A `role` begins a message."""
    in_message = False
    try:
        async for event in events:
            report.add(event)
            delta: AssistantContentDeltaDict | None = None
            match event:
                case TextDelta(text):
                    delta = {"content": text}
                case ReasoningDelta(text):
                    delta = {"thinking_content": text}
                case ToolCallReady(call):
                    delta = {"tool_calls": [tool_input(call)]}
                case MessageDone(message) if message.provider_items:
                    delta = {"native": message.provider_items}
                case ToolFinished(result):
                    yield _result_delta(result)
                case PromptReplaced(text):
                    _replace_words(chat_log, text)
                case _:
                    pass
            if delta and not in_message and "tool_calls" in delta:  # whose list would go on as that of the message
                yield {"role": "assistant"}
                yield delta
            elif delta:
                yield delta if in_message else {"role": "assistant", **delta}
            in_message = (in_message or delta is not None) and not isinstance(event, (MessageDone, ToolFinished))
    finally:
        await events.aclose()


def _replace_words(chat_log: ChatLog, text: str) -> None:
    """Put other words in place of the person's, before anything else is said: no later turn must send the old ones."""
    said = chat_log.content[-1]
    chat_log.content[-1] = replace(said, content=text) if isinstance(said, UserContent) else UserContent(text)


def _result_delta(result: ToolResult) -> ToolResultContentDeltaDict:
    return {
        "role": "tool_result",
        "tool_call_id": result.call_id,
        "tool_name": result.name,
        "result": to_native(result),
    }


def _saved(chat_log: ChatLog) -> ChatLog | None:
    """Return the conversation as the last turn that ended left it."""
    return chat_log.hass.data.get(DATA_CHAT_LOGS, {}).get(chat_log.conversation_id)


@callback
def _async_keep(chat_log: ChatLog, start: int, saved: ChatLog | None) -> None:
    """Save a ChatLog that Home Assistant drops because its turn did not return.

    `start` is where the turn's own contents begin, with the person's words; `saved` the conversation when it began.
    A turn that has ended since, while this one was being interrupted, keeps what it said.

    Source: `async_get_chat_log` and `async_get_chat_session` save only when their block ends without an exception
    (homeassistant.components.conversation.chat_log).
    """
    hass, conversation_id = chat_log.hass, chat_log.conversation_id
    session = chat_session.current_session.get()
    if session is None or session.conversation_id != conversation_id:
        return
    chat_logs = hass.data[DATA_CHAT_LOGS]
    newer = _saved(chat_log)
    if newer is not None and newer is not saved:
        newer.content[start:start] = chat_log.content[start:]
        return
    if newer is None:
        session.async_on_cleanup(lambda: _forget(hass, conversation_id))
    chat_log.delta_listener = None
    chat_logs[conversation_id] = chat_log
    session.async_updated()
    hass.data[chat_session.DATA_CHAT_SESSION][conversation_id] = session
    hass.data[chat_session.DATA_CHAT_SESSION_CLEANUP].schedule()


@callback
def _forget(hass: HomeAssistant, conversation_id: str) -> None:
    hass.data[DATA_CHAT_LOGS].pop(conversation_id, None)
