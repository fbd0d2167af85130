"""All that passes through Home Assistant's ChatLog: our transcript, the events of a turn as deltas, and their speech.

Its listener gets text for a voice, and fillers while there is nothing else to speak.
Fillers are only spoken: they are not part of the ChatLog or of the result. A pipeline
whose text-to-speech does not stream speaks the result alone, and is silent until then.

The loop runs the tools itself, so calls enter the ChatLog as `external` and results as
the native `llm.ToolResult`, which keeps cards and targets. Decision 1.
"""

import asyncio
import weakref
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Sequence,
)
from contextlib import aclosing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from itertools import cycle
from pathlib import Path
from typing import Final, TypeIs

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    HOME_ASSISTANT_AGENT,
    AssistantContent,
    AssistantContentDeltaDict,
    ChatLog,
    Content,
    SystemContent,
    ToolResultContent,
    ToolResultContentDeltaDict,
    UserContent,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import chat_session, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import json_loads_object

from ..agent.events import (
    MessageDone,
    PromptReplaced,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEvent,
    TurnEvents,
)
from ..agent.messages import (
    WEB_SEARCH,
    AssistantMessage,
    Message,
    ProviderItem,
    ToolCall,
    ToolResult,
    Transcript,
    UserMessage,
    canonical_json,
    paragraphs,
)
from ..const import DOMAIN, home_singleton
from ..home.entities import Home, async_get_home
from ..internals.conversation import keep_session, stored_chat_logs
from ..records.turn_record import (
    TurnRecord,
    parsed_content,
    result_content,
    shown_arguments,
)
from ..speech.text import SpeechFilter, names_in_other_words
from ..tools.dispatch import UNREADABLE
from ..tools.own.registry import own_tools
from .shown_files import NO_FILES, ShownFiles


class FromOutside:
    """Marks a result that holds text from outside the home.

    The mark is the type alone: to all other code a marked result is unchanged, with all
    its fields.
    """

    __slots__ = ()


@dataclass(slots=True)
class Note(llm.ToolResult):
    """The ChatLog entry for a tool without a native result: `{"note": text}`."""


@dataclass(slots=True)
class NotRun(llm.ToolResult):
    """The ChatLog entry for a call that did not run: `{"not_run": text}`. A tool that ran may return the same data."""


def to_native(result: ToolResult) -> llm.ToolResult:
    """Return a result in the form in which the ChatLog stores it."""
    if isinstance(result.native, llm.ToolResult):
        native = result.native
    elif result.name == WEB_SEARCH and isinstance(
        found := parsed_content(result), dict
    ):  # as a person reads it in the chat
        native = llm.ToolResult(found, result.is_error)
    elif result.synthetic:
        native = NotRun(
            {"not_run": result.content},
            result.is_error,
        )
    else:
        native = Note(
            {"note": result.content},
            result.is_error,
        )
    if result.open_world:
        return _marked(native)
    return native


def _marked(result: llm.ToolResult) -> llm.ToolResult:
    """Return a marked copy of a result, which remains an instance of the result's type."""
    try:
        marked = copy(result)
        marked.__class__ = _marking(type(result))  # type: ignore[arg-type]  # a class has a hash, only its objects do not
    # that type cannot be extended: the mark matters more than the type's own attributes
    except TypeError:
        return _marking(llm.ToolResult)(
            result.data,
            result.error,
        )
    return marked


@cache
def _marking(kind: type[llm.ToolResult]) -> type[llm.ToolResult]:
    marking = type(
        kind.__name__, (FromOutside, kind), {"__slots__": (), "__module__": __name__}
    )
    # JSON encoders recognize a dataclass by its own attributes; the others are
    # inherited.
    return dataclass(init=False, repr=False, eq=False)(marking)


def from_native(hass: HomeAssistant, content: ToolResultContent) -> ToolResult:
    """Return a result from a ChatLog, whether it is ours or that of another agent."""
    text, synthetic = _read(content.result)
    # Our results are marked if they do not come from the home. The built-in agent knows
    # only the home; a pipeline that asks it first logs it under the name of the next
    # agent. The results of other agents may come from anywhere.
    entry = er.async_get(hass).async_get(content.agent_id)
    is_ours = entry is not None and entry.platform == DOMAIN
    knows_only_the_home = is_ours or content.agent_id == HOME_ASSISTANT_AGENT
    return ToolResult(
        content.tool_call_id,
        content.tool_name,
        text,
        is_error=content.result.error,
        synthetic=synthetic,
        open_world=isinstance(content.result, FromOutside) or not knows_only_the_home,
        native=content.result,
    )


