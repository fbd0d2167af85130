"""Parses tool calls that a model wrote as text, in any of the known formats.

Models mix formats, so a call is parsed by its looks, not by the model.
Sources: the chat templates of Hermes, Qwen, Mistral, Llama, Gemma, GLM, Kimi, DeepSeek,
MiniMax, Granite, Phi, LFM and gpt-oss.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from ..json.malformed_json import read_value, skip, skip_blank
from ..json.text import as_object
from ..messages import JsonObject, JsonValue, ToolDefinition, canonical_json
from ..wire.reply_reader import arguments_text

_CUT: Final = "…"
"""Appended to arguments that are uncertain, so that they are invalid JSON."""

_BARS: Final = re.compile(
    r"(?<=[</])[|\uff5c\u2016 ]{1,4}+dsml[|\uff5c\u2016 ]{1,4}+", re.IGNORECASE
)
"""Before the names of DeepSeek's tags."""
_QUOTE_TOKEN: Final = re.compile(r'<\|"\|>|<escape>')

# Every repetition below is possessive and every choice is decided by its first
# character: matching is linear.
_LONGEST_NAME: Final = 128
"""Of a tool or a parameter; services allow 64."""
_SEPARATOR: Final = (
    r"<[|\uff5c][^<>]{0,60}+>|\[(?:args|/?tool_calls)\]|\[call_id\][\w-]*+|```\w*+"
    r"|</?(?:\w{1,40}+:)?+(?:tool|function)_?calls?\b(?:[^<>{]{0,60}+>)?+"
)
_BETWEEN_CALLS: Final = re.compile(
    rf"(?:{_SEPARATOR}|[\s,;>)\]}}`*])*+",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"\A(?:<[|\uff5c][^<>]{0,60}+>|(?!to=)[a-z]++|\s++){0,8}+to=", re.IGNORECASE
)
"""Text before the name of a tool in a header of OpenAI's harmony format."""
_TAGGED: Final = re.compile(
    rf"<(function|invoke)(?:=| name=)[\"']?+([^\"'<>\s\[{{(,]{{1,{_LONGEST_NAME}}}+)[\"']?+"
    r"\s*+(?:\[\]|\(\)|,)?+\s*+(?:>|(?=\{))((?:[^<]++|<(?!/\1>|(?:function|invoke)[= ]))*+)(?:</\1>)?+"
)
_PARAMETER: Final = re.compile(
    rf"<parameter(?:=| name=)[\"']?+\s*+([^\"'<>\s]{{1,{_LONGEST_NAME}}}+)[\"']?+(?:\s[^<>]*+)?+>"
    r"((?:[^<]++|<(?!/parameter>|parameter[= ]))*+)"
)
_PAIRED: Final = re.compile(
    rf"<arg_key>([^<]{{0,{_LONGEST_NAME}}}+)</arg_key>\s*+<arg_value>((?:[^<]++|<(?!/arg_value>|arg_key>))*+)"
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*+")
_NAMED: Final = re.compile(
    rf"(?:function(?=<)|call:)?(?:{_SEPARATOR})*+([A-Za-z_][\w.-]*+)(?::\d++)?+"
    rf"(?:\s|{_SEPARATOR}|(?:json|code|analysis|commentary|final)\b)*+(?=\{{)",
    re.IGNORECASE,
)
_PYTHON: Final = re.compile(
    r"\[?+\s*+(?:print\s*+\(\s*+|\w++\s*+=\s*+)?([A-Za-z_][\w.]*+)\s*+\("
)
_KEYWORD: Final = re.compile(r"([A-Za-z_]\w*+)\s*+=\s*+")
_NAME_IN_JSON: Final = re.compile(
    r"[\"'](?:name|tool|tool_name|function)[\"']\s*+:\s*+[\"']([\w.-]++)[\"']"
)

_DATA: Final = re.compile(r"[=:\"']")
"""Without any of these, a name with brackets is no call: "light(s)"."""

_NAME_KEYS: Final = (
    "name",
    "tool_name",
    "function_name",
    "tool",
    "function",
    "recipient_name",
    "action",
)
_ARGUMENTS_KEYS: Final = (
    "arguments",
    "parameters",
    "args",
    "params",
    "tool_input",
    "action_input",
    "input",
)
_WRAPPING_KEYS: Final = (
    "function",
    "function_call",
    "tool_call",
    "tool_calls",
    "calls",
)
_INERT_KEYS: Final = frozenset({"type", "id", "index"})


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call in a text."""

    name: str
    arguments: str
    """JSON, or the text that the model wrote instead."""
    unmistakable: bool = True
    """False for JSON and Python that may be something else."""
    source: str = field(default="", compare=False)
    """The text that was parsed."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """The calls of a text, and the text after them."""

    calls: tuple[WrittenCall, ...] = ()
    rest: str = ""


class _NotInThisFormat(ValueError):
    """The text does not look like this."""


def read_calls(text: str) -> ReadText:
    """Parse all calls in a text. Nothing that is missing is supplied.

    A text that cannot be parsed, but names a tool, is one call with invalid arguments.
    """
    text = _ADDRESS.sub(
        "",
        _QUOTE_TOKEN.sub('"', _BARS.sub("", text)),
        count=1,
    )
    start = skip(_BETWEEN_CALLS, text, 0)
    tagged = _read_tags(text, start)
    if tagged:
        return ReadText(tagged)
    for read_next in (_next_json, _next_named, _next_python):
        calls: list[WrittenCall] = []
        position = start
        with suppress(ValueError):  # what was read before stays
            while True:
                found, end = read_next(text, position)
                calls += [replace(call, source=text[position:end]) for call in found]
                position = skip(
                    _BETWEEN_CALLS,
                    text,
                    end,
                )
        if calls:
            return ReadText(tuple(calls), text[position:])
    named = (
        _NAME_IN_JSON.search(text, start)
        or _NAMED.match(text, start)
        or _PYTHON.match(text, start)
    )
    if named:
        arguments = text[named.end() :]
        if _DATA.search(arguments):
            return ReadText(
                (
                    WrittenCall(
                        named[1],
                        arguments + _CUT,
                        unmistakable=False,
                        source=text[start:],
                    ),
                )
            )
    return ReadText(rest=text[start:])


def _read_tags(
    text: str,
    start: int,
) -> tuple[WrittenCall, ...]:
    """Parse `<function=NAME><parameter=KEY>VALUE</parameter></function>` and similar tags."""
    tagged = tuple(
        WrittenCall(one[2], _tagged_arguments(one[3]), source=one[0])
        for one in _TAGGED.finditer(text)
    )
    if tagged:
        return tagged
    pairs = _PAIRED.findall(text)
    name = _NAME.match(text, start)
    if pairs and name:
        return (WrittenCall(name[0], canonical_json(dict(pairs)), source=text[start:]),)
    return ()


def _tagged_arguments(content: str) -> str:
    parameters = _PARAMETER.findall(content)
    if parameters:
        values: JsonObject = {
            key.strip(): value.removeprefix("\n").removesuffix("\n")
            for key, value in parameters
        }
        return canonical_json(values)
    if not content.strip():
        return "{}"
    try:
        return canonical_json(read_value(content)[0])
    except ValueError:
        return content.strip() + _CUT


def _next_json(
    text: str,
    position: int,
) -> tuple[list[WrittenCall], int]:
    """Parse an object or a list of objects."""
    if not text.startswith(("{", "["), position):
        raise _NotInThisFormat
    value, end = read_value(text, position)
    return _calls_of(value), end


def _calls_of(value: JsonValue) -> list[WrittenCall]:
    match value:
        case list():
            return [call for item in value for call in _calls_of(item)]
        case dict():
            wrapped = next(
                (
                    inner
                    for key in _WRAPPING_KEYS
                    if isinstance(inner := value.get(key), dict | list)
                ),
                None,
            )
            if isinstance(wrapped, dict):  # the arguments may stand beside it
                wrapped = {
                    key: part for key, part in value.items() if key in _ARGUMENTS_KEYS
                } | wrapped
            if wrapped is None:
                return [_call_of(value)]
            return _calls_of(wrapped)
        case _:
            raise _NotInThisFormat


def _call_of(value: JsonObject) -> WrittenCall:
    """Parse an object: the name under one key, the arguments under another or in all other keys."""
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, str) and _NAME.fullmatch(name):
            break
    else:
        raise _NotInThisFormat
    others = {
        other: part
        for other, part in value.items()
        if other != key and other not in _INERT_KEYS
    }
    given = [other for other in _ARGUMENTS_KEYS if other in others]
    if not given:
        return WrittenCall(
            name,
            canonical_json(others),
            unmistakable=False,
        )
    arguments = others[given[0]]
    exact = (
        len(others) == 1
        and given[0] in {"arguments", "parameters"}
        and isinstance(arguments, dict)
    )
    return WrittenCall(
        name,
        arguments_text(arguments) or "{}",
        unmistakable=exact,
    )


def _next_named(
    text: str,
    position: int,
) -> tuple[list[WrittenCall], int]:
    """Parse `NAME{…}`: a name and an object, with any tokens between them."""
    found = _NAMED.match(text, position)
    if not found:
        raise _NotInThisFormat
    arguments, end = read_value(text, found.end())
    return [WrittenCall(found[1], canonical_json(arguments))], end


def _next_python(
    text: str,
    position: int,
) -> tuple[list[WrittenCall], int]:
    """Parse `NAME(KEY=VALUE, …)`, alone, in a list, printed or assigned."""
    found = _PYTHON.match(text, position)
    if not found:
        raise _NotInThisFormat
    arguments, end = _python_arguments(text, found.end())
    return [
        WrittenCall(
            found[1].removesuffix(".call"),
            arguments,
            unmistakable=False,
        )
    ], end


def _python_arguments(
    text: str,
    position: int,
) -> tuple[str, int]:
    """Parse the contents of parentheses: keywords or one object."""
    arguments: JsonObject = {}
    while (position := skip_blank(text, position)) < len(text) and text[
        position
    ] != ")":
        keyword = _KEYWORD.match(text, position)
        value, position = read_value(
            text,
            keyword.end() if keyword else position,
        )
        if keyword:
            arguments[keyword[1]] = value
        elif isinstance(value, dict) and not arguments:
            arguments = value
        else:
            raise _NotInThisFormat
        position = skip_blank(text, position)
        if text.startswith(",", position):
            position += 1
        elif text[position : position + 1] not in {")", ""}:
            raise _NotInThisFormat
    if position >= len(text):
        raise _NotInThisFormat
    return canonical_json(arguments), position + 1


_WORDED: Final = re.compile(
    rf"(?:call(?:ing)? )?([A-Za-z_][\w.]{{0,{_LONGEST_NAME}}}+)"
    r"(?: ?\(([^()]{0,600}+)\)| with (?:the )?([^\n]{1,600}+))",
    re.IGNORECASE,
)
_NO_WORD: Final = re.compile(r"_|[a-z][A-Z]")
"""In names of tools that are no words of a sentence."""
_QUOTED: Final = re.compile(r"""(["'`“])([^"'`“”]*)["'`”]""")
_NO_VALUE: Final = re.compile(r"[=:{}<>\[\]\n\"`]")


def read_worded_call(
    text: str, tool_of: Callable[[str], ToolDefinition | None]
) -> WrittenCall | None:
    """Return the call that a whole text is, half in words: `HassTurnOff(Lamp)`, `HassTurnOff with name Lamp`.

    It names an offered tool as no sentence does, and nothing of it is left over. None
    for any other text.
    """
    found = _WORDED.fullmatch(text.strip())
    if (
        found is None
        or not _NO_WORD.search(found[1])
        or (tool := tool_of(found[1])) is None
    ):
        return None
    names = list(as_object(tool.parameters.get("properties")))
    if found[2] is not None:
        arguments = _by_place(found[2], names)
    else:
        arguments = _by_name(
            found[3].rstrip(". "),
            names,
        )
    if arguments:
        return WrittenCall(
            found[1],
            canonical_json(arguments),
            source=text,
        )
    return None


def _by_place(
    text: str,
    names: list[str],
) -> JsonObject:
    """Return the only argument, which has no name: that of a device, or the only one that the tool has."""
    value = _value(text)
    if "name" in names:
        name = "name"
    elif len(names) == 1:
        name = names[0]
    else:
        name = ""
    is_placeholder = value in names or (
        "," in value and not _QUOTED.fullmatch(text.strip())
    )
    if name and value and not is_placeholder:
        return {name: value}
    return {}


def _by_name(
    text: str,
    names: list[str],
) -> JsonObject:
    """Return arguments such as `name Kitchen Light and domain light`; none if a word stands before the first."""
    if not names:
        return {}
    name = "|".join(map(re.escape, names))
    before, *pairs = re.split(
        rf"(?:^|,? and |, *)(?:the )?[`\"']?({name})[`\"']?(?: *[:=] *| (?:is |of )?)",
        text,
    )
    arguments: JsonObject = {
        key: _value(value) for key, value in zip(pairs[::2], pairs[1::2], strict=True)
    }
    if not before and all(arguments.values()) and len(arguments) * 2 == len(pairs):
        return arguments
    return {}


def _value(text: str) -> str:
    """Return a value without its quotation marks; empty for what is more than one value."""
    text = text.strip()
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return quoted[2].strip()
    if _NO_VALUE.search(text):
        return ""
    return text
