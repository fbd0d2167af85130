"""The actions `chatterbox.purge` and `chatterbox.export`: delete stored conversations and memories, or write them out.

Only administrators may call them, and automations of the home.
"""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

import homeassistant.helpers.config_validation as cv
import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.components.conversation.const import (
    ATTR_AGENT_ID,
    ATTR_CONVERSATION_ID,
)
from homeassistant.const import ATTR_ID
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.service import async_register_admin_service
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, canonical_json
from ..const import DOMAIN
from ..history.store.query import Selection
from ..history.store.records import StoreUnavailable, Trouble
from ..history.stores import async_get_histories
from ..memory.facts import HOUSEHOLD, Keeper, NotRemembered, async_get_memories
from ..runtime.agents import async_forget_summaries
from ..runtime.recent_turns import async_get_recent_turns
from ..settings.agent import existing_agents
from ..speech.sentences import translated

SERVICE_PURGE: Final = "purge"
SERVICE_EXPORT: Final = "export"
ATTR_AS_RESPONSE: Final = "as_response"
ATTR_PERSON: Final = "person"
ATTR_OLDER_THAN_DAYS: Final = "older_than_days"
ATTR_EVERYTHING: Final = "everything"
ATTR_FACTS: Final = "facts"

_AGENT_DOMAINS: Final = frozenset({CONVERSATION_DOMAIN, "ai_task"})
"""Domains of entities that have a history, disabled ones included."""
_DAY: Final = 86_400
"""Seconds."""
_MOST_DAYS: Final = 36_500

_CHOICE_FIELDS: Final = {
    vol.Optional(ATTR_CONVERSATION_ID): cv.string,
    vol.Optional(ATTR_PERSON): cv.entity_domain("person"),
    vol.Optional(ATTR_AGENT_ID): cv.entity_id,
    vol.Optional(ATTR_OLDER_THAN_DAYS): vol.All(
        vol.Coerce(float), vol.Range(min=0, max=_MOST_DAYS)
    ),
    vol.Optional(ATTR_EVERYTHING, default=False): cv.boolean,
    vol.Optional(ATTR_FACTS, default=False): cv.boolean,
}
FOLDER: Final = "chatterbox_exports"
"""In the configuration directory."""
MOST_CHARACTERS: Final = 500_000
"""Of a response, which goes to a browser as a whole, and into the trace of an automation."""
_KINDS: Final = {
    "turns": "turn",
    "audit_records": "audit",
    "responses": "response",
    "facts": "fact",
}
"""Kinds of records, by the field of a response that counts them."""
_AT_ONCE: Final = 500
"""Lines that are written at once."""

_failure = partial(translated, HomeAssistantError)
_invalid = partial(translated, ServiceValidationError)


def async_register_history_actions(hass: HomeAssistant) -> None:
    """Register the actions."""
    purge = vol.Schema(_CHOICE_FIELDS)
    export = purge.extend({vol.Optional(ATTR_AS_RESPONSE, default=False): cv.boolean})
    optional = SupportsResponse.OPTIONAL
    async_register_admin_service(
        hass, DOMAIN, SERVICE_PURGE, _async_purge, purge, optional
    )
    async_register_admin_service(
        hass, DOMAIN, SERVICE_EXPORT, _async_export, export, optional
    )


async def _async_purge(call: ServiceCall) -> ServiceResponse:
    """Delete the selected records and facts, and return their numbers as `deleted` and `facts`."""
    hass = call.hass
    choice = _async_chosen(call.hass, call.data)
    facts = await _async_forget_facts(
        hass,
        await _async_chosen_keepers(hass, choice),
    )
    stores = await async_get_histories(hass).async_open_all()
    deleted = 0
    failed: tuple[str, Trouble] | None = None
    for where, store in stores:
        if store is None:
            failed = where, Trouble.WRONG_URL
            continue
        try:
            for selection in choice.selections:
                deleted += await store.purge(selection)
        except StoreUnavailable as error:  # the other stores are purged all the same
            failed = where, error.trouble
    async_get_recent_turns(hass).forget_words()
    async_forget_summaries(hass)
    if failed is not None:
        where, trouble = failed
        key = "purge_history_slow" if trouble is Trouble.SLOW else "purge_history_down"
        raise _failure(
            key,
            where=where,
            deleted=str(deleted),
        )
    if call.return_response:
        return {
            "deleted": deleted,
            "facts": facts,
        }
    return None