def _read(result: llm.ToolResult) -> tuple[str, bool]:
    """Return the text for the model, and whether the call did not run."""
    match result:
        case Note(data={"note": str(text)}):
            return text, False
        case NotRun(data={"not_run": str(text)}):
            return text, True
        case _:
            pass
    try:
        return result_content(result), False
    except TypeError, ValueError:
        return UNREADABLE, False


type SaidContent = UserContent | AssistantContent | ToolResultContent


@dataclass(frozen=True)
class SpokenContent(UserContent):
    """A user's message with the context of its turn."""

    context: str = ""
    """As the model received it. It is sent again in later turns, so that the prompt prefix of a conversation stays the
    same.
    """
    omitted: str = ""
    """The context that earlier messages hold."""


_messages: Final = home_singleton(
    "chat_log_messages", lambda _: dict[int, tuple[weakref.ref[SaidContent], Message]]()
)
"""Returns messages by the `id` of their content, for as long as the content is referenced."""


def message_of(
    hass: HomeAssistant,
    content: SaidContent,
    files: ShownFiles,
) -> Message:
    """Return the message of a content; `files` describes its attachments."""
    if isinstance(content, UserContent) and content.attachments:
        return user_message(content, files)  # a file may be missing in the next turn
    messages = _messages(hass)
    key = id(content)
    message = messages.get(key)
    if message is None:
        message = (
            weakref.ref(
                content,
                lambda _: messages.pop(key, None),
            ),
            _translated(
                hass,
                content,
                files,
            ),
        )
        messages[key] = message
    return message[1]


def _translated(
    hass: HomeAssistant, content: SaidContent, files: ShownFiles
) -> Message:
    match content:
        case UserContent():
            return user_message(content, files)
        case AssistantContent():
            calls = tuple(
                ToolCall(call.id, call.tool_name, _arguments_text(call))
                for call in content.tool_calls or ()
            )
            if _is_ours(content.native):
                items = content.native
            else:
                items = ()
            return AssistantMessage(
                content.content or "", content.thinking_content or "", calls, items
            )
        case ToolResultContent():
            return from_native(hass, content)


def attached_paths(chat_log: ChatLog) -> Collection[Path]:
    """Return the paths of the files of a conversation, the newest first, without duplicates."""
    return {
        attachment.path: None
        for content in reversed(chat_log.content)
        if isinstance(content, UserContent)
        for attachment in content.attachments or ()
    }


def user_message(content: UserContent, files: ShownFiles) -> UserMessage:
    """Return the message of a user with its attachments and its stored context."""
    attachments, note = files.shown_with(content) if content.attachments else ((), "")
    held, omitted = (
        (content.context, content.omitted)
        if isinstance(content, SpokenContent)
        else ("", "")
    )
    return UserMessage(
        content.content,
        attachments,
        paragraphs(held, note),
        omitted,
    )


def _arguments_text(call: llm.ToolInput) -> str:
    """Serialize arguments as in our calls; those of another agent may contain values that are not JSON."""
    try:
        return canonical_json(json_loads_object(json_dumps(call.tool_args)))
    except TypeError, ValueError:
        return "{}"


def _is_ours(native: object) -> TypeIs[tuple[ProviderItem, ...]]:
    """Return whether native content is ours and not that of another agent."""
    return isinstance(native, tuple) and all(
        isinstance(item, ProviderItem) for item in native
    )


def content_of(message: Message, agent_id: str) -> Content:
    """Return a message as ChatLog content; `agent_id` is its author."""
    match message:
        case UserMessage():
            return SpokenContent(
                message.text,
                None,
                message.context,
                message.omitted,
            )
        case AssistantMessage():
            return AssistantContent(
                agent_id=agent_id,
                content=message.text or None,
                thinking_content=message.reasoning or None,
                tool_calls=[tool_input(call) for call in message.tool_calls] or None,
                native=message.provider_items or None,
            )
        case ToolResult():
            return ToolResultContent(
                agent_id=agent_id,
                tool_call_id=message.call_id,
                tool_name=message.name,
                result=to_native(message),
            )


def tool_input(call: ToolCall) -> llm.ToolInput:
    """Return a call that our loop runs itself."""
    return llm.ToolInput(
        call.name,
        shown_arguments(call),
        id=call.id,
        external=True,
    )


type Delta = AssistantContentDeltaDict | ToolResultContentDeltaDict

type Follow = Callable[[TurnEvent], Awaitable[Sequence[TurnEvent]]]
"""Receives an event of the loop, and returns the events that are spoken and stored in its place."""


