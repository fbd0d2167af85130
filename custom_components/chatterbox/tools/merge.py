"""Merges several LLM APIs into one, and describes its tools to a model.

The result depends only on the APIs, not on the order in which Home Assistant has loaded them. Decision 12.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, override

import probatio
from homeassistant.components.media_player.const import (
    INTENT_MEDIA_NEXT,
    INTENT_MEDIA_PREVIOUS,
    INTENT_SET_VOLUME_RELATIVE,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..agent.messages import ToolAnnotations, ToolDefinition
from ..const import DOMAIN
from ..data import singleton
from ..internals.llm import KnownTool, known_tool
from ..settings.tool_names import ToolOrigin, offered_names, rename_tools
from .llm_apis import ApiOffer, requires_admin
from .schema import CustomSerializer, SchemaCache
from .tool_words import acts_by_name, reads_by_name

REPEATABLE_INTENTS: Final = frozenset({INTENT_MEDIA_NEXT, INTENT_MEDIA_PREVIOUS, INTENT_SET_VOLUME_RELATIVE})
"""Intents that take one step: two calls in one turn mean two steps."""

_MEDIA_TOOLS: Final = frozenset({KnownTool.PLAY_MEDIA, KnownTool.SEARCH_MEDIA})
"""Annotated as open-world by Home Assistant, although they return only titles of media."""


_schema_cache: Final = singleton(lambda _: SchemaCache())


@dataclass(slots=True, kw_only=True)
class MergedApi(llm.API):
    """Several APIs as one, for the speaker of one turn."""

    prompt: str
    tools: list[llm.Tool]
    custom_serializer: CustomSerializer
    requires_admin: bool = False
    """Whether any of them is only for administrators. Home Assistant reads it since 2026.11."""

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools for `llm_context`, which has to be that of the same speaker."""
        return llm.APIInstance(self, self.prompt, llm_context, self.tools, self.custom_serializer)


class RenamedTool(llm.NamespacedTool):
    """A tool under another name. It is still called by its own."""

    def __init__(self, name: str, tool: llm.Tool) -> None:
        """Offer `tool` as `name`."""
        super().__init__(DOMAIN, tool)
        self.name = name


class MergeResult(NamedTuple):
    """One API, and what a model is told about it."""

    api: MergedApi
    definitions: tuple[ToolDefinition, ...]
    """One for each tool of `api`, sorted by name."""
    prompt: str
    """The part of the prompt that is the same for every speaker."""
    context: str
    """The part for this speaker or this moment."""
    problems: Mapping[str, str | None]
    """For each tool, named with its API: the reason why it is left out, or None if it is offered."""
    labels: Mapping[str, str]
    """Ids of the original APIs by the offered names of the tools."""


def merge_apis(hass: HomeAssistant, offers: Sequence[ApiOffer]) -> MergeResult:
    """Merge several APIs. Tools that cannot be described to a model are left out."""
    schemas = _schema_cache(hass)
    found = list(_distinct(offers))
    names = offered_names([ToolOrigin(offer.api.id, tool.name) for offer, tool in found])
    renames: dict[str, dict[str, str]] = {offer.api.id: {} for offer in offers}
    for (offer, tool), name in zip(found, names, strict=True):
        renames[offer.api.id].setdefault(tool.name, name)
    definitions: list[ToolDefinition] = []
    tools: list[llm.Tool] = []
    problems: dict[str, str | None] = {}
    labels: dict[str, str] = {}
    for (offer, tool), name in zip(found, names, strict=True):
        subject = f"Tool {tool.name} of {offer.api.name}"
        try:
            definitions.append(_define(schemas, offer, tool, name, renames[offer.api.id]))
        except Exception as error:  # noqa: BLE001 a schema may hold anybody's code, and the other tools are still good
            problems[subject] = f"it is not offered, because its arguments cannot be described: {error}"
            continue
        problems[subject] = None
        labels[name] = offer.api.id
        tools.append(tool if tool.name == name else RenamedTool(name, tool))
    prompt = _joined(offers, [rename_tools(offer.prompt, renames[offer.api.id]) for offer in offers])
    context = _joined(offers, [rename_tools(offer.context, renames[offer.api.id]) for offer in offers])
    api = MergedApi(
        hass=hass,
        id=DOMAIN,
        name="Chatterbox",
        prompt="\n".join(filter(None, (prompt, context))),
        tools=sorted(tools, key=lambda tool: tool.name),
        custom_serializer=_serializer(offers),
        requires_admin=any(requires_admin(offer.api) for offer in offers),
    )
    definitions.sort(key=lambda definition: definition.name)
    return MergeResult(api, tuple(definitions), prompt, context, problems, labels)


