"""The views of stored turns on the page. Their JSON has the names of these fields; times are in milliseconds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Annotated, Final

from homeassistant.core import HomeAssistant
from pydantic import AliasPath, Field, TypeAdapter, ValidationError

from ..agent.events import StopReason
from ..agent.messages import AssistantMessage, JsonValue, ToolResult, Usage, UserMessage
from ..agent.text import clipped
from ..agent.transcript import has_outside_content, outside_results
from ..approvals.audit import ChangeTexts
from ..approvals.review import CallState
from ..const import REDACTED_PIN
from ..history.store.query import FoundTurn
from ..history.store.records import AuditRecord, StoredTurn, answered_in, said_in
from ..home.entity_matches import device_name, entity_name, tool_name, written
from ..records.turn_record import shown_call, shown_result
from ..runtime.agents import HOME_ASSISTANT
from ..runtime.rule_labels import async_get_rule_labels
from ..settings.agent import existing_agents
from ..settings.redaction import known_secrets, without_secret_fields, without_secrets
from ..settings.rules import PolicyError, policy_from_json
from ..usage.tracker import async_get_usage_tracker
from .rule_text import RuleText, registered_names

_CLIPPED: Final = 200
"""Characters of words in a list."""
_LONGEST: Final = 20_000
"""Characters of words in a turn."""
_LARGEST: Final = 10_000
"""Bytes of the arguments or the result of a call."""
_MOST_CALLS: Final = 100
_CUT_OFF: Final = "interrupted"

_FAILED: Final = frozenset(
    {
        StopReason.PROVIDER_FAILED,
        StopReason.UNKNOWN_FINISH,
        StopReason.OUTPUT_UNFIT,
    }
)
_CUT_SHORT: Final = frozenset(
    {
        StopReason.MAX_ITERATIONS,
        StopReason.MAX_TOOL_CALLS,
        StopReason.DEADLINE,
        StopReason.LENGTH,
        StopReason.CONTENT_FILTER,
        StopReason.REPETITION,
        None,
    }
)
"""Stop reasons of turns whose answer is not complete; None for one that was cut off."""
_CHANGED: Final = frozenset(
    {
        CallState.DONE,
        CallState.PARTLY,
        CallState.UNCONFIRMED,
        CallState.PLANNED,
    }
)


def _stored(*path: str) -> object:
    """Return where the field of a view is stored."""
    return Field(validation_alias=AliasPath(*path))


type _Milliseconds = float | None
type _Tokens = int | None


@dataclass(frozen=True, slots=True)
class InferenceView:
    """One request to a model."""

    began_ms: Annotated[float, _stored("began")]
    first_token_ms: Annotated[_Milliseconds, _stored("first_token")] = None
    """From `began_ms`."""
    duration_ms: Annotated[_Milliseconds, _stored("duration")] = None
    answered_by: str = ""
    """The agent whose model answered: its id as it is stored, its name on the page; empty without an answer."""
    input_tokens: Annotated[_Tokens, _stored("usage", "input_tokens")] = None
    cached_tokens: Annotated[_Tokens, _stored("usage", "cached_tokens")] = None
    output_tokens: Annotated[_Tokens, _stored("usage", "output_tokens")] = None
    reasoning_tokens: Annotated[_Tokens, _stored("usage", "reasoning_tokens")] = None
    cost: float | None = None
    """US dollars; None if they are unknown."""

    @property
    def usage(self) -> Usage | None:
        """The tokens; None without an answer."""
        if self.input_tokens is None:
            return None
        counts = (
            self.output_tokens or 0,
            self.cached_tokens or 0,
            self.reasoning_tokens or 0,
        )
        return Usage(self.input_tokens, *counts)


@dataclass(frozen=True, slots=True)
class ToolView:
    """The time of one call."""

    name: str
    began_ms: Annotated[_Milliseconds, _stored("began")] = None
    duration_ms: Annotated[_Milliseconds, _stored("duration")] = None
    is_error: bool | None = None
    fee: float = 0.0
    """US dollars."""


@dataclass(frozen=True, slots=True)
class HandoverView:
    """Another model took over."""

    at_ms: Annotated[float, _stored("at")]
    to: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Timings:
    """The timings of a turn as they are stored; see `TurnFacts.timings`."""

    first_words: float | None = None
    inferences: tuple[InferenceView, ...] = ()
    tools: tuple[ToolView, ...] = ()
    handovers: tuple[HandoverView, ...] = ()
    failed: bool = False

    @property
    def fees(self) -> float:
        """US dollars that the calls have cost."""
        return sum(one.fee for one in self.tools)


_TIMINGS: Final = TypeAdapter(_Timings)


def _timings(turn: StoredTurn) -> _Timings:
    try:
        return _TIMINGS.validate_python(turn.timings)
    except ValidationError:  # a development version stored others
        return _Timings()


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that is special about a turn."""

    kind: str
    text: str = ""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class TurnRow:
    """A turn in a list."""

    id: str
    at: float
    """Its beginning, in seconds since the epoch."""
    person: str | None
    place: str | None
    caller: str | None
    agent: str
    agent_id: str
    words: str
    answer: str
    duration_ms: float
    first_words_ms: float | None
    marks: Sequence[Mark]


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class CallView:
    """One call of a tool."""

    id: str
    name: str
    sentence: str
    arguments: JsonValue
    result: JsonValue
    is_error: bool
    has_run: bool
    is_outside: bool
    """Whether its result came from outside the home."""


