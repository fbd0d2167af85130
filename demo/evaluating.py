"""Tries the model of the demo's agent with requests about its home, and returns the table of its answers.

Knows the WebSocket commands of trials (docs/evaluate.md); must not know how an answer
is graded.
"""

from collections.abc import Callable
from typing import Final

from pydantic import BaseModel, JsonValue, TypeAdapter

from demo.web_api import HomeAssistantClient

_SECONDS: Final = 600.0
"""Longer than any single answer takes."""
_CHARACTERS: Final = 100
"""Of an answer that is printed."""
_GRADES: Final = ("right", "wrong", "harmful", "claimed", "failed")
_AS_JSON: Final = TypeAdapter(dict[str, JsonValue])


class _Table(BaseModel):
    id: str


class _State(BaseModel):
    running: dict[str, JsonValue] | None
    results: tuple[_Table, ...]


class _Agent(BaseModel):
    name: str
    requests: int
    right: int
    wrong: int
    harmful: int
    claimed: int
    failed: int
    first_words_ms: float | None
    duration_ms: float | None
    input_tokens: float
    output_tokens: float
    cost: float | None


class _Answer(BaseModel):
    grade: str
    answer: str = ""


class _Request(BaseModel):
    group: str
    before: str
    text: str
    answers: tuple[_Answer, ...]


class _Result(BaseModel):
    end: str
    agents: tuple[_Agent, ...]
    requests: tuple[_Request, ...]


async def evaluate(
    client: HomeAssistantClient,
    requests: int,
    tell: Callable[[str], None],
    *,
    as_json: bool,
) -> str:
    """Run a trial of all agents, and return its result as text or as one line of JSON."""
    states = await client.subscribe("chatterbox/evaluate/subscribe")
    before = {one.id for one in (await states.next(_State, _SECONDS)).results}
    await client.command(
        "chatterbox/evaluate/start",
        dict[str, JsonValue],
        requests=requests,
        max_price=0,
    )
    new: list[str] = []
    while not new:
        state = await states.next(_State, _SECONDS)
        new = [one.id for one in state.results if one.id not in before]
        if state.running and not int(str(state.running["done"])) % 10:
            tell(f"demo: {state.running['done']} of {state.running['total']} answers")
    result = await client.command(
        "chatterbox/evaluate/result", dict[str, JsonValue], result_id=new[0]
    )
    if as_json:
        return _AS_JSON.dump_json(result).decode()
    return "\n".join(_lines(_Result.model_validate(result)))


def _lines(result: _Result) -> list[str]:
    rows = [
        ["agent", "requests", *_GRADES, "first words", "whole", "tokens", "US$"],
        *map(_row, result.agents),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    for request in result.requests:
        for answer in request.answers:
            if answer.grade != "right":
                words = " / ".join(filter(None, (request.before, request.text)))
                lines.append(
                    f"{answer.grade} ({request.group}): {words} → {answer.answer[:_CHARACTERS] or '(nothing)'}"
                )
    return [
        *lines,
        *([f"It ended early: {result.end}."] if result.end != "finished" else []),
    ]


def _row(agent: _Agent) -> list[str]:
    figures = agent.model_dump()
    times = [
        "-" if ms is None else f"{ms / 1000:.2f} s"
        for ms in (agent.first_words_ms, agent.duration_ms)
    ]
    cost = "?" if agent.cost is None else f"{agent.cost:.4f}"
    tokens = f"{agent.input_tokens + agent.output_tokens:.0f}"
    return [
        agent.name,
        str(agent.requests),
        *(str(figures[grade]) for grade in _GRADES),
        *times,
        tokens,
        cost,
    ]
