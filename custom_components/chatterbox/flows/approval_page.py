"""The preview of rules: how many exposed entities need a confirmation now, and a Markdown table of these.

Names are user input: Markdown in them is escaped.
"""

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.const import SERVICE_TOGGLE, SERVICE_TURN_OFF, SERVICE_TURN_ON
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar
from homeassistant.util import dt as dt_util

from ..approvals.policy import Judgement, judge
from ..effects.actions import ActionReader
from ..effects.effect import CallEffects, EntityAction, Touches, Unresolved
from ..home.entity_matches import areas_of_entities, exposed_states
from ..people.speakers import NOBODY, Speaker
from ..settings.rules import Policy, Verdict
from .rule_form import RuleLabels


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The strictest verdict on all actions on an entity."""

    entity_id: str
    verdict: Verdict
    actions: tuple[str, ...]
    """The actions with that verdict, sorted; empty if there are none, or if they are unknown."""


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """The verdicts on entities."""

    rows: tuple[VerdictRow, ...]
    """Sorted by entity."""

    def of(self, verdict: Verdict) -> tuple[VerdictRow, ...]:
        """Return the rows with one verdict."""
        return tuple(row for row in self.rows if row.verdict is verdict)

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of entities by verdict; all verdicts, from the mildest to the strictest."""
        return {verdict: len(self.of(verdict)) for verdict in Verdict}


@callback
def summarize(
    hass: HomeAssistant, policy: Policy, entity_ids: Iterable[str], now: datetime, speaker: Speaker = NOBODY
) -> VerdictTable:
    """Judge all actions on entities, at a time and for a speaker. Rules about tools do not apply.

    The actions of a script, an automation or a scene count as its own.
    """
    rows = (_row(hass, policy, entity_id, now, speaker) for entity_id in sorted(set(entity_ids)))
    return VerdictTable(tuple(rows))


def _row(hass: HomeAssistant, policy: Policy, entity_id: str, now: datetime, speaker: Speaker) -> VerdictRow:
    effects = _anything_done_to(hass, entity_id)
    judgement = judge(hass, policy, CallEffects("", effects), speaker, now)
    return VerdictRow(entity_id, judgement.verdict, _actions(judgement))


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


MOST_ROWS: Final = 40
"""Rows of the table."""
_MOST_ACTIONS: Final = 3
_MARKUP: Final = str.maketrans({sign: f"\\{sign}" for sign in set(string.punctuation) - set(",;'?%")})


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """Rules, applied to the entities that are exposed to Assist, for a user whom no rule names."""

    hass: HomeAssistant
    table: VerdictTable
    labels: RuleLabels

    @classmethod
    @callback
    def of(cls, hass: HomeAssistant, policy: Policy, labels: RuleLabels) -> Self:
        """Apply rules at the present time."""
        exposed = (state.entity_id for state in exposed_states(hass, CONVERSATION_DOMAIN))
        return cls(hass, summarize(hass, policy, exposed, dt_util.now()), labels)

    @property
    def numbers(self) -> dict[str, str]:
        """The number of entities, and of those with each verdict, as placeholders."""
        counts = {verdict.value: str(count) for verdict, count in self.table.counts.items()}
        return {"entities": str(len(self.table.rows)), **counts}

    @property
    def markdown(self) -> str:
        """The table of everything that is not allowed without a confirmation, strictest first."""
        strictest_first = sorted(Verdict, key=lambda verdict: -verdict.strictness)
        rows = [row for verdict in strictest_first if verdict is not Verdict.ALLOW for row in self._by_name(verdict)]
        if not rows:
            return self.labels.sentences["home_all_allowed"]
        lines = "\n".join(self._lines(rows))
        hidden = len(rows) - MOST_ROWS
        return lines if hidden <= 0 else f"{lines}\n\n{self.labels.sentences['home_more'].format(count=hidden)}"

    def _by_name(self, verdict: Verdict) -> list[VerdictRow]:
        return sorted(self.table.of(verdict), key=lambda row: (self._name(row).casefold(), row.entity_id))

    def _lines(self, rows: list[VerdictRow]) -> Iterator[str]:
        sentences = self.labels.sentences
        yield _line(*(sentences[f"home_{column}"] for column in ("device", "area", "action", "verdict")))
        yield "| --- | --- | --- | --- |"
        for row in rows[:MOST_ROWS]:
            verdict = self.labels.verdicts.label(row.verdict)
            yield _line(*map(_plain, (self._name(row), self._area(row), self._what(row), verdict)))

    def _name(self, row: VerdictRow) -> str:
        state = self.hass.states.get(row.entity_id)
        return state.name if state else row.entity_id

    def _area(self, row: VerdictRow) -> str:
        area_id = areas_of_entities(self.hass).get(row.entity_id)
        area = ar.async_get(self.hass).async_get_area(area_id) if area_id else None
        return area.name if area else ""

    def _what(self, row: VerdictRow) -> str:
        """Return the actions with the verdict."""
        if not row.actions:
            return self.labels.sentences["home_unknown"]
        named = [self.labels.actions.label(action) for action in row.actions]
        return ", ".join([*named[:_MOST_ACTIONS], *(["…"] if len(named) > _MOST_ACTIONS else [])])


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return a text with its Markdown escaped."""
    return " ".join(text.split()).translate(_MARKUP)
