"""Runs the owner's hooks in order: the first denial wins, and a failing hook denies unless it declares otherwise.

After a `Rewrite`, the next hooks see the new value. All `Ask` decisions are merged into
one question about the final value. Decision 11.
"""

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, assert_never, final

from ..messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from ..protocols import Ask, Deny, HookPoint, Hooks, Rewrite
from ..timeouts import TookTooLong, finish_within


def join_terms(terms: Iterable[str]) -> str:
    """Join terms into one text, one per line, without empty lines and duplicates.

    Two lists of terms give the same text only if they hold the same terms in the same
    order.
    """
    return "\n".join(dict.fromkeys(_line(one) for one in terms if one))


def covers(earlier: str, now: str) -> bool:
    """Return whether an approval of the terms `asked` covers the terms `now`; both as written by `join_terms`.

    A hook that asked before and has no terms now is satisfied.
    """
    return set(now.split("\n")) <= {"", *earlier.split("\n")}


def _line(terms: str) -> str:
    return terms.replace("\\", "\\\\").replace(
        "\n",
        "\\n",
    )


_LOGGER = logging.getLogger(__name__)

_FAILED: Final = "A safety check failed."


@dataclass(frozen=True, slots=True)
class HookResult[V]:
    """The value after all hooks have run, and their common decision."""

    value: V
    """The value as the last hook left it."""
    decision: Deny | Ask | None = None


type _Decision[V] = Deny | Ask | Rewrite[V] | None


@dataclass(frozen=True, slots=True)
class _Asked[V]:
    """A hook that requires approval."""

    hook: Hooks
    about: V
    """The value that the hook saw; later hooks may have replaced it."""
    ask: Ask


@final
class HookChain:
    """The hooks of a loop."""

    def __init__(
        self,
        hooks: Sequence[Hooks],
        timeout: Callable[[], float],
    ) -> None:
        """Take the hooks of a turn. `timeout` returns the seconds after which a hook counts as failed."""
        self._timeout = timeout
        self._hooks = tuple(hooks)

    @property
    def hold_speech(self) -> bool:
        """Return whether any hook has to see text before it is spoken."""
        return bool(self._looking_at(HookPoint.PRE_SPEECH))

    def _looking_at(self, point: HookPoint) -> Sequence[Hooks]:
        """Return the hooks that may have an opinion at a point: they override its method. A call is shown to all."""
        if point is HookPoint.PRE_TOOL_USE:
            return self._hooks
        default = getattr(Hooks, point)
        return [
            hook
            for hook in self._hooks
            if getattr(getattr(hook, point, None), "__func__", None) is not default
        ]

    async def user_prompt_submit(self, text: str) -> HookResult[str]:
        """Show the user's words."""
        point = HookPoint.USER_PROMPT_SUBMIT
        return await self._show(
            point, text, lambda hook, value: hook.user_prompt_submit(value), str
        )

    async def pre_tool_use(
        self,
        tool: ToolDefinition,
        arguments: JsonObject,
        fitted: Callable[[JsonObject], JsonObject],
    ) -> HookResult[JsonObject]:
        """Show a call to the hooks before it runs. Each hook gets its own copy of the arguments.

        A rewritten value is fitted to the schema (`fitted`) before the next hook sees
        it. A hook that asked about other arguments than the final ones is asked again.
        """
        point = HookPoint.PRE_TOOL_USE
        return await self._show(
            point,
            arguments,
            lambda hook, value: hook.pre_tool_use(tool, deepcopy(value)),
            dict,
            fitted,
        )

    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        """Show an approved call to the hooks right before it runs."""
        point = HookPoint.PRE_TOOL_USE
        seen = await self._show(
            point,
            arguments,
            lambda hook, value: hook.pre_approved_use(tool, deepcopy(value)),
            None,
        )
        return seen.decision

    async def post_tool_use(
        self,
        call: ToolCall,
        result: ToolResult,
    ) -> ToolResult:
        """Show a result to the hooks before the model reads it; return the result for the model.

        A denial here does not end anything: the tool has run, and the reason may quote
        outside content. Later hooks see the result as the denial left it and cannot
        change it.
        """
        point = HookPoint.POST_TOOL_USE
        denied = False
        decide = partial(
            self._decision,
            point,
            lambda hook, value: hook.post_tool_use(call, value),
            str,
        )
        for hook in self._looking_at(point):
            match await decide(hook, result):
                case Deny(reason) if not denied:
                    denied = True
                    result = replace(
                        result,
                        content=reason,
                        is_error=True,
                        native=None,
                    )
                case Rewrite(content) if not denied and content != result.content:
                    # The native result would reveal the text that the hook removed.
                    result = replace(
                        result,
                        content=content,
                        native=None,
                    )
                case _:
                    pass
        return result

    async def pre_speech(self, text: str) -> HookResult[str]:
        """Show a message before it is spoken."""
        return await self._show(
            HookPoint.PRE_SPEECH, text, lambda hook, value: hook.pre_speech(value), str
        )

    async def _show[V: JsonValue](
        self,
        point: HookPoint,
        value: V,
        show: Callable[[Hooks, V], Coroutine[object, object, _Decision[V]]],
        rewritable: type | None,
        fitted: Callable[[V], V] | None = None,
    ) -> HookResult[V]:
        decide = partial(
            self._decision,
            point,
            show,
            rewritable,
        )
        answered: list[_Asked[V]] = []
        for hook in self._looking_at(point):
            match decision := await decide(hook, value):
                case Deny():
                    return HookResult(value, decision)
                case Ask():
                    answered.append(_Asked(hook, value, decision))
                case Rewrite():
                    if fitted:
                        value = fitted(decision.value)
                    else:
                        value = decision.value
                case None:
                    pass
                case _:
                    assert_never(decision)
        return HookResult(
            value, await _question(answered, value, decide) if answered else None
        )

    async def _decision[V, D](
        self,
        point: HookPoint,
        show: Callable[[Hooks, V], Coroutine[object, object, D]],
        rewritable: type | None,
        hook: Hooks,
        value: V,
    ) -> D | Deny | None:
        """Run one hook. A failure counts as a denial or as no opinion."""
        name = type(hook).__name__
        try:
            return _checked(
                await finish_within(
                    self._timeout(),
                    show(hook, value),
                    f"hook {name}",
                ),
                rewritable,
            )
        except Exception as error:  # noqa: BLE001  # a failing hook must not allow the call
            denies = hook.denies_on_failure(point)
            _log_failure(
                name,
                error,
                "denies" if denies else "has no say",
            )
            return Deny(_FAILED) if denies else None


