"""Retries without a parameter that a model refuses, and other ways to ask: Anthropic's, and without tools or a stream.

What helped is remembered for as long as the provider lives, and logged once. Sources:
Claude API guides "Troubleshooting thinking", "Effort" and "Extended thinking".
"""

import logging
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..json.text import as_object, objects_in
from ..messages import JsonObject, JsonValue, canonical_json
from ..protocols import ReasoningEffort
from ..wire.anthropic_messages import OF_SEARCHES
from ..wire.chat_dialect import in_turns
from .failures import WORDINGS, FailureWording
from .profiles import PROFILES, nearest_effort, with_wishes

_LOGGER = logging.getLogger(__name__)

_STATUSES: Final = frozenset({400, 404, 422, 500, 501})
"""Of refused parameters. 404: OpenRouter, if no endpoint supports one; 500: older local servers."""

_MENTION: Final = r"([\"'`]?)(?<![\w.]){}(?![\w.]*\w)"
"""A name, perhaps quoted, that is not part of another."""

OUTPUT_REFUSALS: Final = (
    "json_schema",
    "structured outputs",
    "structured output",
    "output_format",
)
"""Names of structured output in refusals, whatever the parameter is called."""

_TOOLS: Final = "tools"
_MOST_TOOLS: Final = 16
"""Left out of one request; a service that refuses more refuses something else."""
_MOST_VALUES: Final = 64
"""Remembered values of one parameter; the oldest is dropped."""

type _Path = tuple[str, ...]


class RefusedParameters:
    """Parameters that the model of one provider has refused."""

    def __init__(
        self,
        model: str,
        required: Collection[str],
        also_called: Mapping[str, Collection[str]] | None = None,
        adjustments: Sequence[Adjustment] = (),
    ) -> None:
        """Never leave out the top-level fields in `required`.

        `also_called` maps parameters (`think`, `reasoning.effort`) to other names in
        error messages. `adjustments` are tried, each once, before a parameter is left
        out.
        """
        self.adjustments = adjustments
        self._model = model
        self._required = frozenset(required)
        self._also_called = also_called or {}
        self._remembered: dict[_Path, deque[str]] = {}
        self._adjusted: dict[Adjustment, RefusalMatch] = {}

    @property
    def tools_refusal(self) -> str:
        """The words in which the service refused tools, or the way they were sent; empty if it takes them."""
        refusal = self._adjusted.get(WITHOUT_TOOLS)
        return refusal.string if refusal else ""

    def trial(self, payload: JsonObject) -> Trial:
        """Return a trial of a request, without what is known to be refused."""
        for adjustment, refusal in self._adjusted.items():
            payload = adjustment.change(payload, refusal)
        for path, value in list(_parameters(payload)) if self._remembered else ():
            if canonical_json(value) in self._remembered.get(path, ()):
                payload = _without(payload, path)
        return Trial(self, payload)

    def named(
        self,
        payload: JsonObject,
        text: str,
    ) -> _Path | None:
        """Return the first parameter of `payload` that a refusal names, quoted names before others."""
        mentions = [
            (
                not mention[1],
                mention.start(),
                path,
            )
            for path, _ in _parameters(payload)
            if path[0] not in self._required
            for name in (".".join(path), *self._also_called.get(".".join(path), ()))
            for mention in re.finditer(_MENTION.format(re.escape(name)), text)
        ]
        if mentions:
            return min(mentions)[-1]
        return None

    def tool(
        self,
        payload: JsonObject,
        text: str,
    ) -> _Path | None:
        """Return the tool of `payload` whose schema a refusal does not accept; None if it names none."""
        found = WORDINGS["refused_tool"].search(text)
        if found is None:
            return None
        names = [
            path[1]
            for path, _ in _parameters(payload)
            if path[0] == _TOOLS and path[1:]
        ]
        place = found["declaration"] or found["place"]
        if place is None:
            name = found["name"]
        else:
            name = next(
                iter(names[int(place) :]),
                None,
            )
        if name in names:
            return (_TOOLS, name)
        return None

    def remember(
        self,
        path: _Path,
        value: JsonValue,
    ) -> None:
        """Leave out a value of a parameter from now on."""
        if path in self._remembered:
            level = logging.DEBUG
        else:
            level = logging.WARNING
        self._remembered.setdefault(path, deque(maxlen=_MOST_VALUES)).append(
            canonical_json(value)
        )
        _LOGGER.log(
            level,
            "%s refuses the parameter %s; it is left out from now on",
            self._model,
            ".".join(path),
        )

    def remember_adjustment(
        self,
        adjustment: Adjustment,
        refusal: RefusalMatch,
    ) -> None:
        """Apply an adjustment to all requests."""
        self._adjusted[adjustment] = refusal
        _LOGGER.warning(
            "%s does not take %s; it is asked in another way from now on",
            self._model,
            adjustment.refusal.what,
        )


