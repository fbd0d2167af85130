"""Words and calls of a transcript that no model wrote. They are never sent as those of the model.

The loop ends answers with sentences of its own, callers add questions, and Home
Assistant acts on sentences without a model. A model that reads such words as its own
repeats them: after one failed turn, a working model says that it cannot be reached. So
they are left out, and told as facts in the context of the next message where they
matter.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from ..messages import (
    DECLINED,
    AssistantMessage,
    JsonObject,
    Message,
    ProviderItem,
    ToolResult,
    Transcript,
    UserMessage,
    paragraphs,
)
from ..protocols import CompletionRequest
from ..text import clipped
from ..transcript import since_last_user_message, turns_backwards

_FORMAT: Final = "own_words"
"""Name of the format in provider items, which no wire format reads."""
NO_MODEL: Final = ProviderItem(_FORMAT, {})
"""Marks a message of which nothing is by a model, neither words nor calls."""

_LENGTH: Final = 300
# Marks, not sentences: small models answer with sentences that they read.
_ANSWERED: Final = '<answered_before by="Home Assistant">{}</answered_before>'
_ADDED: Final = '<heard_before from="Home Assistant">{}</heard_before>'
_UNANSWERED: Final = '<message_before status="unanswered" to_do="nothing"/>'
_LEFT_OUT: Final = '<messages_before status="declined" to_do="nothing"/>'
_TRIED: Final = '<tried by="Home Assistant">{}</tried>'
_SIGNS: Final = str.maketrans("<>", "‹›")  # noqa: RUF001  # as no mark has them


def with_own_words(
    message: AssistantMessage,
    *,
    before: str = "",
    after: str = "",
    is_fact: bool = True,
) -> AssistantMessage:
    """Add text of ours to both ends of a message.

    A model is told of it if it `is_fact`, and not only the reason for which there is no
    answer.
    """
    mark = ProviderItem(
        _FORMAT, {"before": len(before), "after": len(after), "is_fact": is_fact}
    )
    return replace(
        message,
        text=f"{before}{message.text}{after}",
        provider_items=(*message.provider_items, mark),
    )


def mark_of_call(
    history: Transcript,
    call_id: str,
) -> tuple[ProviderItem, ...]:
    """Return the mark of a call that no model made, which the message that resumes it after a question needs, too."""
    return next(
        (
            (NO_MODEL,)
            for message in history
            if isinstance(message, AssistantMessage)
            and NO_MODEL in message.provider_items
            and any(call.id == call_id for call in message.tool_calls)
        ),
        (),
    )


def as_models_read(history: Transcript) -> Transcript:
    """Return the messages before a turn as a model is sent them: as many, and the same objects where nothing is ours.

    What is left out becomes an empty message, so that positions in the transcript stay
    valid.
    """
    reading = _Reading()
    return tuple(map(reading.read, history))


def without_declined(history: Transcript) -> Transcript:
    """Return the messages before a turn without the turns whose words a service declined: it would decline all others.

    What is left out becomes an empty message, as in `as_models_read`.
    """
    remaining: list[Message] = []
    is_left_out = False
    for turn in reversed([*turns_backwards(history)]):
        is_after = is_left_out
        words = turn[0]
        is_left_out = any(
            isinstance(one, AssistantMessage) and DECLINED in one.provider_items
            for one in turn
        )
        if is_after and isinstance(words, UserMessage):
            words = _noted(words.alone(), _LEFT_OUT)
        remaining += (
            [AssistantMessage()] * len(turn) if is_left_out else [words, *turn[1:]]
        )
    return tuple(remaining)


def without_broken_words(messages: Transcript) -> Transcript:
    """Return the messages of a turn without words of ours; calls that no model made stay, with their results.

    Whoever made them reads from the results that they are done.
    """
    emptied = AssistantMessage()
    return tuple(
        message
        if sent == emptied and (isinstance(message, ToolResult) or _has_calls(message))
        else sent
        for message, sent in zip(messages, as_models_read(messages), strict=True)
    )


def _has_calls(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.tool_calls)


def without_attempts(
    tool: str, is_vain: Callable[[ToolResult], bool], request: CompletionRequest
) -> CompletionRequest:
    """Return a request for a model, without the calls of a tool by which Home Assistant has tried to act in this turn.

    The model is told the answer of Home Assistant, unless it is that of a single
    attempt that `is_vain`.
    """
    _, results = since_last_user_message(request.transcript)
    own = [result for result in results if result.name == tool]
    if not own:
        return request
    ids = {result.call_id for result in own}
    is_untold = len(own) == 1 and is_vain(own[0])
    if is_untold:
        answer = ""
    else:
        answer = own[-1].content
    words = (
        one for one in reversed(request.transcript) if isinstance(one, UserMessage)
    )
    last = next(words, None)
    transcript = list[Message]()
    for message in request.transcript:
        match message:
            case UserMessage() if answer and message is last:
                transcript.append(_noted(message, _TRIED.format(_quoted(answer))))
            case ToolResult(call_id=call_id) if call_id in ids:
                pass
            case AssistantMessage(tool_calls=calls) if any(
                call.id in ids for call in calls
            ):
                pass
            case _:
                transcript.append(message)
    return replace(request, transcript=tuple(transcript))


@dataclass(slots=True)
class _Reading:
    """The state of reading a transcript, message by message: what the current turn has come to so far."""

    _own_calls: set[str] = field(default_factory=set)
    _heard: list[str] = field(default_factory=list)
    """Words of ours that the model is told."""
    _is_by_model: bool = False
    _is_ours: bool = False

    def read(self, message: Message) -> Message:
        match message:
            case UserMessage():
                note = self._note()
                self._heard = []
                self._is_by_model = False
                self._is_ours = False
                if note:
                    return _noted(message, note)
                return message
            case ToolResult(call_id=call_id):
                if call_id in self._own_calls:
                    return AssistantMessage()
                return message
            case AssistantMessage():
                return self._of_model(message)
            case _:
                assert_never(message)

    def _of_model(self, message: AssistantMessage) -> AssistantMessage:
        """Return the part of a message that a model wrote."""
        marks = [item.data for item in message.provider_items if item.format == _FORMAT]
        if not marks:
            self._is_by_model |= bool(message.text or message.tool_calls)
            return message
        self._is_ours = True
        if {} in marks:
            self._own_calls |= {call.id for call in message.tool_calls}
            self._hear(message.text)
            return AssistantMessage()
        begin = sum(_count(mark, "before") for mark in marks)
        end = len(message.text) - sum(_count(mark, "after") for mark in marks)
        if all(mark.get("is_fact") for mark in marks):
            self._hear(f"{message.text[:begin]} {message.text[end:]}")
        text = message.text[begin:end]
        if not text.strip() and not message.tool_calls:
            return AssistantMessage()
        self._is_by_model = True
        others = tuple(
            item for item in message.provider_items if item.format != _FORMAT
        )
        return replace(
            message,
            text=text,
            provider_items=others,
        )

    def _hear(self, text: str) -> None:
        if text.strip():
            self._heard.append(text.strip())

    def _note(self) -> str:
        if self._heard:
            return (_ADDED if self._is_by_model else _ANSWERED).format(
                _quoted(" ".join(self._heard))
            )
        if self._is_ours and not self._is_by_model:
            return _UNANSWERED
        return ""


def _noted(message: UserMessage, note: str) -> UserMessage:
    return replace(
        message,
        context=paragraphs(message.context, note),
    )


def _count(mark: JsonObject, name: str) -> int:
    count = mark.get(name)
    if isinstance(count, int):
        return count
    return 0


def _quoted(text: str) -> str:
    return f"“{clipped(text, _LENGTH).translate(_SIGNS)}”"
