"""What the rules of a household mean for this house now, to be read in a dialog: numbers, and a table as markdown.

Knows the house table, what its entities and rooms are called, and words for what can be done. Must not know where it
is shown. Names are somebody's own: nothing in them is markup.
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
from ..home.entity_matches import areas_of_entities
from ..home.exposed_entities import exposed_states
from ..people.speakers import NOBODY, Speaker
from ..settings.rules import Policy, Verdict
from .rule_words import RuleWords


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


MOST_ROWS: Final = 40
"""So many can be looked through."""
_MOST_ACTIONS: Final = 3
_MARKUP: Final = str.maketrans({sign: f"\\{sign}" for sign in set(string.punctuation) - set(",;'?%")})


@dataclass(frozen=True, slots=True)
class HousePage:
    """The rules of a household, applied to what is exposed to Assist, for somebody whom no rule names."""

    hass: HomeAssistant
    table: HouseTable
    words: RuleWords

    @classmethod
    @callback
    def of(cls, hass: HomeAssistant, policy: Policy, words: RuleWords) -> Self:
        """Apply rules now."""
        exposed = (state.entity_id for state in exposed_states(hass, CONVERSATION_DOMAIN))
        return cls(hass, summarize(hass, policy, exposed, dt_util.now()), words)

    @property
    def numbers(self) -> dict[str, str]:
        """How many entities there are, and how many have each verdict, for the placeholders of a sentence."""
        counts = {verdict.value: str(count) for verdict, count in self.table.counts.items()}
        return {"entities": str(len(self.table.rows)), **counts}

    @property
    def markdown(self) -> str:
        """All that is not simply allowed, the strictest first; that there is nothing, when there is nothing."""
        strictest_first = sorted(Verdict, key=lambda verdict: -verdict.strictness)
        rows = [row for verdict in strictest_first if verdict is not Verdict.ALLOW for row in self._by_name(verdict)]
        if not rows:
            return self.words.sentences["house_all_allowed"]
        lines = "\n".join(self._lines(rows))
        hidden = len(rows) - MOST_ROWS
        return lines if hidden <= 0 else f"{lines}\n\n{self.words.sentences['house_more'].format(count=hidden)}"

    def _by_name(self, verdict: Verdict) -> list[HouseRow]:
        return sorted(self.table.of(verdict), key=lambda row: (self._name(row).casefold(), row.entity_id))

    def _lines(self, rows: list[HouseRow]) -> Iterator[str]:
        sentences = self.words.sentences
        yield _line(*(sentences[f"house_{column}"] for column in ("device", "area", "action", "verdict")))
        yield "| --- | --- | --- | --- |"
        for row in rows[:MOST_ROWS]:
            verdict = self.words.verdicts.word(row.verdict)
            yield _line(*map(_plain, (self._name(row), self._area(row), self._what(row), verdict)))

    def _name(self, row: HouseRow) -> str:
        state = self.hass.states.get(row.entity_id)
        return state.name if state else row.entity_id

    def _area(self, row: HouseRow) -> str:
        area_id = areas_of_entities(self.hass).get(row.entity_id)
        area = ar.async_get(self.hass).async_get_area(area_id) if area_id else None
        return area.name if area else ""

    def _what(self, row: HouseRow) -> str:
        """Return what has the verdict, in words."""
        if not row.actions:
            return self.words.sentences["house_unknown"]
        named = [self.words.actions.word(action) for action in row.actions]
        return ", ".join([*named[:_MOST_ACTIONS], *(["…"] if len(named) > _MOST_ACTIONS else [])])


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return a text that markdown shows as it is."""
    return " ".join(text.split()).translate(_MARKUP)
