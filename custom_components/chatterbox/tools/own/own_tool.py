"""The type of a tool of our own: all that is known of it, from its definition to the sentence that confirms it.

A tool that changes something, and does not say what, is judged as one that may do any
harm: it needs a yes.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import llm

from ...agent.messages import JsonObject, ToolAnnotations, ToolDefinition
from ...agent.protocols import Deny
from ...agent.text import read_data_file
from ...const import DOMAIN
from ...effects.effect import Effects, TimedCall
from ...effects.intents import Naming
from ...home.entity_matches import areas_of_entities
from ...people.speakers import NOBODY, Asking, Speaker
from ...settings.agent import AgentSettings
from ...speech.sentences import Sentences, async_get_sentences

_NOBODY: Final = (
    "It is not known who speaks, so nothing can be remembered for them, or found of what they said. Say so. It works "
    "for who is signed in to Home Assistant, and at a satellite for which a person is chosen in this agent's settings."
)
_AUTOMATION: Final = "Only a person who speaks for themself can use this. No automation and no script can."

_NO_SETTINGS: Final = AgentSettings()
READS: Final = ToolAnnotations(
    read_only=True, destructive=False, idempotent=True, open_world=False
)
DEFINITIONS: Final = read_data_file(
    __file__, dict[str, ToolDefinition], "definitions.toml"
)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool."""

    data: JsonObject
    is_error: bool = False
    open_world: bool = False
    """Whether it may contain text from outside the home."""
    fee: float = 0.0
    """US dollars that it has cost."""
    speech: str = ""
    """Words that are spoken without a model, and read by it in place of `data`; empty for the sentence of `done`.

    Of an error, they are the reason, and the model reads `data`.
    """


class NoAnswer(Exception):
    """A call cannot be answered. The text tells the model why, and what can be asked instead."""


def error_answer(message: str, speech: str = "") -> ToolAnswer:
    """Return the answer of a tool that did nothing."""
    return ToolAnswer(
        {"error": message},
        is_error=True,
        speech=speech,
    )


class Approval(NamedTuple):
    """The approval of a call for another time."""

    terms: str
    """See `PendingCall.terms`; empty if it needed none."""
    actions: str
    """Its actions, in words."""


type Fit = Callable[[str, JsonObject], Awaitable[Deny | TimedCall]]
"""Fits a call of a tool of the turn, by name and arguments, as if it ran now."""


