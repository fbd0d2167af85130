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

from .agent.messages import ToolAnnotations, ToolDefinition
from .const import DOMAIN
from .tool_names import ToolOrigin, offered_names, rename_tools
from .tool_schema import CustomSerializer, convert_schema
from .tool_targets import intent_type

REPEATABLE_INTENTS: Final = frozenset({INTENT_MEDIA_NEXT, INTENT_MEDIA_PREVIOUS, INTENT_SET_VOLUME_RELATIVE})
"""Intents that take one step: asked for twice in one turn, two steps are meant."""


@dataclass(slots=True, kw_only=True)
class OfferedApi(llm.API):
    """Several APIs as one."""

    prompt: str
    tools: list[llm.Tool]
    custom_serializer: CustomSerializer

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools for `llm_context`, which is the one that they were gathered for."""
        return llm.APIInstance(self, self.prompt, llm_context, self.tools, self.custom_serializer)


class RenamedTool(llm.NamespacedTool):
    """A tool under another name; it is still called by its own."""

    def __init__(self, name: str, tool: llm.Tool) -> None:
        """Offer `tool` as `name`."""
        super().__init__(DOMAIN, tool)
        self.name = name


@dataclass(frozen=True, slots=True)
class MergedApi:
    """One API made of several."""

    api: OfferedApi
    definitions: tuple[ToolDefinition, ...]
    """Sorted by name, one for each tool of `api`."""
    findings: Mapping[str, str | None]
    """For each tool, named with its API: why it is left out, or None when it is offered."""


def merge_apis(hass: HomeAssistant, instances: Sequence[llm.APIInstance]) -> MergedApi:
    """Make one API of several. A tool that cannot be described to a model is left out; the others stay."""
    found = list(_distinct(instances))
    names = offered_names([ToolOrigin(instance.api.id, tool.name) for instance, tool in found])
    renames: dict[str, dict[str, str]] = {instance.api.id: {} for instance in instances}
    for (instance, tool), name in zip(found, names, strict=True):
        renames[instance.api.id].setdefault(tool.name, name)
    definitions: list[ToolDefinition] = []
    tools: list[llm.Tool] = []
    findings: dict[str, str | None] = {}
    for (instance, tool), name in zip(found, names, strict=True):
        subject = f"Tool {tool.name} of {instance.api.name}"
        try:
            definitions.append(_define(instance, tool, name, renames[instance.api.id]))
        except Exception as error:  # noqa: BLE001 a schema may hold anybody's code, and the other tools are still good
            findings[subject] = f"it is not offered, because its arguments cannot be described: {error}"
            continue
        findings[subject] = None
        tools.append(tool if tool.name == name else RenamedTool(name, tool))
    api = OfferedApi(
        hass=hass,
        id=DOMAIN,
        name="Chatterbox",
        prompt=_prompt(instances, renames),
        tools=sorted(tools, key=lambda tool: tool.name),
        custom_serializer=_serializer(instances),
    )
    return MergedApi(api, tuple(sorted(definitions, key=lambda definition: definition.name)), findings)


def _distinct(instances: Iterable[llm.APIInstance]) -> Iterator[tuple[llm.APIInstance, llm.Tool]]:
    """Yield every tool once: APIs may share one, such as that for date and time."""
    seen: dict[str, list[llm.Tool]] = {}
    for instance in instances:
        for tool in instance.tools:
            if not isinstance(getattr(tool, "name", None), str):
                continue  # Nothing could call it.
            twins = seen.setdefault(tool.name, [])
            if not any(type(twin) is type(tool) and vars(twin) == vars(tool) for twin in twins):
                twins.append(tool)
                yield instance, tool


def _define(instance: llm.APIInstance, tool: llm.Tool, name: str, renames: Mapping[str, str]) -> ToolDefinition:
    schema = convert_schema(tool.parameters, instance.custom_serializer)
    provided_by = f"Provided by {instance.api.name}." if name != tool.name else ""
    sentences = (rename_tools(tool.description or tool.title or "", renames), *schema.remarks, provided_by)
    return ToolDefinition(
        name=name,
        description=" ".join(filter(None, sentences)),
        parameters=schema.parameters,
        annotations=ToolAnnotations(
            read_only=tool.annotations.read_only,
            destructive=tool.annotations.destructive,
            idempotent=tool.annotations.idempotent,
            open_world=tool.annotations.open_world,
        ),
        repeatable=intent_type(tool) in REPEATABLE_INTENTS,
    )


def _prompt(instances: Sequence[llm.APIInstance], renames: Mapping[str, Mapping[str, str]]) -> str:
    """Join the prompts of the APIs; with several, each says whose tools it is about."""
    prompts = [
        (instance.api.name, rename_tools(instance.api_prompt, renames[instance.api.id]))
        for instance in instances
        if instance.api_prompt.strip()
    ]
    if len(prompts) == 1:
        return prompts[0][1]
    return "\n\n".join(f"About the tools of {name}:\n{prompt}" for name, prompt in prompts)


def _serializer(instances: Sequence[llm.APIInstance]) -> CustomSerializer:
    """Ask the serializers of the APIs in turn."""
    serializers = [instance.custom_serializer for instance in instances if instance.custom_serializer]

    def serialize(schema: object) -> object:
        answers = (serializer(schema) for serializer in serializers)
        return next((answer for answer in answers if answer is not probatio.UNSUPPORTED), probatio.UNSUPPORTED)

    return serialize
