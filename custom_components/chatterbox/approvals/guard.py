"""The rules of a household as the last hook before every call: it runs, is asked about, or is refused.

Knows rules, effects, who speaks, and whether something from outside the house is part of the conversation. Must not
know how a question is worded or answered. What a model writes can only make a call be judged by what it would do.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, assert_never, override

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..agent.events import PendingApproval
from ..agent.messages import JsonObject, ToolCall, ToolDefinition, ToolResult, canonical_json
from ..agent.protocols import Ask, Deny, Hooks
from ..const import LOGGER, TOOL_FORGET, TOOL_REMEMBER
from ..effects.effect import (
    NOTHING,
    Annotated,
    CallEffects,
    Effects,
    EntityAction,
    Touches,
    Unknown,
    UnknownReason,
    Unresolved,
)
from ..effects.permissions import async_forbidden
from ..offline.provider import PROCESS_SENTENCE
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings
from ..settings.rules import Verdict
from .policy import Judgement, judge
from .questions import AskedCall

_CHANGES_MEMORY: Final = frozenset({TOOL_REMEMBER, TOOL_FORGET})
"""These never run in a conversation that holds something from outside: nobody outside is to have a say in it."""

type EffectsOf = Callable[[str, JsonObject], Awaitable[Effects]]
"""Tells what a call of a tool, by its offered name, would do."""


class Refusal(StrEnum):
    """Why a call is not even asked about. The values are keys of what a person hears."""

    RULES = "not_allowed"
    NOBODY = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"
    PIN_BY_PROGRAM = "pin_by_program"
    PERMISSION = "not_permitted"
    OUTSIDE_CONTENT = "not_from_outside"


_TOLD: Final = {
    Refusal.RULES: "Not run: the rules of this household do not allow it. Say so, and do not try it another way.",
    Refusal.NOBODY: "Not run: it needs a yes, and nobody is there to give it. Do not try it another way.",
    Refusal.PERMISSION: "Not run: the person has no right to control this. Say so, and do not try it another way.",
    Refusal.OUTSIDE_CONTENT: "Not run: something from outside the house is part of this conversation, and nobody "
    "outside may change what you remember. Say so. It can be asked for in a new conversation.",
    Refusal.PIN_BY_PROGRAM: "Not run: it needs a PIN, which can only be given to an assistant in the house or in "
    "the app of Home Assistant. Say so, and do not try it another way.",
    Refusal.PIN_NOT_SET: "Not run: it needs a PIN, and none is set. Say so, and do not try it another way.",
}
"""What a model is told."""


_ANYTHING: Final = Unresolved(frozenset({Unknown(UnknownReason.OPAQUE_ACTION)}))


class GuardOutcome(StrEnum):
    """What became of a call."""

    ALLOWED = "allowed"
    ASKED = "asked"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """A call, and how it was judged."""

    tool: str
    arguments: JsonObject
    effects: Effects
    judgement: Judgement
    outcome: GuardOutcome
    for_outside_content: bool = False
    """It needs a yes only because something from outside the house is part of the conversation."""
    refusal: Refusal | None = None


class CallGuard(Hooks):
    """Guards the calls of one turn."""

    def __init__(
        self,
        hass: HomeAssistant,
        settings: AgentSettings,
        speaker: Speaker,
        effects_of: EffectsOf,
        *,
        has_outside_content: bool,
    ) -> None:
        """Judge by `settings`; `has_outside_content` tells of the conversation before this turn."""
        self._hass = hass
        self._settings = settings
        self._speaker = speaker
        self._effects_of = effects_of
        self._has_outside_content = has_outside_content
        self._shown: dict[tuple[str, str], ToolDefinition] = {}
        self._seen: dict[tuple[str, str], GuardedCall] = {}

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why calls were refused so far."""
        return tuple(seen.refusal for seen in self._seen.values() if seen.refusal)

    def seen(self, call: ToolCall) -> GuardedCall | None:
        """Return how a call was judged last; None for one that never got here."""
        return self._seen.get((call.name, call.arguments))

    def shown(self, call: ToolCall) -> ToolDefinition | None:
        """Return the tool of a call that got here, even if it was not judged in time."""
        return self._shown.get((call.name, call.arguments))

    def asked(self, pending: PendingApproval) -> tuple[AskedCall, ...]:
        """Return what the calls of `pending` would do, in their order."""
        found = ((gated, self._seen[gated.call.name, gated.call.arguments]) for gated in pending.calls)
        return tuple(AskedCall(gated, one.effects, one.judgement, one.for_outside_content) for gated, one in found)

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Ask | None:
        key = tool.name, canonical_json(arguments)
        self._shown[key] = tool
        seen = self._seen[key] = await self._see(tool, arguments)
        if seen.refusal:
            return Deny(_TOLD[seen.refusal])
        return Ask("", _terms(seen)) if seen.outcome is GuardOutcome.ASKED else None

    @override
    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Ask | None:
        """Judge a call again that somebody said yes to: what it would do may be something else by now."""
        return await self.pre_tool_use(tool, arguments)

    @override
    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> None:
        self._has_outside_content |= result.open_world

    async def _see(self, tool: ToolDefinition, arguments: JsonObject) -> GuardedCall:
        effects = await self._known_effects(tool.name, arguments)
        call = CallEffects(tool.name, effects)
        judgement = judge(self._hass, self._settings.policy, call, self._speaker, dt_util.now())
        for_outside = (
            judgement.verdict is Verdict.ALLOW
            and self._has_outside_content
            and self._settings.ask_after_outside_content
            and changes_something(tool, effects)
        )
        needed = Verdict.ASK if for_outside else judgement.verdict
        forbidden = await async_forbidden(self._hass, self._speaker.user_id, effects)
        refusal = Refusal.PERMISSION if forbidden else self._refusal(needed)
        if self._has_outside_content and tool.name in _CHANGES_MEMORY:
            refusal = Refusal.OUTSIDE_CONTENT
        if refusal:
            outcome = GuardOutcome.DENIED
        elif needed is Verdict.ALLOW or self._speaker.asking is Asking.TRUSTED:
            outcome = GuardOutcome.ALLOWED
        else:
            outcome = GuardOutcome.ASKED
        return GuardedCall(tool.name, arguments, effects, judgement, outcome, for_outside, refusal)

    async def _known_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return what a call would do. A call of which it cannot be told may do anything."""
        try:
            return await self._effects_of(name, arguments)
        except Exception:  # noqa: BLE001  # any integration may have a part in the answer
            LOGGER.exception("Could not tell what %s would do", name)
            return _ANYTHING

    def _refusal(self, needed: Verdict) -> Refusal | None:
        """Tell why nobody is asked about a call that needs something; None if somebody is, or nobody has to be."""
        match needed, self._speaker.asking:
            case Verdict.ALLOW, _:
                return None
            case Verdict.DENY, _:
                return Refusal.RULES
            case Verdict.PIN, Asking.PERSON if self._speaker.is_api_client:
                return Refusal.PIN_BY_PROGRAM
            case Verdict.PIN, Asking.PERSON:
                return None if self._settings.pin else Refusal.PIN_NOT_SET
            case (_, Asking.NOBODY) | (Verdict.PIN, Asking.TRUSTED):
                return Refusal.NOBODY
            case _:
                return None


def changes_something(tool: ToolDefinition, effects: Effects) -> bool:
    """Tell whether a call may change anything, in the house or elsewhere: a shopping list is no entity, say.

    A sentence that touches no entity is taken for a question, as most of them are.
    """
    return not tool.annotations.read_only and (effects != NOTHING or tool.name != PROCESS_SENTENCE.name)


def _terms(seen: GuardedCall) -> str:
    """Return what a yes would be to, as a text that is another one as soon as anything of it is."""
    verdict = max(seen.judgement.verdict, Verdict.ASK, key=lambda verdict: verdict.strictness)
    return f"{verdict}:{sha256(_told(seen.effects).encode()).hexdigest()}"


def _told(effects: Effects) -> str:
    match effects:
        case Annotated():
            return repr(effects)
        case Touches(actions):
            return _listed(actions)
        case Unresolved(unknowns, actions):
            return "\n".join((_listed(actions), *sorted(map(repr, unknowns))))
        case _ as unreachable:
            assert_never(unreachable)


def _listed(actions: frozenset[EntityAction]) -> str:
    """Write actions in lines; a call may have thousands, and neither ids nor names of services hold blanks."""
    return "\n".join(sorted(map(" ".join, actions)))