async def _unchanged(event: TurnEvent) -> Sequence[TurnEvent]:
    return (event,)


async def _at_once() -> None:
    """Return immediately."""


def keep_context(
    chat_log: ChatLog,
    context: str,
    omitted: str = "",
) -> None:
    """Store the context of this turn with the user's last message."""
    latest = chat_log.content[-1]
    if isinstance(latest, UserContent):
        chat_log.content[-1] = SpokenContent(
            latest.content, latest.attachments, context, omitted
        )


def history(
    chat_log: ChatLog,
    files: ShownFiles = NO_FILES,
) -> Transcript:
    """Return the messages before those of this turn; `files` describes their attachments."""
    contents = chat_log.content
    if contents and isinstance(contents[-1], UserContent):
        contents = contents[:-1]
    live = [
        content
        for content in contents
        if not isinstance(content, SystemContent) and not _is_cancelled(content)
    ]
    return tuple([message_of(chat_log.hass, content, files) for content in live])


def _is_cancelled(content: Content) -> bool:
    """Return whether a content is the one that Home Assistant, since 2026.11, adds for a turn that was cancelled."""
    return (
        isinstance(content, AssistantContent)
        and content.content == "Error: CancelledError"
    )


def put_before(
    chat_log: ChatLog,
    earlier: Transcript,
    agent_id: str,
) -> None:
    """Insert earlier messages of a conversation before the user's last message."""
    contents = chat_log.content
    place = len(contents) - bool(contents and isinstance(contents[-1], UserContent))
    contents[place:place] = [content_of(message, agent_id) for message in earlier]


def drop_before(
    chat_log: ChatLog,
    moment: datetime | None,
) -> None:
    """Drop what was said in a conversation before a moment, but the instructions and the message of this turn."""
    first, *others = chat_log.content
    if moment and others:
        later = [one for one in others[:-1] if one.created >= moment]
        chat_log.content[:] = [
            first,
            *later,
            others[-1],
        ]


def is_fresh(chat_log: ChatLog) -> bool:
    """Return whether a conversation contains nothing but the user's message of this turn."""
    return not [
        content
        for content in chat_log.content[:-1]
        if not isinstance(content, SystemContent)
    ]


def words(chat_log: ChatLog, files: ShownFiles) -> UserMessage:
    """Return the user's message of this turn with its attachments and its stored context."""
    latest = chat_log.content[-1]
    if isinstance(latest, UserContent):
        return user_message(latest, files)
    return UserMessage("")


async def async_stream_into_chat_log(  # noqa: PLR0913  # the two last are what others do with a turn meanwhile, and at its end
    chat_log: ChatLog,
    agent_id: str,
    events: TurnEvents,
    report: TurnRecord,
    at_end: Callable[[], Awaitable[None]] = _at_once,
    *,
    follow: Follow = _unchanged,
) -> None:
    """Stream a turn into the ChatLog and into its record, then wait for `at_end`.

    If the turn is cut off, by barge-in or by a bug, the ChatLog still receives what
    happened, with one result for every call, and keeps it for the next turn. Messages
    that another turn of the conversation added meanwhile are kept before those of this
    turn. Callers must not await anything between this call and the moment when Home
    Assistant stores the ChatLog: messages that another turn adds in between would be
    lost.
    """
    before = len(chat_log.content)
    start = before - isinstance(chat_log.content[-1], UserContent)
    saved = _saved(chat_log)
    deltas = _deltas(
        chat_log,
        events,
        follow,
        report,
    )
    try:
        async with aclosing(
            chat_log.async_add_delta_content_stream(agent_id, deltas)
        ) as contents:
            async for _ in contents:
                pass
        await at_end()
    except BaseException:
        await deltas.aclose()
        chat_log.content[before:] = [
            content_of(
                message,
                agent_id,
            )
            for message in report.recorder.interrupted()
        ]
        _async_keep(chat_log, start, saved)
        raise
    newer = _saved(chat_log)
    if newer is not None and newer is not chat_log:
        chat_log.content[start:start] = newer.content[start:]


