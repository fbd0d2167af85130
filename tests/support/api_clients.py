"""API clients that talk to agents, below the Responses API: turns go in, events come out."""

from contextlib import aclosing
from dataclasses import dataclass, field, replace

from aiohttp import web
from aiohttp.test_utils import TestClient
from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.auth.permissions.types import PolicyType
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.chatterbox.agent.events import (
    Answer,
    ApprovalRequested,
    PendingApproval,
    ToolFinished,
    TurnFinished,
)
from custom_components.chatterbox.agent.messages import (
    Message,
    ToolChoiceMode,
    ToolResult,
    UserMessage,
)
from custom_components.chatterbox.const import CONF_RESPONSES_API, DOMAIN
from custom_components.chatterbox.responses.backend import ResponsesBackend
from custom_components.chatterbox.responses.protocol.backend import (
    ApprovalDecisions,
    BackendEvent,
    Caller,
    ToolsOffered,
    TurnRequest,
)
from custom_components.chatterbox.responses.protocol.tools import HostedTools
from tests.support.talk import AGENT

type HttpClient = TestClient[web.Request, web.Application]

ASSIST = HostedTools(server_label="assist", asks_otherwise=False)
"""All tools of Assist; the client itself wants to be asked nothing."""


@dataclass(slots=True)
class TurnOutcome:
    """The outcome of a turn."""

    events: list[BackendEvent] = field(default_factory=list)

    @property
    def offered(self) -> ToolsOffered:
        """The offer to the model: the first event."""
        first = self.events[0]
        assert isinstance(first, ToolsOffered)
        return first

    @property
    def end(self) -> TurnFinished:
        """How it ended: the last event."""
        last = self.events[-1]
        assert isinstance(last, TurnFinished)
        return last

    @property
    def pending(self) -> PendingApproval:
        """The pending question."""
        (pending,) = [
            event.pending
            for event in self.events
            if isinstance(event, ApprovalRequested)
        ]
        return pending

    @property
    def results(self) -> list[ToolResult]:
        """The results of calls."""
        return [
            event.result for event in self.events if isinstance(event, ToolFinished)
        ]


@dataclass(slots=True)
class ApiClient:
    """An API client with the token of a user."""

    hass: HomeAssistant
    user: User
    agent: str = AGENT
    backend: ResponsesBackend = field(init=False)
    """As its requests reach it."""

    def __post_init__(self) -> None:
        """Make its backend."""
        self.backend = ResponsesBackend(self.hass)

    def wants(self, *transcript: Message | str, **wishes: object) -> TurnRequest:
        """Return a turn that it wants taken; a text is what it says as a person would."""
        messages = tuple(
            UserMessage(one) if isinstance(one, str) else one for one in transcript
        )
        request = TurnRequest(
            agent=self.agent,
            caller=Caller(self.user.id),
            conversation_id="a-chain",
            transcript=messages,
            hosted=(ASSIST,),
            tool_choice=ToolChoiceMode.AUTO,
        )
        return replace(request, **wishes)  # type: ignore[arg-type]  # tests name the fields of a request

    async def takes(self, request: TurnRequest) -> TurnOutcome:
        """Have a turn taken to its end."""
        taken = TurnOutcome()
        async with aclosing(self.backend.take(request)) as events:
            async for event in events:
                taken.events.append(event)
        return taken

    async def says(self, *transcript: Message | str, **wishes: object) -> TurnOutcome:
        """Say something, and hear all of the answer."""
        return await self.takes(self.wants(*transcript, **wishes))

    async def answers(
        self, model_request: TurnRequest, pending: PendingApproval, *decisions: Answer
    ) -> TurnOutcome:
        """Answer a question of an earlier turn."""
        given = ApprovalDecisions(pending.id, dict(enumerate(decisions)))
        return await self.takes(replace(model_request, approval=given))


async def enable_api(hass: HomeAssistant) -> None:
    """Switch the surface on for all services."""
    for entry in hass.config_entries.async_entries(DOMAIN):
        hass.config_entries.async_update_entry(
            entry, options={**entry.options, CONF_RESPONSES_API: True}
        )
    await hass.async_block_till_done(wait_background_tasks=True)


def a_user(
    hass: HomeAssistant, name: str = "Anna", *, may_all: bool = True
) -> MockUser:
    """Return a user whose API clients have a token; one who may not do all may control lights."""
    user = MockUser(name=name).add_to_hass(hass)
    everything: PolicyType = {"entities": True}
    lights: PolicyType = {
        "entities": {
            "domains": {"light": {POLICY_CONTROL: True}},
            "all": {"read": True},
        }
    }
    user.mock_policy(everything if may_all else lights)
    return user
