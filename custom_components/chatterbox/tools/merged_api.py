"""Several of Home Assistant's LLM APIs → one, and what a model is told about its tools.

Knows `homeassistant.helpers.llm`, names and schemas. Must not know how a turn runs, nor who calls the tools. The same
APIs always give the same bytes, in whatever order Home Assistant started.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, override

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
from ..settings.tool_names import ToolOrigin, offered_names, rename_tools
from .api_offer import ApiOffer, OfferedTool
from .schema import CustomSerializer, SchemaCache

REPEATABLE_INTENTS: Final = frozenset({INTENT_MEDIA_NEXT, INTENT_MEDIA_PREVIOUS, INTENT_SET_VOLUME_RELATIVE})
"""Intents that take one step: asked for twice in one turn, two steps are meant."""

_MEDIA_TOOLS: Final = frozenset(
    f"homeassistant.components.media_player.llm.{name}" for name in ("MediaSearchTool", "MediaPlayTool")
)
"""Home Assistant's own, which say that they reach outside the house. All that comes back are titles of media."""

NOT_OFFERED: Final = (
    "This cannot be used from the device that asks, or by the person who asks, only from elsewhere in the house. "
    "Nothing was done. Say so, and do not try it another way."
)


@singleton
def _schema_cache(_hass: HomeAssistant) -> SchemaCache:
    """Return the converted schemas."""
    return SchemaCache()


@dataclass(slots=True, kw_only=True)
class OfferedApi(llm.API):
    """Several APIs as one."""

    prompt: str
    tools: list[llm.Tool]
    custom_serializer: CustomSerializer

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools for `llm_context`, which is the one that they were gathered for."""
        return self.instance(llm_context)

    def instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the same at once."""
        return llm.APIInstance(self, self.prompt, llm_context, self.tools, self.custom_serializer)


class RenamedTool(llm.NamespacedTool):
    """A tool under another name; it is still called by its own."""

    def __init__(self, name: str, tool: llm.Tool) -> None:
        """Offer `tool` as `name`."""
        super().__init__(DOMAIN, tool)
        self.name = name


class ToolElsewhere(llm.Tool):
    """A tool that the one who asks is not offered. The model knows it all the same, and is told when it calls it."""

    def __init__(self, name: str, tool: llm.Tool) -> None:
        """Stand in for `tool` as `name`."""
        self.name = name
        self.title = tool.title
        self.description = tool.description
        self.parameters = tool.parameters
        self.annotations = tool.annotations
        self.integration = tool.integration

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Do nothing, and say so."""
        return llm.ToolResult(data={"error": NOT_OFFERED}, error=True)


@dataclass(frozen=True, slots=True)
class MergedApi:
    """One API made of several."""

    api: OfferedApi
    definitions: tuple[ToolDefinition, ...]
    """Sorted by name, one for each tool of `api`; the same for everybody in the house."""
    prompt: str
    """What holds for everybody."""
    context: str
    """What holds for who asks, or at this moment."""
    findings: Mapping[str, str | None]
    """For each tool, named with its API: why it is left out, or None when it is offered."""
    labels: Mapping[str, str]
    """Ids of the APIs that the tools come from, by the names under which they are offered."""
    home_is_large: bool
    """Whether the home has more things than are listed."""


def merge_apis(hass: HomeAssistant, offers: Sequence[ApiOffer]) -> MergedApi:
    """Make one API of several. A tool that cannot be described to a model is left out; the others stay."""
    schemas = _schema_cache(hass)
    found = list(_distinct(offers))
    names = offered_names([ToolOrigin(offer.api.id, tool.described.name) for offer, tool in found])
    renames: dict[str, dict[str, str]] = {offer.api.id: {} for offer in offers}
    for (offer, tool), name in zip(found, names, strict=True):
        renames[offer.api.id].setdefault(tool.described.name, name)
    definitions: list[ToolDefinition] = []
    tools: list[llm.Tool] = []
    findings: dict[str, str | None] = {}
    labels: dict[str, str] = {}
    for (offer, tool), name in zip(found, names, strict=True):
        subject = f"Tool {tool.described.name} of {offer.api.name}"
        try:
            definitions.append(_define(schemas, offer, tool.described, name, renames[offer.api.id]))
        except Exception as error:  # noqa: BLE001 a schema may hold anybody's code, and the other tools are still good
            findings[subject] = f"it is not offered, because its arguments cannot be described: {error}"
            continue
        findings[subject] = None
        labels[name] = offer.api.id
        tools.append(_callable(tool, name))
    prompt = _joined(offers, [rename_tools(offer.prompt, renames[offer.api.id]) for offer in offers])
    context = _joined(offers, [rename_tools(offer.context, renames[offer.api.id]) for offer in offers])
    api = OfferedApi(
        hass=hass,
        id=DOMAIN,
        name="Chatterbox",
        prompt="\n".join(filter(None, (prompt, context))),
        tools=sorted(tools, key=lambda tool: tool.name),
        custom_serializer=_serializer(offers),
    )
    definitions.sort(key=lambda definition: definition.name)
    return MergedApi(
        api, tuple(definitions), prompt, context, findings, labels, any(offer.home_is_large for offer in offers)
    )


def _callable(tool: OfferedTool, name: str) -> llm.Tool:
    if tool.runs is None:
        return ToolElsewhere(name, tool.described)
    return tool.runs if tool.runs.name == name else RenamedTool(name, tool.runs)


def _distinct(offers: Iterable[ApiOffer]) -> Iterator[tuple[ApiOffer, OfferedTool]]:
    """Yield every tool once: APIs may share one, such as that for date and time."""
    seen: dict[str, list[llm.Tool]] = {}
    for offer in offers:
        for tool in offer.tools:
            described = tool.described
            twins = seen.setdefault(described.name, [])
            if not any(type(twin) is type(described) and vars(twin) == vars(described) for twin in twins):
                twins.append(described)
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
        annotations=ToolAnnotations(
            read_only=tool.annotations.read_only,
            destructive=tool.annotations.destructive,
            idempotent=tool.annotations.idempotent,
            open_world=tool.annotations.open_world and class_path(own) not in _MEDIA_TOOLS,
        ),
        repeatable=isinstance(own, llm.IntentTool) and own.intent_type in REPEATABLE_INTENTS,
    )


def unwrapped(tool: llm.Tool) -> llm.Tool:
    """Return the tool behind those that only give it another name."""
    while isinstance(tool, llm.NamespacedTool):
        tool = tool.tool
    return tool


def class_path(tool: llm.Tool) -> str:
    """Return where the class of a tool stands, such as `homeassistant.components.script.llm.ScriptTool`."""
    return f"{type(tool).__module__}.{type(tool).__qualname__}"


def _joined(offers: Sequence[ApiOffer], texts: Sequence[str]) -> str:
    """Join what the APIs say; with several, each says whose tools it is about."""
    said = [(offer.api.name, text) for offer, text in zip(offers, texts, strict=True) if text.strip()]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"About the tools of {name}:\n{text}" for name, text in said)


def _serializer(offers: Sequence[ApiOffer]) -> CustomSerializer:
    """Ask the serializers of the APIs in turn."""
    serializers = [offer.custom_serializer for offer in offers if offer.custom_serializer]

    def serialize(schema: object) -> object:
        answers = (serializer(schema) for serializer in serializers)
        return next((answer for answer in answers if answer is not probatio.UNSUPPORTED), probatio.UNSUPPORTED)

    return serialize
