"""Asks Home Assistant's LLM APIs for their tools and prompts, for the speaker of a turn, and merges them into one API.

The result depends only on the APIs, not on the order in which Home Assistant has loaded
them. Model servers cache the beginning of a prompt, so text that differs between
speakers or turns has to stand beside the words of the speaker. In the Assist API the
parts that differ are known. The prompt of any other API is taken as stable until it
changes. Decision 29.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, override
from weakref import WeakKeyDictionary

import probatio
import slugify as unicode_slug
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.homeassistant.const import DOMAIN as HOMEASSISTANT_DOMAIN
from homeassistant.components.intent import (
    DOMAIN as INTENT_DOMAIN,
    async_device_supports_timers,
)
from homeassistant.components.llm import LLMTools
from homeassistant.components.media_player.const import (
    INTENT_MEDIA_NEXT,
    INTENT_MEDIA_PREVIOUS,
    INTENT_SET_VOLUME_RELATIVE,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr, intent, llm
from homeassistant.util.json import JsonObjectType

from ..agent.messages import ToolDefinition, ToolGroup, ToolPart, Tools
from ..agent.text import read_data_file
from ..agent.timeouts import read_aside
from ..const import DOMAIN, INTEGRATION, LOGGER, home_singleton
from ..home.description import GUIDE_TO_CALLS, describe_home
from ..home.entities import async_get_home, async_home_version
from ..home.name_index import floor_called
from ..home.states import short_states
from ..internals.intent import control_guide
from ..internals.llm import (
    KnownTool,
    async_assist_platforms,
    known_tool,
    live_context_tool,
)
from ..people.speakers import async_user_of
from ..settings.agent import HomeDetail
from ..settings.tool_names import HASH_LENGTH, MAX_NAME_LENGTH
from ..speech.sentences import Sentences
from .annotations import annotations_of, unwrapped
from .own.registry import SharedTool
from .schema import CustomSerializer, SchemaCache, ToolSchema

if TYPE_CHECKING:
    from homeassistant.components.llm import LLMToolsPlatformProtocol

NOT_AVAILABLE: Final = (
    "This cannot be used from the device that asks, or by the person who asks, only from elsewhere in the home. "
    "Nothing was done. Say so, and do not try it another way."
)


class _Forms(TypedDict):
    cached: list[str]
    unlisted: list[str]
    descriptions: dict[str, str]
    groups: list[ToolGroup]


class _ShownForm(NamedTuple):
    """How a model is shown a tool of Assist."""

    description: str = ""
    """Empty for its own."""
    part: ToolPart | None = None
    is_listed: bool = True
    is_bare: bool = False


_FORMS: Final = read_data_file(__file__, _Forms, "assist_tools.toml")
_PARTS: Final = {
    tool: ToolPart(group, action)
    for group in _FORMS["groups"]
    for action, tool in group.actions.items()
}
_OWN_MODULES: Final = ("homeassistant.components.", f"{INTEGRATION}.")
"""Prefixes of the modules whose prompts are the same for every speaker, except for those of the intent integration."""


_ON_STATES: Final = "Reads states, values and modes by name, area or domain; for several of one kind, give the domain."


class ApiOffer(NamedTuple):
    """The answer of one API in one turn."""

    api: llm.API
    tools: tuple[llm.Tool, ...]
    prompt: str
    """The part that is the same for every speaker."""
    context: str
    """The part for this speaker or this moment."""
    custom_serializer: CustomSerializer | None


class DescribedTool(llm.Tool):
    """A tool that is described like another one, and does something else."""

    def __init__(self, tool: llm.Tool) -> None:
        """Take over the description of `tool`."""
        self.tool = tool
        self.name = tool.name
        self.title = tool.title
        self.description = tool.description
        self.parameters = tool.parameters
        self.annotations = tool.annotations
        self.integration = tool.integration


class UnavailableTool(DescribedTool):
    """Describes a tool that this speaker cannot use, so that every speaker has the same tools."""

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Return an error."""
        return llm.ToolResult(
            data={"error": NOT_AVAILABLE},
            error=True,
        )


