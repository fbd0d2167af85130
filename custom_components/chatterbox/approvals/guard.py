"""The rules as the last hook before every call: it runs, needs approval, or is refused.

A call is judged by its effects, never by what a model writes about it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from hashlib import sha256
from types import MappingProxyType
from typing import Final, assert_never, override

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.util import dt as dt_util
from homeassistant.util.json import json_loads_object

from ..agent.events import PendingApproval
from ..agent.messages import (
    JsonObject,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from ..agent.protocols import Ask, Deny, Hooks
from ..agent.text import heard_words, read_data_file
from ..const import LOGGER
from ..effects.actions import bounded
from ..effects.effect import (
    NOTHING,
    CallEffects,
    Effects,
    EntityAction,
    TimedCall,
    TimedCalls,
    Unknown,
    UnknownReason,
    timed_call,
)
from ..effects.reported import out_of_reach, unavailable_names
from ..home.entity_matches import is_named_in
from ..people.speakers import Asking, Speaker, is_guest
from ..settings.rules import (
    NO_RULES,
    HomeRules,
    OutsideCare,
    Rule,
    ToolSource,
    TrustLevel,
    Verdict,
    async_get_home_rules,
)
from ..settings.tool_names import SENTENCE_TOOL
from .answers.language import is_about_all, may_except
from .outside_wishes import Wish, kind_of_source
from .policy import (
    NEVER_ENDED,
    Judgement,
    action_keys,
    is_risky,
    judge,
    lets_in,
    target_temperatures,
)
from .questions import CHOICE, Question
from .request_check import SELECTING, RequestCheck
from .review import CallReview, Refusal


async def async_is_permitted(
    hass: HomeAssistant, user_id: str | None, effects: Effects
) -> bool:
    """Return whether a user may have all effects of a call.

    `user_id` comes from the context of the call. Without one Home Assistant itself
    acts, which may do everything. A deleted or inactive user may change nothing. A user
    who may not control every entity may not cause unknown effects.
    """
    if user_id is None:
        return True
    user = await hass.auth.async_get_user(user_id)
    actions = _to_permit(effects)
    if user is None or not user.is_active:
        return actions == frozenset()
    if user.is_admin or user.permissions.access_all_entities(POLICY_CONTROL):
        return True
    may = user.permissions.check_entity
    return actions is not None and all(
        may(action.entity_id, POLICY_CONTROL) for action in actions
    )


def _to_permit(effects: Effects) -> frozenset[EntityAction] | None:
    """Return the actions that a user needs permission for; None for all."""
    if effects.annotations and not effects.annotations.read_only:
        return None
    return effects.possible_actions


type EffectsOf = Callable[[str, JsonObject], Awaitable[Effects]]
"""Resolves the effects of a call, by the offered name of its tool and its arguments."""
_MESSAGES: Final = read_data_file(
    __file__, dict[str, dict[str, str]], "told_to_models.toml"
)["refused"]
"""The results that the model receives."""

_NO_COMMAND: Final = (
    "Not run then: Home Assistant would not do anything for this sentence, or it waits by itself. Give one that does"
    " not, and add up both times."
)

ANYTHING: Final = Effects(unknowns=frozenset({Unknown(UnknownReason.OPAQUE_ACTION)}))
"""The effects of a call that cannot be resolved."""


@dataclass(slots=True, eq=False)
class CallGuard(Hooks):
    """Guards the calls of one turn."""

    hass: HomeAssistant
    given_rules: HomeRules | None
    """None for those of the home, as they are at each call."""
    speaker: Speaker
    effects_of: EffectsOf
    _: KW_ONLY
    has_outside_content: bool
    """Whether the conversation contains it, before this turn or by now."""
    labels: Mapping[str, str] = MappingProxyType({})
    """The ids of the LLM APIs by the names of their tools."""
    temperatures: dict[tuple[str, str], float] = field(default_factory=dict)
    """Those before a call of the conversation first moved them without an approval, after outside content; the guard
    adds to them."""
    agreed: Question | None = None
    """The question to which the speaker has just said yes: what only does the same to other entities that were meant
    needs no other yes."""
    request: str = ""
    """The words of the person; those of `agreed` count instead."""
    language: str = ""
    outside_tool: str = ""
    """The tool of the last content from outside."""
    check: RequestCheck | None = None
    """Compares calls with the words."""
    timed: TimedCalls = MappingProxyType({})
    """The calls that are judged in place of those that lead to them."""
    is_due: bool = False
    """Whether its calls were judged when they were planned, those of guests by their rules."""
    has_model: bool = True
    """Whether a model writes the calls. Without one, content from outside steers none."""
    _reviews: dict[tuple[str, str], CallReview] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the words of the request that was agreed to."""
        self.labels = {
            **self.labels,
            SENTENCE_TOOL: LLM_API_ASSIST,
        }
        if self.agreed:
            self.request = self.agreed.request
            self.language = self.agreed.language

    @property
    def _agreed_calls(self) -> list[CallReview]:
        calls = self.agreed.calls if self.agreed else ()
        return [one for one in calls if one.is_foreseen and _is_asked_by_rule(one)]

    @property
    def _rules(self) -> HomeRules:
        return self.given_rules or async_get_home_rules(self.hass).current

    @property
    def may_be_steered(self) -> bool:
        """Whether content from outside may have led to a call."""
        return self.has_outside_content and self.has_model

    @property
    def _guest_rules(self) -> Sequence[Rule]:
        """The rules for guests, while the speaker is one."""
        rules = self._rules
        is_one = not self.is_due and is_guest(rules, self.speaker)
        return rules.guest_rules if is_one else ()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Why calls were refused so far."""
        return tuple(seen.refusal for seen in self._reviews.values() if seen.refusal)

    @property
    def reviews(self) -> tuple[CallReview, ...]:
        """The reviews of all calls so far, in order."""
        return tuple(self._reviews.values())

    def unreachable(self) -> list[str]:
        """Return the names of the entities that calls were meant for, and that still cannot be reached."""
        seen = [
            self._names_of(one)
            for one in self._reviews.values()
            if one.refusal is Refusal.UNREACHABLE
        ]
        return sorted({name for names in seen for name in names})

    def _names_of(self, seen: CallReview) -> list[str]:
        found = unavailable_names(self.hass, seen.effects.entity_ids)
        return [*dict.fromkeys(found.values())]

    def review(self, call: ToolCall) -> CallReview | None:
        """Return the latest review of a call, which may not be judged yet; None if no hook has seen the call."""
        found = self._reviews.get((call.name, call.arguments))
        if found:
            return replace(found, call=call)
        return None

    def terms_of(self, call: ToolCall) -> str:
        """Return the terms under which a call may run; empty if it needs no approval."""
        seen = self._reviews.get(call.key)
        needs_approval = seen and (
            seen.is_asked or seen.verdict not in {None, Verdict.ALLOW}
        )
        if seen is None or not needs_approval or seen.for_routine:
            return ""
        return _terms(seen)

    def begin_review(
        self,
        tool: ToolDefinition,
        arguments: JsonObject,
    ) -> ToolCall:
        """Begin the review of a call that hooks see before it is judged, unless it has begun; return the call."""
        call = ToolCall(
            "",
            tool.name,
            canonical_json(arguments),
        )
        self._reviews.setdefault(
            (call.name, call.arguments),
            CallReview(
                call,
                Effects(annotations=tool.annotations),
            ),
        )
        return call

    def reviews_of(self, pending: PendingApproval) -> tuple[CallReview, ...]:
        """Return the reviews of the calls of `pending`, in order."""
        found = ((one, self._reviews[one.call.key]) for one in pending.calls)
        return tuple(
            replace(seen, call=one.call, reason=one.reason) for one, seen in found
        )

    @property
    def unmeant(self) -> tuple[CallReview, ...]:
        """The calls that were refused because only content from outside may have asked for them."""
        return tuple(
            seen for seen in self._reviews.values() if seen.refusal is Refusal.NOT_MEANT
        )

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        decision = await self._judge(
            tool,
            arguments,
            self._agreed_calls,
        )
        if self.check is None:
            return decision
        seen = self._reviews[tool.name, canonical_json(arguments)]
        if tool.name not in self.check.asked_about:
            return await self._compared(
                self.check,
                seen,
                tool,
                arguments,
                decision,
            )
        # It was not asked for, but is proposed for a reason.
        always, reason = self.check.asked_about[tool.name]
        if decision is None and (
            always
            or is_risky(
                self.hass,
                seen.effects,
                self.temperatures,
            )
        ):
            self._note(replace(seen, is_asked=True))
            decision = Ask("", "undone")
        if isinstance(decision, Ask):
            return replace(decision, reason=reason)
        return decision

    async def _compared(
        self,
        check: RequestCheck,
        seen: CallReview,
        tool: ToolDefinition,
        arguments: JsonObject,
        decision: Deny | Ask | None,
    ) -> Deny | Ask | None:
        """Return the decision on a call, compared with the words of the person."""
        if isinstance(decision, Deny):
            return decision
        if decision and (some := await check.async_leaves_out(seen.entity_ids)):
            return some
        acting, given, when = timed_call(
            self.timed,
            tool,
            arguments,
        )
        # A sentence is what the person said.
        if acting.name == SENTENCE_TOOL or not seen.effects.is_known:
            return decision
        if when:  # what is chosen runs at once
            check = replace(check, can_choose=False)
        review_of = partial(self._review_of, acting)
        match await check.async_objection(acting, given, seen.effects, review_of):
            case tuple() as options:
                effects = frozenset[EntityAction]().union(
                    *(option.effects.actions for option in options)
                )
                seen = replace(
                    seen,
                    effects=Effects(effects),
                    options=options,
                )
                # Whatever the rules say holds for the one that is chosen.
                decision = Ask("", CHOICE)
            case Ask() as question:
                decision = decision or question
            case objection:
                return objection or decision
        self._note(replace(seen, is_asked=True))
        return decision

    def _note(self, seen: CallReview) -> None:
        self._reviews[seen.call.name, seen.call.arguments] = seen

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        """Judge an approved call again, since its effects may have changed."""
        # Where the person has chosen, calls are compared with the words like new ones:
        # to choose approves nothing.
        decision = await (
            self.pre_tool_use(tool, arguments)
            if self.check
            else self._judge(
                tool,
                arguments,
                (),
            )
        )
        for moved in self._moved(
            self._reviews[tool.name, canonical_json(arguments)].effects
        ):
            self.temperatures.pop(moved, None)
        return decision

    async def _judge(
        self,
        tool: ToolDefinition,
        arguments: JsonObject,
        agreed: Sequence[CallReview],
    ) -> Deny | Ask | None:
        call = self.begin_review(tool, arguments)
        timed = timed_call(
            self.timed,
            tool,
            arguments,
        )
        seen = await self._review(call, timed)
        alike = [
            review
            for review in agreed
            if _beside_targets(review.call) == _beside_targets(call)
        ]
        if seen.is_asked and not self.may_be_steered and self._repeats(seen, alike):
            seen = replace(
                seen,
                is_asked=False,
                is_repeated=True,
            )
        self._note(seen)
        is_sentence = timed.tool.name == SENTENCE_TOOL
        if timed.when and is_sentence and seen.effects == NOTHING:
            return Deny(_NO_COMMAND, is_final=False)
        if self.may_be_steered and not seen.is_asked and not seen.refusal:
            self.temperatures.update(self._moved(seen.effects) | self.temperatures)
        if seen.refusal:
            names = ", ".join(self._names_of(seen)) or "it"
            return Deny(_MESSAGES[seen.refusal].format(names=names, no_rules=NO_RULES))
        if seen.is_asked:
            return Ask("", _terms(seen))
        return None

    @override
    async def post_tool_use(
        self,
        call: ToolCall,
        result: ToolResult,
    ) -> None:
        if not (result.synthetic or result.is_error or self.may_be_steered):
            self._remember(call)
        if result.open_world:
            self.has_outside_content = True
            self.outside_tool = call.name

    def _remember(self, call: ToolCall) -> None:
        """Ask only once about a scene whose content its integration hides; rules of the home still hold."""
        seen = self._reviews.get((call.name, call.arguments))
        if (
            seen is None
            or seen.when
            or not seen.is_asked
            or not _is_asked_by_rule(seen)
            or self.speaker.is_api_client
        ):
            return
        scenes: dict[str, ToolSource] = {}
        for decision in seen.decisions:
            match decision.subject:
                case Unknown(UnknownReason.CONTENT, EntityAction(entity_id)) if (
                    entity_id.startswith("scene.")
                ):
                    scenes[entity_id] = ToolSource(TrustLevel.FREE)
                case _:
                    return

        def with_scenes(rules: HomeRules) -> HomeRules:
            sources = scenes | dict(rules.policy.sources)
            return replace(
                rules,
                policy=replace(rules.policy, sources=sources),
            )

        async_get_home_rules(self.hass).async_change(with_scenes)

    async def _review_of(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> CallReview:
        call = ToolCall(
            "",
            tool.name,
            canonical_json(arguments),
        )
        return await self._review(
            call,
            TimedCall(tool, arguments),
        )

    async def _review(
        self,
        call: ToolCall,
        timed: TimedCall,
    ) -> CallReview:
        """Review a call by the effects of the one that it leads to."""
        policy = self._rules.policy
        tool = timed.tool
        effects = bounded(
            self.hass,
            await self._known_effects(tool.name, timed.arguments),
            policy.sources,
        )
        does_change = changes_something(tool, effects)
        level = policy.level_of(tool.name, self.labels.get(tool.name, ""))
        judged = CallEffects(
            tool.name,
            effects,
            level if does_change else None,
        )
        judgement = judge(
            self.hass, policy, judged, self.speaker, dt_util.now(), self._guest_rules
        )
        if timed.when:
            judgement = self._also_planned(judgement, call.name)
        review = CallReview(call, effects, judgement, when=timed.when)
        if timed.when:
            acting = ToolCall(
                "",
                tool.name,
                canonical_json(timed.arguments),
            )
            review = replace(review, acting=acting)
        needed = judgement.verdict
        if needed is Verdict.ALLOW:
            review = self._beside_rules(review, judged, does_change=does_change)
        needed = Verdict.ASK if review.is_asked else needed
        refusal = await self._async_refusal(needed, review)
        is_asked = (
            refusal is None
            and needed is not Verdict.ALLOW
            and self.speaker.asking is not Asking.TRUSTED
        )
        review = replace(review, refusal=refusal, is_asked=is_asked)
        if self.may_be_steered:
            return self._as_wished(review)
        return review

    def _also_planned(
        self,
        judgement: Judgement,
        name: str,
    ) -> Judgement:
        """Return the stricter judgement on a call for later and on the tool that plans it, which rules may name."""
        planning = judge(
            self.hass,
            self._rules.policy,
            CallEffects(name, NOTHING),
            self.speaker,
            dt_util.now(),
        )
        return max(
            judgement,
            planning,
            key=lambda one: one.verdict.strictness,
        )

    def _beside_rules(
        self,
        review: CallReview,
        judged: CallEffects,
        *,
        does_change: bool,
    ) -> CallReview:
        """Return the review of a call that rules allow with what needs approval beside them."""
        effects = review.effects
        when = review.when
        # What is read back anyway is not asked about because of outside content.
        for_outside = (
            self.may_be_steered
            and not effects.needs_yes
            and (when is not None or (does_change and self._takes_care(judged)))
        )
        is_by_itself = effects.needs_yes or effects.is_guessed
        comes_again = when is not None and when.comes_again
        return replace(
            review,
            for_outside_content=for_outside,
            for_routine=comes_again and not is_by_itself,
            is_asked=for_outside or is_by_itself or comes_again,
        )

    async def _async_refusal(
        self, needed: Verdict, review: CallReview
    ) -> Refusal | None:
        """Return why a call that needs a verdict is refused; None if it may run or be asked about."""
        effects = review.effects
        if self.may_be_steered and effects.changes_memory:
            return Refusal.OUTSIDE_CONTENT
        if not await async_is_permitted(self.hass, self.speaker.user_id, effects):
            return Refusal.PERMISSION
        if review.when and review.when.comes_again and self._guest_rules:
            return Refusal.GUESTS
        refusal = self._refusal(needed, review)
        if refusal is None and out_of_reach(self.hass, effects):
            return Refusal.UNREACHABLE
        return refusal

    def _as_wished(self, review: CallReview) -> CallReview:
        """Return the review of a call after outside content, which may have asked for it."""
        if not review.is_asked:
            return review
        wish = Wish(
            self.hass,
            self.request,
            self.language,
        )
        if not (wish.names(review.effects) or _says_title(wish, review)):
            source = kind_of_source(self.outside_tool)
            review = replace(review, wish_of=source)
        if wish.may_mean(review.effects):
            return review
        return replace(
            review,
            is_asked=False,
            refusal=Refusal.NOT_MEANT,
        )

    def _repeats(
        self,
        seen: CallReview,
        agreed: Sequence[CallReview],
    ) -> bool:
        """Return whether a call only does to other entities of the same kind what was agreed to."""
        if not _is_asked_by_rule(seen) or not seen.effects.is_known:
            return False
        keys = action_keys(
            self.hass,
            seen.effects,
            seen.decisions,
        )
        agreed_keys = {
            key
            for review in agreed
            for key in action_keys(
                self.hass,
                review.effects,
                review.decisions,
            )
        }
        used = frozenset(
            entity_id for review in agreed for entity_id in review.entity_ids
        )
        others = seen.effects.entity_ids
        is_same = bool(keys) and keys <= agreed_keys and used.isdisjoint(others)
        return is_same and self._are_meant(
            others, used, lets_in=lets_in(self.hass, seen.effects)
        )

    def _are_meant(
        self,
        others: frozenset[str],
        agreed: frozenset[str],
        *,
        lets_in: bool,
    ) -> bool:
        """Return whether the request that was agreed to names other entities, too, or all and none of them.

        To name a door is not to ask that it be opened: "unlock the front door, is the
        back door locked?"
        """
        if may_except(self.request, self.language):
            return False
        words = heard_words(self.request)
        if not lets_in and all(
            is_named_in(self.hass, entity_id, words) for entity_id in others
        ):
            return True
        is_one_named = any(
            is_named_in(self.hass, entity_id, words) for entity_id in agreed | others
        )
        return not is_one_named and is_about_all(self.request, self.language)

    def _takes_care(self, call: CallEffects) -> bool:
        """Return whether a change needs approval after outside content."""
        effects = call.effects
        match self._rules.ask_after_outside_content:
            case OutsideCare.NOTHING:
                return False
            case OutsideCare.EVERY_CHANGE:
                return True
            case OutsideCare.RISKY:
                if call.level is TrustLevel.FREE:
                    effects = replace(effects, annotations=None)
                return is_risky(
                    self.hass,
                    effects,
                    self.temperatures,
                )
            case _ as unreachable:
                assert_never(unreachable)

    def _moved(self, effects: Effects) -> dict[tuple[str, str], float]:
        """Return the target temperatures that a call would change, as they are."""
        return dict(target_temperatures(self.hass, effects.possible_actions or ()))

    async def _known_effects(
        self,
        name: str,
        arguments: JsonObject,
    ) -> Effects:
        """Return the effects of a call. A call whose effects cannot be resolved may do anything."""
        try:
            return await self.effects_of(name, arguments)
        except Exception:  # noqa: BLE001  # any integration may raise anything
            LOGGER.exception("Could not resolve the effects of %s", name)
            return ANYTHING

    def _refusal(
        self,
        needed: Verdict,
        review: CallReview,
    ) -> Refusal | None:
        """Return why a call that needs `needed` is refused; None if it may run or be asked about."""
        match needed, self.speaker.asking:
            case Verdict.ALLOW, _:
                return None
            case Verdict.DENY, _:
                return self._by_rules(review)
            case Verdict.PIN, Asking.PERSON if self.speaker.is_api_client:
                return Refusal.PIN_BY_API_CLIENT
            case Verdict.PIN, Asking.PERSON:
                if self._rules.pin:
                    return None
                return Refusal.PIN_NOT_SET
            case (_, Asking.NOBODY) | (Verdict.PIN, Asking.TRUSTED):
                return Refusal.NOBODY
            case _:
                return None

    def _by_rules(self, review: CallReview) -> Refusal:
        """Return which rules refuse a call."""
        if self._rules.policy.only_reads:
            return Refusal.RULES_UNKNOWN
        deciding = {decision.rule for decision in review.decisions}
        if deciding.isdisjoint({NEVER_ENDED, *self._guest_rules}):
            return Refusal.RULES
        return Refusal.GUESTS


def _says_title(wish: Wish, review: CallReview) -> bool:
    """Return whether the words name what a call reads back, such as an event."""
    if not review.effects.needs_yes:
        return False
    return wish.says(str(json_loads_object(review.call.arguments).get("text") or ""))


def _is_asked_by_rule(review: CallReview) -> bool:
    """Return whether rules require approval without the PIN, whatever else does."""
    return review.judgement is not None and review.judgement.verdict is Verdict.ASK


def changes_something(tool: ToolDefinition, effects: Effects) -> bool:
    """Return whether a call may change anything, including what is no entity, such as a shopping list.

    A sentence changes something if an intent in it does.
    """
    if effects.annotations and not effects.annotations.read_only:
        return True
    return not tool.annotations.read_only and (
        effects != NOTHING or tool.name != SENTENCE_TOOL
    )


_TARGETS: Final = SELECTING | {
    "area_id",
    "device_id",
    "entity_id",
    "floor_id",
    "target",
}
"""The arguments that only select entities."""


def _beside_targets(call: ToolCall) -> tuple[str, JsonObject]:
    """Return the tool of a call, and what it is told beside the entities."""
    arguments = json_loads_object(call.arguments)
    return call.name, {
        name: value for name, value in arguments.items() if name not in _TARGETS
    }


def _terms(seen: CallReview) -> str:
    """Return a digest of what is approved, which differs as soon as any part of it does."""
    verdict = max(
        seen.verdict or Verdict.ASK, Verdict.ASK, key=lambda verdict: verdict.strictness
    )
    return f"{verdict}:{sha256(_effects_text(seen.effects).encode()).hexdigest()}"


def _effects_text(effects: Effects) -> str:
    unknowns = (
        repr(replace(one, reach=None)) + _lines(one.reach or frozenset())
        for one in effects.unknowns
    )
    lines = [_lines(effects.actions), *sorted(unknowns)]
    if effects.annotations:
        lines.insert(0, str(effects.annotations))
    return "\n".join(lines)


def _lines(actions: frozenset[EntityAction]) -> str:
    """Return actions as lines. A call may have thousands, and neither IDs nor action names contain spaces."""
    return "\n".join(
        sorted(
            " ".join([one.entity_id, one.action, *map(str, one.settings)])
            for one in actions
        )
    )
