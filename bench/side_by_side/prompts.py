"""The size of requests: their bytes, the tokens of the prompt, and how much of it a service has read before.

Tokens are those of Qwen's tokenizer, whose vocabulary a package brings along. Must not
know any format.
"""

import asyncio
import base64
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from homeassistant.components import conversation
from homeassistant.helpers import area_registry as ar, entity_registry as er

from bench.side_by_side.agents import Agent
from bench.side_by_side.cost import Samples
from bench.side_by_side.home import place_satellite
from bench.side_by_side.model_server import Plan
from bench.side_by_side.prompt_text import prompt_of, same_share
from bench.side_by_side.results import Figure
from bench.side_by_side.setting import Setting, flush
from bench.side_by_side.turns import TimedTurn, converse

if TYPE_CHECKING:
    import tiktoken

TURNS: Final = 10
_WORDS: Final = (
    "turn off the light please",
    "what is the temperature in here",
    "are any windows open",
    "thank you",
    "is it going to rain later",
)
_PATTERN: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen's tokenizer cuts text (`dashscope/tokenizers/qwen_tokenizer.py`)."""


@cache
def _tokenizer() -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415  # only in the environment of the benchmark, and only some measurements need it

    lines = (
        (files("dashscope") / "resources" / "qwen.tiktoken").read_bytes().splitlines()
    )
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in lines if line)
    }
    return tiktoken.Encoding(
        "qwen", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )


def count_tokens(text: str) -> int:
    """Return how many tokens a text is."""
    return len(_tokenizer().encode_ordinary(text))


async def measure_prompts(setting: Setting) -> list[Figure]:
    """Measure the first request of everybody."""
    samples = Samples("first request")
    for agent in setting.agents:
        await setting.server.plan(Plan(keeps_bodies=True))
        await converse(setting.hass, agent, TimedTurn(_WORDS[0]))
        requested = (await setting.server.log())[0]
        prompt = prompt_of(json.loads(requested.body))
        samples.add(agent.name, "request_bytes", requested.size)
        samples.add(agent.name, "prompt_bytes", len(prompt.encode()))
        samples.add(agent.name, "prompt_tokens", count_tokens(prompt))
    return list(samples.figures(setting.entities))


async def measure_warm_up(setting: Setting) -> list[Figure]:
    """Measure how much of the first prompt everybody has sent when someone begins to speak."""
    samples = Samples("warm-up")
    for agent in setting.agents:
        await setting.server.plan(Plan(keeps_bodies=True))
        await _prepare(setting, agent)
        ahead = await setting.server.log()
        await converse(setting.hass, agent, TimedTurn(_WORDS[0]))
        requested = (await setting.server.log())[len(ahead)]
        prompts = [
            prompt_of(json.loads(one.body)).encode() for one in (*ahead, requested)
        ]
        samples.add(agent.name, "request_bytes", sum(one.size for one in ahead))
        samples.add(
            agent.name, "same_as_any_before", same_share(prompts)[1] if ahead else 0
        )
    return list(samples.figures(setting.entities))


async def _prepare(setting: Setting, agent: Agent) -> None:
    """Set an agent up anew, and have it prepare for a sentence, as the pipeline does when someone begins to speak."""
    entity = er.async_get(setting.hass).entities[agent.entity_id]
    if entity.config_entry_id is None:
        raise RuntimeError(f"{agent.name} has no entry")
    await setting.hass.config_entries.async_reload(entity.config_entry_id)
    await conversation.async_prepare_agent(setting.hass, agent.entity_id, "en")
    await flush(setting.hass)


async def measure_prefix(setting: Setting) -> list[Figure]:
    """Let two satellites in two areas take turns, each in its own conversation, over some minutes."""
    satellites = [place_satellite(setting.hass, area) for area in _areas(setting)]
    prompts: dict[str, list[bytes]] = {agent.name: [] for agent in setting.agents}
    for number in range(TURNS):
        for agent in setting.agents:
            await setting.server.plan(Plan(keeps_bodies=True))
            one = number % len(satellites)
            words = TimedTurn(
                _WORDS[number % len(_WORDS)],
                f"conversation of {agent.entity_id} at satellite {one}",
                satellites[one],
            )
            await converse(setting.hass, agent, words)
            prompts[agent.name] += [
                prompt_of(json.loads(requested.body)).encode()
                for requested in await setting.server.log()
            ]
        if number < TURNS - 1:
            setting.rest()
            await asyncio.sleep(setting.extent.minutes * 60 / (TURNS - 1))
    samples = Samples("two satellites")
    for name, sent in prompts.items():
        before, at_best = same_share(sent)
        samples.add(name, "same_as_before", before)
        samples.add(name, "same_as_any_before", at_best)
    return list(samples.figures(setting.entities))


def _areas(setting: Setting) -> list[str]:
    return [area.id for area in ar.async_get(setting.hass).async_list_areas()][:2]
