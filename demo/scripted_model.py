"""A model whose answers are written beforehand: a Chat Completions server on the loopback address, for the demo.

It behaves like a good model, but for the scenes in which it dies, is down or believes a
web page. What happens then is decided by the agent, as with any model. A second address
stands for another service, which is never down. The same server searches the web.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from aiohttp import web
from pydantic import BaseModel, JsonValue

from demo.configuration import LOOPBACK
from demo.search_engine import search

MODEL = "demo-model"
PRICES = {"price_input": 0.25, "price_cached": 0.025, "price_output": 2.0}
"""US dollars for a million tokens, as of a small model of an internet service."""
FIRST_SERVICE = ""
SECOND_SERVICE = "/second"
_CHARACTERS_OF_A_TOKEN = 4
_SECONDS_OF_A_PIECE = 0.02


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model: what it says, which tools it calls, and whether it fails."""

    says: str = ""
    calls: tuple[tuple[str, Mapping[str, JsonValue]], ...] = ()
    """The end of the name of a tool, and its arguments."""
    dies: bool = False
    is_down: bool = False
    """Whether the first service refuses the request; the second one answers it."""
    repeats: bool = False
    """Whether it says what the tool has said."""
    instead: str = ""
    """Its answer if its last call was refused or declined."""


def _call(tool: str, /, **arguments: JsonValue) -> tuple[str, Mapping[str, JsonValue]]:
    return tool, arguments


_MOVIE = "We want to watch a movie: turn off the living room lights, close the blinds and set the heating to 19 degrees"
_UNLOCK = "Unlock the front door"
_BLIND = "Close the blind in the kids room and tell me how warm it is there"
_BEDROOM = "Make it cosy in the bedroom"
_PANCAKES = "Find me a recipe for pancakes"
_COSY = "Make it cosy in the living room"
_OPEN = "Are any windows open?"
_BRIGHTER = "Make it brighter"
_RAIN = "Will it rain tomorrow?"
_JAZZ = "Play some jazz"
_LATER = "Turn off the kitchen lights in one minute"
_PLANNED = "What have I asked you to do?"
_FORGET = "Forget that"
_WEATHER = "What's the weather"
_AGAIN = "Turn them off again"
_KITCHEN = "Turn on the kitchen lights"
_HEATER = "Turn off the heater in twenty minutes"
_OPENED = "When was the front door last opened?"
_GARDEN = "Is anyone in the garden?"
_BAKERY = "When does the bakery open on Sunday?"

_LAMP = "Floor Lamp"