class ShortStates(llm.NamespacedTool):
    """The tool that reads states, with a result in the form of the list of the home."""

    def __init__(self, tool: llm.Tool) -> None:
        """Offer `tool` under its own name."""
        super().__init__("", tool)
        self.name = tool.name
        self.description = _ON_STATES
        self.parameters = probatio.Schema(
            {
                probatio.Optional(str(name)): validator
                for name, validator in tool.parameters.schema.items()
            }
        )

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult | JsonObjectType:
        """Read states; those of a floor, which may be given as the area, are chosen of all."""
        given = dict(tool_input.tool_args)
        floor_id = floor_called(
            hass,
            str(given.get("area") or ""),
        )
        if floor_id:
            del given["area"]
            tool_input = replace(tool_input, tool_args=given)
        result = await super().async_call(
            hass,
            tool_input,
            llm_context,
        )
        if not isinstance(result, llm.ToolResult) or not isinstance(
            text := result.data.get("result"), str
        ):
            return result
        home = async_get_home(hass, llm_context.assistant)
        return replace(
            result,
            data={
                "result": await read_aside(
                    len(text), short_states, text, home, floor_id
                )
            },
        )


def context_without_speaker(
    hass: HomeAssistant, user_id: str | None = None
) -> llm.LLMContext:
    """Return the context of a request without a device or a person, with the rights of a user."""
    return llm.LLMContext(
        DOMAIN,
        Context(user_id=user_id),
        hass.config.language,
        CONVERSATION_DOMAIN,
        None,
    )


GUARDED_API: Final = f"{DOMAIN}_guarded"
"""Id of the API by which other agents get these tools under our rules; see `turns/guarded_api.py`."""


def tool_sources(hass: HomeAssistant) -> dict[str, llm.API]:
    """Return the LLM APIs that our agents may use, by id."""
    return {api.id: api for api in llm.async_get_apis(hass) if api.id != GUARDED_API}


_ASSIST_NAME: Final = "Device control"
"""The name that Home Assistant gives the Assist API since 2026.11, in all languages."""


def source_names(
    hass: HomeAssistant,
    sentences: Sentences,
) -> dict[str, str]:
    """Return the names of all APIs by id, from the category `common` of a translation where it has one."""
    names: dict[str, str] = {}
    for api in tool_sources(hass).values():
        if api.name == _ASSIST_NAME:
            name = sentences.get("source_assist", api.name)
        else:
            name = api.name
        names[api.id] = (
            sentences["source_admin"].format(source=name)
            if requires_admin(api)
            else name
        )
    return names


def requires_admin(api: llm.API) -> bool:
    """Return whether the tools of an API are only for administrators. Before Home Assistant 2026.11 none were."""
    return bool(getattr(api, "requires_admin", False))


async def async_may_use(
    api: llm.API,
    llm_context: llm.LLMContext,
) -> bool:
    """Return whether an API offers its tools in a context, as `llm.async_get_api` decides since 2026.11.

    The users of integrations are nobody: they stand for whoever calls, as on a
    telephone.
    """
    if not requires_admin(api):
        return True
    user = await async_user_of(api.hass, llm_context)
    return (
        user is not None
        and user.is_admin
        and user.is_active
        and not user.system_generated
    )


async def async_ask_api(
    api: llm.API, llm_context: llm.LLMContext, home: HomeDetail
) -> ApiOffer:
    """Ask an API for its tools and prompt. `home` says how to describe the home. Raises whatever the API raises."""
    platforms = await async_assist_platforms(api)
    if platforms:
        return _ask_assist(
            api,
            platforms,
            llm_context,
            home,
        )
    instance = await api.async_get_api_instance(llm_context)
    tools = tuple(
        tool for tool in instance.tools if isinstance(getattr(tool, "name", None), str)
    )
    prompt, context = _split_by_history(
        api.hass,
        api.id,
        api,
        instance.api_prompt,
    )
    return ApiOffer(
        api,
        tools,
        prompt,
        context,
        instance.custom_serializer,
    )


def _ask_assist(
    api: llm.API,
    platforms: Mapping[str, LLMToolsPlatformProtocol],
    llm_context: llm.LLMContext,
    home: HomeDetail,
) -> ApiOffer:
    """Ask the platforms of the Assist API one by one, as `homeassistant.components.llm.async_get_tools` does."""
    exposed = async_get_home(api.hass, llm_context.assistant)
    if home.is_compact and exposed.entities:
        listed = partial(
            describe_home,
            exposed,
            telling=home,
        )
    else:
        listed = None
    stored = _stored_offers(api.hass, llm_context)
    question = _Question(api, llm_context, stored, listed)
    tools: list[llm.Tool] = []
    prompts: list[str] = []
    contexts: list[str] = []
    for domain, platform in sorted(platforms.items()):
        try:
            offered, prompt, context = question.ask(domain, platform)
        except Exception:  # noqa: BLE001 a platform may be anybody's code, and the others are still good
            LOGGER.exception("Cannot get the LLM tools of %s", domain)
            continue
        tools += offered
        prompts.append(prompt)
        contexts.append(context)
    return ApiOffer(
        api, tuple(tools), _joined(prompts), _joined(contexts), llm.selector_serializer
    )