async def _deltas(
    chat_log: ChatLog,
    events: TurnEvents,
    follow: Follow,
    report: TurnRecord,
) -> AsyncGenerator[Delta]:
    """Add the events to the record, and yield them as ChatLog deltas. A `role` begins a message."""
    in_message = False
    try:
        async for one in events:
            for event in await follow(one):
                report.add(event)
                if isinstance(event, PromptReplaced):
                    # No later turn may send the original.
                    latest = chat_log.content[-1]
                    chat_log.content[-1] = (
                        replace(latest, content=event.text)
                        if isinstance(latest, UserContent)
                        else UserContent(event.text)
                    )
                elif isinstance(event, ToolFinished):
                    call_id = event.result.call_id
                    name = event.result.name
                    native = to_native(event.result)
                    yield {
                        "role": "tool_result",
                        "tool_call_id": call_id,
                        "tool_name": name,
                        "result": native,
                    }
                elif delta := _assistant_delta(event):
                    if in_message:
                        yield delta
                    elif (
                        "tool_calls" in delta
                    ):  # otherwise its list would continue that of the message
                        yield {"role": "assistant"}
                        yield delta
                    else:
                        yield {
                            "role": "assistant",
                            **delta,
                        }
                    in_message = True
                in_message = in_message and not isinstance(
                    event, (MessageDone, ToolFinished)
                )
    finally:
        await events.aclose()


def _assistant_delta(event: TurnEvent) -> AssistantContentDeltaDict | None:
    match event:
        case TextDelta(text):
            return {"content": text}
        case ReasoningDelta(text):
            return {"thinking_content": text}
        case ToolCallReady(call):
            return {"tool_calls": [tool_input(call)]}
        case MessageDone(message) if message.provider_items:
            return {"native": message.provider_items}
        case _:
            return None


def _saved(chat_log: ChatLog) -> ChatLog | None:
    """Return the conversation as the last completed turn left it."""
    return stored_chat_logs(chat_log.hass).get(chat_log.conversation_id)


def _async_keep(
    chat_log: ChatLog,
    start: int,
    saved: ChatLog | None,
) -> None:
    """Save a ChatLog that Home Assistant drops because its turn did not return.

    The turn's own content begins at `start`, with the user's message; `saved` is the
    conversation at the start of the turn. The content of a turn that ended while this
    one was being interrupted is kept.

    Source: `async_get_chat_log` and `async_get_chat_session` save only when their block
    ends without an exception (homeassistant.components.conversation.chat_log).
    """
    hass = chat_log.hass
    conversation_id = chat_log.conversation_id
    session = chat_session.current_session.get()
    if session is None or session.conversation_id != conversation_id:
        return
    chat_logs = stored_chat_logs(hass)
    newer = _saved(chat_log)
    if newer is not None and newer is not saved:
        newer.content[start:start] = chat_log.content[start:]
        return
    if newer is None:

        def forget() -> None:
            chat_logs.pop(conversation_id, None)

        session.async_on_cleanup(forget)
    chat_log.delta_listener = None
    chat_logs[conversation_id] = chat_log
    session.async_updated()
    keep_session(hass, session)


# The signature of `ChatLog.delta_listener`
# (homeassistant.components.conversation.chat_log).
type DeltaListener = Callable[[ChatLog, dict[str, object]], None]

FILLERS: Final = (
    "spoken_filler",
    "spoken_filler_2",
    "spoken_filler_3",
)
"""Keys of the fillers, in the order in which they are spoken."""

ENDS_SENTENCE: Final = "\n\n"
"""Inaudible. Voices that synthesise sentence by sentence (`sentence_stream`) need not wait for the next sentence."""

_BEGINS_TO_SPEAK: Final = 61
"""Characters of an answer at which the pipeline starts to speak.

Source: more than `STREAM_RESPONSE_CHARS`
(homeassistant.components.assist_pipeline.default_pipeline).
"""


