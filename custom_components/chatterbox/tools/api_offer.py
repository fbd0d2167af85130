"""What one of Home Assistant's LLM APIs offers to everybody in the house, and what to the one who asks.

Knows APIs, devices and rooms. Must not know how tools are described to a model, nor when it is asked. An API may say
and offer different things to each device, person and language, and we cannot know which. So it is asked twice: for
nobody in particular, and for who asks. To find out what it keeps from others, it is also asked once for a device of
each kind that the house has, and for its owner in another language. What is the same for all of them is told first,
and stays the same from turn to turn; the rest is told beside the person's words.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.homeassistant.llm import GetLiveContextTool, async_get_tools as async_get_home_tools
from homeassistant.components.intent.llm import DEVICE_CONTROL_TOOL_USAGE_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, llm
from homeassistant.util import dt as dt_util

from ..const import DOMAIN, LOGGER
from ..data import singleton
from ..home.description import GUIDE_TO_CALLS, describe_home
from ..home.entities import async_get_home
from ..home.exposed_entities import exposed_names
from ..settings.agent import HomeTelling
from .api_askers import AskerKind, async_askers, is_nobody, nobody_in_particular
from .prompt_lines import leave_out, only, parts_about_now, parts_of, parts_without, sort_records
from .schema import CustomSerializer

_PROBE_TIMEOUT: Final = 60.0
"""Seconds that an API may take to answer for somebody who does not speak."""
_A_MOMENT: Final = 1.0
"""Seconds that a turn waits for such answers, which matter to later ones more."""
_SHARE_OF_OTHERS: Final = 0.5
"""Part of the time that is left once an API has answered who asks: the answer must be out before the time is."""
_HOME: Final = "\N{START OF TEXT}the home\N{END OF TEXT}"
"""Stands where Home Assistant's list of the home stood, while what an API says is compared part by part."""


class OfferedTool(NamedTuple):
    """A tool as everybody is told about it, and as the one who asks can use it."""

    described: llm.Tool
    runs: llm.Tool | None
    """None when the API does not offer it to who asks."""


@dataclass(frozen=True, slots=True)
class ApiOffer:
    """The answer of one API in one turn."""

    api: llm.API
    tools: tuple[OfferedTool, ...]
    """The same ones for everybody, in any order. All have a name."""
    prompt: str
    """What holds for everybody."""
    context: str
    """What holds for who asks, or at this moment."""
    custom_serializer: CustomSerializer | None
    home_is_large: bool = False
    """Whether it tells of a home that has more things than are listed."""
    is_settled: bool = True
    """Whether all have answered who were asked, so that the same question gets the same answer."""


@dataclass(slots=True)
class _Memory:
    """What is known of an API by comparing its answers."""

    api: llm.API
    varying: set[str] = field(default_factory=set)
    """Parts of what nobody in particular is told that somebody did not get."""
    elsewhere: dict[str, llm.Tool] = field(default_factory=dict)
    """Tools that somebody got, and nobody in particular does not."""
    probed: set[AskerKind] = field(default_factory=set)
    open: set[asyncio.Task[None]] = field(default_factory=set)
    """Probes that have no answer yet."""

    def compare(self, nobody: llm.APIInstance, somebody: llm.APIInstance) -> None:
        """Take note of what is not for everybody."""
        self.varying |= parts_without(nobody.api_prompt, somebody.api_prompt)
        common = {tool.name for tool in _named(nobody.tools)}
        for tool in _named(somebody.tools):
            if tool.name not in common:
                self.elsewhere[tool.name] = tool


@singleton
def _memories(_hass: HomeAssistant) -> dict[str, _Memory]:
    """Return what is known of APIs, by their ids."""
    return {}


async def async_ask_api(
    hass: HomeAssistant,
    api: llm.API,
    llm_context: llm.LLMContext,
    patience: float,
    home: HomeTelling,
) -> ApiOffer:
    """Ask an API what it offers, and tell of the `home` as is wished. Raises what the API raises for who asks.

    One that answers only those who are somebody is taken at its word: then what it says is for everybody. So is one
    that has an answer for who asks, but none for nobody in particular within `patience` seconds.
    """
    began = dt_util.now()
    until = hass.loop.time() + patience
    nobody, somebody = await _async_get_instances(hass, api, llm_context, until)
    memory = _memory_of(hass, api)
    if nobody is not None:
        memory.varying &= set(parts_of(nobody.api_prompt))
        memory.compare(nobody, somebody)
        await _async_probe(hass, memory, nobody, until)
    common = nobody or somebody
    names = partial(_names_in, hass, llm_context.assistant or CONVERSATION_DOMAIN)
    moving = memory.varying.union(*(parts_about_now(common.api_prompt, now, names) for now in (began, dt_util.now())))
    prompt = leave_out(common.api_prompt, moving)
    return ApiOffer(
        api,
        tuple(_paired([*_named(common.tools), *_elsewhere(memory, common)], somebody.tools)),
        _with_home(hass, prompt, llm_context.assistant, home),
        only(somebody.api_prompt, parts_without(somebody.api_prompt, prompt)),
        common.custom_serializer,
        home_is_large=api.id == llm.LLM_API_ASSIST
        and home.sums_up(len(async_get_home(hass, llm_context.assistant).things)),
        is_settled=nobody is not None and not memory.open,
    )