@dataclass(frozen=True, slots=True)
class _Question:
    """A question to the platforms of the Assist API about their tools."""

    api: llm.API
    llm_context: llm.LLMContext
    stored: dict[str, LLMTools]
    """Offers to this speaker that stay the same, by platform. Each platform reads all exposed entities."""
    listed: Callable[[str], str] | None
    """Returns our list of the home for the name of the tool that tells states; None to keep Assist's own."""

    def ask(
        self, domain: str, platform: LLMToolsPlatformProtocol
    ) -> tuple[list[llm.Tool], str, str]:
        """Return the tools of a platform, the stable part of its prompt, and the part for this speaker."""
        if domain == HOMEASSISTANT_DOMAIN and self.listed:
            # Its own list of the home is the one slow part of Assist, and is not needed.
            tools = self._short_states()
            if tools:
                return tools, self.listed(tools[0].name), ""
        offer = self._offer(domain, platform)
        prompt = offer.prompt or ""
        if domain == INTENT_DOMAIN:
            tools = [*offer.tools, *self._timer_tools_elsewhere(platform, offer.tools)]
            return tools, *self._guide(prompt)
        if _is_of_home_assistant(platform):
            return offer.tools, prompt, ""
        key = f"{self.api.id}/{domain}"
        return offer.tools, *_split_by_history(self.api.hass, key, platform, prompt)

    def _short_states(self) -> list[llm.Tool]:
        """Return the tool that reads states; none if Home Assistant has none."""
        stored = self.stored.get(_SHORT_STATES)
        if stored is None:
            tool = live_context_tool(self.api)
            stored = LLMTools([ShortStates(tool)] if tool else [])
            self.stored[_SHORT_STATES] = stored
        return stored.tools

    def _offer(
        self,
        domain: str,
        platform: LLMToolsPlatformProtocol,
    ) -> LLMTools:
        stored = self.stored.get(domain)
        if stored:
            return stored
        offer = self._answer(platform, self.llm_context)
        if domain in _FORMS["cached"] and _is_of_home_assistant(platform):
            self.stored[domain] = offer
        return offer

    def _answer(
        self, platform: LLMToolsPlatformProtocol, llm_context: llm.LLMContext
    ) -> LLMTools:
        offer = platform.async_get_tools(
            self.api.hass,
            llm_context,
            self.api.id,
        )
        return offer or LLMTools([])

    def _guide(self, prompt: str) -> tuple[str, str]:
        """Divide the prompt of the intents: all lines except for the guide depend on the device of the speaker."""
        guide = control_guide(self.api.hass)
        if not guide or guide not in prompt:
            return "", prompt
        context = prompt.replace(guide, "").strip()
        return GUIDE_TO_CALLS if self.listed else guide, context

    def _timer_tools_elsewhere(
        self, platform: LLMToolsPlatformProtocol, available: Iterable[llm.Tool]
    ) -> list[llm.Tool]:
        """Return the timer tools if only other devices of the home have them."""
        hass = self.api.hass
        here = self.llm_context.device_id
        if here and async_device_supports_timers(hass, here):
            return []
        devices = (device.id for device in dr.async_get(hass).devices)
        able = (one for one in devices if async_device_supports_timers(hass, one))
        elsewhere = next(able, None)
        if elsewhere is None:
            return []
        key = f"{_TIMERS_OF}{elsewhere}"
        if key not in self.stored:
            context = replace(self.llm_context, device_id=elsewhere)
            names = {tool.name for tool in available}
            there = self._answer(platform, context)
            self.stored[key] = LLMTools(
                [
                    UnavailableTool(tool)
                    for tool in there.tools
                    if tool.name not in names
                ]
            )
        return self.stored[key].tools


_SHORT_STATES: Final = "short states"
_TIMERS_OF: Final = "timers of "
_tool_cache: Final = home_singleton(
    "tool_cache", lambda _: dict[tuple[object, ...], dict[str, LLMTools]]()
)
"""Returns what platforms have offered, by speaker and platform, as long as the home stays the same."""