async def _async_export(call: ServiceCall) -> ServiceResponse:
    """Write the selected records to a new file, or return them as `records`, with the number of each kind."""
    hass = call.hass
    lines = _lines(
        call.hass,
        _async_chosen(call.hass, call.data),
    )
    async with aclosing(lines):
        if call.data[ATTR_AS_RESPONSE]:
            if not call.return_response:
                raise _invalid("export_no_response")
            records = await _as_records(lines)
            return {
                "records": [*records],
                **_as_json(Counter(str(record["kind"]) for record in records)),
            }
        try:
            path, counts = await _async_write(hass, lines)
        except OSError as error:
            raise _failure(
                "export_no_file", problem=error.strerror or type(error).__name__
            ) from error
    if call.return_response:
        return {
            "path": path,
            **_as_json(counts),
        }
    return None


async def _lines(
    hass: HomeAssistant,
    choice: _Choice,
) -> AsyncGenerator[str]:
    for where, store in await async_get_histories(hass).async_open_all():
        if store is None:
            raise _failure("export_history_down", where=where)
        for selection in choice.selections:
            try:
                async with aclosing(store.export(selection)) as lines:
                    async for line in lines:
                        yield line
            except StoreUnavailable as error:
                raise _failure("export_history_down", where=where) from error
    for fact in _facts_as_records(hass, await _async_chosen_keepers(hass, choice)):
        yield canonical_json(fact)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The selection of an action call."""

    selections: tuple[Selection, ...]
    """Disjoint; a record is selected by one of them."""
    with_facts: bool
    """Whether facts are selected, too."""
    agent: str | None
    """Subentry id; None for all agents."""
    people: tuple[str, ...]
    """Ids of one person; empty for all people."""


def _async_chosen(
    hass: HomeAssistant,
    data: Mapping[str, Any],
) -> _Choice:
    """Return what matches all given fields. Raises ServiceValidationError without any, or for an invalid one."""
    if ATTR_AGENT_ID in data:
        agent = _agent(hass, data[ATTR_AGENT_ID])
    else:
        agent = None
    if ATTR_PERSON in data:
        people = tuple(_ids_of_person(hass, data[ATTR_PERSON]))
    else:
        people = ()
    with_facts = data[ATTR_FACTS]
    everything = Selection()
    days = data.get(ATTR_OLDER_THAN_DAYS)
    if days is None:
        before = None
    else:
        before = dt_util.utcnow().timestamp() - days * _DAY
    chosen = replace(
        everything, conversation_id=data.get(ATTR_CONVERSATION_ID), before=before
    )
    if with_facts and chosen != everything:
        raise _invalid("history_facts_alone")
    chosen = replace(chosen, agent=agent)
    if data[ATTR_EVERYTHING]:
        if chosen != everything or people:
            raise _invalid("history_everything_alone")
    elif chosen == everything and not people:
        raise _invalid("history_nothing_chosen")
    if people:
        selections = tuple(replace(chosen, person_id=person) for person in people)
    else:
        selections = (chosen,)
    return _Choice(
        selections,
        with_facts,
        agent,
        people,
    )


def _agent(hass: HomeAssistant, entity_id: str) -> str:
    entity = er.async_get(hass).async_get(entity_id)
    is_agent = (
        entity is not None
        and entity.platform == DOMAIN
        and entity.domain in _AGENT_DOMAINS
    )
    if entity is None or not is_agent or entity.config_subentry_id is None:
        raise _invalid("agent_unknown", agent=entity_id)
    return entity.config_subentry_id


def _ids_of_person(
    hass: HomeAssistant,
    entity_id: str,
) -> Iterator[str]:
    """Yield the ids of a person: their own, and that of their user, which older records have."""
    state = hass.states.get(entity_id)
    if state is None:
        raise _invalid("history_person_unknown", person=entity_id)
    for name in (ATTR_ID, "user_id"):
        known = state.attributes.get(name)
        if isinstance(known, str):
            yield known


async def _async_chosen_keepers(
    hass: HomeAssistant, choice: _Choice
) -> tuple[Keeper, ...]:
    """Return the owners of the selected facts. Raises HomeAssistantError if facts cannot be read."""
    if not choice.with_facts:
        return ()
    memories = async_get_memories(hass)
    try:
        await memories.async_load()
    except NotRemembered as error:
        raise _failure(error.problem.value) from error
    agents = (
        (choice.agent,) if choice.agent else (*existing_agents(hass), HOUSEHOLD.agent)
    )
    known = [
        Keeper(
            agent,
            person,
        )
        for agent in agents
        for person in memories.people(agent)
    ]
    return tuple(
        keeper
        for keeper in known
        if not choice.people or keeper.person in choice.people
    )


async def _async_forget_facts(
    hass: HomeAssistant,
    keepers: Iterable[Keeper],
) -> int:
    """Delete facts, and return their number. Raises HomeAssistantError if that cannot be stored."""
    memories = async_get_memories(hass)
    gone = 0
    for keeper in keepers:
        facts = memories.facts(keeper)
        try:
            await memories.async_forget(
                keeper,
                [fact.id for fact in facts],
            )
        except NotRemembered as error:
            raise _failure(error.problem.value) from error
        gone += len(facts)
    return gone


def _facts_as_records(
    hass: HomeAssistant, keepers: Iterable[Keeper]
) -> Iterator[JsonObject]:
    """Yield facts as records of the kind `fact`."""
    memories = async_get_memories(hass)
    for keeper in keepers:
        for fact in memories.facts(keeper):
            person = memories.people(keeper.agent)[keeper.person]
            owner = {
                "agent": keeper.agent,
                "person_id": keeper.person,
                "person": person,
            }
            yield {
                "kind": "fact",
                **owner,
                **asdict(fact),
                "created": fact.created.isoformat(),
                "ends": fact.ends.isoformat() if fact.ends else None,
            }


def _as_json(counts: Counter[str]) -> JsonObject:
    """Return how many records of each kind there are."""
    return {field: counts[kind] for field, kind in _KINDS.items()}


async def _as_records(lines: AsyncGenerator[str]) -> list[JsonObject]:
    """Return the records of an export. Raises ServiceValidationError for more than a response may contain."""
    records: list[JsonObject] = []
    characters = 0
    async for line in lines:
        characters += len(line)
        if characters > MOST_CHARACTERS:
            raise _invalid("export_too_much")
        records.append(json.loads(line))
    return records


async def _async_write(
    hass: HomeAssistant, lines: AsyncGenerator[str]
) -> tuple[str, Counter[str]]:
    """Write lines of JSON to a new file; return its path, and the number of records by kind.

    Raises OSError, and whatever `lines` raises; then there is no file.
    """
    run = hass.async_add_executor_job
    file = await run(_open_file, hass)
    counts = Counter[str]()
    waiting = list[str]()
    try:
        async for line in lines:
            waiting.append(line)
            if len(waiting) == _AT_ONCE:
                counts += await run(
                    _append,
                    file,
                    waiting,
                )
                waiting = []
        counts += await run(
            _append,
            file,
            waiting,
        )
        await run(file.close)
    except BaseException:
        await run(_discard, file)
        raise
    return file.name, counts


def _open_file(hass: HomeAssistant) -> IO[str]:
    """Open a new file in the export folder, which may be a link to an allowed directory."""
    folder = Path(hass.config.path(FOLDER))
    folder.mkdir(mode=0o700, exist_ok=True)
    is_inside = folder.resolve().is_relative_to(Path(hass.config.config_dir).resolve())
    if not is_inside and not hass.config.is_allowed_path(str(folder)):
        raise PermissionError(
            None, f"{folder} leads to a place that is not in allowlist_external_dirs"
        )
    name = f"history_{dt_util.now():%Y-%m-%d_%H-%M-%S}"
    numbers = count(2)
    path = folder / f"{name}.jsonl"
    while True:
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            path = folder / f"{name}_{next(numbers)}.jsonl"
        else:
            return path.open("w", encoding="utf-8")


def _append(
    file: IO[str],
    lines: list[str],
) -> Counter[str]:
    file.writelines(f"{line}\n" for line in lines)
    return Counter(json.loads(line)["kind"] for line in lines)


def _discard(file: IO[str]) -> None:
    """Remove an incomplete file. Closing it may fail on a full disk."""
    with suppress(OSError):
        file.close()
    Path(file.name).unlink(missing_ok=True)