async def _async_get_instances(
    hass: HomeAssistant, api: llm.API, llm_context: llm.LLMContext, until: float
) -> tuple[llm.APIInstance | None, llm.APIInstance]:
    """Return the answers for nobody in particular, if it is there by the time `until` of the loop, and for who asks."""
    if is_nobody(hass, llm_context):
        nobody = await _async_instance(api, llm_context)
        return nobody, nobody
    context_of_nobody = nobody_in_particular(hass, llm_context.platform, llm_context.assistant)
    asking = hass.async_create_background_task(
        _async_answer_of(api, context_of_nobody), f"chatterbox question to LLM API {api.id}", eager_start=False
    )
    try:
        somebody = await _async_instance(api, llm_context)
        await asyncio.wait({asking}, timeout=max(until - hass.loop.time(), 0) * _SHARE_OF_OTHERS)
        return asking.result() if asking.done() and not asking.cancelled() else None, somebody
    finally:
        asking.cancel()


async def _async_instance(api: llm.API, llm_context: llm.LLMContext) -> llm.APIInstance:
    """Ask an API. A mark takes the place of Home Assistant's list of the home, where what it says holds that."""
    instance = await api.async_get_api_instance(llm_context)
    if api.id != llm.LLM_API_ASSIST or not (listing := _listing(api.hass, llm_context.assistant)):
        return instance
    return replace(instance, api_prompt=instance.api_prompt.replace(listing, _HOME))


@callback
def _listing(hass: HomeAssistant, assistant: str) -> str:
    """Return what Home Assistant's own source of tools says of the home."""
    nobody = nobody_in_particular(hass, DOMAIN, assistant)
    tools = async_get_home_tools(hass, nobody, llm.LLM_API_ASSIST)
    return tools.prompt or "" if tools else ""


@callback
def _with_home(hass: HomeAssistant, prompt: str, assistant: str, home: HomeTelling) -> str:
    """Tell of the home in place of the mark, in short or by Home Assistant's own list."""
    if _HOME not in prompt:
        return prompt
    found = async_get_home(hass, assistant)
    if home.is_compact and found.things:
        told = describe_home(found, GetLiveContextTool.name, home)
        return prompt.replace(DEVICE_CONTROL_TOOL_USAGE_PROMPT, GUIDE_TO_CALLS).replace(_HOME, told)
    # Things are listed by name, and what has the same name as it was loaded.
    return prompt.replace(_HOME, sort_records(_listing(hass, assistant)))


async def _async_answer_of(api: llm.API, llm_context: llm.LLMContext) -> llm.APIInstance | None:
    """Return what an API answers where nobody waits for it; None when it fails."""
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT):
            return await _async_instance(api, llm_context)
    except Exception as error:  # noqa: BLE001 an API may be anybody's code, and nobody has asked for this answer
        LOGGER.debug("LLM API %s answers what nobody has asked with %s", api.id, type(error).__name__)
        return None


async def _async_probe(hass: HomeAssistant, memory: _Memory, nobody: llm.APIInstance, until: float) -> None:
    """Ask the API once for a speaker of each kind that the house has.

    All are asked at once. What is not there after a moment comes in the background, and is known in a later turn.
    """
    askers = await async_askers(hass, nobody.llm_context)
    kinds = {kind: who for kind, who in askers.items() if kind not in memory.probed}
    memory.probed.update(kinds)
    probes = [
        hass.async_create_background_task(
            _async_compare(memory, nobody, who), f"chatterbox probe of LLM API {memory.api.id}"
        )
        for who in kinds.values()
    ]
    if probes:
        memory.open.update(probes)
        left = max(until - hass.loop.time(), 0) * _SHARE_OF_OTHERS
        done, late = await asyncio.wait(probes, timeout=min(left, _A_MOMENT))
        memory.open -= done
        for probe in late:
            probe.add_done_callback(memory.open.discard)


async def _async_compare(memory: _Memory, nobody: llm.APIInstance, who: llm.LLMContext) -> None:
    if (somebody := await _async_answer_of(memory.api, who)) is not None:
        memory.compare(nobody, somebody)


@callback
def _names_in(hass: HomeAssistant, assistant: str) -> Iterator[str]:
    """Yield what things and rooms are called."""
    yield from exposed_names(hass, assistant)
    for area in ar.async_get(hass).async_list_areas():
        yield from (area.name, *area.aliases)


@callback
def _memory_of(hass: HomeAssistant, api: llm.API) -> _Memory:
    """Return what is known of an API; nothing, when another one has come in its place."""
    memories = _memories(hass)
    if api.id not in memories or memories[api.id].api is not api:
        memories[api.id] = _Memory(api)
    return memories[api.id]


def _elsewhere(memory: _Memory, nobody: llm.APIInstance) -> Iterator[llm.Tool]:
    """Yield the tools that only some are offered."""
    common = {tool.name for tool in _named(nobody.tools)}
    for name, tool in memory.elsewhere.items():
        if name not in common:
            yield tool


def _paired(described: Iterable[llm.Tool], available: Iterable[llm.Tool]) -> Iterator[OfferedTool]:
    """Find for each tool the one that runs for who asks; of several with one name, the one at the same place."""
    seen = Counter[str]()
    places: dict[tuple[str, int], llm.Tool] = {}
    for tool in _named(available):
        places[tool.name, seen[tool.name]] = tool
        seen[tool.name] += 1
    seen.clear()
    for tool in described:
        yield OfferedTool(tool, places.get((tool.name, seen[tool.name])))
        seen[tool.name] += 1


def _named(tools: Iterable[llm.Tool]) -> Iterator[llm.Tool]:
    """Leave out the tools that nothing could call."""
    return (tool for tool in tools if isinstance(getattr(tool, "name", None), str))
