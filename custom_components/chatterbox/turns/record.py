"""Records a turn: on the event bus and in the audit while it runs, in the store and the usage when it is over."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from homeassistant.components.conversation import ConversationInput, ConversationResult
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util.ulid import ulid_now

from ..agent.conversation.own_words import NO_MODEL, with_own_words
from ..agent.events import (
    MessageDone,
    PendingApproval,
    Phase,
    PhaseEntered,
    StopReason,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnEvents,
    TurnFinished,
    UsageReported,
)
from ..agent.json.text import objects_in
from ..agent.messages import (
    WEB_SEARCH,
    AssistantMessage,
    JsonObject,
    JsonValue,
    ToolCall,
    Usage,
    canonical_json,
)
from ..agent.text import clipped
from ..approvals.asking import ApprovalRequester
from ..approvals.audit import CallAudit, async_get_change_texts
from ..const import (
    EVENT_TOOL_CALLED,
    EVENT_TOOL_FINISHED,
    EVENT_TURN_FINISHED,
    EVENT_TURN_STARTED,
    LOGGER,
)
from ..history.stores import TurnRecording
from ..internals.assist_pipeline import may_speak
from ..people.speakers import Asking, Speaker, async_get_context_watch
from ..records.turn_record import (
    NOTHING_SHOWN,
    SIGNAL_TURN,
    Origin,
    TurnRecord,
    parsed_content,
    shown_arguments,
    shown_call,
    shown_result,
)
from ..settings.redaction import known_secrets, without_secret_fields, without_secrets
from ..speech.sentences import async_get_sentences
from ..speech.text import asks_back
from .input import TurnInput

_MAX_SHOWN: Final = 10_000
"""Bytes of the arguments and of the result of one call; the recorder accepts up to 32,768 for an event."""
_MOST_SOURCES: Final = 3
_PAGE: Final = re.compile(r"https?://[^\s()<>\[\]\\]{1,500}")
"""An address that does not end the link that it is in."""
_BRACKETS: Final = re.compile(r"[\s\[\]<>()`*_|\\]+")
_LONGEST_TITLE: Final = 100
_LOADED: Final = re.compile(r"!(?=\[)|<(?=[A-Za-z])")
"""Begins a picture in Markdown, or a tag."""
_MAY_LOAD: Final = ("!", "<")
_LACKS_ROOM: Final = "spoken_lacks_room"
_MAX_LOGGED: Final = 1_000
"""Characters of the arguments of a call in the log."""


def turn_origin(
    user_input: ConversationInput,
    agent_id: str,
    conversation_id: str,
    speaker: Speaker,
    history_id: str = "",
) -> Origin:
    """Return the facts that identify a turn: speaker, agent, place and conversation.

    `turn_id` (new with every call of this), `entity_id` (the agent's),
    `conversation_id`, `history_id` (the same, or that of the earlier conversation that
    is resumed), `language`; `device_id`, `satellite_id`, `user_id`, `person_id`,
    `person` (a name) and `caller` (the automation or script that speaks) are None if
    unknown. `is_guest` is there for guests alone.
    """
    return {
        "turn_id": ulid_now(),
        "entity_id": agent_id,
        "conversation_id": conversation_id,
        "history_id": history_id or conversation_id,
        "language": user_input.language,
        "device_id": speaker.device_id,
        "satellite_id": user_input.satellite_id,
        "user_id": speaker.user_id,
        "person_id": speaker.person_id,
        "person": speaker.name,
        "caller": speaker.caller,
        **({"is_guest": True} if speaker.is_guest else {}),
    }


async def reply_events(text: str) -> TurnEvents:
    """Yield the events of a turn whose answer needs no model."""
    yield PhaseEntered(Phase.RECEIVE_INPUT)
    yield PhaseEntered(Phase.RESPONSE_COMPOSITION)
    yield TextDelta(text)
    yield MessageDone(AssistantMessage(text, provider_items=(NO_MODEL,)))
    yield PhaseEntered(Phase.OUTPUT)
    yield TurnFinished(
        StopReason.COMPLETED,
        text,
        Usage(),
        0,
    )


async def async_audit(
    hass: HomeAssistant, turn_input: TurnInput, record: TurnRecord
) -> CallAudit:
    """Return the audit of a turn, which has to record every call that was approved."""
    texts = await async_get_change_texts(hass)
    return CallAudit(
        texts, record.origin, turn_input.user_input.context, turn_input.answered
    )


@dataclass(slots=True)
class TurnRecorder:
    """Records one turn: `finish` must follow `async_start_recording`, whatever happens in between."""

    hass: HomeAssistant
    turn_input: TurnInput
    record: TurnRecord
    audit: CallAudit
    recording: TurnRecording
    requester: ApprovalRequester | None = None
    """Asks for approval; None in a turn that calls no tools."""
    notices: set[str] = field(default_factory=set)
    """As in `Thread`."""
    _call_events: dict[str, JsonObject] = field(default_factory=dict)
    """The data of the events on running calls, by call id."""
    _lacks_room: bool = False
    """Whether the model was not sent the beginning of the conversation, for want of room."""
    _sources: str = ""
    """The pages that the answer rests on, as they are written below it."""
    _held: str = ""
    """The end of a text that may begin a picture."""
    _has_said_prefix: bool = False
    _is_in_prefixed: bool = False
    """Whether the message that is being written begins with the prefix."""

    async def async_follow(self, event: TurnEvent) -> Sequence[TurnEvent]:
        """Record an event of the loop, and return the events that are spoken and stored in its place."""
        followed = await self._async_followed(event)
        return [one for passed in followed for one in self._without_pictures(passed)]

    def _without_pictures(self, event: TurnEvent) -> Iterator[TurnEvent]:
        """Yield an event, with nothing in its text that a chat would load from elsewhere at once.

        The address of a picture could carry what was said, if a page wants it written.
        """
        held = self._held
        requester = self.requester
        is_steered = requester is not None and requester.guard.has_outside_content
        match event:
            case TextDelta(text) if is_steered:
                text = f"{held}{text}"
                if text[-1:] in _MAY_LOAD:
                    self._held = text[-1:]
                else:
                    self._held = ""
                text = _LOADED.sub(
                    _unloaded,
                    text.removesuffix(self._held),
                )
                if text:
                    yield TextDelta(text)
            case TurnFinished(text=text) if is_steered:
                yield replace(
                    event,
                    text=_LOADED.sub(_unloaded, text),
                )
            case MessageDone() if held:
                self._held = ""
                yield from (TextDelta(held), event)
            case _:
                yield event

    async def _async_followed(self, event: TurnEvent) -> Sequence[TurnEvent]:
        match event:
            case ToolStarted() | ToolFinished():
                self._fire_tool_event(event)
                await self.audit.follow(event)
            case MessageDone(message) if not message.tool_calls and (
                sources := await self._sources_text(message.text)
            ):
                self._sources = sources
                cited = with_own_words(
                    message,
                    after=sources,
                    is_fact=False,
                )
                return [
                    self._passed(one)
                    for one in (TextDelta(sources), MessageDone(cited))
                ]
            case ToolCallReady() | MessageDone():
                await self.audit.follow(event)
            case TurnFinished(pending=PendingApproval() as pending) if (
                self.requester is not None
            ):
                return [
                    self._passed(last) for last in self.requester.ask(event, pending)
                ]
            case UsageReported(lacks_room=lacks_room):
                self._lacks_room = lacks_room
            case TurnFinished(stop_reason=StopReason.COMPLETED, pending=None) if (
                self.turn_input.offer or self._lacks_room
            ):
                return [self._passed(last) for last in await self._async_last(event)]
            case _:
                pass
        return (self._passed(event),)

    async def _async_last(self, end: TurnFinished) -> Sequence[TurnEvent]:
        """Return the last events of a turn.

        Unless the answer asks itself, something may be told or asked after it.
        """
        language = self.turn_input.user_input.language
        offer = self.turn_input.offer
        if asks_back(end.text, language):
            return (end,)
        question = await offer() if offer else None
        added = await self._shortage_text(language)
        if question:
            added = f"{added} {question.text}".lstrip()
            end = replace(end, pending=question.pending)
        if not added:
            return (end,)
        message = AssistantMessage(added, provider_items=(NO_MODEL,))
        end = replace(
            end,
            text=f"{end.text.rstrip()} {added}".lstrip(),
        )
        return TextDelta(added), MessageDone(message), end

    async def _shortage_text(self, language: str) -> str:
        """Return once in a conversation that its beginning has no room any more; else an empty text."""
        is_heard = (
            not self.turn_input.is_resumed and self.turn_input.source.asks_in_words()
        )
        if not (self._lacks_room and is_heard) or _LACKS_ROOM in self.notices:
            return ""
        self.notices.add(_LACKS_ROOM)
        return (await async_get_sentences(self.hass, language))[_LACKS_ROOM]

    async def _sources_text(self, answer: str) -> str:
        """Return once what an answer that a person reads rests on, unless it says so itself; else an empty text."""
        turn_input = self.turn_input
        pages = {} if self._sources or "://" in answer else _found_pages(self.record)
        if (
            not pages
            or turn_input.is_heard
            or turn_input.speaker.asking is not Asking.PERSON
            or not turn_input.source.asks_in_words()
            or asks_back(answer, turn_input.user_input.language)
            or may_speak(self.hass, str(self.record.origin["conversation_id"]))
        ):
            return ""
        sentences = await async_get_sentences(
            self.hass,
            turn_input.user_input.language,
        )
        sources = [f"[{title}]({url})" for url, title in pages.items()]
        return "\n\n" + sentences["written_sources"].format(
            sources=", ".join(sources[:_MOST_SOURCES])
        )

    def _fire_tool_event(self, event: ToolStarted | ToolFinished) -> None:
        most = _MAX_SHOWN if self.record.is_stored else NOTHING_SHOWN
        if isinstance(event, ToolStarted):
            data: JsonObject = {
                "tool_call_id": event.call.id,
                **shown_call(event.call, most),
            }
            self._call_events[event.call.id] = data
            if LOGGER.isEnabledFor(logging.DEBUG):
                self._log_call(event.call)
            self.fire(EVENT_TOOL_CALLED, data)
            return
        call = self.record.calls[event.result.call_id]
        result = event.result
        data = self._call_events.get(call.id) or {
            "tool_call_id": call.id,
            **shown_call(call, most),
        }
        outcome = {
            **shown_result(result, most),
            "has_run": not result.synthetic,
        }
        self.fire(EVENT_TOOL_FINISHED, {**data, **outcome})

    def _log_call(self, call: ToolCall) -> None:
        """Log a call without secrets, and without arguments if words are not stored."""
        if self.record.is_stored:
            arguments = shown_arguments(call)
        else:
            arguments = {}
        redacted = canonical_json(
            without_secrets(without_secret_fields(arguments), known_secrets(self.hass))
        )
        LOGGER.debug(
            "%s calls %s with %.*s",
            self.record.origin["entity_id"],
            call.name,
            _MAX_LOGGED,
            redacted,
        )

    def fire(
        self,
        event_type: str,
        data: Mapping[str, JsonValue],
    ) -> None:
        """Fire a bus event of this turn, in the context of the speaker."""
        self.hass.bus.async_fire(
            event_type,
            {
                **self.record.origin,
                **data,
            },
            context=self.turn_input.user_input.context,
        )

    def _passed(self, event: TurnEvent) -> TurnEvent:
        """Pass an event to the source; return it, with the prefix added to the beginning of the answer."""
        self.turn_input.source.hear(event)
        match event:
            case TextDelta(text) if (
                self.turn_input.prefix and not self._has_said_prefix
            ):
                self._has_said_prefix = self._is_in_prefixed = True
                return TextDelta(f"{self.turn_input.prefix} {text}")
            case MessageDone(message) if self._is_in_prefixed:
                self._is_in_prefixed = False
                return MessageDone(
                    with_own_words(
                        message,
                        before=f"{self.turn_input.prefix} ",
                    )
                )
            case TurnFinished(text=text) if self.turn_input.prefix or self._sources:
                text = f"{self.turn_input.prefix} {text}{self._sources}".strip()
                return replace(event, text=text)
            case _:
                return event

    def finish(self) -> None:
        """Record the end of the turn, even if it was cut off."""
        self.audit.finished()
        self.fire(
            EVENT_TURN_FINISHED,
            self.record.as_event_data(tells_words=self.record.is_stored),
        )
        async_dispatcher_send(
            self.hass,
            SIGNAL_TURN,
            self.record,
        )
        self.recording.async_store()


def _found_pages(record: TurnRecord) -> Mapping[str, str]:
    """Return the titles of the pages that the searches of a turn have found, by address."""
    pages: dict[str, str] = {}
    for result in record.results:
        match parsed_content(result):
            case {"found": list(found)} | {"sources": list(found)} if (
                result.name == WEB_SEARCH
            ):
                pages |= {
                    url: _as_label(str(page.get("title") or "")) or _as_label(url)
                    for page in objects_in(found)
                    if _PAGE.fullmatch(url := str(page.get("url")))
                }
            case _:
                pass
    return pages


def _unloaded(found: re.Match[str]) -> str:
    """Make a link of a picture, and a text of a tag."""
    if found[0] == "!":
        return ""
    return "<\u2060"


def _as_label(text: str) -> str:
    """Return a text as that of a link, which it cannot end."""
    return clipped(_BRACKETS.sub(" ", text), _LONGEST_TITLE)


async def async_start_recording(
    hass: HomeAssistant,
    entry: ConfigEntry,
    subentry: ConfigSubentry,
    turn_input: TurnInput,
    record: TurnRecord,
) -> TurnRecorder:
    """Start to record a turn. The first event does not contain the words: a hook may still hide them."""
    # An API client that pretends to be a satellite must not end the conversation there.
    stored_as = {
        **record.origin,
        "device_id": turn_input.speaker.sure_device_id,
    }
    recording = TurnRecording(
        hass, entry, subentry, stored_as, record, is_wanted=record.is_stored
    )
    recorder = TurnRecorder(
        hass, turn_input, record, await async_audit(hass, turn_input, record), recording
    )
    async_get_context_watch(hass).take_for_turn(turn_input.user_input.context)
    recorder.fire(EVENT_TURN_STARTED, {})
    return recorder


_TIMINGS: Final = (
    "duration",
    "first_words",
    "phases",
    "inferences",
    "tools",
)


@dataclass(slots=True, kw_only=True)
class ReportedResult(ConversationResult):
    """The result of a turn with its record."""

    record: TurnRecord

    def as_response(self) -> JsonObject:
        """Return the whole turn in the form that `docs/actions.md` describes."""
        record = self.record
        facts = self.record.facts.as_json()
        return {
            "conversation_id": self.conversation_id,
            "continue_conversation": self.continue_conversation,
            "speech": self.response.speech.get("plain", {}).get(
                "speech",
                "",
            ),
            "tool_calls": [
                {
                    "name": record.calls[result.call_id].name,
                    "arguments": shown_arguments(record.calls[result.call_id]),
                    "result": parsed_content(result),
                    "is_error": result.is_error,
                }
                for result in record.results
            ],
            "handovers": record.handovers,
            "stop_reason": facts["stop_reason"],
            "error": facts["error"],
            "iterations": facts["iterations"],
            "usage": asdict(record.facts.usage),
            "timings": {name: facts[name] for name in _TIMINGS},
        }


def reported(result: ConversationResult, record: TurnRecord) -> ReportedResult:
    """Return a result with the record of its turn; its figures become the `extra_data` of the speech."""
    for speech in result.response.speech.values():
        speech["extra_data"] = record.facts.as_json()
    return ReportedResult(
        result.response,
        result.conversation_id,
        result.continue_conversation,
        record=record,
    )
