"""Prepares a turn: its tools, files, history and prompt, before the model is called.

The prompt has a stable part, which is the same for the whole home, and a part for this
moment. Services cache the prefix of a prompt, so the stable part is sent first in every
turn, and the other one right before the user's message. A conversation keeps its stable
part while its tools stay the same: changes of the home are told in the context of the
next message, until they take more room than they save. A context leaves out the facts
that the messages before hold.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, NamedTuple

from homeassistant.components.conversation import ChatLog, SystemContent
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    floor_registry as fr,
    llm,
)
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util
from lru import LRU

from ..agent.loop.turn import Turn
from ..agent.messages import (
    MOST_SEARCHES,
    ToolDefinition,
    Transcript,
    UserMessage,
    paragraphs,
)
from ..const import home_singleton
from ..home.description import ON_CHANGES, home_changes, home_list, quoted
from ..home.entities import Home
from ..home.search import async_describe_matches, async_entity_query
from ..internals.conversation import async_show, set_tools
from ..records.turn_record import TurnRecord
from ..runtime.agents import Agent
from ..settings.agent import AgentSettings, WebSearch
from ..tools.turn_tools import TurnTools, async_gather_tools
from .chat_log import attached_paths, keep_context
from .input import TurnInput
from .shown_files import NO_FILES, ShownFiles, async_read_shown_files

_BEGIN: Final = "<context>"
_END: Final = "</context>"
_AS_LISTED: Final = f"{ON_CHANGES} nothing, the list is up to date again."
_IT_IS: Final = "It is "
_TIME: Final = re.compile(rf"{_IT_IS}(?:\w+, [\d-]+, )?\d\d:\d\d\.")
_BLOCK: Final = re.compile(
    rf"{_BEGIN}\n(.*?)\n{_END}",
    re.DOTALL,
)
_MOST_SHARE: Final = 4
"""The instructions divided by this is the room for changes."""
MOST_CONVERSATIONS: Final = 50
_ON_QUESTIONS: Final = (
    "Do not ask whether you may do what the person wants: call the tool. "
    "Where a yes is needed, the person is asked."
)
"""Otherwise people would be asked twice."""
_ON_ROOMS: Final = "What is said without a room, such as 'turn on the lights', is meant for the room of the person."
_ASSIST_ON_ROOM: Final = (
    "You are in area {room} and all generic commands like 'turn on the "
    "lights' should target this area."
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
    facts: tuple[str, ...]
    """The part for this moment, the time first."""
    template_error: str | None
    """The error for which Home Assistant's own instructions replace the owner's; None if there is none."""
    omitted: tuple[str, ...] = ()
    """The facts that earlier messages hold."""

    @property
    def context(self) -> str:
        """The text that is placed right before the user's message."""
        return _block(self.facts)

    @property
    def omitted_context(self) -> str:
        """The context that stands for earlier messages, if these are not sent."""
        return _block(self.omitted)


def _block(facts: Iterable[str]) -> str:
    text = "\n".join(facts)
    if text:
        return f"{_BEGIN}\n{text}\n{_END}"
    return ""


def async_write_prompt(
    hass: HomeAssistant, llm_context: llm.LLMContext, sources: PromptSources
) -> TurnPrompt:
    """Write the prompt of a turn. Home Assistant's own instructions replace a template with an error."""
    language = hass.config.language
    variables = {
        "ha_name": hass.config.location_name,
        "user_name": sources.person,
        "llm_context": llm_context,
    }
    own, template_error = _rendered(
        hass, sources.template or llm.DEFAULT_INSTRUCTIONS_PROMPT, variables
    )
    sentence, room = (
        _room(
            hass,
            llm_context.device_id,
        )
        if llm_context.device_id
        else ("", "")
    )
    moment = sources.moment
    if sentence:
        moment = moment.removeprefix(_ASSIST_ON_ROOM.format(room=sentence)).replace(
            sentence, room
        )
    facts = [f"It is {dt_util.now():%A, %Y-%m-%d, %H:%M}."]
    spoken = llm_context.language
    if spoken and spoken != language:
        facts.append(f"Language of the person: {spoken}.")
    if sources.person:
        facts.append(f"Name of the person: {quoted(sources.person)}.")
    if room and not _names(moment, room):
        facts.append(f"Room of the person: {room}.")
    others = (
        moment,
        sources.matches,
        sources.own_prompt,
        sources.extra,
    )
    facts += [fact for other in others if other and (fact := other.strip())]
    instructions = _instructions(
        own,
        sources.home,
        language,
        hass.config.time_zone,
    )
    return TurnPrompt(instructions, tuple(facts), template_error)


def _rendered(
    hass: HomeAssistant, template: str, variables: Mapping[str, object]
) -> tuple[str, str | None]:
    """Return rendered instructions, and the error of `template` if they are not its own."""
    try:
        return _templates(hass)(template).async_render(
            variables, parse_result=False
        ), None
    except TemplateError as error:
        default = _templates(hass)(llm.DEFAULT_INSTRUCTIONS_PROMPT)
        return default.async_render(variables, parse_result=False), str(error)


