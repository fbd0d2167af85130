"""The actions `chatterbox.purge` and `chatterbox.export`: what was stored of conversations is deleted, or given out.

Knows service calls, and what of the history they mean. Must not know how it is stored. Only administrators may call
them, and automations of the house.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers.service import async_register_admin_service

from ..agent.history.selection import Selection
from ..agent.history.store_trouble import StoreUnavailable, Trouble
from ..agent.messages import canonical_json
from ..const import DOMAIN
from ..history.stores import async_get_histories
from ..runtime.agents import ChatterboxConfigEntry, async_forget_conversations
from ..runtime.recent_turns import async_get_recent_turns
from .export import ExportFile, RecordCounts, TooMuch, as_records
from .selection import CHOICE_FIELDS, Choice, async_chosen, async_chosen_keepers, async_forget_facts, facts_as_records

if TYPE_CHECKING:  # it needs SQLAlchemy, which is imported in a thread
    from ..agent.history.store import HistoryStore

SERVICE_PURGE: Final = "purge"
SERVICE_EXPORT: Final = "export"
ATTR_AS_RESPONSE: Final = "as_response"


@callback
def async_register_history_actions(hass: HomeAssistant) -> None:
    """Register the actions."""
    purge = vol.Schema(CHOICE_FIELDS)
    export = purge.extend({vol.Optional(ATTR_AS_RESPONSE, default=False): cv.boolean})
    optional = SupportsResponse.OPTIONAL
    async_register_admin_service(hass, DOMAIN, SERVICE_PURGE, _async_purge, purge, optional)
    async_register_admin_service(hass, DOMAIN, SERVICE_EXPORT, _async_export, export, optional)


async def _async_purge(call: ServiceCall) -> ServiceResponse:
    """Delete what is chosen, and return how many records are gone as `deleted`, and how many `facts`."""
    hass, choice = call.hass, async_chosen(call.hass, call.data)
    facts = await async_forget_facts(hass, await async_chosen_keepers(hass, choice))
    stores, deleted = await _async_stores(hass), 0
    failed: tuple[str, Trouble] | None = None
    for where, store in stores.items():
        try:
            deleted += await _async_delete(store, choice.selections)
        except StoreUnavailable as error:  # what is in the others is deleted all the same
            failed = where, error.trouble
    async_get_recent_turns(hass).forget_words()
    _async_forget_summaries(hass)
    async_forget_conversations(hass)
    if failed is not None:
        where, trouble = failed
        key = "purge_history_slow" if trouble is Trouble.SLOW else "purge_history_down"
        raise _failure(key, where=where, deleted=str(deleted))
    return {"deleted": deleted, "facts": facts} if call.return_response else None


@callback
def _async_forget_summaries(hass: HomeAssistant) -> None:
    """Leave no summary of what may have been deleted; of what was not, another one is written."""
    entries: list[ChatterboxConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    for entry in entries:
        for agent in entry.runtime_data.agents.values():
            agent.summaries.async_forget()


async def _async_delete(store: HistoryStore | None, selections: tuple[Selection, ...]) -> int:
    if store is None:
        raise StoreUnavailable(Trouble.WRONG_URL, "")
    return sum([await store.purge(selection) for selection in selections])


async def _async_export(call: ServiceCall) -> ServiceResponse:
    """Write what is chosen to a new file, or return it as `records`; return how many of each kind there are."""
    hass, lines = call.hass, _lines(call.hass, async_chosen(call.hass, call.data))
    async with aclosing(lines):
        if call.data[ATTR_AS_RESPONSE]:
            if not call.return_response:
                raise _invalid("export_no_response")
            try:
                records = await as_records(lines)
            except TooMuch as error:
                raise _invalid("export_too_much") from error
            return {"records": [*records], **RecordCounts.of(records).as_json()}
        try:
            path, counts = await ExportFile(hass).async_write(lines)
        except OSError as error:
            raise _failure("export_no_file", problem=error.strerror or type(error).__name__) from error
    return {"path": path, **counts.as_json()} if call.return_response else None


async def _lines(hass: HomeAssistant, choice: Choice) -> AsyncGenerator[str]:
    for where, store in (await _async_stores(hass)).items():
        if store is None:
            raise _failure("export_history_down", where=where)
        for selection in choice.selections:
            try:
                async with aclosing(store.export(selection)) as lines:
                    async for line in lines:
                        yield line
            except StoreUnavailable as error:
                raise _failure("export_history_down", where=where) from error
    for fact in facts_as_records(hass, await async_chosen_keepers(hass, choice)):
        yield canonical_json(fact)


async def _async_stores(hass: HomeAssistant) -> dict[str, HistoryStore | None]:
    """Return the stores of all services, by what they are called; None for one whose address cannot be used."""
    histories = async_get_histories(hass)
    stores: dict[str, HistoryStore | None] = {}
    for entry in hass.config_entries.async_entries(DOMAIN):
        store = await histories.async_open(entry)
        stores[store.where if store else entry.title] = store
    return stores


def _failure(key: str, **placeholders: str) -> HomeAssistantError:
    return HomeAssistantError(translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders)


def _invalid(key: str) -> ServiceValidationError:
    return ServiceValidationError(translation_domain=DOMAIN, translation_key=key)