@dataclass(
    frozen=True,
    slots=True,
    kw_only=True,
)
class TurnView(TurnRow):
    """Everything about a turn."""

    conversation_id: str
    language: str | None
    stop_reason: str
    words_full: str
    answer_full: str
    withheld: str | None
    """`pin` or `refused` if the words are not known."""
    context: str
    phases: Sequence[Mapping[str, JsonValue]]
    inferences: Sequence[InferenceView]
    tools: Sequence[ToolView]
    handovers: Sequence[HandoverView]
    calls: Sequence[CallView]
    changes: Sequence[Mapping[str, JsonValue]]
    """The fields of audit records, `answered_by` by the name of the user, and their times `at`."""
    usage: Usage
    cost: float | None
    outside: Sequence[str]
    previous: str | None
    next: str | None


@dataclass(slots=True)
class TurnViews:
    """Makes the views of turns, with the names that agents, places and users have now."""

    hass: HomeAssistant
    language: str = ""
    """That of the viewer; empty for that of Home Assistant, in which changes are stored."""
    texts: ChangeTexts | None = None
    """Those of another language."""
    agents: Mapping[str, str] = field(init=False)
    """Names by subentry id."""
    _secrets: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Look the names up, and what may never be shown."""
        self.agents = {
            agent_id: agent.title
            for agent_id, agent in existing_agents(self.hass).items()
        }
        self._secrets = known_secrets(self.hass)

    def place(
        self, device_id: str | None, satellite_id: str | None = None
    ) -> str | None:
        """Return the name of the device that was spoken to, or of the satellite; None if it is unknown."""
        device = device_name(self.hass, device_id)
        if device:
            return written(device)
        if satellite_id:
            return entity_name(self.hass, satellite_id)
        return None

    def row(
        self,
        turn: StoredTurn,
        changes: Sequence[AuditRecord],
    ) -> TurnRow:
        """Return a turn of a list."""
        origin = turn.origin
        timings = _timings(turn)
        return TurnRow(
            id=turn.id,
            at=turn.began_at,
            person=origin.person,
            place=self.place(
                origin.device_id,
                origin.satellite,
            ),
            caller=entity_name(
                self.hass,
                origin.caller,
            )
            if origin.caller
            else None,
            agent=self.agents.get(
                origin.agent,
                "",
            ),
            agent_id=origin.agent,
            words=clipped(
                self.cleared(said_in(turn.messages)),
                _CLIPPED,
            ),
            answer=clipped(
                self.cleared(answered_in(turn.messages)),
                _CLIPPED,
            ),
            duration_ms=turn.duration * 1000,
            first_words_ms=timings.first_words,
            marks=[*self._marks(turn, changes, timings)],
        )

    def _marks(
        self, turn: StoredTurn, changes: Sequence[AuditRecord], timings: _Timings
    ) -> Iterator[Mark]:
        """Yield what is special about a turn. The message of a change tells how it was approved."""
        reason = turn.stop_reason
        concluded = [
            change.body
            for change in changes
            if change.body.get("outcome") != CallState.WAITING
        ]
        kinds = [
            "changed" if body.get("outcome") in _CHANGED else "not_done"
            for body in concluded
        ]
        for kind, body in zip(kinds, concluded, strict=True):
            yield Mark(kind, self._message(body))
        handovers = [one.to for one in timings.handovers]
        is_vain = timings.failed and reason is StopReason.COMPLETED
        others = {
            "asked": reason is StopReason.APPROVAL_REQUIRED,
            "stood_in": bool(handovers),
            "cut_short": reason in _CUT_SHORT,
            "failed": reason in _FAILED,
            "not_done": (reason is StopReason.NOT_DONE or is_vain)
            and "not_done" not in kinds,
            "outside": has_outside_content(turn.messages),
        }
        texts = {
            "stood_in": handovers[-1] if handovers else "",
            **dict.fromkeys(
                ("cut_short", "failed"),
                reason or _CUT_OFF,
            ),
        }
        yield from (
            Mark(
                kind,
                texts.get(kind, ""),
            )
            for kind, holds in others.items()
            if holds
        )

    async def async_turn(self, found: FoundTurn) -> TurnView:
        """Return everything about a turn."""
        turn = found.turn
        timings = _timings(found.turn)
        row = self.row(turn, found.changes)
        inferences = [self._inference(one) for one in timings.inferences]
        costs = [timings.fees, *(one.cost for one in inferences)]
        words = said_in(turn.messages)
        answer = answered_in(turn.messages)
        contexts = [
            message.context
            for message in turn.messages
            if isinstance(message, UserMessage)
        ]
        is_refused = turn.stop_reason is StopReason.PROMPT_DENIED
        return TurnView(
            **{one.name: getattr(row, one.name) for one in fields(row)},
            conversation_id=turn.origin.conversation_id,
            language=turn.origin.language,
            stop_reason=turn.stop_reason or _CUT_OFF,
            words_full=self.cleared(words)[:_LONGEST],
            answer_full=self.cleared(answer)[:_LONGEST],
            withheld="refused"
            if is_refused
            else "pin"
            if words == REDACTED_PIN
            else None,
            context=self.cleared("\n".join(filter(None, contexts)))[:_LONGEST],
            phases=[
                {"phase": str(one.phase), "at_ms": one.at * 1000} for one in turn.phases
            ],
            inferences=inferences,
            tools=timings.tools,
            handovers=timings.handovers,
            calls=[*islice(self._calls(turn, found.changes), _MOST_CALLS)],
            changes=[await self._async_change(one) for one in found.changes],
            usage=turn.usage,
            cost=None
            if None in costs
            else sum(cost for cost in costs if cost is not None),
            outside=[
                *dict.fromkeys(
                    tool_name(result.name) for result in outside_results(turn.messages)
                )
            ],
            previous=found.previous,
            next=found.next,
        )

    def _inference(self, one: InferenceView) -> InferenceView:
        """Return a stored inference with the name of the agent, and its price."""
        if one.usage is None:
            return replace(one, answered_by="")
        if one.answered_by:
            cost = async_get_usage_tracker(self.hass).cost(
                one.answered_by,
                one.usage,
            )
        else:
            cost = 0.0
        name = self.agents.get(
            one.answered_by,
            one.answered_by or HOME_ASSISTANT,
        )
        return replace(
            one,
            answered_by=name,
            cost=cost,
        )

    def _calls(
        self, turn: StoredTurn, changes: Sequence[AuditRecord]
    ) -> Iterator[CallView]:
        """Yield the calls of a turn; the sentence tells its change."""
        results = {
            message.call_id: message
            for message in turn.messages
            if isinstance(message, ToolResult)
        }
        sentences = {
            change.body.get("tool_call_id"): self._message(change.body)
            for change in changes
        }
        for message in turn.messages:
            for call in (
                message.tool_calls if isinstance(message, AssistantMessage) else ()
            ):
                result = results.get(call.id)
                yield CallView(
                    id=call.id,
                    name=call.name,
                    sentence=self.cleared(
                        sentences.get(
                            call.id,
                            "",
                        )
                        or tool_name(call.name)
                    ),
                    arguments=self._json(shown_call(call, _LARGEST)["arguments"]),
                    result=self._json(shown_result(result, _LARGEST)["result"])
                    if result
                    else None,
                    is_error=result is None or result.is_error,
                    has_run=result is not None and not result.synthetic,
                    is_outside=result is not None and result.open_world,
                )

    async def _async_change(self, change: AuditRecord) -> Mapping[str, JsonValue]:
        user_id = str(change.body.get("answered_by"))
        user = await self.hass.auth.async_get_user(user_id)
        plain = {name: self._json(change.body.get(name)) for name in _SHOWN_OF_CHANGE}
        rules = await self._async_rules(change.body.get("rules"))
        known = {
            **plain,
            "message": self._message(change.body),
            "rules": rules,
        }
        return {
            **known,
            "at": change.at,
            "answered_by": user.name if user else None,
        }

    async def _async_rules(self, stored: JsonValue) -> list[JsonValue]:
        """Return stored rules in plain words; none for those that this version cannot read."""
        try:
            policy = policy_from_json(stored or [])
        except PolicyError:
            return []
        if not policy.rules:
            return []
        language = self.language or self.hass.config.language
        labels = await async_get_rule_labels(
            self.hass, policy, language, with_tools=False
        )
        text = RuleText(
            self.hass,
            labels,
            registered_names(self.hass, policy),
        )
        return [text.of(rule) for rule in policy.rules]

    def _json(self, value: JsonValue) -> JsonValue:
        return without_secrets(without_secret_fields(value), self._secrets)

    def _message(self, change: Mapping[str, JsonValue]) -> str:
        """Return what became of a call, in the language of the viewer where its record tells enough."""
        text = change.get("message", "")
        with suppress(KeyError, TypeError, ValueError):  # another version stored it
            if self.texts:
                text = self.texts.of_record(change)
        return self.cleared(str(text))

    def cleared(self, text: str) -> str:
        """Return a text without what may never be shown."""
        return str(without_secrets(text, self._secrets))


_SHOWN_OF_CHANGE: Final = (
    "tool_call_id",
    "message",
    "outcome",
    "verdict",
    "decided_by",
    "approval",
    "answered_through",
    "entity_ids",
    "error",
)