_MOST_TEMPLATES: Final = 16


_templates: Final = home_singleton(
    "templates", lambda hass: lru_cache(_MOST_TEMPLATES)(partial(Template, hass=hass))
)
"""Returns a function that creates templates and keeps the latest: compiling one takes longer than rendering it."""


def async_provide_prompt(
    chat_log: ChatLog,
    llm_context: llm.LLMContext,
    sources: PromptSources,
    instance: llm.APIInstance | None,
    continued: Continued | None = None,
) -> TurnPrompt:
    """Write the prompt of a turn, and store it in the ChatLog with the tools of `instance`.

    The counterpart of `ChatLog.async_provide_llm_data`, which supports no prompt in
    parts.
    """
    if not sources.extra and chat_log.extra_system_prompt:
        sources = sources._replace(extra=chat_log.extra_system_prompt)
    prompt = async_write_prompt(
        chat_log.hass,
        llm_context,
        sources,
    )
    if continued:
        prompt = continued.continues(prompt)
    chat_log.llm_input_provided_index = len(chat_log.content)
    set_tools(chat_log, instance)
    chat_log.extra_system_prompt = sources.extra
    chat_log.content[0] = SystemContent(
        content=paragraphs(prompt.instructions, prompt.context)
    )
    async_show(chat_log)
    chat_log.async_trace(
        {
            "messages": list(chat_log.content),
            "tools": instance and instance.tools,
        }
    )
    return prompt


@lru_cache(maxsize=16)
def _instructions(
    own: str,
    home: str,
    language: str,
    zone: str,
) -> str:
    """Join the stable part. Equal text is the same object, so that caches keyed by it are found at once."""
    on_home = (home, _ON_ROOMS, _ON_QUESTIONS) if home else ()
    return "\n".join(
        filter(
            None,
            (
                own,
                *on_home,
                f"Home: language {language}, time zone {zone}.",
            ),
        )
    )


def _names(text: str, name: str) -> bool:
    """Return whether a text contains a name as a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _room(
    hass: HomeAssistant,
    device_id: str,
) -> tuple[str, str]:
    """Return the area of a device with its floor; empty without an area.

    First in Assist's words, then in a form in which no name can pass for other text.
    """
    device = dr.async_get(hass).async_get(device_id)
    if device:
        area_id = dr.async_get_effective_area_id(hass, device)
    else:
        area_id = None
    if area_id:
        area = ar.async_get(hass).async_get_area(area_id)
    else:
        area = None
    if area is None:
        return "", ""
    if area.floor_id:
        floor = fr.async_get(hass).async_get_floor(area.floor_id)
    else:
        floor = None
    if floor is None:
        return area.name, quoted(area.name)
    return (
        f"{area.name} (floor {floor.name})",
        f"{quoted(area.name)} (floor {quoted(floor.name)})",
    )


@dataclass(frozen=True, slots=True)
class _SentPrompt:
    """The part of the prompt that a conversation keeps."""

    instructions: str
    tools: Sequence[ToolDefinition]
    home: Home


type SentPrompts = LRU[str, _SentPrompt]
"""The prompts of recent conversations by Home Assistant's conversation id."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The conversation of a turn, and the tools and the home on which its prompt is written."""

    prompts: SentPrompts
    """Those of the agent, to which this one is added."""
    conversation: str
    """Home Assistant's conversation id."""
    history: Transcript
    """The messages before, with their contexts."""
    tools: Sequence[ToolDefinition]
    home: Home
    is_large: bool

    def continues(self, prompt: TurnPrompt) -> TurnPrompt:
        """Return the prompt of a turn, with the instructions that the conversation keeps and without repeated facts."""
        before = [
            message for message in self.history if isinstance(message, UserMessage)
        ]
        if before:
            sent = self.prompts.pop(self.conversation, None)
        else:
            sent = None
        if sent:
            changes = self._changes(sent, prompt)
        else:
            changes = None
        if sent is None or changes is None:
            sent = _SentPrompt(
                prompt.instructions,
                self.tools,
                self.home,
            )
            changes = ""
        self.prompts[self.conversation] = sent
        if not changes and any(
            ON_CHANGES in text for one in before for text in (one.omitted, one.context)
        ):
            changes = _AS_LISTED
        facts = (*prompt.facts, *filter(None, (changes,)))
        return _only_news(
            replace(
                prompt,
                instructions=sent.instructions,
                facts=facts,
            ),
            before[-1] if before else None,
        )

    def _changes(
        self,
        sent: _SentPrompt,
        prompt: TurnPrompt,
    ) -> str | None:
        """Return the changes of the home since these instructions were sent; None if they do not say everything."""
        if tuple(sent.tools) != tuple(self.tools):
            return None
        if sent.instructions == prompt.instructions:
            return ""
        listed, before = (
            home_list(
                home,
                is_large=self.is_large,
            )
            for home in (self.home, sent.home)
        )
        changes = home_changes(sent.home, self.home)
        is_home_alone = (
            listed and prompt.instructions.replace(listed, before) == sent.instructions
        )
        if (
            changes
            and is_home_alone
            and len(changes) * _MOST_SHARE < len(sent.instructions)
        ):
            return changes
        return None