def _stored_offers(
    hass: HomeAssistant, llm_context: llm.LLMContext
) -> dict[str, LLMTools]:
    """Return what platforms have offered to the device of a speaker."""
    cache = _tool_cache(hass)
    device_id = llm_context.device_id
    has_timers = device_id is not None and async_device_supports_timers(hass, device_id)
    home = (
        async_home_version(hass, llm_context.assistant),
        *intent.async_get(hass),
    )
    if home not in cache:
        cache.clear()
        cache[home] = {}
    return cache.setdefault(
        (llm_context.assistant, device_id, has_timers),
        {},
    )


def _is_of_home_assistant(platform: LLMToolsPlatformProtocol) -> bool:
    return getattr(platform, "__name__", "").startswith(_OWN_MODULES)


_first_prompts: Final = home_singleton(
    "first_prompts", lambda _: dict[str, tuple[object, str | None]]()
)
"""Returns for each API or platform the object that was asked, and its first prompt, or None once it has changed."""


def _split_by_history(
    hass: HomeAssistant, key: str, source: object, prompt: str
) -> tuple[str, str]:
    """Return a prompt as the stable part until it differs from the first one, and as the context from then on."""
    prompts = _first_prompts(hass)
    known, first = prompts.get(key, (None, None))
    if known is not source:
        prompts[key] = source, prompt
        return prompt, ""
    if first != prompt:
        prompts[key] = source, None
        return "", prompt
    return prompt, ""


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, parts))


REPEATABLE_INTENTS: Final = frozenset(
    {INTENT_MEDIA_NEXT, INTENT_MEDIA_PREVIOUS, INTENT_SET_VOLUME_RELATIVE}
)
"""Intents that take one step: two calls in one turn mean two steps."""


_schema_cache: Final = home_singleton("schema_cache", lambda _: SchemaCache())


@dataclass(slots=True, kw_only=True)
class MergedApi(llm.API):
    """Several APIs as one, for the speaker of one turn."""

    prompt: str
    tools: list[llm.Tool]
    custom_serializer: CustomSerializer
    requires_admin: bool
    """Whether any of them is only for administrators. Home Assistant reads it since 2026.11."""

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        """Return the tools for `llm_context`, which has to be that of the same speaker."""
        return llm.APIInstance(
            self, self.prompt, llm_context, self.tools, self.custom_serializer
        )


class RenamedTool(llm.NamespacedTool):
    """A tool under another name. It is still called by its own."""

    def __init__(
        self,
        name: str,
        tool: llm.Tool,
    ) -> None:
        """Offer `tool` as `name`."""
        super().__init__(DOMAIN, tool)
        self.name = name


class MergeResult(NamedTuple):
    """One API, and what a model is told about it."""

    api: MergedApi
    definitions: Tools
    """One for each tool of `api`, sorted by name."""
    prompt: str
    """The part of the prompt that is the same for every speaker."""
    context: str
    """The part for this speaker or this moment."""
    problems: Mapping[str, str | None]
    """For each tool, named with its API: the reason why it is left out, or None if it is offered."""
    labels: Mapping[str, str]
    """Ids of the original APIs by the offered names of the tools."""
    intents: Mapping[str, llm.IntentTool]
    """The tools of intents, by the same names."""


def merge_apis(
    hass: HomeAssistant,
    offers: Sequence[ApiOffer],
    classes: frozenset[str] | None,
) -> MergeResult:
    """Merge several APIs. Tools that cannot be described to a model are left out.

    `classes` are the telling ones of the home; None if the model is told of all that
    a tool can do.
    """
    found = list(_distinct(offers))
    names = offered_names(
        [ToolOrigin(offer.api.id, tool.name) for offer, tool, _ in found]
    )
    renames = _renames(found, names)
    definitions: list[ToolDefinition] = []
    tools: list[llm.Tool] = []
    problems: dict[str, str | None] = {}
    labels: dict[str, str] = {}
    intents: dict[str, llm.IntentTool] = {}
    for one, name in zip(found, names, strict=True):
        offer, tool, own = one
        subject = f"Tool {tool.name} of {offer.api.name}"
        try:
            definition = _definition(hass, one, name, renames[offer.api.id], classes)
        except Exception as error:  # noqa: BLE001 a schema may hold anybody's code, and the other tools are still good
            problems[subject] = (
                f"it is not offered, because its arguments cannot be described: {error}"
            )
            continue
        definitions.append(definition)
        problems[subject] = None
        labels[name] = offer.api.id
        tools.append(tool if tool.name == name else RenamedTool(name, tool))
        if isinstance(own, llm.IntentTool):
            intents[name] = own
    prompt = _with_headings(
        offers,
        [rename_tools(offer.prompt, renames[offer.api.id]) for offer in offers],
    )
    context = _with_headings(
        offers,
        [rename_tools(offer.context, renames[offer.api.id]) for offer in offers],
    )
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
    return MergeResult(
        api, tuple(definitions), prompt, context, problems, labels, intents
    )