class Trial:
    """One request, without the parameters that were refused."""

    def __init__(
        self,
        refused: RefusedParameters,
        payload: JsonObject,
    ) -> None:
        """Start with `payload`."""
        self.payload = payload
        """The payload to send now."""
        self._refused = refused
        self._left_out: list[tuple[_Path, JsonValue]] = []
        self._tried: dict[Adjustment, RefusalMatch] = {}

    def leave_out(
        self,
        status: int,
        body: bytes,
    ) -> bool:
        """Adjust `payload` to a refusal, or remove the parameter that it names; False if neither is possible."""
        if status not in _STATUSES:
            return False
        text = body.decode(errors="replace")
        for adjustment in self._refused.adjustments:
            refusal = adjustment.refusal.search(text)
            if refusal is None or adjustment in self._tried:
                continue
            changed = adjustment.change(self.payload, refusal)
            if changed != self.payload:
                self.payload = changed
                self._tried[adjustment] = refusal
                return True
        path = self._refused.tool(self.payload, text) or self._refused.named(
            self.payload, text
        )
        if (
            path is None
            or sum(left == _TOOLS for (left, *_), _ in self._left_out) >= _MOST_TOOLS
        ):
            return False
        self._left_out.append((path, dict(_parameters(self.payload))[path]))
        self.payload = _without(self.payload, path)
        return True

    def accepted(self) -> None:
        """Remember what was changed, because it helped."""
        for adjustment, refusal in self._tried.items():
            if adjustment.lasting:
                self._refused.remember_adjustment(adjustment, refusal)
        for path, value in self._left_out:
            self._refused.remember(path, value)
        self._left_out.clear()


def _parameters(payload: JsonObject) -> Iterator[tuple[_Path, JsonValue]]:
    """Yield every field, every field of an object in it, and every tool by its name."""
    for field, value in payload.items():
        yield (field,), value
        if field == _TOOLS:
            yield from (((field, _name_of(tool)), tool) for tool in objects_in(value))
        if isinstance(value, dict):
            for inner, inner_value in value.items():
                yield (field, inner), inner_value


def _without(payload: JsonObject, path: _Path) -> JsonObject:
    """Return `payload` without a field, and without the object that this leaves empty."""
    field, *inner = path
    outer = payload.get(field)
    left: JsonValue = (
        {name: outer[name] for name in outer if name != inner[0]}
        if inner and isinstance(outer, dict)
        else {}
    )
    if inner and field == _TOOLS:
        left = [tool for tool in objects_in(outer) if _name_of(tool) != inner[0]]
    return {
        name: left if name == field else value
        for name, value in payload.items()
        if left or name != field
    }


def _name_of(tool: JsonObject) -> str:
    """Return the name of a tool in any format; empty if it has none."""
    return str(as_object(tool.get("function", tool)).get("name", ""))


_LEAST_BUDGET: Final = 1024
"""Minimum tokens to think in."""
_BUDGETS: Final = {
    ReasoningEffort.MINIMAL: _LEAST_BUDGET,
    ReasoningEffort.LOW: _LEAST_BUDGET,
    ReasoningEffort.MEDIUM: 4096,
    ReasoningEffort.HIGH: 12_288,
}
_LARGEST_BUDGET: Final = 16_384
"""Tokens; more would take longer than anybody waits."""
_LEAST_ANSWER: Final = 256
"""Tokens of a useful answer."""
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})

ANTHROPIC_ALSO_CALLED: Final = {
    "thinking": (
        "thinking.type.adaptive",
        "thinking.type.enabled",
        "thinking.type.disabled",
    ),
    "output_config.effort": ("effort",),
    "output_config.format": OUTPUT_REFUSALS,
}

type _Change = Callable[[JsonObject, re.Match[str]], JsonObject]


type RefusalMatch = re.Match[str]
"""Where the words of a refusal match a wording."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of the payload after a certain refusal.

    There is no list of models: their rules for thinking differ by version, so each is
    asked in the newest way first.
    """

    refusal: FailureWording
    change: _Change
    """Returns the payload to send instead; the same one if there is nothing to change."""
    lasting: bool = True
    """Whether it applies to the model rather than to this conversation."""


