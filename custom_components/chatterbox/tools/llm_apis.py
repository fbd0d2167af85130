"""Asks one of Home Assistant's LLM APIs for its tools and its prompt, for the speaker of a turn.

Model servers cache the beginning of a prompt, so text that differs between speakers or turns has to stand beside the
words of the speaker. In the Assist API the parts that differ are known. The prompt of any other API is taken as stable
until it changes. Decision 29.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, override

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.homeassistant.const import DOMAIN as HOMEASSISTANT_DOMAIN
from homeassistant.components.intent import DOMAIN as INTENT_DOMAIN, async_device_supports_timers
from homeassistant.components.llm import LLMTools
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import device_registry as dr, intent, llm

from ..const import DOMAIN, INTEGRATION, LOGGER
from ..data import singleton
from ..home.description import GUIDE_TO_CALLS, describe_home
from ..home.entities import async_get_home, async_home_version
from ..internals.intent import control_guide
from ..internals.llm import async_assist_platforms, live_context_tool
from ..settings.agent import HomeDetail
from .schema import CustomSerializer

if TYPE_CHECKING:
    from homeassistant.components.llm import LLMToolsPlatformProtocol

NOT_AVAILABLE: Final = (
    "This cannot be used from the device that asks, or by the person who asks, only from elsewhere in the home. "
    "Nothing was done. Say so, and do not try it another way."
)

_CACHED: Final = frozenset(
    {"assist_satellite", "climate", "fan", "humidifier", "intent", "lawn_mower", "light", "vacuum"}
)
"""Platforms whose tools and prompt depend on nothing but the exposed home, the intents, and the speaker's device."""
_OWN_MODULES: Final = ("homeassistant.components.", f"{INTEGRATION}.")
"""Prefixes of the modules whose prompts are the same for every speaker, except for those of the intent integration."""


class ApiOffer(NamedTuple):
    """The answer of one API in one turn."""

    api: llm.API
    tools: tuple[llm.Tool, ...]
    prompt: str
    """The part that is the same for every speaker."""
    context: str
    """The part for this speaker or this moment."""
    custom_serializer: CustomSerializer | None