def _distinct(offers: Iterable[ApiOffer]) -> Iterator[tuple[ApiOffer, llm.Tool]]:
    """Yield every tool once: several APIs may share one, such as that for date and time."""
    seen: dict[str, list[llm.Tool]] = {}
    for offer in offers:
        for tool in offer.tools:
            twins = seen.setdefault(tool.name, [])
            if not any(type(twin) is type(tool) and vars(twin) == vars(tool) for twin in twins):
                twins.append(tool)
                yield offer, tool


def _define(
    schemas: SchemaCache, offer: ApiOffer, tool: llm.Tool, name: str, renames: Mapping[str, str]
) -> ToolDefinition:
    own = unwrapped(tool)
    schema = schemas.convert(tool.parameters, offer.custom_serializer)
    provided_by = f"Provided by {offer.api.name}." if name != tool.name else ""
    sentences = (rename_tools(tool.description or tool.title or "", renames), *schema.remarks, provided_by)
    return ToolDefinition(
        name=name,
        description=" ".join(filter(None, sentences)),
        parameters=schema.parameters,
        annotations=annotations_of(tool),
        repeatable=isinstance(own, llm.IntentTool) and own.intent_type in REPEATABLE_INTENTS,
    )


def annotations_of(tool: llm.Tool) -> ToolAnnotations:
    """Return the annotations of a tool, with corrections for Home Assistant's own tools and those that have none."""
    own, named = own_annotations(tool), unwrapped(tool)
    known = known_tool(named)
    return ToolAnnotations(
        read_only=own.read_only or is_reading_by_name(tool),
        destructive=own.destructive,
        idempotent=own.idempotent,
        open_world=known is KnownTool.UNKNOWN or (own.open_world and known not in _MEDIA_TOOLS),
    )


def own_annotations(tool: llm.Tool) -> llm.ToolAnnotations:
    """Return the annotations that a tool declares; the defaults if it is read-only by these alone, not by its name."""
    named = unwrapped(tool)
    is_named_freely = not isinstance(named, llm.IntentTool | llm.ActionTool)
    is_false = tool.annotations.read_only and is_named_freely and acts_by_name(named.name)
    return llm.ToolAnnotations() if is_false else tool.annotations


def is_reading_by_name(tool: llm.Tool) -> bool:
    """Return whether a tool that declares nothing of itself reads, going by its name, such as `list_events`."""
    named = unwrapped(tool)
    if tool.annotations != llm.ToolAnnotations() or isinstance(named, llm.IntentTool | llm.ActionTool):
        return False
    return reads_by_name(named.name)


def unwrapped(tool: llm.Tool) -> llm.Tool:
    """Return the tool behind wrappers that only rename it."""
    while isinstance(tool, llm.NamespacedTool):
        tool = tool.tool
    return tool


def _joined(offers: Sequence[ApiOffer], texts: Sequence[str]) -> str:
    """Join the prompts of the APIs. If there are several, each gets a heading."""
    prompts = [(offer.api.name, text) for offer, text in zip(offers, texts, strict=True) if text.strip()]
    if len(prompts) == 1:
        return prompts[0][1]
    return "\n\n".join(f"About the tools of {name}:\n{text}" for name, text in prompts)


def _serializer(offers: Sequence[ApiOffer]) -> CustomSerializer:
    """Return a serializer that asks those of the APIs in turn."""
    serializers = [offer.custom_serializer for offer in offers if offer.custom_serializer]

    def serialize(schema: object) -> object:
        answers = (serializer(schema) for serializer in serializers)
        return next((answer for answer in answers if answer is not probatio.UNSUPPORTED), probatio.UNSUPPORTED)

    return serialize
