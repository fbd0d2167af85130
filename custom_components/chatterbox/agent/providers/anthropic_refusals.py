"""Other ways to ask, for models of the Messages format that refuse the first one.

Knows what such refusals say and what a payload holds. No list of models stands here: their
rules for thinking differ from one version to the next, so each is asked in the newest way and
taken at its word. What helped is remembered for as long as the provider lives, and logged once.
Sources: Claude API guides "Troubleshooting thinking", "Effort" and "Extended thinking".
"""

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, override

from ..messages import JsonObject, JsonValue
from ..protocols import ReasoningEffort
from .profiles import nearest_effort
from .refused_parameters import OUTPUT_REFUSALS, RefusedParameters, Trial

_LOGGER = logging.getLogger(__name__)

_STATUSES: Final = frozenset({400, 422})
_LEAST_BUDGET: Final = 1024
"""Tokens that a model is given to think in, at least."""
_BUDGETS: Final[Mapping[str, int]] = {
    ReasoningEffort.MINIMAL: _LEAST_BUDGET,
    ReasoningEffort.LOW: _LEAST_BUDGET,
    ReasoningEffort.MEDIUM: 4096,
    ReasoningEffort.HIGH: 12_288,
}
_LARGEST_BUDGET: Final = 16_384
"""Beyond it a model thinks for longer than anybody waits for an answer."""
_LEAST_ANSWER: Final = 256
"""Tokens. A shorter answer would hardly be one."""
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})

_ALSO_CALLED: Final[Mapping[str, Collection[str]]] = {
    "thinking": ("thinking.type.adaptive", "thinking.type.enabled", "thinking.type.disabled"),
    "output_config.effort": ("effort",),
    "output_config.format": OUTPUT_REFUSALS,
}

type _Change = Callable[[JsonObject, re.Match[str]], JsonObject]


@dataclass(frozen=True, slots=True)
class _OtherWay:
    """What to do when a refusal says something."""

    what: str
    """What the model does not take, for the log."""
    said: re.Pattern[str]
    change: _Change
    """Returns the payload to send instead, the same one where there is nothing to change."""
    lasting: bool = True
    """Whether it is the model that refuses; else it is only this conversation."""


def _without_thoughts(payload: JsonObject, _: re.Match[str]) -> JsonObject:
    """Carry no thinking: it came from another model, or something before it has changed."""
    messages: list[JsonValue] = []
    for message in _objects(payload.get("messages")):
        content = [block for block in _objects(message.get("content")) if block.get("type") not in _THOUGHTS]
        messages.append({**message, "content": [*content]})
    changed: JsonObject = {**payload, "messages": messages}
    if _kind(payload) == "enabled":  # which needs the thinking that was just left out
        del changed["thinking"]
    return changed


def _with_a_known_effort(payload: JsonObject, said: re.Match[str]) -> JsonObject:
    """Ask for the nearest effort among those that the refusal lists, else for the one that every model knows."""
    listed = {effort for effort in ReasoningEffort if re.search(rf"\b{effort}\b", said["known"] or "")}
    known = listed or {ReasoningEffort.LOW, ReasoningEffort.MEDIUM, ReasoningEffort.HIGH}
    effort = _effort(payload)
    return payload if effort is None else _with_effort(payload, nearest_effort(effort, known))


def _with_least_thinking(payload: JsonObject, said: re.Match[str]) -> JsonObject:
    """Ask for as little thinking as there can be, where it cannot be switched off."""
    if _kind(payload) != "disabled":
        return payload
    if "between_tools" in said.string:
        return {**payload, "thinking": {"type": "between_tools"}}
    rest = {name: value for name, value in payload.items() if name != "thinking"}
    return _with_effort(rest, ReasoningEffort.LOW)


def _with_a_budget(payload: JsonObject, _: re.Match[str]) -> JsonObject:
    """Ask for thinking within a number of tokens, as older models know it, where it is allowed at all."""
    if _kind(payload) != "adaptive":
        return payload
    effort = _effort(payload)
    changed = {name: value for name, value in _with_effort(payload, None).items() if name != "thinking"}
    limit = payload["max_tokens"]
    half = limit // 2 if isinstance(limit, int) else 0
    budget = min(_BUDGETS.get(effort or ReasoningEffort.HIGH, _LARGEST_BUDGET), half)
    if budget >= _LEAST_BUDGET and not _is_forced(payload) and not _is_amid_unthought_calls(payload):
        changed["thinking"] = {"type": "enabled", "budget_tokens": budget}
    return changed


def _with_fewer_tokens(payload: JsonObject, said: re.Match[str]) -> JsonObject:
    """Ask for no longer answer than the model can give."""
    limit = int(said["limit"])
    asked = payload.get("max_tokens")
    return {**payload, "max_tokens": limit} if isinstance(asked, int) and asked > limit > 0 else payload


def _with_what_is_left(payload: JsonObject, said: re.Match[str]) -> JsonObject:
    """Ask for an answer that fits beside the prompt, where that is worth an answer."""
    room = int(said["window"]) - int(said["prompt"])
    return {**payload, "max_tokens": room} if room >= _LEAST_ANSWER and _kind(payload) != "enabled" else payload


