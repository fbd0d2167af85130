"""One conversation through the real Assist pipeline, turn by turn.

Knows the pipeline's WebSocket interface
(`homeassistant/components/assist_pipeline/websocket_api.py`) and the event in which
Chatterbox tells how a turn went; must not know how a turn is printed or how the home
was made.
"""

from pydantic import BaseModel, ConfigDict, JsonValue

from demo.errors import DemoError
from demo.web_api import HomeAssistantClient, Subscription

TURN_FINISHED_EVENT = "chatterbox_turn_finished"
TURN_TIMEOUT_SECONDS = 180.0
"""Longer than any turn may last; what a turn may take is the agent's own setting."""
REPORT_TIMEOUT_SECONDS = 10.0

_FROZEN = ConfigDict(frozen=True)


class CallReport(BaseModel):
    """A tool call as it ran, and what came of it."""

    model_config = _FROZEN

    name: str
    arguments: JsonValue
    result: JsonValue
    is_error: bool


class HandoverReport(BaseModel):
    """The agent that came next where a model did not answer, and the reason."""

    model_config = _FROZEN

    to: str
    reason: str


class TurnReport(BaseModel):
    """How a turn went, as the agent tells it."""

    model_config = _FROZEN

    conversation_id: str
    input: str
    phases: tuple[str, ...]
    tool_calls: tuple[CallReport, ...]
    speech: str
    stop_reason: str
    usage: dict[str, int]
    duration_ms: float
    iterations: int
    handovers: tuple[HandoverReport, ...] = ()


class _PipelineEvent(BaseModel):
    type: str
    data: dict[str, JsonValue] | None = None


class _PipelineError(BaseModel):
    code: str
    message: str


class _PlainSpeech(BaseModel):
    speech: str


class _Speech(BaseModel):
    plain: _PlainSpeech | None = None


class _Response(BaseModel):
    speech: _Speech


class _IntentOutput(BaseModel):
    response: _Response
    conversation_id: str


class _IntentEnd(BaseModel):
    intent_output: _IntentOutput


class _TurnFinished(BaseModel):
    data: TurnReport


class Conversation:
    """Sentences that belong together; use `started` to get one."""

    def __init__(
        self, client: HomeAssistantClient, pipeline_id: str, finished: Subscription
    ) -> None:
        """Wrap what `started` subscribed to."""
        self._client = client
        self._pipeline_id = pipeline_id
        self._finished = finished
        self._conversation_id: str | None = None

    @classmethod
    async def started(
        cls, client: HomeAssistantClient, pipeline_id: str
    ) -> Conversation:
        """Return a conversation without any turn yet."""
        return cls(
            client,
            pipeline_id,
            await client.subscribe("subscribe_events", event_type=TURN_FINISHED_EVENT),
        )

    async def say(self, sentence: str) -> TurnReport:
        """Run one turn; return how it went, with the speech that the pipeline would have spoken.

        Raises `DemoError` when the pipeline fails, or when the turn never ends.
        """
        output = await self._run_pipeline(sentence)
        self._conversation_id = output.conversation_id
        report = await self._report_of(output.conversation_id)
        spoken = output.response.speech.plain
        return report.model_copy(
            update={"speech": spoken.speech if spoken is not None else ""}
        )

    async def _run_pipeline(self, sentence: str) -> _IntentOutput:
        run = await self._client.subscribe(
            "assist_pipeline/run",
            start_stage="intent",
            end_stage="intent",
            input={"text": sentence},
            pipeline=self._pipeline_id,
            conversation_id=self._conversation_id,
            timeout=TURN_TIMEOUT_SECONDS,
        )
        output: _IntentOutput | None = None
        while True:
            event = await _next(
                run,
                _PipelineEvent,
                TURN_TIMEOUT_SECONDS,
                f"{sentence!r} was not answered",
            )
            match event.type:
                case "intent-end":
                    output = _IntentEnd.model_validate(event.data).intent_output
                case "error":
                    error = _PipelineError.model_validate(event.data)
                    raise DemoError(
                        f"{sentence!r} failed in the Assist pipeline: {error.message} ({error.code})"
                    )
                case "run-end" if output is not None:
                    return output
                case "run-end":
                    raise DemoError(
                        f"The Assist pipeline ended without an answer to {sentence!r}."
                    )
                case _:
                    pass

    async def _report_of(self, conversation_id: str) -> TurnReport:
        """Return the agent's report of the turn that just ended in this conversation."""
        while True:
            event = await _next(
                self._finished,
                _TurnFinished,
                REPORT_TIMEOUT_SECONDS,
                "Chatterbox did not tell how the turn went",
            )
            if event.data.conversation_id == conversation_id:
                return event.data


async def _next[EventT](
    subscription: Subscription, as_type: type[EventT], seconds: float, otherwise: str
) -> EventT:
    try:
        return await subscription.next(as_type, seconds)
    except TimeoutError as error:
        raise DemoError(f"{otherwise} within {seconds:.0f} s.") from error
