"""Home Assistant's own understanding beside a model: it acts before it, or after it when it has done nothing.

Either way it is a tool call of the turn, under the same rules. In later turns, the
model is told of it.
"""

import re
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from homeassistant.components.conversation import ConversationInput
from homeassistant.core import HomeAssistant

from ..agent.conversation.own_words import NO_MODEL
from ..agent.errors import ProviderError
from ..agent.events import CompletionResult, ProviderEvent, TextDelta, ToolCallReady
from ..agent.messages import (
    AssistantMessage,
    FinishReason,
    ToolCall,
    ToolChoiceMode,
    ToolDefinition,
    ToolResults,
    Transcript,
    Usage,
    paragraphs,
)
from ..agent.protocols import (
    CompletionRequest,
    HookPoint,
    LeavableProvider,
    LLMProvider,
)
from ..agent.transcript import changing_tools, since_last_user_message
from ..const import home_singleton
from ..effects.recognition import RecognizedRequest, async_recognize
from ..home.request import QUESTION_ENDS
from ..internals.conversation import built_in_agent
from ..records.turn_record import found_nothing
from ..settings.agent import AgentSettings, LocalCommands
from ..speech.sentences import in_sentences
from ..speech.text import REPORTS, AnswerContent, Statement, answer_content, asks_back
from ..speech.text.times import prepare
from .provider import (
    PROCESS_SENTENCE,
    answer_items,
    calls_of,
    is_local_call,
    speech_of,
    without_sentences,
)
from .sentence_effects import (
    async_read_sentence,
    async_recognize_read,
    async_sentence_effects,
)

if TYPE_CHECKING:
    from homeassistant.components.conversation.default_agent import DefaultAgent


class Talk(NamedTuple):
    """The conversation in which words are said."""

    history: Transcript
    """The messages before them."""
    agent: DefaultAgent | None
    """The built-in agent; None if it is not there, the words are too long, or a trigger reacts to them."""
    is_of_guest: bool = False


async def async_talk(
    hass: HomeAssistant,
    user_input: ConversationInput,
    history: Transcript = (),
    *,
    is_of_guest: bool = False,
) -> Talk:
    """Return the conversation in which words are said, in a language whose times are read."""
    agent = built_in_agent(hass, user_input.text)
    if agent and await agent.async_recognize_sentence_trigger(user_input):
        agent = None
    await hass.async_add_executor_job(prepare, user_input.language)
    return Talk(history, agent, is_of_guest)


type Recognizer = Callable[
    [HomeAssistant, ConversationInput, Talk, RecognizedRequest | None],
    Awaitable[RecognizedRequest | None],
]
"""Returns a request by its words and their conversation, given what Home Assistant has recognized in them."""

recognizers: Final = home_singleton("recognizers", lambda _: dict[str, Recognizer]())
"""Returns the recognizers that are asked after Home Assistant's own, by the names of the tools that they call."""
_GIVES_NO_REASON: Final = REPORTS | {Statement.CANNOT}
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")  # noqa: RUF001 - as it is written


