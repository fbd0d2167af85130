"""What the rules of a household mean for its entities, to be looked at.

Knows the policy and the actions of Home Assistant. Must not know how it is shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from homeassistant.const import SERVICE_TOGGLE, SERVICE_TURN_OFF, SERVICE_TURN_ON
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, callback

from .action_effects import ActionReader
from .approval_policy import Judgement, judge
from .approval_rules import Policy, Verdict
from .effects import CallEffects, EntityAction, Touches, Unresolved
from .speakers import NOBODY, Speaker


@dataclass(frozen=True, slots=True)
class HouseRow:
    """The strictest verdict on anything that could be done to an entity."""

    entity_id: str
    verdict: Verdict
    actions: tuple[str, ...]
    """What has that verdict, sorted; empty when nothing can be done to it, or when what it runs cannot be told."""


@dataclass(frozen=True, slots=True)
class HouseTable:
    """All entities that were asked about."""

    rows: tuple[HouseRow, ...]
    """By entity."""

    def of(self, verdict: Verdict) -> tuple[HouseRow, ...]:
        """Return the rows with a verdict."""
        return tuple(row for row in self.rows if row.verdict is verdict)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many entities have each verdict; all verdicts, from the mildest to the strictest."""
        return {verdict: len(self.of(verdict)) for verdict in Verdict}


@callback
def summarize(
    hass: HomeAssistant, policy: Policy, entity_ids: Iterable[str], now: datetime, speaker: Speaker = NOBODY
) -> HouseTable:
    """Judge everything that could be done to entities, at a time and for a speaker, by no tool that a rule names.

    What a script, an automation or a scene would do counts as done by it.
    """
    rows = (_row(hass, policy, entity_id, now, speaker) for entity_id in sorted(set(entity_ids)))
    return HouseTable(tuple(rows))


def _row(hass: HomeAssistant, policy: Policy, entity_id: str, now: datetime, speaker: Speaker) -> HouseRow:
    effects = _anything_done_to(hass, entity_id)
    judgement = judge(hass, policy, CallEffects("", effects), speaker, now)
    return HouseRow(entity_id, judgement.verdict, _actions(judgement))


def _actions(judgement: Judgement) -> tuple[str, ...]:
    subjects = (decision.subject for decision in judgement.decisions)
    return tuple(sorted({subject.action for subject in subjects if isinstance(subject, EntityAction)}))


def _anything_done_to(hass: HomeAssistant, entity_id: str) -> Touches | Unresolved:
    domain = entity_id.partition(".")[0]
    reader = ActionReader(hass)
    for service in (SERVICE_TURN_ON, SERVICE_TURN_OFF, SERVICE_TOGGLE):
        reader.touch([entity_id], HOMEASSISTANT_DOMAIN, service, {})
    for service in hass.services.async_services_for_domain(domain) if domain != "script" else ():
        reader.touch([entity_id], domain, service, {})
    return reader.effects()