def _without_thoughts(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Leave out thinking: it came from another model, or something before it has changed."""
    changed = payload | {"messages": _without_blocks(payload, _THOUGHTS)}
    if _kind(payload) == "enabled":  # which requires the thinking that was left out
        del changed["thinking"]
    return changed


def _without_blocks(
    payload: JsonObject,
    types: Collection[str],
) -> list[JsonValue]:
    """Return the messages of a payload, where they are lists of blocks without those of some types."""
    return [
        {
            **message,
            "content": [
                block
                for block in objects_in(message["content"])
                if block.get("type") not in types
            ],
        }
        if isinstance(message.get("content"), list)
        else message
        for message in objects_in(payload.get("messages"))
    ]


def _with_a_known_effort(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Use the nearest effort that the refusal lists, else the nearest common one."""
    listed = {
        effort
        for effort in ReasoningEffort
        if re.search(rf"\b{effort}\b", refusal["known"] or "")
    }
    known = listed or {
        ReasoningEffort.LOW,
        ReasoningEffort.MEDIUM,
        ReasoningEffort.HIGH,
    }
    effort = _effort(payload)
    if effort is None:
        return payload
    return _with_effort(payload, nearest_effort(effort, known))


def _with_least_thinking(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Think as little as possible, where thinking cannot be disabled."""
    if _kind(payload) != "disabled":
        return payload
    if "between_tools" in refusal.string:
        return {
            **payload,
            "thinking": {"type": "between_tools"},
        }
    return _with_effort(
        _without(payload, ("thinking",)),
        ReasoningEffort.LOW,
    )


def _with_a_budget(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Use a token budget, as older models do, where thinking is allowed."""
    if _kind(payload) != "adaptive":
        return payload
    effort = _effort(payload)
    changed = _without(
        _with_effort(payload, None),
        ("thinking",),
    )
    limit = payload["max_tokens"]
    if isinstance(limit, int):
        half = limit // 2
    else:
        half = 0
    budget = min(
        _BUDGETS.get(effort or ReasoningEffort.HIGH, _LARGEST_BUDGET),
        half,
    )
    choice = as_object(payload.get("tool_choice")).get("type")
    is_forced = choice in ("any", "tool")  # which excludes a budget
    if (
        budget >= _LEAST_BUDGET
        and not is_forced
        and not _is_amid_unthought_calls(payload)
    ):
        changed["thinking"] = {
            "type": "enabled",
            "budget_tokens": budget,
        }
    return changed


def _with_fewer_tokens(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Limit the answer to what the model can give."""
    limit = int(refusal["limit"])
    wanted = payload.get("max_tokens")
    if isinstance(wanted, int) and wanted > limit > 0:
        return {
            **payload,
            "max_tokens": limit,
        }
    return payload


def _with_what_is_left(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Limit the answer to the room beside the prompt, if that suffices."""
    room = int(refusal["window"]) - int(refusal["prompt"])
    if room >= _LEAST_ANSWER and _kind(payload) != "enabled":
        return {
            **payload,
            "max_tokens": room,
        }
    return payload


def _without_cache(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Set no cache breakpoints."""
    return {
        name: _without_field(value, "cache_control") for name, value in payload.items()
    }


def _without_search(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Have the service not search the web, and leave out what it has found."""
    kinds = {profile.search_tool for profile in PROFILES.values()} - {""}
    tools = objects_in(payload.get(_TOOLS))
    others = [tool for tool in tools if tool.get("type") not in kinds]
    changed = dict(payload)
    if "messages" in payload:
        changed["messages"] = _without_blocks(payload, OF_SEARCHES)
    if len(others) == len(tools):
        return changed
    changed.pop("max_tool_calls", None)
    if others:
        changed[_TOOLS] = [*others]
        return changed
    return _without(changed, (_TOOLS,))


WITHOUT_SEARCH: Final = Adjustment(WORDINGS["search_refused"], _without_search)
ANTHROPIC_ADJUSTMENTS: Final = (
    WITHOUT_SEARCH,
    Adjustment(
        WORDINGS["refused_thoughts"],
        _without_thoughts,
        lasting=False,
    ),
    Adjustment(
        WORDINGS["refused_effort"],
        _with_a_known_effort,
    ),
    Adjustment(WORDINGS["refused_silence"], _with_least_thinking),
    Adjustment(
        WORDINGS["refused_adaptive"],
        _with_a_budget,
    ),
    Adjustment(
        WORDINGS["refused_length"],
        _with_fewer_tokens,
    ),
    Adjustment(
        WORDINGS["refused_sum"],
        _with_what_is_left,
        lasting=False,
    ),
    Adjustment(
        WORDINGS["refused_cache"],
        _without_cache,
    ),
)


_NO_TOOLS: Final = (
    "No tools can be used, so you can neither look at the home nor change anything in it. "
    "If that is what is asked for, say that you cannot."
)


def _without_tools(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Ask for words alone, and tell the model, which would otherwise report actions."""
    if "tools" not in payload:
        return payload
    remaining = {
        name: value for name, value in payload.items() if name not in _TOOL_FIELDS
    }
    instructions = remaining.get("instructions")
    if isinstance(instructions, str):
        return {
            **remaining,
            "instructions": f"{instructions}\n\n{_NO_TOOLS}",
        }
    messages = objects_in(remaining.get("messages"))
    match messages[:1]:
        case [{"role": "system", "content": str(instructions)}]:
            messages = [
                {
                    "role": "system",
                    "content": f"{instructions}\n\n{_NO_TOOLS}",
                },
                *messages[1:],
            ]
        case _:  # perhaps there is no system role
            messages = in_turns([{"role": "user", "content": _NO_TOOLS}, *messages])
    if "messages" in remaining:
        return {
            **remaining,
            "messages": [*messages],
        }
    return remaining


def _with_fewer_tools(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Leave out the last tools of the sources that have most, such as a large MCP server."""
    tools = objects_in(payload.get(_TOOLS))
    while len(tools) > int(refusal["most"]) > 0:
        sources = [_name_of(tool).rpartition("__")[0] for tool in tools]
        [(largest, _)] = Counter(sources).most_common(1)
        del tools[
            max(place for place, source in enumerate(sources) if source == largest)
        ]
    if tools:
        return {
            **payload,
            _TOOLS: [*tools],
        }
    return payload


def _in_turns(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Have user and assistant alternate."""
    if "messages" in payload:
        return {
            **payload,
            "messages": [*in_turns(objects_in(payload.get("messages")))],
        }
    return payload


def _without_system(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Put the instructions before the first words of the user."""
    match objects_in(payload.get("messages")):
        case [{"role": "system"} as instructions, *others]:
            return _in_turns(
                {
                    **payload,
                    "messages": [{**instructions, "role": "user"}, *others],
                },
                refusal,
            )
        case _:
            return payload


def _without_streaming(
    payload: JsonObject,
    _: RefusalMatch,
) -> JsonObject:
    """Ask for the whole answer at once where there are tools."""
    if "tools" in payload:
        return whole_answer(payload)
    return payload


def _with_another_limit(
    payload: JsonObject,
    refusal: RefusalMatch,
) -> JsonObject:
    """Limit the answer under the name that the service asks for, or the other one that is common."""
    known = next(
        (name for name in _LIMITS if name in payload),
        "",
    )
    name = refusal["instead"] or _LIMITS.get(known) or known
    return {
        name if field == known else field: value for field, value in payload.items()
    }


def whole_answer(payload: JsonObject) -> JsonObject:
    """Return the request for a whole answer, which readers read as one chunk."""
    return {
        **{name: value for name, value in payload.items() if name not in _OF_STREAMS},
        "stream": False,
    }


_OF_STREAMS: Final = frozenset({"stream_options", "return_progress"})
_LIMITS: Final = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "",
}
"""The names of the limit of an answer, with the one to try next, if there is one."""


_TOOL_FIELDS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
WITHOUT_TOOLS: Final = Adjustment(
    WORDINGS["tools_refused"],
    _without_tools,
)
TOOL_ADJUSTMENTS: Final = (
    WITHOUT_SEARCH,
    Adjustment(WORDINGS["tools_refused_in_stream"], _without_streaming),
    WITHOUT_TOOLS,
    Adjustment(
        WORDINGS["refused_number"],
        _with_fewer_tools,
    ),
    Adjustment(
        WORDINGS["refused_system"],
        _without_system,
    ),
    Adjustment(
        WORDINGS["refused_order"],
        _in_turns,
    ),
    Adjustment(
        WORDINGS["refused_limit"],
        _with_another_limit,
    ),
)


def _kind(payload: JsonObject) -> JsonValue:
    return as_object(payload.get("thinking")).get("type")


def _effort(payload: JsonObject) -> ReasoningEffort | None:
    effort = as_object(payload.get("output_config")).get("effort")
    if effort in list(ReasoningEffort):
        return ReasoningEffort(effort)
    return None


def _with_effort(
    payload: JsonObject,
    effort: ReasoningEffort | None,
) -> JsonObject:
    """Return the payload with an effort, None for none."""
    rest = _without(payload, ("output_config", "effort"))
    if effort is None:
        return rest
    return with_wishes(
        rest,
        {"output_config": {"effort": effort}},
    )


def _is_amid_unthought_calls(payload: JsonObject) -> bool:
    """Return whether the last results belong to calls without thinking: it cannot begin among them."""
    contents = [
        objects_in(message.get("content"))
        for message in objects_in(payload.get("messages"))
    ]
    before, last = [[], [], *contents][-2:]
    has_results = any(block.get("type") == "tool_result" for block in last)
    return has_results and all(
        block.get("type") not in _THOUGHTS for block in before[:1]
    )


def _without_field(value: JsonValue, field: str) -> JsonValue:
    """Remove a field from the objects of a list, recursively."""
    if not isinstance(value, list):
        return value
    return [
        {
            name: _without_field(inner, field)
            for name, inner in item.items()
            if name != field
        }
        if isinstance(item, dict)
        else item
        for item in value
    ]
