"""The verdicts of rules on a home: on each exposed entity, and on requests for its own lamp, blind, door, script."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple

from homeassistant.components.conversation import DOMAIN as CONVERSATION
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    SERVICE_TOGGLE,
    SERVICE_TURN_OFF,
    SERVICE_TURN_ON,
)
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant
from homeassistant.helpers.llm import LLM_API_ASSIST
from homeassistant.util import dt as dt_util

from ..agent.messages import JsonObject, ToolAnnotations, ToolDefinition
from ..agent.protocols import Ask
from ..agent.text import read_data_file
from ..effects.actions import ActionReader, bounded
from ..effects.effect import ARM_FOR_LESS, NOTHING, CallEffects, Effects, EntityAction
from ..home.entity_matches import exposed_states
from ..people.speakers import NOBODY, Asking, Speaker
from ..settings.rules import HomeRules, Policy, Verdict
from .guard import CallGuard
from .policy import Decision, Judgement, judge

MOST_EXAMPLES: Final = 10


class _Request(NamedTuple):
    """A request for one entity; see examples.toml."""

    key: str
    """Part of a translation key."""
    action: str
    device_classes: frozenset[str] = frozenset()
    """Those of the entities that it may be about, with "" for none; empty for all."""
    is_after_search: bool = False
    """Whether the web is searched first."""


_REQUESTS: Final = read_data_file(__file__, dict[str, tuple[_Request, ...]])["requests"]


class Example(NamedTuple):
    """A request, and what would happen to it."""

    key: str
    """Part of a translation key."""
    entity_id: str
    verdict: Verdict


async def async_example_requests(
    hass: HomeAssistant,
    rules: HomeRules,
    *,
    searches_web: bool,
) -> list[Example]:
    """Return requests for exposed entities, judged as those of a person whom no rule names, at the present time.

    Requests that begin with a search of the web are among them where a tool does that.
    """
    return [
        Example(
            request.key,
            those[0],
            await _async_verdict(
                hass,
                rules,
                request,
                those[0],
            ),
        )
        for request, those in islice(
            _fitting_entities(hass, searches_web=searches_web), MOST_EXAMPLES
        )
    ]


async def async_guarded_request(
    hass: HomeAssistant, rules: HomeRules
) -> Example | None:
    """Return the first request for any exposed entity that is not simply allowed."""
    for request, those in _fitting_entities(hass, searches_web=False):
        for number, entity_id in enumerate(those):
            await async_yield(number)
            verdict = await _async_verdict(
                hass,
                rules,
                request,
                entity_id,
            )
            if verdict is not Verdict.ALLOW:
                return Example(
                    request.key,
                    entity_id,
                    verdict,
                )
    return None


def _fitting_entities(
    hass: HomeAssistant, *, searches_web: bool
) -> Iterator[tuple[_Request, list[str]]]:
    """Yield the requests that an exposed entity fits, each with all of these, sorted by name."""
    states = exposed_states(hass, CONVERSATION)
    for request in (
        one for one in _REQUESTS if searches_web or not one.is_after_search
    ):
        domain = request.action.partition(".")[0]
        classes = request.device_classes
        those = [
            one.entity_id
            for one in states
            if one.domain == domain
            and (
                not classes or (one.attributes.get(ATTR_DEVICE_CLASS) or "") in classes
            )
        ]
        if those:
            yield request, those


_AT_A_TIME: Final = 50
"""Entities that are judged before others may use the event loop. They take about 5 ms."""


async def async_yield(number: int) -> None:
    """Yield to the event loop, once for each `_AT_A_TIME` entities that are numbered."""
    if number % _AT_A_TIME == 0:
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class EntityVerdict:
    """The strictest verdict on all actions on an entity, and on those of a script, an automation or a scene."""

    entity_id: str
    verdict: Verdict
    decisions: tuple[Decision, ...]
    """Those with that verdict; none for an entity with which everything is allowed."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions with the verdict, sorted; empty if there are none, or if they are unknown."""
        subjects = (decision.subject for decision in self.decisions)
        actions = {
            subject.action for subject in subjects if isinstance(subject, EntityAction)
        }
        return tuple(sorted(actions - {ARM_FOR_LESS}))  # the arming is there


async def async_judge_entities(
    hass: HomeAssistant, policy: Policy, entity_ids: Iterable[str]
) -> tuple[EntityVerdict, ...]:
    """Return the verdicts on entities. Others may use the event loop in the meantime."""
    found: list[EntityVerdict] = []
    for number, entity_id in enumerate(entity_ids):
        await async_yield(number)
        judgement = judge_all_actions(
            hass,
            policy,
            entity_id,
        )
        found.append(EntityVerdict(entity_id, judgement.verdict, judgement.decisions))
    return tuple(found)


def judge_all_actions(
    hass: HomeAssistant,
    policy: Policy,
    entity_id: str,
) -> Judgement:
    """Judge all actions on an entity together, at the present time and for a user whom no rule names."""
    domain = entity_id.partition(".")[0]
    tool = entity_id.replace(
        ".",
        "__",
        1,
    )
    reader = ActionReader(hass)
    for service in (SERVICE_TURN_ON, SERVICE_TURN_OFF, SERVICE_TOGGLE):
        reader.touch(
            [entity_id],
            HOMEASSISTANT_DOMAIN,
            service,
            {},
        )
    for service in (
        hass.services.async_services_for_domain(domain) if domain != "script" else ()
    ):
        reader.touch(
            [entity_id],
            domain,
            service,
            {},
        )
    effects = bounded(
        hass,
        reader.effects(),
        policy.sources,
    )
    if effects != NOTHING:
        level = policy.level_of(tool, LLM_API_ASSIST)
    else:
        level = None
    return judge(
        hass,
        policy,
        CallEffects(tool, effects, level),
        NOBODY,
        dt_util.now(),
    )


async def _async_verdict(
    hass: HomeAssistant,
    rules: HomeRules,
    request: _Request,
    entity_id: str,
) -> Verdict:
    """Return what happens to the call of a request. A call that needs a PIN is denied if none is set."""
    domain, _, service = request.action.partition(".")

    async def effects_of(
        _name: str,
        _arguments: JsonObject,
    ) -> Effects:
        reader = ActionReader(hass)
        reader.touch(
            [entity_id],
            domain,
            service,
            {},
        )
        return reader.effects()

    name = entity_id.replace(".", "__", 1)  # a script is a tool of this name
    tool = ToolDefinition(
        name,
        "",
        {},
        ToolAnnotations(open_world=False),
    )
    speaker = Speaker(asking=Asking.PERSON)
    outside = request.is_after_search
    labels = {name: LLM_API_ASSIST}
    rules = replace(rules, guests_since=None)
    guard = CallGuard(
        hass, rules, speaker, effects_of, has_outside_content=outside, labels=labels
    )
    match await guard.pre_tool_use(tool, {}):
        case None:
            return Verdict.ALLOW
        case Ask(terms=terms):
            if terms.startswith(Verdict.PIN):
                return Verdict.PIN
            return Verdict.ASK
        case _:
            return Verdict.DENY
