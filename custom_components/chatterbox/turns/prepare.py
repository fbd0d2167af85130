"""Prepares a turn: its tools, files, history and prompt, before the model is called.

The prompt has a stable part, which is the same for the whole home, and a part for this moment. Services cache the
prefix of a prompt, so the stable part is sent first in every turn, and the other one right before the user's message.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple

from homeassistant.components.conversation import ChatLog, SystemContent
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import area_registry as ar, device_registry as dr, floor_registry as fr, llm
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

from ..agent.loop.turn import Turn
from ..data import singleton
from ..home.description import quoted
from ..home.search import async_describe_matches, async_entity_query
from ..internals.conversation import async_show, set_tools
from ..records.turn_record import TurnRecord
from ..runtime.agents import Agent
from ..settings.agent import AgentSettings
from ..tools.turn_tools import TurnTools, async_gather_tools
from .chat_log import attached_paths, keep_context
from .input import TurnInput
from .shown_files import NO_FILES, async_read_shown_files

_BEGIN: Final = "<context>"
_END: Final = "</context>"
_ON_QUESTIONS: Final = (
    "Do not ask whether you may do what the person wants: call the tool. Where a yes is needed, the person is asked."
)
"""Otherwise people would be asked twice."""
_ON_ROOMS: Final = "What is said without a room, such as 'turn on the lights', is meant for the room of the person."
_ASSIST_ON_ROOM: Final = (
    "You are in area {room} and all generic commands like 'turn on the lights' should target this area."
)
"""Assist's own sentence for this, in every turn. Source: `async_get_tools` (homeassistant.components.intent.llm)."""


class PromptSources(NamedTuple):
    """The parts of a prompt."""

    template: str | None = None
    """The owner's instructions, rendered with Home Assistant's usual variables; None for Home Assistant's own."""
    home: str = ""
    """The part of the LLM APIs' prompts that is the same for everyone."""
    moment: str = ""
    """The part of the LLM APIs' prompts that depends on the speaker or the moment."""
    extra: str | None = None
    """An addition by the integration that started the conversation."""
    person: str | None = None
    """The name of the speaker; see `Speaker.name`."""
    own_prompt: str = ""
    """The sections that the agent's own tools add, such as the facts that it remembers of the speaker."""
    matches: str = ""
    """The entities that the request may mean, in a home that is too large for the prompt; see `home/search.py`."""


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """The prompt of one turn, apart from the user's message."""

    instructions: str
    """The same in every turn, unless the owner's template renders differently."""
    context: str
    """The part for this moment, placed right before the user's message."""
    template_error: str | None = None
    """The error for which Home Assistant's own instructions replace the owner's; None if there is none."""


def async_write_prompt(hass: HomeAssistant, llm_context: llm.LLMContext, sources: PromptSources) -> TurnPrompt:
    """Write the prompt of a turn. Home Assistant's own instructions replace a template with an error."""
    language = hass.config.language
    variables = {"ha_name": hass.config.location_name, "user_name": sources.person, "llm_context": llm_context}
    own, template_error = _rendered(hass, sources.template or llm.DEFAULT_INSTRUCTIONS_PROMPT, variables)
    sentence, room = _room(hass, llm_context.device_id) if llm_context.device_id else ("", "")
    moment = sources.moment
    if sentence:
        moment = moment.removeprefix(_ASSIST_ON_ROOM.format(room=sentence)).replace(sentence, room)
    facts = [f"It is {dt_util.now():%A, %Y-%m-%d, %H:%M}."]
    if (spoken := llm_context.language) and spoken != language:
        facts.append(f"Language of the person: {spoken}.")
    if sources.person:
        facts.append(f"Name of the person: {quoted(sources.person)}.")
    if room and not _names(moment, room):
        facts.append(f"Room of the person: {room}.")
    others = (moment, sources.matches, sources.own_prompt, sources.extra)
    facts += [fact for other in others if other and (fact := other.strip())]
    context = "\n".join(facts)
    instructions = _instructions(own, sources.home, language, hass.config.time_zone)
    return TurnPrompt(instructions, f"{_BEGIN}\n{context}\n{_END}", template_error)


def _rendered(hass: HomeAssistant, template: str, variables: Mapping[str, object]) -> tuple[str, str | None]:
    """Return rendered instructions, and the error of `template` if they are not its own."""
    try:
        return _templates(hass)(template).async_render(variables, parse_result=False), None
    except TemplateError as error:
        default = _templates(hass)(llm.DEFAULT_INSTRUCTIONS_PROMPT)
        return default.async_render(variables, parse_result=False), str(error)


_MOST_TEMPLATES: Final = 16


@singleton
def _templates(hass: HomeAssistant) -> Callable[[str], Template]:
    """Return a function that creates templates and keeps the latest: compiling one takes longer than rendering it."""
    return lru_cache(_MOST_TEMPLATES)(partial(Template, hass=hass))