class ModelCheck(Protocol):
    """Compares what a model does with the words of the person."""

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there that can be asked."""

    @property
    def proposes(self) -> bool:
        """Whether calls are proposed in place of those of the model."""

    @property
    def is_about_all(self) -> bool:
        """Whether the words are about all things of a kind."""

    @property
    def may_be_command(self) -> bool:
        """Whether the words may be a command."""

    async def async_hint(self) -> tuple[str, bool]:
        """Return what a model is told that did nothing; see `RequestCheck.async_hint`."""

    async def async_propose(self) -> Sequence[ToolCall]:
        """Return calls that do what the words want, and that the person is asked about; none if that is not plain."""

    def ask_about(
        self, call: ToolCall, reason: str = "", *, always: bool = True
    ) -> None:
        """Have the person asked about a call, after a reason, whatever the rules say; else only if it is risky."""


@dataclass(frozen=True, slots=True)
class LocalRequests:
    """Decides which words of a turn are Home Assistant's."""

    hass: HomeAssistant
    settings: AgentSettings
    user_input: ConversationInput
    history: Transcript
    is_refused: Callable[[], bool]
    """Tells whether the rules have refused a call of the turn: then nothing else is tried."""
    is_new: bool
    """Whether the words are a request. Those that answer a question are none."""
    has_model: bool
    """Whether a model answers. Without one, the provider handles all but requests with a call or an answer."""
    check: ModelCheck | None
    """None for words that are compared with nothing."""
    is_of_guest: bool

    @property
    def acts(self) -> bool:
        """Whether Home Assistant acts beside the model. Otherwise it only asks about what the model leaves undone."""
        return (
            not self.has_model
            or self.settings.local_commands is not LocalCommands.NEVER
        )

    @property
    def goes_beside_model(self) -> bool:
        """Whether Home Assistant handles requests, or asks about them, also while a model answers.

        A script that judges each call knows the tools of models, so the model handles
        all then.
        """
        may_act = (
            self.acts
            or not self.is_new
            or (self.check is not None and self.check.may_be_command)
        )
        return may_act and not (
            self.has_model and HookPoint.PRE_TOOL_USE in self.settings.scripts
        )

    async def async_recognize(
        self, words: str, tools: Iterable[ToolDefinition]
    ) -> RecognizedRequest | None:
        """Return what words are that stand by themselves; None for those that follow up on words of the model."""
        if not self.is_new or not words:
            return None
        user_input = replace(self.user_input, text=words)
        found = await async_recognize(self.hass, user_input)
        offered = {tool.name for tool in tools}
        talk = await async_talk(
            self.hass,
            user_input,
            self.history,
            is_of_guest=self.is_of_guest,
        )
        for name, recognize in recognizers(self.hass).items():
            if name in offered:
                found = await recognize(
                    self.hass,
                    user_input,
                    talk,
                    found,
                )
        reads = self.settings.local_commands is LocalCommands.FIRST
        if found is None and self.has_model and reads:
            found = await async_recognize_read(self.hass, user_input)
        if found is None:
            return None
        if not self.has_model:  # its provider handles the others
            if found.call or found.answer:
                return found
            return None
        language = self.user_input.language
        changing = changing_tools(tools)
        is_for_model = found.is_last_resort or _follows_up(
            found, self.history, language, changing
        )
        return None if is_for_model else found

    async def async_hint_for(
        self, words: str, tools: Iterable[ToolDefinition]
    ) -> tuple[str, bool]:
        """Return what a model is told once if it only talks; empty for words that may answer some of its own."""
        if not (self.has_model and self.is_new and words and changing_tools(tools)):
            return "", False
        match self.history[-1:]:
            case (AssistantMessage(text=last),) if asks_back(
                last, self.user_input.language
            ):
                return "", False
            case _:
                if self.check:
                    return await self.check.async_hint()
                return ("", False)

    def may_propose(self, tools: Iterable[ToolDefinition]) -> bool:
        """Return whether words are a request, and not for a model that has just spoken without doing anything."""
        has_talked = _last_words(self.history) and not _has_acted(
            self.history, changing_tools(tools)
        )
        return self.is_new and not has_talked

    async def async_read(self, words: str) -> tuple[RecognizedRequest | None, bool]:
        """Return the command that words are as they are read, and whether they name what the home does not have."""
        user_input = replace(self.user_input, text=words)
        reading = await async_read_sentence(self.hass, user_input)
        is_whole = bool(reading.calls) and not reading.unknown
        if is_whole:
            found = RecognizedRequest(
                reading.calls[0].intent,
                is_question=False,
            )
        else:
            found = None
        return found, bool(reading.unknown)

    async def async_is_known(self, words: str) -> bool:
        """Return whether it is known on what Home Assistant would act for a sentence."""
        user_input = replace(self.user_input, text=words)
        effects = await async_sentence_effects(self.hass, user_input)
        return bool(effects.actions)

    def goes_first(self, request: RecognizedRequest) -> bool:
        """Return whether a request does not go to the model."""
        if not self.has_model:
            return True
        first = self.settings.local_commands is LocalCommands.FIRST
        return first and request.kind not in self.settings.model_requests


class _Kind(Enum):
    """The kind of an answer to a command of which nothing was done."""

    STANDS = auto()
    """It is heard as it is."""
    PLAIN = auto()
    """It reports, or says that the model cannot, without a reason: nothing is lost with it."""
    ASKS = auto()
    TELLS = auto()
    """It may give a reason, and is heard before a question."""


class _Answer(NamedTuple):
    """A whole answer of a model."""

    text: str
    end: CompletionResult