class SpokenDeltas:
    """Wraps the listener of a ChatLog, and makes the text of each message speakable."""

    def __init__(
        self, chat_log: ChatLog, listener: DeltaListener, language: str
    ) -> None:
        """Speak `language`, that of the speaker's pipeline."""
        self._chat_log = chat_log
        self._listener = listener
        self._language = language
        self._filter: SpeechFilter | None = None
        self._ends_amid_words = False
        """Whether a listener would expect the last sentence to continue."""
        self._passed_on = 0
        """Characters of the answer."""
        self.speaks = asyncio.Event()
        """Set when any of the answer is spoken."""

    def __call__(
        self,
        chat_log: ChatLog,
        delta: dict[str, object],
    ) -> None:
        """Pass on a delta with the text that can be spoken by now."""
        if "role" in delta or "tool_calls" in delta:
            self._end_message()
        content = delta.get("content")
        if delta.get("role") == "tool_result" or not isinstance(content, str):
            self._listener(chat_log, delta)
            return
        if self._filter is None:
            self._filter = speech_filter(
                chat_log,
                self._language,
                ENDS_SENTENCE,
            )
        rest = {key: value for key, value in delta.items() if key != "content"}
        self._pass_on(
            rest,
            self._filter.feed(content),
        )

    def finish(self) -> None:
        """Speak the held text of the message that ends here."""
        speech_filter = self._filter
        self._filter = None
        if speech_filter is not None:
            self._pass_on({}, speech_filter.finish())

    def say(self, text: str) -> None:
        """Speak text unchanged that is not part of the current message."""
        self._listener(
            self._chat_log,
            {
                "role": "assistant",
                "content": text,
            },
        )

    def fill(self, filler: str) -> None:
        """Speak a filler, after the end of a sentence or between two words: a word is never passed on in parts."""
        # It is long enough for the pipeline to start to speak, and its end is one for
        # voices that speak by sentence.
        filler += "\n" * max(2, _BEGINS_TO_SPEAK - len(filler))
        self.say(f"{ENDS_SENTENCE}{filler}" if self._ends_amid_words else filler)
        self._ends_amid_words = False

    def break_off(self, text: str) -> None:
        """Speak a last sentence; the held text of the message is dropped."""
        self._filter = None
        self.say(text)

    def _end_message(self) -> None:
        """End a message before another one or an action; a full stop may be missing."""
        self.finish()
        if self._ends_amid_words:
            self._pass_on({}, ENDS_SENTENCE)

    def _pass_on(
        self,
        rest: dict[str, object],
        spoken: str,
    ) -> None:
        if spoken:
            spoken = with_early_start(spoken, self._passed_on)
            self._passed_on += len(spoken)
            self._ends_amid_words = not spoken[-1].isspace()
        if spoken.strip():
            self.speaks.set()
        if rest or spoken:
            self._listener(
                self._chat_log, {**rest, "content": spoken} if spoken else rest
            )


def with_early_start(spoken: str, passed_on: int) -> str:
    """Return text whose first sentence is long enough for the pipeline to start to speak, after so many characters."""
    missing = _BEGINS_TO_SPEAK - passed_on - len(spoken)
    return spoken.replace(
        ENDS_SENTENCE,
        ENDS_SENTENCE + "\n" * missing,
        1,
    )


def speech_filter(
    chat_log: ChatLog,
    language: str,
    pause: str = "",
) -> SpeechFilter:
    """Return a filter for an answer, which names no tools and leaves the names in the home as they are."""
    offered = chat_log.llm_api.tools if chat_log.llm_api else ()
    tools = (
        *(tool.name for tool in offered),
        *(tool.definition.name for tool in own_tools(chat_log.hass)),
    )
    return SpeechFilter(
        language,
        tools,
        _written_names(async_get_home(chat_log.hass, CONVERSATION), language),
        pause,
    )


@lru_cache(maxsize=4)
def _written_names(
    home: Home,
    language: str,
) -> tuple[str, ...]:
    """Return the names in a home that a voice would hear in other words."""
    return names_in_other_words({*home.all_names}, language)


@contextmanager
def speaking(
    chat_log: ChatLog,
    language: str,
) -> Generator[SpokenDeltas | None]:
    """Give the listener of the ChatLog speakable text, for one turn; None without a listener."""
    listener = chat_log.delta_listener
    if listener is None:
        yield None
        return
    spoken = SpokenDeltas(
        chat_log,
        listener,
        language,
    )
    chat_log.delta_listener = spoken
    try:
        yield spoken
        spoken.finish()
    finally:
        chat_log.delta_listener = listener


@contextmanager
def filling_silence[T](
    hass: HomeAssistant,
    entry: ConfigEntry[T],
    spoken: SpokenDeltas | None,
    fillers: Sequence[str],
    after: float,
) -> Generator[None]:
    """Speak one of `fillers`, in turn, whenever nothing else is spoken for `after` seconds; 0 disables it.

    `entry` owns the timer, which ends with the block, or when the entry is unloaded.
    """
    if spoken is None or after <= 0:
        yield
        return
    waiting = entry.async_create_background_task(
        hass, _fill(spoken, fillers, after), "chatterbox filler"
    )
    try:
        yield
    finally:
        waiting.cancel()


async def _fill(
    spoken: SpokenDeltas,
    fillers: Sequence[str],
    after: float,
) -> None:
    """Speak a filler after each silence of some seconds: a satellite may hang in a stream that is silent for longer."""
    for filler in cycle(fillers):
        with suppress(TimeoutError):
            while True:
                spoken.speaks.clear()
                async with asyncio.timeout(after):
                    await spoken.speaks.wait()
        spoken.fill(filler)
