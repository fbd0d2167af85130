"""Answers requests with real turns of the loop, and holds every stream to what is promised of all."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from custom_components.chatterbox.agent.events import TurnEvent
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Turn
from custom_components.chatterbox.agent.messages import JsonObject, JsonValue
from custom_components.chatterbox.agent.protocols import Hooks
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    BackendEvent,
    ToolsOffered,
)
from custom_components.chatterbox.responses.protocol.request import CreateRequest
from custom_components.chatterbox.responses.protocol.run import ResponseStream
from tests.agent.turns import assert_whole
from tests.responses.protocol.asked import asked_with, plan_of
from tests.responses.protocol.valid_stream import ValidStream
from tests.support.doubles import Line, ScriptedDispatcher, ScriptedProvider, tool

LIGHT, LOCK, LOOK = tool("light_on"), tool("unlock"), tool("look", read_only=True)
PAGE = tool("show_page", client=True)
TURN = Turn("Go!", tools=(LIGHT, LOCK, LOOK, PAGE))
OFFERED = ToolsOffered({"assist": [LIGHT, LOCK, LOOK]})
ASKED = asked_with(PAGE, labels=["assist"])


@dataclass
class Answer:
    """A stream that has ended, and the turn behind it."""

    stream: ResponseStream
    sent: list[JsonObject]
    turn: list[TurnEvent] = field(default_factory=list)

    @property
    def response(self) -> JsonObject:
        """The response at last."""
        return self.stream.resource

    @property
    def items(self) -> list[JsonObject]:
        """The items at last, without the lists of tools."""
        return [
            item
            for item in objects(self.response["output"])
            if item["type"] != "mcp_list_tools"
        ]

    @property
    def kinds(self) -> list[str]:
        """The types of the events, without what all of them begin with."""
        return [str(event["type"]).removeprefix("response.") for event in self.sent]


@dataclass
class Asking:
    """A request that is answered by a script, in a home of three tools."""

    request: CreateRequest = ASKED
    turn: Turn = TURN
    hooks: Sequence[Hooks] = ()
    offered: ToolsOffered = OFFERED
    listed: frozenset[str] = frozenset()
    approval: ApprovalDecisions | None = None
    dispatcher: ScriptedDispatcher = field(default_factory=ScriptedDispatcher)
    provider: ScriptedProvider = field(init=False)

    def events(self, *script: Sequence[Line]) -> AsyncGenerator[TurnEvent]:
        """Begin the turn."""
        self.provider = ScriptedProvider(*script)
        return AgenticLoop(self.provider, self.dispatcher, hooks=self.hooks).stream(
            self.turn
        )

    async def answered(self, *script: Sequence[Line]) -> Answer:
        """Take the turn, and check the stream, event by event and as a whole."""
        stream, checked, turn = (
            ResponseStream(
                plan_of(self.request, listed=self.listed, approval=self.approval)
            ),
            ValidStream(),
            list[TurnEvent](),
        )
        for one in (*stream.begin(), *stream.feed(self.offered)):
            checked.take(one)
        async with aclosing(self.events(*script)) as events:
            async for event in events:
                assert not stream.is_over
                turn.append(event)
                for one in stream.feed(event):
                    checked.take(one)
        assert_whole(turn, self.turn)
        assert checked.end() == stream.resource
        assert stream.is_over
        assert stream.feed(turn[-1]) == stream.cancel() == []
        return Answer(stream, checked.events, turn)


async def answered(*script: Sequence[Line]) -> Answer:
    """Answer a request for everything there is."""
    return await Asking().answered(*script)


def tell(stream: ResponseStream, *events: BackendEvent) -> list[JsonObject]:
    """Feed a stream from its beginning; return all that it tells."""
    return [*stream.begin(), *(one for event in events for one in stream.feed(event))]


def objects(value: JsonValue) -> list[JsonObject]:
    """Return a list of objects as one."""
    assert isinstance(value, list)
    return [one for one in value if isinstance(one, dict)]


def an_object(value: JsonValue) -> JsonObject:
    """Return an object as one."""
    assert isinstance(value, dict)
    return value


def text_of(item: JsonObject) -> JsonValue:
    """Return the words of a message."""
    (part,) = objects(item["content"])
    return part["text"]
