"""A home that has more things than are listed for a model: what of it the words of a turn may mean.

Knows settings, the home, and what was said and done before in a conversation. Must not know how things are ranked
(`home/ranking.py`), or where what it says stands in a prompt: with the words, so that all that comes before them stays
as it was.
"""

from dataclasses import replace
from itertools import islice
from typing import Final

from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION_DOMAIN,
    ChatLog,
    ToolResultContent,
    UserContent,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr

from ..data import singleton
from ..records.tool_answer import native_entities_done
from .description import FIND_ENTITIES, home_lines
from .entities import Home, async_get_home
from .kinds import async_read_kinds
from .ranking import Asked, ThingIndex

MOST_TOLD: Final = 40
"""Things that are told with the words."""
_LOOKED_AT: Final = 30
"""Messages of a conversation, the newest ones, in which it is looked for what was used last."""
_MOST_USED: Final = 8
_MOST_READ: Final = 1_000
"""Characters of what somebody says in which it is looked for things: a program may show a whole book."""
_HEADING: Final = f"Things that the person may mean, by room ({FIND_ENTITIES} finds others):"


@singleton
def _indexes(_hass: HomeAssistant) -> dict[str, ThingIndex]:
    """Return the indexes of the current home by language, the one that was made last at the end."""
    return {}


_MOST_INDEXES: Final = 16
"""A program names its language itself, and an index of a large home takes a few MB."""


async def async_get_index(hass: HomeAssistant, language: str) -> ThingIndex:
    """Return the home by its words, those of a language and of the home's own; made anew when the home has changed."""
    home, indexes = async_get_home(hass, CONVERSATION_DOMAIN), _indexes(hass)
    kept = indexes.get(language)
    if kept is not None and kept.home is home:
        return kept
    states = {thing.entity_id: hass.states.get(thing.entity_id) for thing in home.things}
    kinds = {
        thing.entity_id: (thing.domain, str(state.attributes.get("device_class") or "") if state else "")
        for thing, state in zip(home.things, states.values(), strict=True)
    }
    words = await async_read_kinds(hass, (hass.config.language, language), kinds.values())
    words_of_things = {entity_id: words[kind] for entity_id, kind in kinds.items()}
    index = await hass.async_add_executor_job(ThingIndex, home, words_of_things)
    for known in [known for known, one in indexes.items() if one.home is not home]:
        del indexes[known]
    indexes[language] = index
    while len(indexes) > _MOST_INDEXES:
        del indexes[next(iter(indexes))]
    return index


async def async_tell_things(hass: HomeAssistant, language: str, asked: Asked) -> str:
    """Return what a model is told of the things that may be meant; nothing where none may."""
    index = await async_get_index(hass, language)
    found = {thing.entity_id for thing in index.find(asked, MOST_TOLD)}
    if not found:
        return ""
    return "\n".join((_HEADING, *home_lines(_only(index.home, found))))


def _only(home: Home, entity_ids: set[str]) -> Home:
    """Return a home of some things, without floors, in the order in which they are told anywhere else."""
    by_room = {
        area_id: tuple(thing for thing in things if thing.entity_id in entity_ids)
        for area_id, things in home.by_room.items()
    }
    return replace(home, floors=(), by_room=by_room)


@callback
def async_asked(hass: HomeAssistant, words: str, device_id: str | None, chat_log: ChatLog) -> Asked:
    """Return what is said in a turn, where, and after what."""
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    area_id = dr.async_get_effective_area_id(hass, device) if device else None
    last = list(islice(reversed(chat_log.content), _LOOKED_AT))
    said = [content.content for content in last if isinstance(content, UserContent)]
    done = (native_entities_done(content.result) for content in last if isinstance(content, ToolResultContent))
    used = dict.fromkeys(entity_id for entity_ids in done for entity_id in sorted(entity_ids))
    before = said[1] if len(said) > 1 else ""
    return Asked(words[-_MOST_READ:], before[-_MOST_READ:], area_id, tuple(islice(used, _MOST_USED)))
