"""The tool that searches the web over a SearXNG server or Brave, for agents whose service does not search by itself.

Sources: SearXNG, "Search API"; Brave Search API, "LLM Context". What is found is text
of strangers: the guard is stricter from then on, and no later turn is sent it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, islice
from typing import Final, TypedDict

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from pydantic import BaseModel, HttpUrl, JsonValue, TypeAdapter, ValidationError
from yarl import URL

from ...agent.errors import (
    ProviderBusy,
    ProviderError,
    ProviderRejectedKey,
    ProviderRejectedRequest,
    ProviderReplyInvalid,
)
from ...agent.messages import MOST_SEARCHES, JsonObject
from ...agent.providers.refused_parameters import RefusedParameters
from ...agent.providers.service_client import Access, ServiceClient, TimeLimits
from ...agent.text import base_language, clipped, read_data_file
from ...const import LOGGER
from ...settings.agent import AgentSettings, WebSearch
from ...settings.pin_hash import LONGEST_PIN, SHORTEST_PIN
from ...settings.redaction import known_secrets
from ...settings.rules import async_get_home_rules
from .own_tool import (
    DEFINITIONS,
    NoAnswer,
    OwnCall,
    OwnTool,
    ToolAnswer,
)

BRAVE: Final = "https://api.search.brave.com/res/v1"
BRAVE_FEE: Final = 0.005
"""US dollars for one search."""


class _Known(TypedDict):
    """The countries and languages that Brave knows, as `search_web.toml` lists them."""

    countries: frozenset[str]
    languages: dict[str, str]


_KNOWN: Final = read_data_file(__file__, _Known)
_LIMITS: Final = TimeLimits(connect=3, between_bytes=5)
"""Together, the seconds of one search."""
_MOST_BYTES: Final = 2 * 1024 * 1024
_QUERY: Final = "query"
_LONGEST_QUERY: Final = 400
_PAGES: Final = 5
_LONGEST_TEXT: Final = 1_200
"""Characters of what is read of one page."""
_LONGEST_TITLE: Final = 150
_LONGEST_URL: Final = 500
_NOTHING: Final = "Nothing was found. Other words may find it."
_EMPTY: Final = f"Give {_QUERY}."
_WITHHELD: Final = (
    "Not searched: it may hold a secret of this home, such as a PIN. Search without it, "
    "or say that you cannot."
)
_FAILED: Final = "The web cannot be searched at the moment. Say so."
_BUSY: Final = "The web has been searched too often just now. Say so."
_DATES: Final = re.compile(
    r"\b\d{4}-\d\d(?:-\d\d)?\b|\b[0-3]?\d[./][01]?\d(?:[./](?:\d\d){0,2})?(?!\d)"
)
_NUMBERS: Final = re.compile(r"\d+(?:[ ,-]{1,2}\d+)*")
"""A number, or several that may be one."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


class _Page(BaseModel):
    """A page that was found. SearXNG sends an excerpt, Brave several."""

    url: HttpUrl
    title: str | None = None
    content: str | None = None
    snippets: tuple[str, ...] = ()


class _Grounding(BaseModel):
    generic: tuple[JsonValue, ...] = ()


class _Found(BaseModel):
    """The answer of SearXNG or, with the pages in `grounding`, of Brave."""

    results: tuple[JsonValue, ...] | None = None
    grounding: _Grounding | None = None


_FOUND: Final = TypeAdapter(_Found)
_PAGE: Final = TypeAdapter(_Page)


async def async_search(  # noqa: PLR0913  # the two last are Brave's and the bounds, except in tests
    hass: HomeAssistant,
    settings: AgentSettings,
    query: str,
    language: str,
    *,
    brave: str = BRAVE,
    limits: TimeLimits = _LIMITS,
) -> list[JsonObject]:
    """Return the pages that were found, the best first. Raises a `ProviderError`."""
    is_brave = settings.web_search is WebSearch.BRAVE
    access = (
        Access(
            brave,
            settings.web_search_key,
            key_header="X-Subscription-Token",
            key_prefix="",
            root_of=URL,
        )
        if is_brave
        else Access(settings.web_search_address, root_of=URL)
    )
    nothing_refused = RefusedParameters("", ())
    client = ServiceClient(
        async_get_clientsession(hass), access, nothing_refused, limits
    )
    wanted = (
        _brave_query(hass, query, language)
        if is_brave
        else {"q": query, "format": "json", "language": base_language(language)}
    )
    path = "llm/context" if is_brave else "search"
    text = await client.get_text(
        path,
        "search",
        wanted,
        limit=_MOST_BYTES,
    )
    try:
        found = _FOUND.validate_json(text)
    except ValidationError:
        found = _Found()
    pages = found.grounding.generic if found.grounding else found.results
    if pages is None:
        raise ProviderReplyInvalid("the server sent no results of a search as JSON")
    return [*islice(_as_json(pages), _PAGES)]


