"""Asks the owner's hooks: in order, the first no wins, and a failure is a no unless the hook says otherwise.

A `Rewrite` decides nothing: the hooks after it see the new value. Neither does an `Ask`: what all hooks ask becomes one
question, about the final value.
"""

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, assert_never, final

from ..messages import JsonObject, JsonValue, ToolCall, ToolDefinition, ToolResult, canonical_json
from ..protocols import Ask, Deny, HookPoint, Hooks, Rewrite
from ..timeouts import TookTooLong, finish_within


def join_terms(terms: Iterable[str]) -> str:
    """Write terms as one text, each on a line of its own; empty ones and repetitions are left out.

    Two lists of terms have the same text only if they hold the same terms in the same order.
    """
    return "\n".join(dict.fromkeys(_line(one) for one in terms if one))


def covers(asked: str, now: str) -> bool:
    """Tell whether a yes to what was `asked` is one to all that is asked `now`; both as `join_terms` writes them.

    Who had something to ask then and nothing now is content.
    """
    return set(now.split("\n")) <= {"", *asked.split("\n")}


def _line(terms: str) -> str:
    return terms.replace("\\", "\\\\").replace("\n", "\\n")


_LOGGER = logging.getLogger(__name__)

_FAILED: Final = "A safety check failed."


@dataclass(frozen=True, slots=True)
class HookResult[V]:
    """The value that all hooks together made of another one, and their decision."""

    value: V
    """As the last hook that was asked left it."""
    decision: Deny | Ask | None = None


type _Decision[V] = Deny | Ask | Rewrite[V] | None


@dataclass(frozen=True, slots=True)
class _Asked[V]:
    """A hook that wants a person asked."""

    hook: Hooks
    about: V
    """What it was shown; those after it may have put something else in place."""
    ask: Ask