def async_provide_prompt(
    chat_log: ChatLog, llm_context: llm.LLMContext, sources: PromptSources, instance: llm.APIInstance | None
) -> TurnPrompt:
    """Write the prompt of a turn, and store it in the ChatLog with the tools of `instance`.

    The counterpart of `ChatLog.async_provide_llm_data`, which supports no prompt in parts.
    """
    if not sources.extra and chat_log.extra_system_prompt:
        sources = sources._replace(extra=chat_log.extra_system_prompt)
    prompt = async_write_prompt(chat_log.hass, llm_context, sources)
    chat_log.llm_input_provided_index = len(chat_log.content)
    set_tools(chat_log, instance)
    chat_log.extra_system_prompt = sources.extra
    chat_log.content[0] = SystemContent(content="\n\n".join(filter(None, (prompt.instructions, prompt.context))))
    async_show(chat_log)
    chat_log.async_trace({"messages": list(chat_log.content), "tools": instance and instance.tools})
    return prompt


@lru_cache(maxsize=16)
def _instructions(own: str, home: str, language: str, zone: str) -> str:
    """Join the stable part. Equal text is the same object, so that caches keyed by it are found at once."""
    on_home = (home, _ON_ROOMS, _ON_QUESTIONS) if home else ()
    return "\n".join(filter(None, (own, *on_home, f"Home: language {language}, time zone {zone}.")))


def _names(text: str, name: str) -> bool:
    """Return whether a text contains a name as a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _room(hass: HomeAssistant, device_id: str) -> tuple[str, str]:
    """Return the area of a device with its floor; empty without an area.

    First in Assist's words, then in a form in which no name can pass for other text.
    """
    device = dr.async_get(hass).async_get(device_id)
    area_id = dr.async_get_effective_area_id(hass, device) if device else None
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    if area is None:
        return "", ""
    floor = fr.async_get(hass).async_get_floor(area.floor_id) if area.floor_id else None
    if floor is None:
        return area.name, quoted(area.name)
    return f"{area.name} (floor {floor.name})", f"{quoted(area.name)} (floor {quoted(floor.name)})"


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """The input of the loop for one turn."""

    tools: TurnTools
    turn: Turn
    record: TurnRecord
    """Its clock has been running since the start of the turn."""
    settings: AgentSettings
    """The agent's settings, as restricted by the source of the turn."""
    template_error: str | None
    """The error of the owner's instructions; None if they can be rendered."""


async def async_prepare(agent: Agent, turn_input: TurnInput, chat_log: ChatLog, record: TurnRecord) -> PreparedTurn:
    """Collect tools, files, prompt and history of a turn. Its limits are what remains of those of the agent by then.

    Raises the error of the source for an unknown tool that it requests.
    """
    user_input, source = turn_input.user_input, turn_input.source
    settings = source.settings(agent.hass, agent.settings)
    gathering = async_gather_tools(
        agent.hass,
        user_input,
        chat_log.conversation_id,
        settings,
        understands_sentences=agent.understands_sentences and source.falls_back(),
        has_own_tools=source.offers_own_tools(),
        agent=agent.id,
        speaker=turn_input.speaker,
        brought=source.extra_api(),
    )
    if paths := attached_paths(chat_log):
        files, tools = await asyncio.gather(
            async_read_shown_files(agent.hass, paths, settings.limits.preparation), gathering
        )
    else:
        files, tools = NO_FILES, await gathering
    selection = source.select(tools)
    prompt = await _async_prompt(agent, turn_input, selection.tools, chat_log)
    keep_context(chat_log, prompt.context)
    message = source.message(user_input.text, chat_log, files, prompt.context)
    turn = Turn(
        None if message is None else message.text,
        source.history(chat_log, files),
        prompt.instructions,
        selection.definitions,
        selection.choice,
        selection.allowed,
        source.limits(settings.limits).after(record.duration),
        approval=turn_input.answered.pending if turn_input.answered else None,
        context=prompt.context if message is None else message.context,
        attachments=() if message is None else message.attachments,
        guards_client_calls=False,  # their effects are the client's, outside the home
    )
    return PreparedTurn(selection.tools, source.adapted(turn), record, settings, prompt.template_error)


async def _async_prompt(agent: Agent, turn_input: TurnInput, tools: TurnTools, chat_log: ChatLog) -> TurnPrompt:
    user_input, hass = turn_input.user_input, chat_log.hass
    matches = ""
    if tools.home_is_large:
        query = async_entity_query(hass, user_input.text, user_input.device_id, chat_log)
        matches = await async_describe_matches(hass, user_input.language, query)
    said_first, name = user_input.extra_system_prompt, turn_input.speaker.name
    sources = PromptSources(
        agent.settings.prompt, tools.prompt, tools.context, said_first, name, tools.own_prompt, matches
    )
    return async_provide_prompt(chat_log, tools.llm_context, sources, tools.instance)