class _Found(NamedTuple):
    """A tool that an API offers."""

    offer: ApiOffer
    tool: llm.Tool
    own: llm.Tool
    """The tool without wrappers."""


def _distinct(offers: Iterable[ApiOffer]) -> Iterator[_Found]:
    """Yield every tool once: several APIs may share one, such as that for date and time."""
    seen: dict[str, list[llm.Tool]] = {}
    for offer in offers:
        for tool in offer.tools:
            twins = seen.setdefault(tool.name, [])
            if not any(
                type(twin) is type(tool) and vars(twin) == vars(tool) for twin in twins
            ):
                twins.append(tool)
                yield _Found(
                    offer,
                    tool,
                    unwrapped(tool),
                )


def _renames(
    found: Iterable[_Found], names: Iterable[str]
) -> defaultdict[str, dict[str, str]]:
    """Return the new names of renamed tools by API and old name, which means the first tool that has it."""
    renames = defaultdict[str, dict[str, str]](dict)
    seen = set[tuple[str, str]]()
    for (offer, tool, _), name in zip(found, names, strict=True):
        origin = (offer.api.id, tool.name)
        if name != tool.name and origin not in seen:
            renames[offer.api.id][tool.name] = name
        seen.add(origin)
    return renames


class _Described(NamedTuple):
    """How models were told of a tool last."""

    key: tuple[object, ...]
    """All that it depends on."""
    definition: ToolDefinition


_described: Final = home_singleton(
    "described_tools", lambda _: WeakKeyDictionary[llm.Tool, _Described]()
)


def _definition(
    hass: HomeAssistant,
    found: _Found,
    name: str,
    renames: Mapping[str, str],
    classes: frozenset[str] | None,
) -> ToolDefinition:
    """Return how a model is told of a tool. Raises whatever its schema raises."""
    offer, tool, own = found
    serializer = offer.custom_serializer
    arguments = tool.parameters
    # Whoever offers the tool of an intent may describe the same object anew.
    about = (
        tool.name,
        tool.title,
        tool.description,
        tool.annotations,
    )
    shown_as = (
        name,
        offer.api.id,
        offer.api.name,
        classes,
        *renames.items(),
    )
    key = (arguments, serializer, *about, *shown_as)
    described = _described(hass)
    is_of_assist = (
        own.integration == DOMAIN
        or isinstance(own, llm.IntentTool | UnavailableTool)
        or known_tool(own) is KnownTool.LIVE_CONTEXT
    )
    is_lasting = is_of_assist and isinstance(tool, Hashable)
    if is_lasting and tool in described and described[tool].key == key:
        return described[tool].definition
    telling = classes if is_of_assist else None
    schema = _schema_cache(hass).convert(arguments, serializer, telling)
    definition = _define(
        found,
        name,
        schema,
        renames,
        _form(found, classes),
    )
    if is_lasting:
        described[tool] = _Described(key, definition)
    return definition


def _define(
    found: _Found,
    name: str,
    schema: ToolSchema,
    renames: Mapping[str, str],
    form: _ShownForm,
) -> ToolDefinition:
    offer, tool, own = found
    if name != tool.name:
        provided_by = f"Provided by {offer.api.name}."
    else:
        provided_by = ""
    about = form.description or tool.description or tool.title or ""
    sentences = (
        rename_tools(about, renames),
        *schema.remarks,
        provided_by,
    )
    short = schema.short
    if short and isinstance(own, SharedTool):
        short = own.tool.definition.short_parameters or short
    return ToolDefinition(
        name=name,
        description=" ".join(filter(None, sentences)),
        parameters=schema.parameters,
        annotations=annotations_of(tool),
        repeatable=isinstance(own, llm.IntentTool)
        and own.intent_type in REPEATABLE_INTENTS,
        short_parameters=short,
        part=form.part,
        is_listed=form.is_listed,
        is_bare=form.is_bare or own.integration == DOMAIN,
    )