def _without_cache(payload: JsonObject, _: re.Match[str]) -> JsonObject:
    """Set no cache breakpoints."""
    return {name: _without_field(value, "cache_control") for name, value in payload.items()}


_OTHER_WAYS: Final = (
    _OtherWay(
        "the thinking of this conversation",
        re.compile(r"\bmessages\.\d+(\.content\.\d+)?\b.{0,300}?(thinking|signature)", re.DOTALL),
        _without_thoughts,
        lasting=False,
    ),
    _OtherWay(
        "this effort",
        re.compile(r"\beffort level\b(.{0,80}?Supported levels:(?P<known>[\w\s,]+))?", re.DOTALL),
        _with_a_known_effort,
    ),
    _OtherWay(
        "to answer without thinking",
        re.compile(r"thinking\.type\.disabled\W+is not supported|tag 'disabled'|thinking cannot be disabled"),
        _with_least_thinking,
    ),
    _OtherWay(
        "adaptive thinking",
        re.compile(r"adaptive thinking is not supported|does not support the effort parameter|tag 'adaptive'"),
        _with_a_budget,
    ),
    _OtherWay(
        "so long an answer",
        re.compile(r"max_tokens\W{1,3}\d+\s*>\s*(?P<limit>\d+)"),
        _with_fewer_tokens,
    ),
    _OtherWay(
        "so long an answer to this prompt",
        re.compile(r"exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<window>\d+)"),
        _with_what_is_left,
        lasting=False,
    ),
    _OtherWay("cache breakpoints", re.compile("cache_control"), _without_cache),
)


class AnthropicRefusals(RefusedParameters):
    """What the model of one provider has refused so far, and how it is asked instead."""

    def __init__(self, model: str, required: Collection[str]) -> None:
        """Never leave out the top-level fields `required`."""
        super().__init__(model, required, _ALSO_CALLED)
        self._name = model
        self._other_ways: dict[_OtherWay, re.Match[str]] = {}

    @override
    def trial(self, payload: JsonObject) -> Trial:
        for other_way, said in self._other_ways.items():
            payload = other_way.change(payload, said)
        return _AnthropicTrial(self, super().trial(payload).payload)

    def remember_way(self, other_way: _OtherWay, said: re.Match[str]) -> None:
        """Ask in this way from now on."""
        self._other_ways[other_way] = said
        _LOGGER.warning("%s does not take %s; it is asked in another way from now on", self._name, other_way.what)


class _AnthropicTrial(Trial):
    """One request, and how it was changed until it is accepted."""

    def __init__(self, refusals: AnthropicRefusals, payload: JsonObject) -> None:
        super().__init__(refusals, payload)
        self._refusals = refusals
        self._tried: dict[_OtherWay, re.Match[str]] = {}

    @override
    def leave_out(self, status: int, body: bytes) -> bool:
        """Change what the refusal speaks of, each thing once; else leave out the parameter that it names."""
        text = body.decode(errors="replace")
        for other_way in _OTHER_WAYS if status in _STATUSES else ():
            said = None if other_way in self._tried else other_way.said.search(text)
            if said is not None and (changed := other_way.change(self.payload, said)) != self.payload:
                self.payload = changed
                self._tried[other_way] = said
                return True
        return super().leave_out(status, body)

    @override
    def accepted(self) -> None:
        for other_way, said in self._tried.items():
            if other_way.lasting:
                self._refusals.remember_way(other_way, said)
        super().accepted()


def _kind(payload: JsonObject) -> JsonValue:
    match payload.get("thinking"):
        case {"type": kind}:
            return kind
        case _:
            return None


def _effort(payload: JsonObject) -> ReasoningEffort | None:
    match payload.get("output_config"):
        case {"effort": str(effort)} if effort in set(ReasoningEffort):
            return ReasoningEffort(effort)
        case _:
            return None


def _with_effort(payload: JsonObject, effort: ReasoningEffort | None) -> JsonObject:
    """Return the payload with another effort, None for none."""
    config = payload.get("output_config")
    kept = {name: value for name, value in config.items() if name != "effort"} if isinstance(config, dict) else {}
    changed = kept if effort is None else {**kept, "effort": effort}
    rest = {name: value for name, value in payload.items() if name != "output_config"}
    return {**rest, "output_config": changed} if changed else rest


def _is_forced(payload: JsonObject) -> bool:
    """Tell whether the model has to call a tool: then it cannot think within a budget."""
    match payload.get("tool_choice"):
        case {"type": "any" | "tool"}:
            return True
        case _:
            return False


def _is_amid_unthought_calls(payload: JsonObject) -> bool:
    """Tell whether results come last whose calls were made without thinking: thinking cannot begin among them."""
    said = [_objects(message.get("content")) for message in _objects(payload.get("messages"))]
    before, last = [[], [], *said][-2:]
    has_results = any(block.get("type") == "tool_result" for block in last)
    return has_results and all(block.get("type") not in _THOUGHTS for block in before[:1])


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _without_field(value: JsonValue, field: str) -> JsonValue:
    """Take a field out of the blocks, tools and messages that a list holds."""
    if not isinstance(value, list):
        return value
    return [
        {name: _without_field(inner, field) for name, inner in item.items() if name != field}
        if isinstance(item, dict)
        else item
        for item in value
    ]