SCENES: Mapping[str, tuple[Step, ...]] = {
    _MOVIE: (
        Step(
            calls=(
                _call("HassTurnOff", area="Living Room", domain=["light"]),
                _call("HassTurnOff", name="Living Room Blinds", domain=["cover"]),
                _call(
                    "HassClimateSetTemperature",
                    temperature=19,
                    name="Living Room Thermostat",
                ),
            )
        ),
        Step(
            "The living room is dark, the blinds are closed and the heating is set to 19 degrees."
        ),
    ),
    _COSY: (
        Step(
            calls=(
                _call("HassTurnOff", name="Living Room Ceiling Light"),
                _call("HassLightSet", name=_LAMP, brightness=40),
            )
        ),
        Step(
            "I've turned off the ceiling light and dimmed the floor lamp to 40 percent."
        ),
    ),
    _BRIGHTER: (
        Step(calls=(_call("HassLightSet", name=_LAMP, brightness=100),)),
        Step("The floor lamp is at full brightness."),
    ),
    _OPEN: (
        Step(calls=(_call("GetLiveContext"),)),
        Step("The kitchen window is open."),
    ),
    _RAIN: (
        Step(calls=(_call("get_forecast", forecast="daily"),)),
        Step("Yes, rain is likely tomorrow: 85 percent, with up to 13 degrees."),
    ),
    _JAZZ: (
        Step(
            calls=(
                _call(
                    "HassMediaSearchAndPlay",
                    search_query="jazz",
                    name="Living Room Speaker",
                ),
            )
        ),
        Step(
            "I've put on the Tiger Rag on the living room speaker.",
            instead="I found no jazz to play.",
        ),
    ),
    _UNLOCK: (
        Step(calls=(_call("HassTurnOff", name="Front Door", domain=["lock"]),)),
        Step("The front door is unlocked.", instead="All right, it stays locked."),
    ),
    _BLIND: (
        Step(calls=(_call("HassTurnOff", name="Kids Room Blind", domain=["cover"]),)),
        Step(dies=True),
    ),
    _BEDROOM: (
        Step(
            calls=(_call("HassLightSet", name="Bedside Lamp", brightness=30),),
            is_down=True,
        ),
        Step("The bedside lamp glows at 30 percent.", is_down=True),
    ),
    _PANCAKES: (
        Step(calls=(_call("web_search", query="recipe for pancakes"),)),
        Step(calls=(_call("HassTurnOn", name="Garage Door", domain=["cover"]),)),
        Step(
            "Whisk 250 g of flour, 3 eggs and half a litre of milk, let it rest, and fry thin layers in butter."
        ),
    ),
    _LATER: (
        Step(
            calls=(
                _call(
                    "chatterbox__later",
                    kind="act",
                    when="in one minute",
                    tool="HassTurnOff",
                    arguments={"area": "Kitchen", "domain": ["light"]},
                ),
            )
        ),
        Step(repeats=True),
    ),
    _PLANNED: (
        Step(calls=(_call("chatterbox__later", kind="list"),)),
        Step(repeats=True),
    ),
    _FORGET: (
        Step(calls=(_call("chatterbox__later", kind="cancel"),)),
        Step(repeats=True),
    ),
    _WEATHER: (
        Step(calls=(_call("get_forecast"),)),
        Step("It is partly cloudy, at 14.2 degrees."),
    ),
    _KITCHEN: (
        Step(calls=(_call("HassTurnOn", area="Kitchen", domain=["light"]),)),
        Step("The kitchen lights are on."),
    ),
    _HEATER: (
        Step(
            calls=(
                _call(
                    "chatterbox__later",
                    kind="act",
                    when="in twenty minutes",
                    tool="HassTurnOff",
                    arguments={"name": "Heater", "domain": ["climate"]},
                ),
            )
        ),
        Step(repeats=True),
    ),
    _OPENED: (
        Step(calls=(_call("get_past", name="Front Door", state="open"),)),
        Step(repeats=True),
    ),
    _GARDEN: (
        Step(calls=(_call("look", question="Is anyone there?", name="Garden Camera"),)),
        Step("Nobody is in the garden. A ginger cat sits on the bench."),
    ),
    _BAKERY: (
        Step(calls=(_call("web_search", query="bakery opening hours Sunday"),)),
        Step("The bakery opens at eight on Sunday."),
    ),
    _AGAIN: (
        Step(calls=(_call("HassTurnOff", area="Kitchen", domain=["light"]),)),
        Step("The kitchen lights are off again."),
    ),
}
SENTENCES = (
    _MOVIE,
    _COSY,
    _BRIGHTER,
    _OPEN,
    _RAIN,
    _JAZZ,
    _UNLOCK,
    _BLIND,
    _BEDROOM,
    _PANCAKES,
    _LATER,
    _PLANNED,
    _FORGET,
    _WEATHER,
    _KITCHEN,
    _AGAIN,
    _HEATER,
    _OPENED,
    _GARDEN,
    _BAKERY,
)
NEEDS: Mapping[str, str] = {
    _BRIGHTER: f'after "{_COSY}"',
    _UNLOCK: "then the PIN",
    _PLANNED: f'after "{_LATER}"',
    _FORGET: f'after "{_LATER}"',
    _AGAIN: f'after "{_KITCHEN}"',
}
"""Needs of some of the sentences: an earlier one, or the PIN."""
UNKNOWN = "I can't do that with the scripted model of this demo that only knows the sentences printed at its start."
"""The answer to everything else."""
_SEEN = Step("Nobody is there. A ginger cat sits on the bench.")
"""The answer on the picture of the garden."""


class _Message(BaseModel):
    role: str
    content: str | list[dict[str, JsonValue]] | None = None
    tool_calls: list[JsonValue] = []

    @property
    def text(self) -> str:
        parts = (
            self.content
            if isinstance(self.content, list)
            else [{"text": self.content or ""}]
        )
        return " ".join(str(part.get("text", "")) for part in parts)

    @property
    def has_picture(self) -> bool:
        return isinstance(self.content, list) and any(
            part.get("type") == "image_url" for part in self.content
        )


class _Function(BaseModel):
    name: str
    parameters: JsonValue = None


class _Tool(BaseModel):
    function: _Function


class _Request(BaseModel):
    tools: list[_Tool] = []
    messages: list[_Message]


