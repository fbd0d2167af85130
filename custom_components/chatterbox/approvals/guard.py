"""The rules as the last hook before every call: it runs, needs approval, or is refused.

A call is judged by its effects, never by what a model writes about it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, assert_never, override

from homeassistant.auth.permissions.const import POLICY_CONTROL
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
    actions_of,
)
from ..offline.provider import PROCESS_SENTENCE
from ..people.speakers import Asking, Speaker
from ..settings.agent import AgentSettings
from ..settings.rules import Verdict
from .policy import Judgement, judge
from .questions import AskedCall


async def async_is_permitted(hass: HomeAssistant, user_id: str | None, effects: Effects) -> bool:
    """Return whether a user may have all effects of a call.

    `user_id` comes from the context of the call. Without one Home Assistant itself acts, which may do everything. A
    deleted or inactive user may change nothing. A user who may not control every entity may not cause unknown effects.
    """
    if user_id is None:
        return True
    user = await hass.auth.async_get_user(user_id)
    actions = actions_of(effects)
    if user is None or not user.is_active:
        return not actions and not _is_unknown(effects)
    if user.is_admin or user.permissions.access_all_entities(POLICY_CONTROL):
        return True
    may = user.permissions.check_entity
    return not _is_unknown(effects) and all(may(action.entity_id, POLICY_CONTROL) for action in actions)


def _is_unknown(effects: Effects) -> bool:
    """Tell whether a call may have unknown effects."""
    match effects:
        case Touches():
            return False
        case Unresolved():
            return True
        case Annotated(annotations):
            return not annotations.read_only
        case _ as unreachable:
            assert_never(unreachable)


_CHANGES_MEMORY: Final = frozenset({TOOL_REMEMBER, TOOL_FORGET})
"""These never run in a conversation with outside content, which must not change what is remembered."""

type EffectsOf = Callable[[str, JsonObject], Awaitable[Effects]]
"""Resolves the effects of a call, by the offered name of its tool and its arguments."""


class Refusal(StrEnum):
    """Why a call is refused without a question. The values are parts of translation keys."""

    RULES = "not_allowed"
    NOBODY = "nobody_to_ask"
    PIN_NOT_SET = "pin_not_set"
    PIN_BY_API_CLIENT = "pin_by_api_client"
    PERMISSION = "not_permitted"
    OUTSIDE_CONTENT = "not_from_outside"


_MESSAGES: Final = {
    Refusal.RULES: "Not run: the rules of this household do not allow it. Say so, and do not try it another way.",
    Refusal.NOBODY: "Not run: it needs a yes, and nobody is there to give it. Do not try it another way.",
    Refusal.PERMISSION: "Not run: the person has no right to control this. Say so, and do not try it another way.",
    Refusal.OUTSIDE_CONTENT: "Not run: something from outside the home is part of this conversation, and nobody "
    "outside may change what you remember. Say so. It can be asked for in a new conversation.",
    Refusal.PIN_BY_API_CLIENT: "Not run: it needs a PIN, which can only be given to an assistant in the home or in "
    "the app of Home Assistant. Say so, and do not try it another way.",
    Refusal.PIN_NOT_SET: "Not run: it needs a PIN, and none is set. Say so, and do not try it another way.",
}
"""The results that the model receives."""


_ANYTHING: Final = Unresolved(frozenset({Unknown(UnknownReason.OPAQUE_ACTION)}))


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """A call that was judged."""

    effects: Effects
    judgement: Judgement
    is_asked: bool
    """It needs approval, and somebody can be asked."""
    for_outside_content: bool = False
    """Approval is needed only because the conversation contains outside content."""
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
        """Judge by `settings`. `has_outside_content` refers to the conversation before this turn."""
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
        """Return how a call was judged last; None if it never was."""
        return self._seen.get((call.name, call.arguments))

    def shown(self, call: ToolCall) -> ToolDefinition | None:
        """Return the tool of a call that the guard has seen, even if it was not judged in time."""
        return self._shown.get((call.name, call.arguments))

    def asked(self, pending: PendingApproval) -> tuple[AskedCall, ...]:
        """Return the calls of `pending` with their effects, in order."""
        found = ((one, self._seen[one.call.name, one.call.arguments]) for one in pending.calls)
        return tuple(AskedCall(one, seen.effects, seen.judgement, seen.for_outside_content) for one, seen in found)

    @override
    async def pre_tool_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Ask | None:
        key = tool.name, canonical_json(arguments)
        self._shown[key] = tool
        seen = self._seen[key] = await self._see(tool, arguments)
        if seen.refusal:
            return Deny(_MESSAGES[seen.refusal])
        return Ask("", _terms(seen)) if seen.is_asked else None

    pre_approved_use = pre_tool_use
    """An approved call is judged again, since its effects may have changed."""

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
        permitted = await async_is_permitted(self._hass, self._speaker.user_id, effects)
        refusal = self._refusal(needed) if permitted else Refusal.PERMISSION
        if self._has_outside_content and tool.name in _CHANGES_MEMORY:
            refusal = Refusal.OUTSIDE_CONTENT
        is_asked = not refusal and needed is not Verdict.ALLOW and self._speaker.asking is not Asking.TRUSTED
        return GuardedCall(effects, judgement, is_asked, for_outside, refusal)

    async def _known_effects(self, name: str, arguments: JsonObject) -> Effects:
        """Return the effects of a call. A call whose effects cannot be resolved may do anything."""
        try:
            return await self._effects_of(name, arguments)
        except Exception:  # noqa: BLE001  # any integration may raise anything
            LOGGER.exception("Could not resolve the effects of %s", name)
            return _ANYTHING

    def _refusal(self, needed: Verdict) -> Refusal | None:
        """Return why a call that needs `needed` is refused; None if it may run or be asked about."""
        match needed, self._speaker.asking:
            case Verdict.ALLOW, _:
                return None
            case Verdict.DENY, _:
                return Refusal.RULES
            case Verdict.PIN, Asking.PERSON if self._speaker.is_api_client:
                return Refusal.PIN_BY_API_CLIENT
            case Verdict.PIN, Asking.PERSON:
                return None if self._settings.pin else Refusal.PIN_NOT_SET
            case (_, Asking.NOBODY) | (Verdict.PIN, Asking.TRUSTED):
                return Refusal.NOBODY
            case _:
                return None


def changes_something(tool: ToolDefinition, effects: Effects) -> bool:
    """Return whether a call may change anything, including what is no entity, such as a shopping list.

    A sentence that acts on no entity is taken for a question.
    """
    return not tool.annotations.read_only and (effects != NOTHING or tool.name != PROCESS_SENTENCE.name)


def _terms(seen: GuardedCall) -> str:
    """Return a digest of what is approved, which differs as soon as any part of it does."""
    verdict = max(seen.judgement.verdict, Verdict.ASK, key=lambda verdict: verdict.strictness)
    return f"{verdict}:{sha256(_effects_text(seen.effects).encode()).hexdigest()}"


def _effects_text(effects: Effects) -> str:
    match effects:
        case Annotated():
            return repr(effects)
        case Touches(actions):
            return _lines(actions)
        case Unresolved(unknowns, actions):
            return "\n".join((_lines(actions), *sorted(map(repr, unknowns))))
        case _ as unreachable:
            assert_never(unreachable)


def _lines(actions: frozenset[EntityAction]) -> str:
    """Return actions as lines. A call may have thousands, and neither IDs nor action names contain spaces."""
    return "\n".join(sorted(map(" ".join, actions)))
