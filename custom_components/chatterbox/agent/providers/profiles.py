"""Profiles of known servers as data: a new server is one more entry in `profiles.toml`.

Code asks a profile for a property and never for a name. A wrong entry costs one
request: a refused parameter is left out from then on.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from yarl import URL

from ..messages import IMAGE_TYPES, PDF, JsonObject
from ..protocols import ReasoningEffort, Verbosity
from ..text import read_data_file
from ..wire.chat_dialect import DEFAULT_DIALECT, ChatDialect


class ServiceTier(StrEnum):
    """Price and speed of a request."""

    AUTO = "auto"
    DEFAULT = "default"
    FLEX = "flex"
    """Half the price, but slow; without capacity, the default tier answers."""
    PRIORITY = "priority"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model. None is not sent: the service's default applies."""

    temperature: float | None = None
    """From 0; the maximum depends on the service (1 or 2)."""
    top_p: float | None = None
    """Above 0, up to 1."""
    max_tokens: int | None = None
    """Limit of one answer, including reasoning if the service counts it."""
    max_characters: int = 200_000
    """Of one answer, thoughts and arguments of calls included, whatever the model is told: there it is cut."""
    reasoning_effort: ReasoningEffort | None = None
    verbosity: Verbosity | None = None
    """Responses API only, like the next two."""
    service_tier: ServiceTier | None = None
    prompt_cache_key: str | None = None
    """The same for requests with the same prefix, such as an agent's; at most 64 characters, without personal data."""
    keep_alive: int | str | None = None
    """Ollama only, like the next one: how long the model stays in memory after an answer; seconds, 0 for not at all,
    -1 for ever, or `"30m"`."""
    num_ctx: int | None = None
    """Context length that the model is loaded with. Another value reloads the model."""
    extra: JsonObject = field(default_factory=dict)
    """Replaces top-level fields of the request at the very end; null removes a field."""


DEFAULT_OPTIONS: Final = ModelOptions()


def with_wishes(payload: JsonObject, wishes: JsonObject) -> JsonObject:
    """Return `payload` with the fields of `wishes` that are not None; objects in both are merged."""
    merged = dict(payload)
    for name, wish in wishes.items():
        own = merged.get(name)
        if wish is not None:
            merged[name] = (
                {**own, **wish}
                if isinstance(own, dict) and isinstance(wish, dict)
                else wish
            )
    return merged


class WireFormat(StrEnum):
    """Wire formats that have a provider, named like its module."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC_MESSAGES = "anthropic_messages"
    OLLAMA_CHAT = "ollama_chat"


def nearest_effort(
    effort: ReasoningEffort, known: Collection[ReasoningEffort]
) -> ReasoningEffort:
    """Return the nearest of the `known` efforts, the lower one of two.

    None is never near another effort: if reasoning cannot be disabled, the lowest
    effort is used.
    """
    if effort in known:
        return effort
    steps = list(ReasoningEffort)
    some = [step for step in known if step is not ReasoningEffort.NONE]
    return min(
        some,
        key=lambda step: (
            abs(steps.index(step) - steps.index(effort)),
            steps.index(step),
        ),
    )


def _field(effort: ReasoningEffort) -> JsonObject:
    return {"reasoning_effort": effort}


def _switch(effort: ReasoningEffort) -> JsonObject:
    """Use a switch and a field, as DeepSeek does; it maps efforts to its own."""
    thinks = effort is not ReasoningEffort.NONE
    if thinks:
        return {
            "thinking": {"type": "enabled"},
            **_field(effort),
        }
    return {"thinking": {"type": "disabled"}}


def _template(effort: ReasoningEffort) -> JsonObject:
    """Use the field and the variables of the model's template, the only way of older servers."""
    thinks = effort is not ReasoningEffort.NONE
    return {
        **_field(effort),
        "chat_template_kwargs": {
            "enable_thinking": thinks,
            "thinking": thinks,
        },
    }


