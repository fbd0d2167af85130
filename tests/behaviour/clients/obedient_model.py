"""A model server whose model does what the user says, so that API clients that run at once need no common script.

Speaks Chat Completions. What a user says is followed line by line; `then` begins the
next inference:

    think Where is it?                      reasons
    call HassTurnOn {"name": "Lamp"}        asks for a call; several lines are several calls in one message
    then
    say It is done: {results}               says something; `{results}` stands for all results of the calls so far

Further words: `recall` says what users have said so far, `look` how many pictures it is
shown, and which files it only hears of, `repeat 100` says the words of `say` so often,
`slowly` pauses between the pieces, `fail 429` answers with an error, `cut` breaks the
connection in the middle, `long` stops for length. To anything else it says what it has
heard, or calls the tool that it is forced to call.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import override

from pydantic import BaseModel, JsonValue

from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.model_server import ModelRequest, run
from tests.support.servers.script import (
    ScriptedAnswer,
    ScriptedCall,
    ScriptedFailure,
    ScriptedUsage,
)

_USAGE = ScriptedUsage(
    prompt_tokens=100, completion_tokens=10, cached_tokens=60, reasoning_tokens=4
)
_PAUSE_SECONDS = 0.02
_HABITS = {
    "Turn on the kitchen lights.": (
        'call intent__HassTurnOn {"area": "Kitchen", "domain": ["light"]}\nthen\nsay It is lit.'
    ),
    "How are you?": "say I am well, and the house is quiet.",
    "How is the weather in Rome?": 'call get_weather {"city": "Rome"}\nthen\nsay {results}',
    "Unlock the front door.": (
        'call intent__HassTurnOff {"name": "Front Door", "domain": ["lock"]}\nthen\nsay It is open.'
    ),
}
"""Its calls and words for the sentences of the documentation."""
_VERBS = frozenset(
    {
        "think",
        "call",
        "say",
        "recall",
        "look",
        "repeat",
        "slowly",
        "fail",
        "cut",
        "long",
        "then",
    }
)


class _Url(BaseModel):
    url: str = ""


class _Part(BaseModel):
    type: str
    text: str = ""
    image_url: _Url | None = None


class _Called(BaseModel):
    name: str
    arguments: str


class _Call(BaseModel):
    function: _Called


class _Message(BaseModel):
    role: str
    content: str | tuple[_Part, ...] | None = None
    tool_calls: tuple[_Call, ...] = ()

    @property
    def calls(self) -> list[_Called]:
        """The calls, whatever their ids."""
        return [call.function for call in self.tool_calls]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.text)

    @property
    def steps(self) -> list[list[str]]:
        """The instructions to the model, inference by inference; empty where it tells nothing."""
        steps: list[list[str]] = [[]]
        sentence = _HABITS.get(_heard(self), self.text)
        for line in sentence.splitlines():
            if line == "then":
                steps.append([])
            elif line.partition(" ")[0] in _VERBS:
                steps[-1].append(line)
        return [step for step in steps if step]


class _Function(BaseModel):
    name: str
    parameters: dict[str, JsonValue] = {}


class _Tool(BaseModel):
    function: _Function


class _Request(BaseModel):
    messages: tuple[_Message, ...]
    tools: tuple[_Tool, ...] = ()
    tool_choice: JsonValue = "auto"


class ObedientModel(ScriptedChatCompletions):
    """A server with such a model."""

    @override
    def answer_to(
        self, body: dict[str, JsonValue], parsed: ModelRequest
    ) -> ScriptedAnswer | ScriptedFailure | None:
        if parsed.is_trial:
            return super().answer_to(body, parsed)
        request = _Request.model_validate(body)
        sent = [
            place
            for place, message in enumerate(request.messages)
            if message.role == "user" and message.steps
        ]
        if sent:
            since = request.messages[sent[-1] + 1 :]
            step = _next_step(request.messages[sent[-1]].steps, since)
            is_answered = any(
                message.role == "assistant" and message.text for message in since
            )
            if step and not (is_answered and request.messages[-1].role == "user"):
                return _follow(step, request.messages, since)
        return _by_itself(request)


def _next_step(
    steps: Sequence[list[str]], since: Sequence[_Message]
) -> list[str] | None:
    """Return what is told next, by the calls so far; one that comes once more, with a yes, is that of before."""
    called = [
        message.calls
        for message in since
        if message.role == "assistant" and message.calls
    ]
    made = sum(map(len, called)) - sum(
        len(one) for before, one in pairwise(called) if before == one
    )
    for step in steps:
        wanted = sum(line.startswith("call ") for line in step)
        if not wanted or made < wanted:
            return step
        made -= wanted
    return None


def _follow(
    step: list[str], messages: Sequence[_Message], since: Sequence[_Message]
) -> ScriptedAnswer | ScriptedFailure:
    verbs = {line.partition(" ")[0]: line.partition(" ")[2] for line in step}
    if "fail" in verbs:
        return ScriptedFailure(
            status=int(verbs["fail"]),
            body={"error": {"message": "The model fails, as told."}},
        )
    results = " | ".join(message.text for message in since if message.role == "tool")
    content = verbs.get("say", "").replace("{results}", results) * int(
        verbs.get("repeat", "1")
    )
    if "recall" in verbs:
        content = "You said: " + " | ".join(
            _heard(message) for message in messages if message.role == "user"
        )
    if "look" in verbs:
        content = _seen(messages)
    return ScriptedAnswer(
        content=content or None,
        reasoning_content=verbs.get("think"),
        tool_calls=tuple(_calls(step, place=len(messages))),
        finish_reason="length" if "long" in verbs else None,
        usage=_USAGE,
        piece_delay_seconds=_PAUSE_SECONDS if "slowly" in verbs else 0,
        cut_after_bytes=600 if "cut" in verbs else None,
    )


def _by_itself(request: _Request) -> ScriptedAnswer:
    if (
        request.tools
        and request.tool_choice not in ("auto", "none")
        and request.messages[-1].role == "user"
    ):
        forced = request.tools[0].function
        call = ScriptedCall(
            name=forced.name,
            arguments=_made_up(forced.parameters),
            id=f"forced_{len(request.messages)}",
        )
        return ScriptedAnswer(tool_calls=(call,), usage=_USAGE)
    users = [message for message in request.messages if message.role == "user"]
    heard = _heard(users[-1]) if users else "nothing"
    return ScriptedAnswer(
        content=f"I heard: {heard}", reasoning_content="Somebody speaks.", usage=_USAGE
    )


def _calls(step: Sequence[str], place: int) -> Iterator[ScriptedCall]:
    for number, line in enumerate(line for line in step if line.startswith("call ")):
        _, name, *arguments = line.split(" ", maxsplit=2)
        yield ScriptedCall(
            name=name, arguments="".join(arguments), id=f"call_{place}_{number}"
        )


def _made_up(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    required = schema.get("required")
    return (
        {name: "something" for name in required if isinstance(name, str)}
        if isinstance(required, list)
        else {}
    )


def _heard(message: _Message) -> str:
    """Return the last line of what was said: before it stands what held at that moment."""
    return (message.text.splitlines() or [""])[-1]


def _seen(messages: Sequence[_Message]) -> str:
    kinds = [
        part.type
        for message in messages
        if isinstance(message.content, tuple)
        for part in message.content
    ]
    names = re.findall(
        r"named (\S+) was attached", "\n".join(message.text for message in messages)
    )
    return (
        f"I see {kinds.count('image_url')} pictures, and hear of {' and '.join(names)}."
    )


if __name__ == "__main__":
    run(ObedientModel)