async def _fits_nothing(
    _name: str,
    _arguments: JsonObject,
) -> Deny:
    return Deny("No other tool can be called here.")


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A call of a tool. That of another conversation agent has the settings and the speaker of nobody."""

    hass: HomeAssistant
    llm_context: llm.LLMContext
    arguments: JsonObject
    settings: AgentSettings = _NO_SETTINGS
    agent: str = ""
    """Id of its subentry."""
    speaker: Speaker = NOBODY
    satellite_id: str | None = None
    fit: Fit = _fits_nothing
    approval: Approval | None = None
    """None for a call that runs now, or was not reviewed."""

    def text(self, argument: str) -> str:
        """Return a stripped argument; empty for one that is not given."""
        return str(self.arguments.get(argument) or "").strip()

    @property
    def language(self) -> str:
        """Return the language of the speaker."""
        return self.llm_context.language or self.hass.config.language

    def in_room(self, states: Iterable[State]) -> list[State]:
        """Return those of some entities in the room of the speaker."""
        near = llm.async_get_match_preferences(self.hass, self.llm_context).area_id
        areas = areas_of_entities(self.hass)
        return [one for one in states if near and areas.get(one.entity_id) == near]

    async def async_sentences(self) -> Sentences:
        """Return the sentences in that language."""
        return await async_get_sentences(self.hass, self.language)


class Prepared(NamedTuple):
    """A call as it is reviewed and run."""

    arguments: JsonObject
    acting: TimedCall | None = None
    """The call that is reviewed in its place, with its time; None for the call itself, now."""


type Prepare = Callable[[OwnCall], Awaitable[Prepared | Deny]]


class SharedWith(NamedTuple):
    """How a tool is shared with all agents that have the Assist API. Ours get it from there as well."""

    domains: frozenset[str]
    """It is offered where an entity of one of these is exposed."""
    title: str
    naming: Naming = Naming()
    """The arguments by which it selects entities."""
    component: str = ""
    """It is offered where this component runs; empty for one that needs none."""
    instead_of: frozenset[str] = frozenset()
    """Components whose own tools make it superfluous, if Assist has some."""


class Offered(NamedTuple):
    """An agent that is offered tools."""

    hass: HomeAssistant
    settings: AgentSettings
    home_is_large: bool
    """Whether its prompt only sums up the home; see `TurnTools`."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class OwnTool:
    """A tool. It equals itself alone."""

    definition: ToolDefinition
    run: Callable[[OwnCall], Awaitable[ToolAnswer]]
    """May raise `NoAnswer`, as may `effects`."""
    needs: Callable[[Offered], bool] | None = None
    """Returns whether an agent has it; None for a tool that all agents have."""
    needless: Callable[[HomeAssistant], Collection[str]] | None = None
    """Returns the arguments that tell nothing apart in a home: models are not told of them. None for a tool without."""
    prompt: Callable[[HomeAssistant, str, Speaker, str], Awaitable[str]] | None = None
    """Returns a section of the prompt of agents that have it, by the id of an agent, its speaker and their words."""
    effects: Callable[[OwnCall], Awaitable[Effects]] | None = None
    """Returns the effects of a call; None for those that its annotations tell."""
    prepare: Prepare | None = None
    """Resolves the arguments of a call before it is reviewed; resolved ones stay as they are."""
    plans: Callable[[str, int], JsonObject] | None = None
    """Returns the arguments with which it has a sentence said to Home Assistant after some seconds, 0 if they are not
    known; None for a tool that plans nothing."""
    makes_untrue: str = ""
    """A line of Home Assistant's prompt that an agent with it leaves out."""
    targets: frozenset[str] | None = None
    """The targets that it changes: calls with a common target keep their order; None overlaps with all."""
    done: str = ""
    """Translation key, after `spoken_`, of the sentence that confirms it; empty for the one of any other tool."""
    label: str = ""
    """Id of an LLM API: API clients that choose its tools get this one, too. Empty for the agent's own label."""
    shared: SharedWith | None = None
    most: int = 0
    """How often it runs in one turn; 0 for no limit."""
    is_tried: bool = False
    """Whether a trial runs it, as one that prepares its calls: nothing happens in a silent home."""
    is_private: bool = False
    """Whether it keeps or tells what is the household's alone: guests do not have it."""
    calls_action: bool = False
    """Whether it reads by an action of Home Assistant; a trial runs only tools that read without one."""

    @property
    def only_reads_home(self) -> bool:
        """Whether a call only reads the home, without calling an action or asking a service."""
        return self.definition.annotations == READS and not self.calls_action

    async def async_answer(self, call: OwnCall) -> ToolAnswer:
        """Run a call."""
        try:
            return await self.run(call)
        except NoAnswer as error:
            return error_answer(str(error))

    async def async_effects(self, call: OwnCall) -> Effects:
        """Return the effects that a call would have."""
        if self.effects is None:
            return self.annotated
        try:
            return await self.effects(call)
        except NoAnswer:
            return self.annotated

    @property
    def annotated(self) -> Effects:
        """Return the effects that are known without those that it declares."""
        own = self.definition.annotations
        if not own.read_only:
            own = replace(own, destructive=True, open_world=True)
        return Effects(annotations=own)


def own_name(name: str) -> str:
    """Return the full name of one of our tools."""
    return f"{DOMAIN}__{name}"


def parameters(
    properties: Mapping[str, tuple[str, str, *tuple[str, ...]]], *required: str
) -> JsonObject:
    """Return a JSON Schema for properties given by type, description, which may be empty, and any choices."""
    return {
        "type": "object",
        "properties": {
            name: {
                "type": kind,
                **({"description": description} if description else {}),
                **({"enum": [*choices]} if choices else {}),
            }
            for name, (kind, description, *choices) in properties.items()
        },
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def problem_of(speaker: Speaker) -> str:
    """Return why a tool that needs a known person does not serve a speaker; empty if it does."""
    if speaker.asking is not Asking.PERSON:
        return _AUTOMATION
    return "" if speaker.person_id else _NOBODY