class UnavailableTool(llm.Tool):
    """Describes a tool that this speaker cannot use, so that every speaker has the same tools."""

    def __init__(self, tool: llm.Tool) -> None:
        """Take over the description of `tool`."""
        self.name = tool.name
        self.title = tool.title
        self.description = tool.description
        self.parameters = tool.parameters
        self.annotations = tool.annotations
        self.integration = tool.integration

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Return an error."""
        return llm.ToolResult(data={"error": NOT_AVAILABLE}, error=True)


def context_without_speaker(hass: HomeAssistant, user_id: str | None = None) -> llm.LLMContext:
    """Return the context of a request without a device or a person, with the rights of a user."""
    return llm.LLMContext(DOMAIN, Context(user_id=user_id), hass.config.language, CONVERSATION_DOMAIN, None)


def source_names(hass: HomeAssistant, for_admins: str) -> dict[str, str]:
    """Return the names of all APIs by id. Those for administrators are put into `for_admins`."""
    apis = llm.async_get_apis(hass)
    return {api.id: for_admins.format(source=api.name) if requires_admin(api) else api.name for api in apis}


def requires_admin(api: llm.API) -> bool:
    """Return whether the tools of an API are only for administrators. Before Home Assistant 2026.11 none were."""
    return bool(getattr(api, "requires_admin", False))


async def async_may_use(api: llm.API, context: Context | None) -> bool:
    """Return whether an API offers its tools in a context, as `llm.async_get_api` decides since 2026.11.

    The users of integrations are nobody: they stand for whoever calls, as on a telephone.
    """
    if not requires_admin(api):
        return True
    user_id = context.user_id if context else None
    user = await api.hass.auth.async_get_user(user_id) if user_id else None
    return user is not None and user.is_admin and user.is_active and not user.system_generated


async def async_ask_api(api: llm.API, llm_context: llm.LLMContext, home: HomeDetail) -> ApiOffer:
    """Ask an API for its tools and prompt. `home` says how to describe the home. Raises whatever the API raises."""
    if platforms := await async_assist_platforms(api):
        return _ask_assist(api, platforms, llm_context, home)
    instance = await api.async_get_api_instance(llm_context)
    tools = tuple(tool for tool in instance.tools if isinstance(getattr(tool, "name", None), str))
    prompt, context = _split_by_history(api.hass, api.id, api, instance.api_prompt)
    return ApiOffer(api, tools, prompt, context, instance.custom_serializer)


def _ask_assist(
    api: llm.API, platforms: Mapping[str, LLMToolsPlatformProtocol], llm_context: llm.LLMContext, home: HomeDetail
) -> ApiOffer:
    """Ask the platforms of the Assist API one by one, as `homeassistant.components.llm.async_get_tools` does."""
    exposed = async_get_home(api.hass, llm_context.assistant)
    listed = partial(describe_home, exposed, telling=home) if home.is_compact and exposed.entities else None
    tools: list[llm.Tool] = []
    prompts: list[str] = []
    contexts: list[str] = []
    for domain, platform in sorted(platforms.items()):
        try:
            offered, prompt, context = _ask_platform(api, domain, platform, llm_context, listed)
        except Exception:  # noqa: BLE001 a platform may be anybody's code, and the others are still good
            LOGGER.exception("Cannot get the LLM tools of %s", domain)
            continue
        tools += offered
        prompts.append(prompt)
        contexts.append(context)
    return ApiOffer(api, tuple(tools), _joined(prompts), _joined(contexts), llm.selector_serializer)


def _ask_platform(
    api: llm.API,
    domain: str,
    platform: LLMToolsPlatformProtocol,
    llm_context: llm.LLMContext,
    listed: Callable[[str], str] | None,
) -> tuple[list[llm.Tool], str, str]:
    """Return the tools of a platform, the stable part of its prompt, and the part for this speaker.

    `listed` returns our list of the home for the name of the tool that tells states; None to keep Assist's own.
    """
    if domain == HOMEASSISTANT_DOMAIN and listed and (tool := live_context_tool(api)):
        # Its own list of the home is the one slow part of Assist, and is not needed.
        return [tool], listed(tool.name), ""
    offer = _offered(api, domain, platform, llm_context)
    prompt = offer.prompt or ""
    if domain == INTENT_DOMAIN:
        # All lines except for the guide depend on the device of the speaker.
        guide = known if (known := control_guide(api.hass)) in prompt else ""
        context = prompt.replace(guide, "").strip() if guide else prompt
        tools = [*offer.tools, *_timer_tools_elsewhere(api, platform, llm_context, offer.tools)]
        return tools, GUIDE_TO_CALLS if guide and listed else guide, context
    if _is_of_home_assistant(platform):
        return offer.tools, prompt, ""
    return offer.tools, *_split_by_history(api.hass, f"{api.id}/{domain}", platform, prompt)


_tool_cache: Final = singleton(lambda _: dict[tuple[object, ...], LLMTools]())
"""Returns what platforms have offered to devices, as long as the home stays the same."""


def _offered(api: llm.API, domain: str, platform: LLMToolsPlatformProtocol, llm_context: llm.LLMContext) -> LLMTools:
    """Return the tools of a platform. Each platform reads all exposed entities, so some are asked only once."""
    if domain not in _CACHED or not _is_of_home_assistant(platform):
        return platform.async_get_tools(api.hass, llm_context, api.id) or LLMTools([])
    cache, device_id = _tool_cache(api.hass), llm_context.device_id
    has_timers = device_id is not None and async_device_supports_timers(api.hass, device_id)
    home = (async_home_version(api.hass, llm_context.assistant), *intent.async_get(api.hass))
    if home not in cache:
        cache.clear()
        cache[home] = LLMTools([])
    key = (domain, llm_context.assistant, device_id, has_timers)
    if key not in cache:
        cache[key] = platform.async_get_tools(api.hass, llm_context, api.id) or LLMTools([])
    return cache[key]


def _is_of_home_assistant(platform: LLMToolsPlatformProtocol) -> bool:
    return getattr(platform, "__name__", "").startswith(_OWN_MODULES)


def _timer_tools_elsewhere(
    api: llm.API, platform: LLMToolsPlatformProtocol, llm_context: llm.LLMContext, available: Iterable[llm.Tool]
) -> list[llm.Tool]:
    """Return the timer tools if only other devices of the home have them."""
    if llm_context.device_id and async_device_supports_timers(api.hass, llm_context.device_id):
        return []
    devices = (device.id for device in dr.async_get(api.hass).devices)
    device_id = next((device for device in devices if async_device_supports_timers(api.hass, device)), None)
    if device_id is None:
        return []
    there = platform.async_get_tools(api.hass, replace(llm_context, device_id=device_id), api.id) or LLMTools([])
    names = {tool.name for tool in available}
    return [UnavailableTool(tool) for tool in there.tools if tool.name not in names]


_first_prompts: Final = singleton(lambda _: dict[str, tuple[object, str | None]]())
"""Returns for each API or platform the object that was asked, and its first prompt, or None once it has changed."""


def _split_by_history(hass: HomeAssistant, key: str, source: object, prompt: str) -> tuple[str, str]:
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