def _only_news(
    prompt: TurnPrompt,
    last: UserMessage | None,
) -> TurnPrompt:
    """Leave out the facts that the message before holds. If one of them no longer holds, all are sent again."""
    if last:
        blocks = _BLOCK.findall(f"{last.omitted}\n{last.context}")
    else:
        blocks = []
    lines = "\n".join(blocks).split("\n")
    current = "\n".join(prompt.facts).split("\n")
    times = [line for line in lines if _TIME.fullmatch(line)]
    if not blocks or not {*current, *times}.issuperset(lines):
        return prompt
    time, *others = prompt.facts
    day, _, hour = time.rpartition(", ")
    dated = [line for line in times if line.startswith(day)][:1]
    if dated and times[-1].endswith(hour):
        news = []
        held = [*dict.fromkeys((*dated, times[-1]))]
    else:
        news = [f"{_IT_IS}{hour}" if dated else time]
        held = dated
    text = "\n".join(("", *lines, ""))
    for fact in others:
        (held if f"\n{fact}\n" in text else news).append(fact)
    return replace(
        prompt,
        facts=tuple(news),
        omitted=tuple(held),
    )


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


async def async_prepare(
    agent: Agent,
    turn_input: TurnInput,
    chat_log: ChatLog,
    record: TurnRecord,
    prompts: SentPrompts,
) -> PreparedTurn:
    """Collect tools, files, prompt and history of a turn. Its limits are what remains of those of the agent by then.

    Raises the error of the source for an unknown tool that it requests.
    """
    user_input = turn_input.user_input
    source = turn_input.source
    settings = source.settings(agent.hass, agent.settings)
    files, tools = await _async_gathered(agent, turn_input, chat_log, settings)
    selection = source.select(tools)
    past = source.history(chat_log, files)
    definitions = selection.definitions
    continued = None
    if user_input.text:
        here = prompts, chat_log.conversation_id
        continued = Continued(*here, past, definitions, tools.home, tools.home_is_large)
    offered = selection.tools.told_of(definitions)
    prompt = await _async_prompt(agent, turn_input, offered, chat_log, continued)
    keep_context(chat_log, prompt.context, prompt.omitted_context)
    message = source.message(user_input.text, chat_log, files, prompt.context)
    turn = Turn(
        None if message is None else message.text,
        past,
        prompt.instructions,
        definitions,
        selection.choice,
        selection.allowed,
        source.limits(settings.limits).after(record.duration),
        approval=turn_input.answered.pending if turn_input.answered else None,
        context=prompt.context if message is None else message.context,
        omitted=prompt.omitted_context,
        attachments=() if message is None else message.attachments,
        searches=MOST_SEARCHES
        if settings.web_search is WebSearch.SERVICE and source.offers_own_tools()
        else 0,
        guards_client_calls=False,  # their effects are the client's, outside the home
        repair=tools.repair,
    )
    return PreparedTurn(
        selection.tools, source.adapted(turn), record, settings, prompt.template_error
    )


async def _async_gathered(
    agent: Agent, turn_input: TurnInput, chat_log: ChatLog, settings: AgentSettings
) -> tuple[ShownFiles, TurnTools]:
    """Read the files of a turn, and gather its tools meanwhile."""
    source = turn_input.source
    gathering = async_gather_tools(
        agent.hass,
        turn_input.user_input,
        chat_log.conversation_id,
        settings,
        understands_sentences=agent.understands_sentences and source.falls_back(),
        has_own_tools=source.offers_own_tools(),
        agent=agent.id,
        speaker=turn_input.speaker,
        brought=source.extra_api,
    )
    paths = attached_paths(chat_log)
    if not paths:
        return NO_FILES, await gathering
    reading = async_read_shown_files(
        agent.hass,
        paths,
        settings.limits.preparation,
    )
    return await asyncio.gather(reading, gathering)


async def _async_prompt(
    agent: Agent,
    turn_input: TurnInput,
    tools: TurnTools,
    chat_log: ChatLog,
    continued: Continued | None,
) -> TurnPrompt:
    user_input = turn_input.user_input
    hass = chat_log.hass
    matches = ""
    if tools.home_is_large:
        query = async_entity_query(
            hass, user_input.text, user_input.device_id, chat_log
        )
        matches = await async_describe_matches(
            hass,
            user_input.language,
            query,
        )
    said_first = user_input.extra_system_prompt
    name = turn_input.speaker.name
    sources = PromptSources(
        agent.settings.prompt,
        tools.prompt,
        tools.context,
        said_first,
        name,
        tools.own_prompt,
        matches,
    )
    return async_provide_prompt(
        chat_log, tools.llm_context, sources, tools.instance, continued
    )