@dataclass(slots=True)
class LocalCommandsProvider(LeavableProvider):
    """The `LLMProvider` of one turn that joins Home Assistant's own understanding and a model."""

    model: LLMProvider
    requests: LocalRequests
    _recognized: RecognizedRequest | None = None
    _has_asked_model: bool = False
    _may_propose: bool = False
    """Whether what was left undone may be asked about: the words are no answer, and name only what exists."""
    _has_acted: bool = False
    """Whether something was changed in the turn."""
    _is_first: bool = False
    """Whether the model is asked for the first time, with tools."""
    _hint: str | None = None
    """The hint for a model that only talks, once that was looked for."""
    _hints_at_reports: bool = False
    """Whether only a model that reports an action is told what fits."""
    _undone: str | None = None
    """The words of a model that had done nothing, once they have given way."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ProviderEvent]:
        """Run one inference; see `LLMProvider.stream`."""
        words, results = since_last_user_message(request.transcript)
        may_call = request.tool_choice is ToolChoiceMode.AUTO
        own = self._own_of(request.transcript, results)
        is_ours = self._is_turn_ours(own, results)
        without_model = await self._async_without_model(
            request, words, results, own if is_ours else ()
        )
        if without_model:
            for event in without_model:
                yield event
            return
        # A sentence in vain is as if it had not been tried, for all providers.
        if is_ours and len(own) == 1 and found_nothing(own[0]):
            request = without_sentences(request)
        check = self.requests.check
        is_about_all = check is not None and check.is_about_all
        changing = changing_tools(request.tools)
        self._has_acted = _has_acted(request.transcript, changing)
        self._is_first = may_call and not results and not self._has_asked_model
        self._has_asked_model = True
        events = self.model.stream(request)
        if may_call and not own and (is_about_all or not self._has_acted):
            events = self._with_take_over(events, request)
        async with aclosing(events):
            async for event in events:
                yield event

    def _is_turn_ours(
        self,
        own: ToolResults,
        results: ToolResults,
    ) -> bool:
        """Return whether no call of the model ran, or its words have given way to calls of ours."""
        if self._undone is not None:
            return bool(own)
        return bool(own) and not self._has_asked_model and len(own) == len(results)

    async def _async_without_model(
        self,
        request: CompletionRequest,
        words: str,
        results: ToolResults,
        own: ToolResults,
    ) -> Sequence[ProviderEvent]:
        """Return the events of an inference that needs no model; none if it is asked."""
        requests = self.requests
        check = self.requests.check
        may_call = request.tool_choice is ToolChoiceMode.AUTO
        if not results and may_call and requests.acts:
            found = await requests.async_recognize(
                words,
                request.tools,
            )
            self._recognized = found
            if found is None:
                return ()
            if found.answer:
                items = answer_items(found)
                end = CompletionResult(FinishReason.STOP, provider_items=items)
                return TextDelta(found.answer), end
            first = requests.goes_first(found)
            if first:
                return [*_calling(calls_of(found, words))]
            return ()
        if own:
            speech = self._ending(own)
        else:
            speech = None
        if speech is not None:
            if speech == self._undone:
                items = ()
            else:
                items = (NO_MODEL,)
            end = CompletionResult(FinishReason.STOP, provider_items=items)
            if speech:
                return (TextDelta(speech), end)
            return (end,)
        if may_call and not own and check and check.proposes:
            return [*_calling(await self._async_proposed(check))]
        return ()

    def _own_of(
        self,
        transcript: Transcript,
        results: ToolResults,
    ) -> ToolResults:
        """Return the results of sentences, and of other calls of ours: in a turn that resumes, they have other ids."""
        if results and _is_own(transcript):
            return results
        if self.requests.has_model and self.requests.acts:
            sentence = PROCESS_SENTENCE.name
        else:
            sentence = ""
        return [
            one for one in results if one.name == sentence or is_local_call(one.call_id)
        ]

    def _ending(self, own: ToolResults) -> str | None:
        """Return what is said after a sentence was processed; None if it failed, and the model has to go on."""
        done = [result for result in own if not (result.is_error or result.synthetic)]
        refused = [result for result in own if result.synthetic]
        if done and not refused:  # and then what was not
            return in_sentences(map(speech_of, own))
        if done or len(refused) == len(own) or not self.requests.has_model:
            # it was refused, nobody said yes, or nobody else can help: the turn says
            # why
            return ""
        return self._undone

    async def _async_may_be_command(
        self, words: str, request: CompletionRequest
    ) -> bool:
        """Return whether the words are a command that something fits, as far as it was left undone."""
        requests = self.requests
        check = self.requests.check
        _, results = since_last_user_message(request.transcript)
        self._may_propose = check is not None and bool(
            results or requests.may_propose(request.tools)
        )
        if self._recognized is None and self._may_propose:
            await self._async_recognize_undone(words, request)
        is_left = self._recognized is None or not requests.acts
        if self._is_first and self._hint is None and is_left:
            self._hint, self._hints_at_reports = await requests.async_hint_for(
                words, request.tools
            )
        if self._is_command or self._hint:
            return True
        return bool(self._may_propose and check and await check.async_propose())

    async def _async_recognize_undone(
        self, words: str, request: CompletionRequest
    ) -> None:
        """Recognize the command that the words may be, although Home Assistant does not act, or has not found it."""
        check = self.requests.check
        if check is None or not check.may_be_command:
            return
        if not self.requests.acts:
            self._recognized = await self.requests.async_recognize(
                words,
                request.tools,
            )
        if self._recognized is None:
            self._recognized, is_unknown = await self.requests.async_read(words)
            self._may_propose = not is_unknown

    @property
    def _is_command(self) -> bool:
        """Whether a command was recognized in the words."""
        found = self._recognized
        return found is not None and not (
            found.is_question or found.answer or self._has_acted
        )

    async def _with_take_over(
        self,
        events: AsyncGenerator[ProviderEvent],
        request: CompletionRequest,
        first: _Answer | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        """Yield the events of a model that has done nothing so far. If it only talks, its answer may give way.

        The `first` answer, which has given way to this one, counts if this one is empty
        or breaks off.
        """
        answer = first
        is_heard = False
        usage = first.end.usage if first else Usage()
        try:
            async with aclosing(
                self._held(events, request, may_give_way=bool(first) or None)
            ) as passed:
                async for event in passed:
                    match event:
                        case _Answer(text, end):
                            last = event if text.strip() or first is None else first
                            answer = _Answer(
                                last.text, replace(last.end, usage=usage + end.usage)
                            )
                        case CompletionResult():
                            answer = None
                            yield replace(
                                event,
                                usage=usage + event.usage,
                            )
                        case _:
                            is_heard = is_heard or isinstance(
                                event, TextDelta | ToolCallReady
                            )
                            yield event
        except ProviderError:
            if first is None or is_heard:
                raise
            answer = first
        if answer is None:
            return
        async with aclosing(
            self._concluded(answer, request, is_first=first is None)
        ) as concluded:
            async for event in concluded:
                yield event

    async def _held(
        self,
        events: AsyncGenerator[ProviderEvent],
        request: CompletionRequest,
        *,
        may_give_way: bool | None,
    ) -> AsyncGenerator[ProviderEvent | _Answer]:
        """Yield the events of a model: its whole answer as one where it only talks, and may give way.

        Whether it may is found out when it begins to talk, unless that is known.
        """
        words, _ = since_last_user_message(request.transcript)
        held: list[TextDelta] = []
        async for event in events:
            match event:
                case TextDelta(text):
                    held.append(event)
                    if may_give_way is None and text.strip():
                        may_give_way = await self._async_may_be_command(words, request)
                case CompletionResult(FinishReason.STOP) if may_give_way is not False:
                    yield _Answer(
                        "".join(delta.text for delta in held),
                        event,
                    )
                    continue
                case ToolCallReady() | CompletionResult():
                    may_give_way = False
                case _:
                    pass
            if may_give_way is False:
                for delta in held:
                    yield delta
                held.clear()
            if not isinstance(event, TextDelta):
                yield event

    async def _concluded(
        self, answer: _Answer, request: CompletionRequest, *, is_first: bool
    ) -> AsyncGenerator[ProviderEvent]:
        """Yield an answer, or what it gives way to: another answer of the model, and after that the command itself."""
        words, results = since_last_user_message(request.transcript)
        if not answer.text.strip():
            await self._async_may_be_command(words, request)
        kind = self._kind(
            answer.text,
            words,
            results,
        )
        may_tell = not self._hints_at_reports and self.requests.may_propose(
            request.tools
        )
        is_answered = (
            self._is_first
            and is_first
            and answer.text.strip()
            and kind is not _Kind.STANDS
        )
        if is_answered and self._hint and (kind is _Kind.PLAIN or may_tell):
            hinted = replace(
                request,
                directive=paragraphs(request.directive, self._hint),
            )
            async with aclosing(
                self._with_take_over(self.model.stream(hinted), request, answer)
            ) as events:
                async for event in events:
                    yield event
            return
        calls = await self._async_calls(
            request,
            answer.text.strip(),
            kind,
        )
        if not calls:
            if answer.text:
                yield TextDelta(answer.text)
            yield answer.end
            return
        self._undone = answer.text
        for event in _calling(calls, answer.end):
            yield event

    async def _async_calls(
        self, request: CompletionRequest, answer: str, kind: _Kind
    ) -> Sequence[ToolCall]:
        """Return the calls that do what the words want; none where the answer of the model stands."""
        words, _ = since_last_user_message(request.transcript)
        requests = self.requests
        check = self.requests.check
        if kind is _Kind.TELLS:
            reason = _without_questions(answer)
        else:
            reason = ""
        if kind is _Kind.STANDS:
            return ()
        if not self._is_command:
            is_asked_again = self._is_first and not answer  # with tools, by the loop
            if check is None or is_asked_again or not self._may_propose:
                return ()
            return await self._async_proposed(check, reason)
        *first, call = calls_of(self._recognized, words)
        if kind is _Kind.PLAIN and requests.acts:
            return (*first, call)
        if check is None or not check.can_ask or call.name != PROCESS_SENTENCE.name:
            return ()
        if not await requests.async_is_known(words):
            return ()  # a question would not say what it is about
        check.ask_about(
            call,
            reason,
            always=kind is _Kind.TELLS or not requests.acts,
        )
        return (call,)

    @staticmethod
    async def _async_proposed(
        check: ModelCheck, reason: str = ""
    ) -> Sequence[ToolCall]:
        calls = await check.async_propose()
        for call in calls:
            check.ask_about(call, reason)
        return calls

    def _kind(
        self,
        answer: str,
        words: str,
        results: ToolResults,
    ) -> _Kind:
        """Return what an answer is to a command."""
        if self.requests.is_refused():
            return _Kind.STANDS
        has_failed = any(result.is_error for result in results)
        if not answer.strip():
            return _Kind.PLAIN if has_failed or not results else _Kind.STANDS
        content = self._content(
            _without_questions(answer),
            words,
        )
        asks = content.has_conditions or self._content(answer, words).asks
        statements = frozenset(content.statements)
        if Statement.ANNOUNCEMENT in statements:
            return _Kind.STANDS
        if not content.has_reservations:
            if has_failed and not asks:
                return _Kind.PLAIN
            if statements <= self._giving_no_reason(results):
                return _Kind.ASKS if asks else _Kind.PLAIN
        return _Kind.STANDS if results and not asks else _Kind.TELLS

    def _content(
        self,
        answer: str,
        words: str,
    ) -> AnswerContent:
        return answer_content(
            answer,
            words,
            self.requests.user_input.language,
        )

    def _giving_no_reason(self, results: ToolResults) -> frozenset[Statement]:
        """Return the statements that give no reason why nothing was done.

        After a look at the home, only the report of an action is certain to be none;
        "The light is on" may be one.
        """
        if self._has_acted:
            return REPORTS
        if results:
            return frozenset({Statement.DONE})
        return REPORTS if self._hints_at_reports else _GIVES_NO_REASON


def _without_questions(text: str) -> str:
    return " ".join(
        one
        for one in _SENTENCE_END.split(text)
        if not any(mark in one for mark in QUESTION_ENDS)
    ).strip()


def _calling(
    calls: Iterable[ToolCall], end: CompletionResult | None = None
) -> Iterator[ProviderEvent]:
    """Yield the events of a message of ours with some calls."""
    for call in calls:
        yield ToolCallReady(
            call,
            frozenset({call.name}),
        )
    end = end or CompletionResult(FinishReason.STOP)
    yield replace(
        end, finish_reason=FinishReason.TOOL_CALLS, provider_items=(NO_MODEL,)
    )


def _is_own(transcript: Transcript) -> bool:
    """Return whether the last message with calls is ours."""
    calling = (
        one
        for one in reversed(transcript)
        if isinstance(one, AssistantMessage) and one.tool_calls
    )
    last = next(calling, None)
    return last is not None and NO_MODEL in last.provider_items


def _follows_up(
    request: RecognizedRequest,
    history: Transcript,
    language: str,
    changing: Container[str],
) -> bool:
    """Return whether words may be meant for a model that has just spoken.

    It only talked, and may have asked for words in any way, or it asked a question, or
    the words name no target.
    """
    last = _last_words(history)
    if last is None:
        return False
    if request.is_elliptic or not _has_acted(history, changing):
        return True
    return asks_back(last.text, language)


def _last_words(history: Transcript) -> AssistantMessage | None:
    """Return the last message if a model wrote it."""
    _, results = since_last_user_message(history)
    if any(result.name == PROCESS_SENTENCE.name for result in results):
        return None
    match history[-1:]:
        case (AssistantMessage() as last,) if NO_MODEL not in last.provider_items:
            return last
        case _:
            return None


def _has_acted(
    transcript: Transcript,
    changing: Container[str],
) -> bool:
    """Return whether something was changed in the last turn."""
    _, results = since_last_user_message(transcript)
    return any(
        result.name in changing and not (result.is_error or result.synthetic)
        for result in results
    )