def _form(
    found: _Found,
    classes: frozenset[str] | None,
) -> _ShownForm:
    """Return how a model is shown a tool: as it is, unless it is told of Assist in short."""
    if classes is None or found.offer.api.id != llm.LLM_API_ASSIST:
        return _ShownForm()
    if isinstance(found.own, UnavailableTool):
        own = found.own.tool
    else:
        own = found.own
    name = own.name
    if isinstance(own, llm.IntentTool):
        name = own.intent_type
    elif type(own).__module__ != f"homeassistant.components.{own.integration}.llm":
        return _ShownForm()
    return _ShownForm(
        _FORMS["descriptions"].get(name, ""),
        _PARTS.get(name),
        name not in _FORMS["unlisted"],
        # Alone, get_items would not tell of what.
        is_bare=isinstance(
            own,
            llm.IntentTool,
        )
        or name not in _PARTS,
    )


def _with_headings(
    offers: Sequence[ApiOffer],
    texts: Sequence[str],
) -> str:
    """Join the prompts of the APIs. If there are several, each gets a heading."""
    prompts = [
        (offer.api.name, text)
        for offer, text in zip(offers, texts, strict=True)
        if text.strip()
    ]
    if len(prompts) == 1:
        return prompts[0][1]
    return "\n\n".join(f"About the tools of {name}:\n{text}" for name, text in prompts)


def _serializer(offers: Sequence[ApiOffer]) -> CustomSerializer:
    """Return a serializer that asks those of the APIs in turn."""
    serializers = [
        offer.custom_serializer for offer in offers if offer.custom_serializer
    ]

    def serialize(schema: object) -> object:
        answers = (serializer(schema) for serializer in serializers)
        return next(
            (answer for answer in answers if answer is not probatio.UNSUPPORTED),
            probatio.UNSUPPORTED,
        )

    return serialize


_PLAIN_WORD: Final = re.compile(r"[a-z]+")


_CHARACTERS: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_LENGTH}}}")
_LEGAL: Final = re.compile(rf"(?=[A-Za-z_]){_CHARACTERS.pattern}")


class ToolOrigin(NamedTuple):
    """The origin of a tool."""

    api_id: str
    """Stable id of the API that offers it; two APIs may share a title, never an id."""
    name: str
    """The tool's own name in that API."""


def offered_names(origins: Sequence[ToolOrigin]) -> tuple[str, ...]:
    """Return a name for each tool, in the same order: 1 to 64 characters from `[A-Za-z0-9_-]`, all different.

    None begins with a digit or a hyphen, which Google refuses. They are stable over
    restarts, and no other tool that is added or removed renames one, except one of the
    same name.
    """
    owners = Counter(origin.name for origin in origins)
    taken = {
        name for name, count in owners.items() if count == 1 and _LEGAL.fullmatch(name)
    }
    offered = frozenset(taken)
    seen = Counter[ToolOrigin]()
    names: list[str] = []
    for origin in origins:
        if origin.name in offered:
            names.append(origin.name)
            continue
        names.append(_hashed_name(origin, seen[origin], taken))
        seen[origin] += 1
        taken.add(names[-1])
    return tuple(names)


def _hashed_name(
    origin: ToolOrigin,
    ordinal: int,
    taken: set[str],
) -> str:
    """Build a name from the valid characters of the old one and a hash, longer where a shorter one is taken."""
    legible = origin.name
    if not _CHARACTERS.fullmatch(legible):
        legible = (
            unicode_slug.slugify(
                legible,
                separator="_",
                lowercase=False,
            )
            or "tool"
        )
    if not _LEGAL.match(legible):
        legible = f"_{legible}"
    digest = sha256(
        "\0".join((*origin, str(ordinal))).encode(errors="surrogatepass")
    ).hexdigest()
    lengths = range(HASH_LENGTH, MAX_NAME_LENGTH)
    candidates = (
        f"{legible[: MAX_NAME_LENGTH - length - 1]}_{digest[:length]}"
        for length in lengths
    )
    return next(name for name in candidates if name not in taken)


def rename_tools(
    text: str,
    names: Mapping[str, str],
) -> str:
    """Replace old names of tools in a text.

    `names` maps old to new. A name that is an ordinary word, such as "search", is only
    replaced between quotes or backticks.
    """
    renamed = {old: new for old, new in names.items() if old != new and old in text}
    if not renamed:
        return text
    longest_first = sorted(
        renamed,
        key=lambda name: (-len(name), name),
    )
    pattern = re.compile("|".join(_mention(name) for name in longest_first))
    return pattern.sub(
        lambda found: renamed[found[0]],
        text,
    )


def _mention(name: str) -> str:
    if _PLAIN_WORD.fullmatch(name):
        return rf"(?<=[\"'`]){name}(?=[\"'`])"
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])"