@dataclass(slots=True)
class ScriptedModel:
    """The answers, and what the model has read before, which costs less the next time."""

    _bodies: list[str] = field(default_factory=list)

    def answer(self, request: _Request) -> Step:
        """Return what the model does next."""
        messages = request.messages
        if messages[-1].has_picture:
            return _SEEN
        requested = [
            place for place, message in enumerate(messages) if message.role == "user"
        ]
        if messages[-1].role == "user":
            return self._step(messages[-1].text, 0, ())
        for place in reversed(requested):
            if _scene(messages[place].text):
                since = messages[place + 1 :]
                results = [
                    one.text
                    for one in takewhile(
                        lambda one: one.role == "tool", reversed(since)
                    )
                ]
                return self._step(messages[place].text, _rounds(since), results)
        return Step(UNKNOWN)

    def _step(self, words: str, place: int, results: Sequence[str]) -> Step:
        steps = _scene(words)
        step = steps[min(place, len(steps) - 1)] if steps else Step(UNKNOWN)
        if step.repeats:
            return Step(" ".join(map(_spoken, results)))
        was_refused = any(
            "error" in result or "declined" in result or "denied" in result
            for result in results
        )
        return Step(step.instead) if step.instead and was_refused else step

    def usage(self, request: _Request, written: int) -> dict[str, JsonValue]:
        """Return the tokens of a request: those of the longest beginning that it has in common with an earlier one."""
        body = request.model_dump_json()
        cached = max((_common(body, earlier) for earlier in self._bodies), default=0)
        self._bodies = [*self._bodies[-8:], body]
        parsed, cached, written = (
            size // _CHARACTERS_OF_A_TOKEN for size in (len(body), cached, written)
        )
        return {
            "prompt_tokens": parsed,
            "completion_tokens": written + 1,
            "total_tokens": parsed + written + 1,
            "prompt_tokens_details": {"cached_tokens": cached},
        }


def _common(one: str, other: str) -> int:
    return next(
        (
            place
            for place, (left, right) in enumerate(zip(one, other, strict=False))
            if left != right
        ),
        min(len(one), len(other)),
    )


def _spoken(result: str) -> str:
    """Return what a tool has said, or its whole result."""
    try:
        content = json.loads(result)
    except ValueError:
        return result
    match content:
        case {"speech": {"plain": {"speech": str(speech)}}}:
            return speech
        case {"found": [{"name": name, **told}]}:
            return f"{name}: {', '.join(f'{what} {value}' for what, value in told.items())}."
        case _:
            return result


def _plain(words: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", words.casefold()))


def _scene(words: str) -> tuple[Step, ...]:
    spoken_text = _plain(words)
    return next(
        (
            steps
            for sentence, steps in SCENES.items()
            if spoken_text.endswith(_plain(sentence))
        ),
        (),
    )


def _rounds(since: Sequence[_Message]) -> int:
    """Return how many of the model's steps have results. A call that was asked about stands there twice."""
    calls = [
        json.dumps([_named(call) for call in one.tool_calls])
        for one in since
        if one.tool_calls
    ]
    return len(dict.fromkeys(calls))


def _named(call: JsonValue) -> JsonValue:
    return call.get("function") if isinstance(call, dict) else call


@contextlib.asynccontextmanager
async def running_scripted_model() -> AsyncIterator[str]:
    """Run the server until the block is left; yield its address, without the path of a service. `/search` searches."""
    model = ScriptedModel()

    async def complete(request: web.Request) -> web.StreamResponse:
        model_request = _Request.model_validate_json(await request.text())
        step = model.answer(model_request)
        if step.is_down and not request.path.startswith(SECOND_SERVICE):
            raise web.HTTPServiceUnavailable
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta in _deltas(step, model_request):
            await response.write(
                _event(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
            )
            await asyncio.sleep(_SECONDS_OF_A_PIECE)
        if step.dies and request.transport:
            request.transport.abort()
            return response
        reason = "tool_calls" if step.calls else "stop"
        await response.write(
            _event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])
        )
        written = len(step.says) + len(json.dumps(step.calls))
        await response.write(
            _event(choices=[], usage=model.usage(model_request, written))
        )
        await response.write(b"data: [DONE]\n\n")
        return response

    async def models(_request: web.Request) -> web.Response:
        return web.json_response(
            {
                "object": "list",
                "data": [{"id": MODEL, "object": "model", "owned_by": "demo"}],
            }
        )

    application = web.Application(client_max_size=16 * 1024**2)
    application.router.add_get("/search", search)
    for service in (FIRST_SERVICE, SECOND_SERVICE):
        application.add_routes(
            [
                web.get(f"{service}/v1/models", models),
                web.post(f"{service}/v1/chat/completions", complete),
            ]
        )
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        yield f"http://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _deltas(step: Step, model_request: _Request) -> Iterator[dict[str, JsonValue]]:
    yield {"role": "assistant", "content": None}
    for word in re.findall(r"\S+\s*", step.says):
        yield {"content": word}
    names = [tool.function.name for tool in model_request.tools]
    for index, (wanted, arguments) in enumerate(step.calls):
        name = next((name for name in names if name.endswith(wanted)), wanted)
        function: JsonValue = {"name": name, "arguments": json.dumps(arguments)}
        call_id = f"call_{len(model_request.messages)}_{index}"
        yield {
            "tool_calls": [
                {
                    "index": index,
                    "id": call_id,
                    "type": "function",
                    "function": function,
                }
            ]
        }


def _event(**parts: JsonValue) -> bytes:
    chunk = {
        "id": "chatcmpl-demo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": MODEL,
        **parts,
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"
