"""Turns in a small real home, guarded by real rules and followed by the audit; only the model is scripted."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr, llm
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.chatterbox.agent.events import (
    StopReason,
    TurnEvent,
    TurnFinished,
)
from custom_components.chatterbox.agent.loop.loop import AgenticLoop
from custom_components.chatterbox.agent.loop.turn import Limits, Turn
from custom_components.chatterbox.agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    Transcript,
    canonical_json,
)
from custom_components.chatterbox.agent.protocols import Hooks
from custom_components.chatterbox.agent.transcript import TranscriptRecorder
from custom_components.chatterbox.approvals.audit import (
    CallAudit,
    async_get_change_texts,
)
from custom_components.chatterbox.approvals.guard import CallGuard, EffectsOf
from custom_components.chatterbox.approvals.questions import (
    ApprovalScope,
    Question,
    async_get_approvals,
)
from custom_components.chatterbox.approvals.review import GivenAnswer
from custom_components.chatterbox.const import DOMAIN
from custom_components.chatterbox.people.speakers import Asking, Speaker
from custom_components.chatterbox.settings.rules import HomeRules
from custom_components.chatterbox.tools.turn_tools import TurnTools, async_offer_tools
from custom_components.chatterbox.turns.record import turn_origin
from tests.demo_house.move_in import move_in
from tests.support.doubles import Line, ScriptedProvider

HOME = """
areas:
  - { id: hall, name: Hall }
  - { id: garden, name: Garden }
entities:
  - { name: Lamp, id: light.lamp, area: hall, state: "off" }
  - { name: Spot, id: light.spot, area: hall, state: "off" }
  - { name: Front Door, id: lock.front, area: hall, state: locked }
  - { name: Shed, id: lock.shed, area: garden, state: locked }
"""
AGENT = "conversation.butler"
LAMP_ON = ToolCall("lamp", "intent__HassTurnOn", canonical_json({"name": "Lamp"}))
UNLOCK = ToolCall("door", "intent__HassTurnOff", canonical_json({"name": "Front Door"}))
ANNA = Speaker(name="Anna", asking=Asking.PERSON)


@dataclass(frozen=True, slots=True)
class Begun:
    """The beginning of a turn."""

    offer: TurnTools
    guard: CallGuard
    audit: CallAudit
    origin: Mapping[str, JsonValue]


@dataclass(slots=True)
class AuditedTalk:
    """A conversation with an agent, whose turns are taken as the agent itself takes them."""

    hass: HomeAssistant
    device_id: str
    speaker: Speaker = ANNA
    settings: HomeRules = field(default_factory=HomeRules)
    scripts: Sequence[Hooks] = ()
    """Hooks of an owner."""
    context: Context = field(default_factory=Context)
    apis: Sequence[str] = (llm.LLM_API_ASSIST,)
    effects_of: EffectsOf | None = None
    """In place of the tools' own."""
    outside: bool = False
    """Something from outside the home is part of the conversation."""
    history: Transcript = ()
    limits: Limits = field(default_factory=Limits)

    async def begin(self, answered: Question | None = None) -> Begun:
        """Return what a turn begins with."""
        user_input = conversation.ConversationInput(
            "please",
            self.context,
            "a-talk",
            self.device_id,
            "assist_satellite.kitchen",
            "en",
            AGENT,
        )
        offer = await async_offer_tools(
            self.hass, self.apis, user_input.as_llm_context("chatterbox")
        )
        effects_of = self.effects_of or offer.dispatcher.async_effects
        agreed = answered if answered and answered.pending.approved else None
        guard = CallGuard(
            self.hass,
            self.settings,
            self.speaker,
            effects_of,
            has_outside_content=self.outside,
            agreed=agreed,
        )
        origin = turn_origin(
            user_input, AGENT, "a-talk", replace(self.speaker, device_id=self.device_id)
        )
        audit = CallAudit(
            await async_get_change_texts(self.hass), origin, self.context, answered
        )
        audit.guard = guard
        return Begun(offer, guard, audit, origin)

    async def events_of(
        self, *inferences: Sequence[Line], answered: Question | None = None
    ) -> tuple[Question | None, Sequence[TurnEvent]]:
        """Take a turn; return the question that it ends with, and its events."""
        begun = await self.begin(answered)
        hooks = (
            [begun.audit, *self.scripts, begun.guard] if self.scripts else [begun.guard]
        )
        loop = AgenticLoop(
            ScriptedProvider(*inferences), begun.offer.dispatcher, hooks=hooks
        )
        answer = None if answered else "please"
        approval = answered.pending if answered else None
        turn = Turn(
            answer,
            self.history,
            "",
            begun.offer.definitions,
            limits=self.limits,
            approval=approval,
        )
        recorder, events = TranscriptRecorder(), list[TurnEvent]()
        try:
            async with aclosing(loop.stream(turn)) as walk:
                async for event in walk:
                    await begun.audit.follow(event)
                    recorder.add(event)
                    events.append(event)
        finally:
            begun.audit.finished()
        self.history += recorder.messages
        end = events[-1]
        assert isinstance(end, TurnFinished)
        if end.stop_reason is not StopReason.APPROVAL_REQUIRED or end.pending is None:
            return None, events
        scope = ApprovalScope(
            AGENT,
            "a-talk",
            self.device_id,
            "assist_satellite.kitchen",
            self.speaker.user_id,
        )
        calls = begun.guard.reviews_of(end.pending)
        question = Question(
            end.pending,
            calls,
            "Really?",
            "en",
            scope,
            self.speaker,
            self.context,
            begun.origin,
            "all please",
        )
        return question, events

    async def take(self, *inferences: Sequence[Line]) -> Question:
        """Take a turn that ends with a question, and ask it."""
        question, _ = await self.events_of(*inferences)
        assert question is not None
        async_get_approvals(self.hass).ask(question, 60, _nobody_goes_on)
        await self.hass.async_block_till_done()
        return question

    async def answer(
        self, question: Question, answer: GivenAnswer, *inferences: Sequence[Line]
    ) -> None:
        """Answer a question, and take the turn that goes on with it."""
        answered = async_get_approvals(self.hass).take(question.id, answer)
        again, _ = await self.events_of(*inferences, answered=answered)
        if again is not None:
            async_get_approvals(self.hass).ask(again, 60, _nobody_goes_on)
        await self.hass.async_block_till_done()


async def _nobody_goes_on(_question: Question) -> str:
    raise AssertionError("nobody answers from elsewhere here")


async def begin_talk(hass: HomeAssistant) -> AuditedTalk:
    """Set up the home and its audit."""
    await move_in(hass, HOME)
    assert await async_setup_component(hass, conversation.DOMAIN, {})
    entry = MockConfigEntry(domain="satellite")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id,
        identifiers={("satellite", "kitchen")},
        name="Kitchen satellite",
    )
    hass.states.async_set(AGENT, "unknown", {"friendly_name": "Butler"})
    assert await async_setup_component(hass, DOMAIN, {})
    return AuditedTalk(hass, device.id)


def calling(name: str, arguments: JsonObject, call_id: str = "a-call") -> ToolCall:
    """Return a call as a model writes it."""
    return ToolCall(call_id, name, canonical_json(arguments))
