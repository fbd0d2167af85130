"""Runs the owner's scripts as hooks: a script receives an event of the turn, and its response decides on it.

`docs/scripts-that-decide.md` describes the input and the responses of a script.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, assert_never, override

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import json_loads_object

from ..agent.messages import (
    JsonObject,
    JsonValue,
    ToolCall,
    ToolDefinition,
    ToolResult,
    canonical_json,
)
from ..agent.protocols import Ask, Deny, HookPoint, Hooks, Rewrite
from ..agent.timeouts import finish_within
from ..const import SCRIPT_DOMAIN
from ..effects.effect import TimedCalls, timed_call
from ..people.speakers import Asking
from ..records.turn_record import Origin, parsed_content, shown_arguments
from ..repairs import async_report_failed_script

_TIME_LIMIT: Final = 2.0
"""Seconds that a script may take: the person waits for it at every call."""

_NOBODY_TO_ASK: Final = "(Not run: it needs a yes, and nobody is there to give it.)"

_asking: ContextVar[frozenset[str]] = ContextVar(
    "chatterbox_asking", default=frozenset()
)
"""Agents whose scripts are running, also within anything that such a script started."""


class ScriptFailed(Exception):
    """A script made no decision: it is missing, broken, slow or busy, or its response is invalid."""


@dataclass(frozen=True, slots=True)
class ScriptHooks(Hooks):
    """Runs the scripts of one agent that decide on words, calls and results, in one turn."""

    hass: HomeAssistant
    agent: ConfigSubentry
    by_point: Mapping[HookPoint, str]
    """Entity ids."""
    context: Context
    """Context of the speaker, whose permissions also apply to the script."""
    origin: Origin
    """Facts that a script receives at every point; see `record.turn_origin`."""
    refusal: str
    """The reason for a script that gives none."""
    asking: Asking = Asking.PERSON
    """The recipients of a question that a script requests."""
    timed: TimedCalls = MappingProxyType({})
    """The calls for another time, on which the script decides in place of those that lead to them."""
    decides_on_approved: bool = False
    """Whether it decides on approved calls again, as on those whose approval may be old."""

    @override
    def denies_on_failure(self, point: HookPoint) -> bool:
        return point is HookPoint.PRE_TOOL_USE

    @override
    async def user_prompt_submit(self, text: str) -> Deny | Rewrite[str] | None:
        return await self._ask(
            HookPoint.USER_PROMPT_SUBMIT, {"text": text}, self._about_text
        )

    @override
    async def pre_tool_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | Rewrite[JsonObject] | None:
        def decide(answer: JsonObject) -> Deny | Ask | Rewrite[JsonObject] | None:
            if answer.get("decision") == "ask" and answer.get("arguments") is None:
                return self._decision_of(self._reason(answer))
            return self._verdict(
                answer,
                "arguments",
                _object,
            )

        acting, given, when = timed_call(
            self.timed,
            tool,
            arguments,
        )
        data: JsonObject = {
            "tool": acting.name,
            "arguments": given,
            "read_only": acting.annotations.read_only,
        }
        decision = await self._ask(
            HookPoint.PRE_TOOL_USE,
            data,
            decide,
        )
        # A call for another time is kept as it was judged.
        if when and isinstance(decision, Rewrite):
            return Deny(self.refusal)
        return decision

    @override
    async def pre_approved_use(
        self, tool: ToolDefinition, arguments: JsonObject
    ) -> Deny | Ask | None:
        if self.decides_on_approved:
            decision = await self.pre_tool_use(tool, arguments)
        else:
            decision = None
        if isinstance(decision, Rewrite):
            return Deny(self.refusal)
        return decision

    @override
    async def post_tool_use(
        self, call: ToolCall, result: ToolResult
    ) -> Deny | Rewrite[str] | None:
        data: JsonObject = {
            "tool": call.name,
            "arguments": shown_arguments(call),
            "result": parsed_content(result),
            "is_error": result.is_error,
        }
        return await self._ask(
            HookPoint.POST_TOOL_USE,
            data,
            lambda answer: self._verdict(answer, "result", _content),
        )

    def _decision_of(self, reason: str) -> Deny | Ask | None:
        match self.asking:
            case Asking.PERSON:
                return Ask(reason)
            case Asking.NOBODY:
                return Deny(f"{reason} {_NOBODY_TO_ASK}")
            case Asking.TRUSTED:
                return None
            case _ as unreachable:
                assert_never(unreachable)

    def _about_text(self, answer: JsonObject) -> Deny | Rewrite[str] | None:
        return self._verdict(
            answer,
            "text",
            _text,
        )

    async def _ask[D](
        self, point: HookPoint, data: JsonObject, parse: Callable[[JsonObject], D]
    ) -> D | None:
        """Return the response of the script at a point, parsed by `read`; None without a script.

        A failure is raised, and reported until the script responds again. An agent that
        is called by one of its own scripts runs no script, since this would never end:
        its calls fail, and nothing is reported.
        """
        script = self.by_point.get(point)
        if script is None:
            return None
        agent_id = self.agent.subentry_id
        if agent_id in _asking.get():
            if point is HookPoint.PRE_TOOL_USE:
                raise ScriptFailed(f"{script} talks to the agent that it decides for")
            return None
        asking = _asking.set(_asking.get() | {agent_id})
        try:
            decision = parse(
                await self._run(
                    script,
                    {
                        "hook": point.value,
                        **self.origin,
                        **data,
                    },
                )
            )
        except Exception:
            async_report_failed_script(
                self.hass,
                self.agent,
                point,
                script,
            )
            raise
        finally:
            _asking.reset(asking)
        async_report_failed_script(
            self.hass,
            self.agent,
            point,
            None,
        )
        return decision

    async def _run(
        self,
        script: str,
        variables: JsonObject,
    ) -> JsonObject:
        entry = er.async_get(self.hass).async_get(script)
        if entry is None:
            raise ScriptFailed(f"{script} does not exist")
        run = self.hass.services.async_call(
            SCRIPT_DOMAIN,
            entry.unique_id,
            variables,
            blocking=True,
            context=self.context,
            return_response=True,
        )
        response = await finish_within(
            _TIME_LIMIT,
            run,
            script,
        )
        return json_loads_object(json_dumps(response))

    def _verdict[V](
        self, answer: JsonObject, key: str, parse: Callable[[JsonValue], V]
    ) -> Deny | Rewrite[V] | None:
        """Parse a response that may contain a replacement under `key`. Raises `ScriptFailed`."""
        unknown = answer.keys() - {"decision", "reason", key}
        if unknown:
            raise ScriptFailed(
                f"nothing is known by the name of {', '.join(sorted(unknown))}"
            )
        value = answer.get(key)
        match answer.get("decision"):
            case "deny":
                return Deny(self._reason(answer))
            case "allow":
                if value is None:
                    return None
                return Rewrite(parse(value))
            case decision:
                raise ScriptFailed(f"this is no decision here: {decision}")

    def _reason(self, answer: JsonObject) -> str:
        """Return the reason that a script gives."""
        reason = answer.get("reason")
        if reason in (None, ""):
            return self.refusal
        return _text(reason)


class SpeechScriptHooks(ScriptHooks):
    """Runs a script on speech, too, so that no speech is streamed before the whole message is known."""

    @override
    async def pre_speech(self, text: str) -> Deny | Rewrite[str] | None:
        return await self._ask(
            HookPoint.PRE_SPEECH,
            {"text": text},
            self._about_text,
        )


def _text(value: JsonValue) -> str:
    """Return text; a template renders "42" as a number."""
    match value:
        case str() if value.strip():
            return value
        case int() | float() if not isinstance(value, bool):
            return str(value)
        case _:
            raise ScriptFailed("words were expected")


def _object(value: JsonValue) -> JsonObject:
    if isinstance(value, dict):
        return value
    raise ScriptFailed("arguments have names")


def _content(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return canonical_json(value)