def _brave_query(
    hass: HomeAssistant,
    query: str,
    language: str,
) -> Mapping[str, str]:
    tag = language.casefold()
    known = _KNOWN["languages"].get(tag) or _KNOWN["languages"].get(base_language(tag))
    country = hass.config.country or ""
    return {
        "q": query,
        "country": country if country in _KNOWN["countries"] else "ALL",
        "count": str(_PAGES),
        "maximum_number_of_urls": str(_PAGES),
        "maximum_number_of_tokens": "2048",
        **({"search_lang": known} if known else {}),
    }


def _as_json(pages: Iterable[JsonValue]) -> Iterator[JsonObject]:
    for sent in pages:
        try:
            page = _PAGE.validate_python(sent)
        except ValidationError:
            continue
        url = str(page.url)
        text = page.content or " … ".join(page.snippets)
        if len(url) <= _LONGEST_URL:
            yield {
                "title": clipped(page.title or "", _LONGEST_TITLE),
                "url": url,
                "text": clipped(text, _LONGEST_TEXT),
            }


def search_problem(error: ProviderError, engine: WebSearch) -> str:
    """Return the translation key of why a server that was entered cannot search."""
    is_brave = engine is WebSearch.BRAVE
    match error:
        case ProviderBusy():
            return "search_busy"
        case ProviderRejectedKey() | ProviderRejectedRequest() if is_brave:
            return "search_key_refused"
        case ProviderRejectedKey():  # SearXNG knows no keys, and forbids other formats
            return "searxng_no_json"
        case ProviderReplyInvalid() | ProviderRejectedRequest() if not is_brave:
            return "searxng_not_there"
        case _:
            return "search_unreachable"


async def async_search_web(
    call: OwnCall,
    brave: str = BRAVE,
) -> ToolAnswer:
    """Search the web, unless the words hold a secret. `brave` is the address of Brave."""
    query = clipped(call.text(_QUERY), _LONGEST_QUERY)
    if not query:
        raise NoAnswer(_EMPTY)
    if _may_hold_secret(call.hass, query):
        raise NoAnswer(_WITHHELD)
    try:
        pages = await async_search(
            call.hass, call.settings, query, call.language, brave=brave
        )
    except ProviderError as error:
        LOGGER.warning("The web could not be searched: %s", error)
        problem = _BUSY if isinstance(error, ProviderBusy) else _FAILED
        raise NoAnswer(problem) from error
    if call.settings.web_search is WebSearch.BRAVE:
        fee = BRAVE_FEE
    else:
        fee = 0.0
    note: JsonObject = {} if pages else {"note": _NOTHING}
    return ToolAnswer(
        {
            "found": [*pages],
            **note,
        },
        open_world=True,
        fee=fee,
    )


def _may_hold_secret(hass: HomeAssistant, query: str) -> bool:
    """Return whether a query has a key of a service, or a number as long as the PIN that is no year.

    It is not compared with the PIN, since the answer would tell whether it is the PIN.
    """
    if any(secret in query for secret in known_secrets(hass)):
        return True
    pin = async_get_home_rules(hass).current.pin
    if pin is None:
        return False
    lengths = {pin.length} if pin.length else range(SHORTEST_PIN, LONGEST_PIN + 1)
    for found in _NUMBERS.finditer(_DATES.sub(" ", query)):
        parts = re.findall(r"\d+", found[0])
        for start, end in combinations(range(len(parts) + 1), 2):
            number = "".join(parts[start:end])
            is_year = end - start == 1 and _YEAR.fullmatch(number)
            if len(number) in lengths and not is_year:
                return True
    return False


def _is_offered(settings: AgentSettings) -> bool:
    match settings.web_search:
        case WebSearch.BRAVE:
            needed = settings.web_search_key
        case WebSearch.SEARXNG:
            needed = settings.web_search_address
        case _:
            needed = ""
    return bool(needed and settings.model)


SEARCH_WEB: Final = OwnTool(
    definition=DEFINITIONS["search_web"],
    run=async_search_web,
    needs=lambda offered: _is_offered(offered.settings),
    most=MOST_SEARCHES,
    calls_action=True,
)