_EFFORT_STYLES: Final[Mapping[str, Callable[[ReasoningEffort], JsonObject]]] = {
    "field": _field,
    "object": lambda effort: {"reasoning": {"effort": effort}},
    "switch": _switch,
    "template": _template,
}


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """One kind of server. The defaults are those of an unknown server."""

    id: str
    """Stored, so it must never change."""
    name: str
    """Display name, not translated."""
    wire: WireFormat = WireFormat.OPENAI_CHAT
    """The preferred format."""
    base_url: str = ""
    """Default address; empty if there is none."""
    port: int | None = None
    """Default port of a local server, if it is characteristic."""
    needs_key: bool = False
    key_page: str = ""
    """Address of the page of the service on which people create keys."""
    caches_prefix: bool = False
    """Whether prefilling a prompt speeds up the answer at no cost."""
    window_pages: tuple[str, ...] = ("models", "/props")
    """Paths that may report the context length: below the API or, with a slash, on the server; `{model}` is replaced.

    Most servers report it in their list of models, llama.cpp on a page of its own.
    """
    models_page: str = ""
    """Path of a list that says more of each model than the usual one; empty if there is none."""
    tells_progress: bool = False
    """Whether it tells how much of a prompt it has read (`return_progress`), in Chat Completions."""
    passes_on: bool = False
    """Whether it forwards requests to services that may charge for them."""
    accepts_images: bool = True
    """Whether multimodal models of this server accept images."""
    accepts_pdfs: bool = False
    output_beside_tools: bool = False
    """Whether tools and a structured output work in one request."""
    search_tool: str = ""
    """Type of the service's own tool that searches the web, in the preferred format; empty if it has none."""
    search_fee: float = 0.0
    """US dollars for a search by that."""
    max_tokens_field: str = "max_tokens"
    """In Chat Completions only, like the next three."""
    effort_style: Literal["field", "object", "switch", "template"] = "field"
    """How a request asks for an effort; see `_EFFORT_STYLES`."""
    known_efforts: tuple[ReasoningEffort, ...] = tuple(ReasoningEffort)
    chat: ChatDialect = DEFAULT_DIALECT

    def effort_fields(self, effort: ReasoningEffort) -> JsonObject:
        """Return the fields of a payload for an effort, or for the nearest one that the server knows."""
        return _EFFORT_STYLES[self.effort_style](
            nearest_effort(effort, self.known_efforts)
        )

    def searches_over(self, wire: str) -> bool:
        """Return whether the service searches the web by itself over a format."""
        return bool(self.search_tool) and wire == self.wire

    @property
    def host(self) -> str:
        """Host of a service on the internet, which has subdomains; empty for local servers."""
        if self.needs_key:
            return URL(self.base_url).host or ""
        return ""

    @property
    def attachments(self) -> frozenset[str]:
        """MIME types of supported attachments."""
        if self.accepts_images:
            images = IMAGE_TYPES
        else:
            images = frozenset[str]()
        if self.accepts_pdfs:
            return images | {PDF}
        return images


_SERVERS: Final = read_data_file(__file__, dict[str, tuple[ServerProfile, ...]])[
    "servers"
]
PROFILES: Final = {profile.id: profile for profile in _SERVERS}
"""By id, in display order."""
OPENAI: Final = PROFILES["openai"]
ANTHROPIC: Final = PROFILES["anthropic"]
OLLAMA: Final = PROFILES["ollama"]
LLAMA_CPP: Final = PROFILES["llama_cpp"]
LM_STUDIO: Final = PROFILES["lm_studio"]
VLLM: Final = PROFILES["vllm"]
LOCALAI: Final = PROFILES["localai"]
OTHER: Final = PROFILES["other"]
"""An unknown server."""


def profile_at(base_url: str) -> ServerProfile:
    """Guess the profile of a server from its address: by host, else by port."""
    try:
        url = URL(base_url.strip())
        host = url.host or ""
        port = url.explicit_port
    except ValueError:
        return OTHER
    for profile in PROFILES.values():
        if profile.host and f".{host}".endswith(f".{profile.host}"):
            return profile
    return next(
        (
            profile
            for profile in PROFILES.values()
            if port is not None and profile.port == port
        ),
        OTHER,
    )
