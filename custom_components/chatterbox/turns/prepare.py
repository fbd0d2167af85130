"""Gathers what a turn of an agent needs before its model is asked: tools, files, prompt and history.

Knows where each of them comes from, and whether a person or a program speaks. Must not know how a turn is taken.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from homeassistant.components.conversation import ChatLog

from ..agent.loop.turn import Limits, Turn
from ..agent.messages import UserMessage
from ..home.description import FIND_ENTITIES
from ..home.search import async_asked, async_tell_things
from ..responses.api_turn import ProgramTurn
from ..runtime.agents import Agent
from ..tools.turn_tools import TurnTools, async_gather_tools
from .chat_log import history, keep_context, words
from .input import Beginning
from .prompt import PromptSources, TurnPrompt, async_provide_prompt
from .shown_files import NO_FILES, async_read_shown_files, shown_paths

_WITHOUT_FILES: Final = UserMessage("")

type LimitsNow = Callable[[], Limits]
"""Returns the bounds of a turn that begins now, for somebody who has been waiting since they spoke."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a turn needs."""

    tools: TurnTools
    turn: Turn
    template_error: str | None
    """Why the owner's instructions cannot be used; None if they can."""


async def async_gather(agent: Agent, begin: Beginning, chat_log: ChatLog, limits: LimitsNow) -> Gathered:
    """Gather it, and ask for the `limits` last. Raises `ApiError` for wishes of a program that cannot be met."""
    if begin.program is not None:
        return await _async_gather_for_program(agent, begin, begin.program, chat_log, limits)
    user_input, settings = begin.user_input, agent.settings
    gathering = async_gather_tools(
        agent.hass,
        user_input,
        chat_log.conversation_id,
        settings,
        understands_sentences=agent.understands_sentences,
        agent=agent.id,
        speaker=begin.speaker,
        brought=begin.brought,
    )
    if paths := shown_paths(chat_log):
        files, tools = await asyncio.gather(
            async_read_shown_files(agent.hass, paths, settings.limits.preparation), gathering
        )
    else:
        files, tools = NO_FILES, await gathering
    prompt = await _async_prompt(agent, begin, tools, chat_log)
    keep_context(chat_log, prompt.context)
    said = words(chat_log, files) if paths else _WITHOUT_FILES
    turn = Turn(
        user_input.text or None,
        history(chat_log, files),
        prompt.instructions,
        tools.definitions,
        limits=limits(),
        approval=begin.approval,
        context=said.context or prompt.context,
        attachments=said.attachments,
        claim_language=agent.claim_language(user_input.language) if begin.is_heard else None,
        output=begin.output,
    )
    return Gathered(tools, turn, prompt.template_error)


async def _async_gather_for_program(
    agent: Agent, begin: Beginning, program: ProgramTurn, chat_log: ChatLog, limits: LimitsNow
) -> Gathered:
    """Gather what a turn of a program needs; it brings its own history, and says which tools it wants."""
    request, said = program.request, program.words
    gathered = await async_gather_tools(
        agent.hass,
        begin.user_input,
        chat_log.conversation_id,
        program.settings(agent.settings),
        understands_sentences=agent.understands_sentences and program.may_fall_back,
        agent=agent.id,
        speaker=begin.speaker,
    )
    chosen = program.choose(gathered)
    prompt = await _async_prompt(agent, begin, chosen.offered, chat_log)
    turn = Turn(
        None if said is None else said.text,
        program.history,
        "\n\n".join(filter(None, (prompt.instructions, request.instructions))),
        chosen.definitions,
        chosen.choice,
        chosen.allowed,
        limits(),
        approval=begin.approval,
        context="\n\n".join(filter(None, (prompt.context, said.context if said else ""))),
        attachments=said.attachments if said else (),
        output=begin.output,
        options=request.options,
        may_be_shortened=request.may_be_shortened,
    )
    return Gathered(chosen.offered, turn, prompt.template_error)


async def _async_prompt(agent: Agent, begin: Beginning, tools: TurnTools, chat_log: ChatLog) -> TurnPrompt:
    user_input, hass = begin.user_input, chat_log.hass
    things = ""
    if FIND_ENTITIES in tools.labels:
        asked = async_asked(hass, user_input.text, user_input.device_id, chat_log)
        things = await async_tell_things(hass, user_input.language, asked)
    said_first, name = user_input.extra_system_prompt, begin.speaker.name
    sources = PromptSources(
        agent.settings.prompt, tools.prompt, tools.context, said_first, name, tools.memories, things
    )
    return async_provide_prompt(chat_log, tools.llm_context, sources, tools.instance)
