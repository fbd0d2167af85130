"""Answers the calls of a dry turn: nothing in the home changes, and only tools that read its states run.

The effects of a call are predicted, and its answer is the one that Home Assistant gives
if nothing fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm

from ..agent.messages import JsonObject, ToolCall, ToolOutcome
from ..effects.actions import controlled_by
from ..effects.effect import NOTHING, Effects, UnknownReason
from ..effects.intents import filled, is_question_intent, missed_by_intent
from ..effects.reported import unavailable_names
from ..home.entity_matches import entity_name
from ..records.turn_record import UNREACHABLE, FailedTarget, result_content
from ..settings.tool_names import SENTENCE_TOOL
from .annotations import own_annotations, unwrapped
from .dispatch import explain_failure, failed_outcome, no_match_outcome
from .own.registry import SharedTool, own_tools
from .turn_tools import TurnTools

_NOT_READ: Final = "Not run: this is only a trial. Answer without it."
_READING: Final = frozenset({"history", "homeassistant", "llm", "search"})
"""Components of Home Assistant whose reading tools call no actions and ask no service."""
_COMPONENTS: Final = "homeassistant.components."


class DryCall(NamedTuple):
    """A call that was not run."""

    call: ToolCall
    effects: Effects
    """The effects that it would have now."""
    is_error: bool = False
    """Whether it would fail, without effects."""


@dataclass(slots=True)
class DryDispatcher:
    """The `EffectDispatcher` of a dry turn, in place of the one of `offer`. Natives are `llm.ToolResult`."""

    hass: HomeAssistant
    offer: TurnTools
    calls: list[DryCall] = field(default_factory=list)
    """The calls that would have run so far, without those that only read."""

    def targets(
        self,
        name: str,
        arguments: JsonObject,
    ) -> frozenset[str] | None:
        """Return the ids of the entities that a call may change, or None if they are unknown."""
        return self.offer.dispatcher.targets(name, arguments)

    async def async_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        """Return the effects that a call would have."""
        return await self.offer.dispatcher.async_effects(name, arguments)

    async def dispatch(
        self,
        call: ToolCall,
        arguments: JsonObject,
    ) -> ToolOutcome:
        """Answer a call: as it is if it reads the home, else as if it had run."""
        if call.name in self._tools:
            tool = unwrapped(self._tools[call.name])
        else:
            tool = None
        effects = await self.async_effects(call.name, arguments)
        if self._reads_home(call.name, tool):
            return await self.offer.dispatcher.dispatch(call, arguments)
        if effects.annotations and effects.annotations.read_only:
            return failed_outcome(_NOT_READ)
        if self._says_itself(call.name, effects):
            outcome = await self.offer.dispatcher.dispatch(
                call,
                arguments,
            )
            self.calls += (
                [DryCall(call, effects, outcome.is_error)] if effects != NOTHING else []
            )
            return outcome
        if isinstance(tool, llm.IntentTool):
            context = self.offer.llm_context
            missed = missed_by_intent(
                self.hass,
                tool.intent_type,
                filled(arguments),
                context.assistant,
                llm.async_get_match_preferences(self.hass, context),
            )
            if isinstance(missed, intent.MatchFailedError):
                self.calls.append(DryCall(call, NOTHING, is_error=True))
                return no_match_outcome(
                    explain_failure(
                        self.hass,
                        context.assistant,
                        call.name,
                        missed,
                    ),
                    missed,
                )
            left = [one for one in effects.actions if one.entity_id not in missed]
            effects = replace(effects, actions=frozenset(left))
        self.calls.append(DryCall(call, effects))
        return self._done(effects)

    @property
    def _tools(self) -> Mapping[str, llm.Tool]:
        instance = self.offer.instance
        if instance:
            return {tool.name: tool for tool in instance.tools}
        return {}

    def _reads_home(
        self,
        name: str,
        tool: llm.Tool | None,
    ) -> bool:
        """Return whether a call only reads the home, without calling an action or asking a service."""
        match tool:
            case SharedTool(tool=own):
                return own.only_reads_home
            case llm.IntentTool():
                return is_question_intent(self.hass, tool.intent_type)
            case None:
                return any(
                    own.only_reads_home
                    for own in own_tools(self.hass)
                    if own.definition.name == name
                )
            case _:
                module = type(tool).__module__
                if _COMPONENTS in module:
                    component = module.removeprefix(_COMPONENTS).partition(".")[0]
                else:
                    component = ""
                return component in _READING and own_annotations(tool).read_only

    def _says_itself(
        self,
        name: str,
        effects: Effects,
    ) -> bool:
        """Return whether a call tells by itself what it would do: a plan, or a sentence that triggers nothing."""
        is_sentence = name == SENTENCE_TOOL and all(
            one.reason is not UnknownReason.SENTENCE for one in effects.unknowns
        )
        return is_sentence or any(
            (one.prepare or one.is_tried) and one.definition.name == name
            for one in own_tools(self.hass)
        )

    def _done(self, effects: Effects) -> ToolOutcome:
        response = intent.IntentResponse(
            language=self.offer.llm_context.language or self.hass.config.language
        )
        kind = intent.IntentResponseTargetType.ENTITY
        ids = controlled_by(effects)
        dead = unavailable_names(self.hass, ids)
        response.async_set_results(
            [
                intent.IntentResponseTarget(
                    entity_name(self.hass, one),
                    kind,
                    one,
                )
                for one in sorted(ids - dead.keys())
            ],
            [
                FailedTarget(
                    name,
                    kind,
                    entity_id,
                    UNREACHABLE,
                )
                for entity_id, name in dead.items()
            ],
        )
        native = llm.ToolResult(llm.IntentResponseDict(response))
        return ToolOutcome(result_content(native), native=native)
