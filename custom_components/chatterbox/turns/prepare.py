"""Preparing a turn: its tools, files, prompt and history, before the model is asked."""

import asyncio
from dataclasses import dataclass

from homeassistant.components.conversation import ChatLog

from ..agent.loop.turn import Turn
from ..home.description import FIND_ENTITIES
from ..home.search import async_describe_matches, async_entity_query
from ..records.turn_record import TurnRecord
from ..runtime.agents import Agent
from ..settings.agent import AgentSettings
from ..tools.offer import TurnTools
from ..tools.turn_tools import async_gather_tools
from .chat_log import keep_context
from .input import TurnInput
from .prompt import PromptSources, TurnPrompt, async_provide_prompt
from .shown_files import NO_FILES, async_read_shown_files, shown_paths


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """What the loop needs of a turn."""

    tools: TurnTools
    turn: Turn
    record: TurnRecord
    """Begun with the turn, whose time is running since."""
    settings: AgentSettings
    """The agent's settings, as the source of the turn narrows them."""
    template_error: str | None
    """Why the owner's instructions cannot be rendered; None if they can."""


async def async_prepare(agent: Agent, read: TurnInput, chat_log: ChatLog, record: TurnRecord) -> PreparedTurn:
    """Collect tools, files, prompt and history of a turn. Its limits are what is left of those of the agent by then.

    Raises the error of the source for a tool that it asks for and that does not exist.
    """
    user_input, source, settings = read.user_input, read.source, read.source.settings(agent.settings)
    gathering = async_gather_tools(
        agent.hass,
        user_input,
        chat_log.conversation_id,
        settings,
        understands_sentences=agent.understands_sentences and source.falls_back,
        agent=agent.id,
        speaker=read.speaker,
        brought=source.extra_api,
    )
    if paths := shown_paths(chat_log):
        files, tools = await asyncio.gather(
            async_read_shown_files(agent.hass, paths, settings.limits.preparation), gathering
        )
    else:
        files, tools = NO_FILES, await gathering
    selection = source.select(tools)
    prompt = await _async_prompt(agent, read, selection.tools, chat_log)
    keep_context(chat_log, prompt.context)
    said = source.message(user_input.text, chat_log, files, prompt.context)
    turn = Turn(
        None if said is None else said.text,
        source.history(chat_log, files),
        "\n\n".join(filter(None, (prompt.instructions, source.instructions))),
        selection.definitions,
        selection.choice,
        selection.allowed,
        source.limits(settings.limits).after(record.duration),
        approval=read.approval,
        context=prompt.context if said is None else said.context,
        attachments=() if said is None else said.attachments,
        checked_language=agent.checked_language(user_input.language) if read.is_heard else None,
        output=source.output,
        options=source.options,
        may_be_shortened=source.may_be_shortened,
    )
    return PreparedTurn(selection.tools, turn, record, settings, prompt.template_error)


async def _async_prompt(agent: Agent, read: TurnInput, tools: TurnTools, chat_log: ChatLog) -> TurnPrompt:
    user_input, hass = read.user_input, chat_log.hass
    things = ""
    if FIND_ENTITIES in tools.labels:
        asked = async_entity_query(hass, user_input.text, user_input.device_id, chat_log)
        things = await async_describe_matches(hass, user_input.language, asked)
    said_first, name = user_input.extra_system_prompt, read.speaker.name
    sources = PromptSources(
        agent.settings.prompt, tools.prompt, tools.context, said_first, name, tools.memories, things
    )
    return async_provide_prompt(chat_log, tools.llm_context, sources, tools.instance)