async def _question[V: JsonValue](
    answered: Sequence[_Asked[V]],
    value: V,
    decide: Callable[[Hooks, V], Coroutine[object, object, _Decision[V]]],
) -> Deny | Ask | None:
    """Merge the hooks' questions into one about the final value.

    A hook that asked about an earlier value decides again on the final one. If it
    rewrites the value once more, the hooks do not agree on the call that an approval
    would cover, and the call is refused.
    """
    asks: list[Ask] = []
    for one in answered:
        same = canonical_json(one.about) == canonical_json(value)
        match decision := one.ask if same else await decide(one.hook, value):
            case Deny():
                return decision
            case Ask():
                asks.append(decision)
            case Rewrite():
                _LOGGER.error(
                    "Hook %s would change what others made of what it asked about",
                    type(one.hook).__name__,
                )
                return Deny(_FAILED)
            case None:
                pass
            case _:
                assert_never(decision)
    return _joined(asks)


def _log_failure(
    name: str,
    error: Exception,
    consequence: str,
) -> None:
    """Log a failed hook; a timeout without traceback, which would show nothing."""
    if isinstance(error, TookTooLong):
        _LOGGER.warning(
            "%s, and therefore %s",
            error,
            consequence,
        )
    else:
        _LOGGER.error(
            "Hook %s failed and therefore %s", name, consequence, exc_info=error
        )


def _joined(asks: Sequence[Ask]) -> Ask | None:
    """Merge several questions into one."""
    if not asks:
        return None
    reasons = dict.fromkeys(ask.reason for ask in asks if ask.reason)
    return Ask(
        " ".join(reasons),
        join_terms(ask.terms for ask in asks),
    )


def _checked[
    D,
](decision: D, rewritable: type | None) -> D:
    """Return a decision, raise TypeError for a value that is none.

    `rewritable` is the type of the value that a hook may replace, str or dict; None for
    an approved call. Only calls can be asked about.
    """
    match decision:
        case None | Deny(str()):
            pass
        case Ask(str(), str()) if rewritable is not str:
            pass
        case Rewrite(str()) if rewritable is str:
            pass
        case Rewrite(dict() as arguments) if rewritable is dict:
            canonical_json(arguments)  # raises for what is not JSON
        case _:
            raise TypeError("it decided something that is no answer to the question")
    return decision
