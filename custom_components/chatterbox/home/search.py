"""Entity search: finds the entities that a request may mean, in a home with too many to list in the prompt.

The results stand beside the request, so that the prompt before it stays the same and
servers can cache it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION_DOMAIN,
    ChatLog,
    ToolResultContent,
    UserContent,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.translation import async_get_translations
from lru import LRU

from ..const import home_singleton
from ..records.turn_record import entities_done
from .description import FIND_ENTITIES, home_lines
from .entities import Home, async_get_home
from .entity_index import EntityIndex, EntityQuery
from .entity_matches import entity_kinds

type Kinds = Mapping[tuple[str, str], tuple[str, ...]]
"""Names by domain and device class, which is empty for none."""

MOST_LISTED: Final = 40
"""Entities that are listed with a request."""
_LOOKED_AT: Final = 30
"""Newest messages of a conversation that are searched for entities that were used."""
_MOST_USED: Final = 8
_MOST_READ: Final = 1_000
"""Characters of a request that are searched: an API client may send a whole book."""
_HEADING: Final = (
    f"Things that the person may mean, by room ({FIND_ENTITIES} finds others):"
)


_MOST_INDEXES: Final = 16
"""An API client chooses its language itself, and the index of a large home takes a few MB."""
_indexes: Final[Callable[[HomeAssistant], LRU[str, EntityIndex]]] = home_singleton(
    "search_indexes", lambda _: LRU(_MOST_INDEXES)
)
"""Returns the indexes of the current home by language."""


async def async_get_entity_index(
    hass: HomeAssistant,
    language: str,
) -> EntityIndex:
    """Return the index of the home in a language and the home's own, rebuilt when the home has changed."""
    home = async_get_home(hass, CONVERSATION_DOMAIN)
    indexes = _indexes(hass)
    cached = indexes.get(language)
    if cached is not None and cached.home is home:
        return cached
    kinds = entity_kinds(hass, [one.entity_id for one in home.entities])
    words = await async_kind_names(
        hass, (hass.config.language, language), kinds.values()
    )
    names_of_kinds = {entity_id: words[kind] for entity_id, kind in kinds.items()}
    index = await hass.async_add_executor_job(
        EntityIndex,
        home,
        names_of_kinds,
    )
    if any(one.home is not home for one in indexes.values()):
        indexes.clear()
    indexes[language] = index
    return index


async def async_describe_matches(
    hass: HomeAssistant, language: str, query: EntityQuery
) -> str:
    """Return the list of entities that a request may mean, for the prompt; empty if there are none."""
    index = await async_get_entity_index(hass, language)
    found = {entity.entity_id for entity in index.find(query, MOST_LISTED)}
    if not found:
        return ""
    return "\n".join((_HEADING, *home_lines(_only(index.home, found))))


def _only(home: Home, entity_ids: set[str]) -> Home:
    """Return the home with only some entities and without floors, in the same order."""
    by_room = {
        area_id: tuple(entity for entity in entities if entity.entity_id in entity_ids)
        for area_id, entities in home.by_room.items()
    }
    return replace(
        home,
        floors=(),
        by_room=by_room,
    )


def async_entity_query(
    hass: HomeAssistant, words: str, device_id: str | None, chat_log: ChatLog
) -> EntityQuery:
    """Return the query of a turn: its words, the place, and what came before."""
    if device_id:
        device = dr.async_get(hass).async_get(device_id)
    else:
        device = None
    if device:
        area_id = dr.async_get_effective_area_id(hass, device)
    else:
        area_id = None
    last = list(islice(reversed(chat_log.content), _LOOKED_AT))
    sentences = [
        content.content for content in last if isinstance(content, UserContent)
    ]
    done = (
        entities_done(content.result)
        for content in last
        if isinstance(content, ToolResultContent)
    )
    used = dict.fromkeys(
        entity_id for entity_ids in done for entity_id in sorted(entity_ids)
    )
    if len(sentences) > 1:
        before = sentences[1]
    else:
        before = ""
    return EntityQuery(
        words[-_MOST_READ:],
        before[-_MOST_READ:],
        area_id,
        tuple(islice(used, _MOST_USED)),
    )


async def async_kind_names(
    hass: HomeAssistant, languages: Iterable[str], kinds: Iterable[tuple[str, str]]
) -> Kinds:
    """Return the names of kinds of entities in some languages: "window" for a binary sensor with that device class."""
    wanted = set(kinds)
    domains = {domain for domain, _ in wanted}
    names: dict[tuple[str, str], tuple[str, ...]] = dict.fromkeys(
        wanted,
        (),
    )
    for language in dict.fromkeys(languages):
        texts = await async_get_translations(
            hass,
            language,
            "title",
            domains,
        )
        texts |= await async_get_translations(
            hass, language, "entity_component", domains
        )
        for domain, device_class in wanted:
            keys = (
                f"component.{domain}.title",
                f"component.{domain}.entity_component.{device_class or '_'}.name",
            )
            names[domain, device_class] += tuple(
                name for key in keys if (name := texts.get(key))
            )
    return names