@final
class HookChain:
    """The hooks of a loop."""

    def __init__(self, hooks: Sequence[Hooks], timeout: Callable[[], float]) -> None:
        """Ask these hooks, as they are now; `timeout` tells how many seconds one may take before that is a failure."""
        self._timeout = timeout
        self._hooks = tuple(hooks)

    @property
    def hold_speech(self) -> bool:
        """Tell whether any hook wants to see text before it is spoken."""
        return any(getattr(hook.pre_speech, "__func__", None) is not Hooks.pre_speech for hook in self._hooks)

    async def user_prompt_submit(self, text: str) -> HookResult[str]:
        """Show the user's words."""
        point = HookPoint.USER_PROMPT_SUBMIT
        return await self._show(point, text, lambda hook, value: hook.user_prompt_submit(value), _speaks)

    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject, fitted: Callable[[JsonObject], JsonObject]
    ) -> HookResult[JsonObject]:
        """Show a call before it runs. Each hook gets arguments of its own, to change as it likes.

        What one puts in place is `fitted` as it would run before the next one sees it. One that asked about other
        arguments than the final ones is shown those, too.
        """
        point = HookPoint.PRE_TOOL_USE
        return await self._show(
            point, arguments, lambda hook, value: hook.pre_tool_use(tool, deepcopy(value)), _decides, fitted
        )

    async def pre_approved_use(self, tool: ToolDefinition, arguments: JsonObject) -> Deny | Ask | None:
        """Show a call that was said yes to, right before it runs."""
        point = HookPoint.PRE_TOOL_USE
        seen = await self._show(
            point, arguments, lambda hook, value: hook.pre_approved_use(tool, deepcopy(value)), _permits
        )
        return seen.decision

    async def post_tool_use(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Show a result before the model reads it; return it as the model does.

        A no ends nothing here: the tool has run, and the reason may quote what it brought in. The hooks after it see
        the result as it left it, and can change nothing of it any more.
        """
        point, denied = HookPoint.POST_TOOL_USE, False
        decide = partial(self._decision, point, lambda hook, value: hook.post_tool_use(call, value), _speaks)
        for hook in self._hooks:
            match await decide(hook, result):
                case Deny(reason) if not denied:
                    denied = True
                    result = replace(result, content=reason, is_error=True, native=None)
                case Rewrite(content) if not denied and content != result.content:
                    # The native result would tell what the hook took out.
                    result = replace(result, content=content, native=None)
                case _:
                    pass
        return result

    async def pre_speech(self, text: str) -> HookResult[str]:
        """Show a message before it is spoken."""
        return await self._show(HookPoint.PRE_SPEECH, text, lambda hook, value: hook.pre_speech(value), _speaks)

    async def _show[V: JsonValue](
        self,
        point: HookPoint,
        value: V,
        show: Callable[[Hooks, V], Coroutine[object, object, _Decision[V]]],
        understood: Callable[[object], bool],
        fitted: Callable[[V], V] | None = None,
    ) -> HookResult[V]:
        decide = partial(self._decision, point, show, understood)
        asked: list[_Asked[V]] = []
        for hook in self._hooks:
            match decision := await decide(hook, value):
                case Deny():
                    return HookResult(value, decision)
                case Ask():
                    asked.append(_Asked(hook, value, decision))
                case Rewrite():
                    value = fitted(decision.value) if fitted else decision.value
                case None:
                    pass
                case _:
                    assert_never(decision)
        return HookResult(value, await _question(asked, value, decide) if asked else None)

    async def _decision[V, D](
        self,
        point: HookPoint,
        show: Callable[[Hooks, V], Coroutine[object, object, D]],
        understood: Callable[[object], bool],
        hook: Hooks,
        value: V,
    ) -> D | Deny | None:
        """Ask one hook. If it fails, that is a no or no opinion."""
        name = type(hook).__name__
        try:
            return _understood(await finish_within(self._timeout(), show(hook, value), f"hook {name}"), understood)
        except Exception as error:  # noqa: BLE001  # a hook that breaks must not open the door
            denies = hook.denies_on_failure(point)
            _log_failure(name, error, "denies" if denies else "has no say")
            return Deny(_FAILED) if denies else None


async def _question[V: JsonValue](
    asked: Sequence[_Asked[V]], value: V, decide: Callable[[Hooks, V], Coroutine[object, object, _Decision[V]]]
) -> Deny | Ask | None:
    """Make one question of what was asked, about nothing but what is in place in the end.

    Who asked about something else is shown that, and decides anew. If it would put yet another value in place, the
    hooks do not agree on what a yes would be to.
    """
    asks: list[Ask] = []
    for one in asked:
        same = canonical_json(one.about) == canonical_json(value)
        match decision := one.ask if same else await decide(one.hook, value):
            case Deny():
                return decision
            case Ask():
                asks.append(decision)
            case Rewrite():
                _LOGGER.error("Hook %s would change what others made of what it asked about", type(one.hook).__name__)
                return Deny(_FAILED)
            case None:
                pass
            case _:
                assert_never(decision)
    return _joined(asks)


def _log_failure(name: str, error: Exception, consequence: str) -> None:
    """Tell of a hook that failed; where the time was too short, there is nothing to be found in a traceback."""
    if isinstance(error, TookTooLong):
        _LOGGER.warning("%s, and therefore %s", error, consequence)
    else:
        _LOGGER.error("Hook %s failed and therefore %s", name, consequence, exc_info=error)


def _joined(asks: Sequence[Ask]) -> Ask | None:
    """Make one question of several."""
    if not asks:
        return None
    reasons = dict.fromkeys(ask.reason for ask in asks if ask.reason)
    return Ask(" ".join(reasons), join_terms(ask.terms for ask in asks))


def _understood[D](decision: D, understood: Callable[[object], bool]) -> D:
    """Return a decision, or raise for one that is no answer to the question."""
    if decision is None or understood(decision):
        return decision
    raise TypeError("it decided something that is no answer to the question")


def _speaks(decision: object) -> bool:
    match decision:
        case Deny(str()) | Rewrite(str()):
            return True
        case _:
            return False


def _decides(decision: object) -> bool:
    match decision:
        case Rewrite(dict() as arguments):
            canonical_json(arguments)  # raises for what is not JSON
            return True
        case _:
            return _permits(decision)


def _permits(decision: object) -> bool:
    match decision:
        case Deny(str()) | Ask(str(), str()):
            return True
        case _:
            return False
