"""The preview of rules: how many exposed entities need a confirmation now, and a Markdown table of these.

Names are user input: Markdown in them is escaped.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar

from ..approvals.examples import EntityVerdict, Example, async_judge_entities
from ..home.entity_matches import areas_of_entities, entity_name, exposed_states
from ..runtime.rule_labels import RuleLabels
from ..settings.rules import Policy, Verdict
from ..speech.sentences import Sentences
from .dialog import escaped

MOST_ROWS: Final = 40
"""Rows of the table."""
_MOST_ACTIONS: Final = 3


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """Rules, applied to the entities that are exposed to Assist, for a user whom no rule names."""

    hass: HomeAssistant
    rows: tuple[EntityVerdict, ...]
    labels: RuleLabels

    @classmethod
    async def async_of(
        cls,
        hass: HomeAssistant,
        policy: Policy,
        labels: RuleLabels,
    ) -> Self:
        """Apply rules at the present time."""
        exposed = (
            state.entity_id for state in exposed_states(hass, CONVERSATION_DOMAIN)
        )
        return cls(
            hass,
            await async_judge_entities(
                hass,
                policy,
                exposed,
            ),
            labels,
        )

    @property
    def numbers(self) -> dict[str, str]:
        """The number of entities, and of those with each verdict, as placeholders."""
        counts = Counter(row.verdict for row in self.rows)
        return {
            "entities": str(len(self.rows)),
            **{verdict.value: str(counts[verdict]) for verdict in Verdict},
        }

    @property
    def names_asked_about(self) -> list[str]:
        """The names of what needs a confirmation, sorted, each once."""
        return sorted(
            {
                self._name(row)
                for row in self.rows
                if row.verdict in (Verdict.ASK, Verdict.PIN)
            }
        )

    @property
    def markdown(self) -> str:
        """The table of everything that is not allowed without a confirmation, strictest first."""
        rows = [row for row in self.rows if row.verdict is not Verdict.ALLOW]
        rows.sort(
            key=lambda row: (
                -row.verdict.strictness,
                self._name(row).casefold(),
                row.entity_id,
            )
        )
        if not rows:
            return self.labels.sentences["home_all_allowed"]
        header = self._header(
            "device",
            "area",
            "action",
            "verdict",
        )
        return table(
            [header, *map(self._cells, rows)],
            self.labels.sentences,
        )

    def examples_table(self, examples: Iterable[Example]) -> str:
        """Return a table of requests, and of what would happen to each."""
        rows: list[tuple[str, ...]] = []
        for example in examples:
            request = self.labels.sentences[f"example_{example.key}"]
            named = request.format(name=entity_name(self.hass, example.entity_id))
            rows.append(
                (escaped(named), escaped(self.labels.verdicts.label(example.verdict)))
            )
        if rows:
            return table(
                [self._header("request", "verdict"), *rows], self.labels.sentences
            )
        return ""

    def unguarded(self, assistants: Sequence[str]) -> str:
        """Return a paragraph about assistants that go round the rules, or an empty text."""
        named = ", ".join(map(escaped, assistants))
        if named:
            return (
                self.labels.sentences["home_unguarded"].format(assistants=named)
                + "\n\n"
            )
        return ""

    def absent(self, names: Sequence[str]) -> str:
        """Return a paragraph about names in rules of which the home has nothing, or an empty text."""
        listed = ", ".join(f"**{escaped(name)}**" for name in names)
        if names:
            return self.labels.sentences["home_absent"].format(names=listed) + "\n\n"
        return ""

    def no_pin(self) -> str:
        """Return a paragraph that tells that the PIN is gone."""
        return self.labels.sentences["home_no_pin"] + "\n\n"

    def also_locking(self, numbers: Iterable[int]) -> str:
        """Return a sentence about rules that hold locking beside unlocking."""
        return self.labels.sentences["home_also_locking"].format(
            rules=", ".join(map(str, numbers))
        )

    def _header(self, *columns: str) -> tuple[str, ...]:
        return tuple(self.labels.sentences[f"home_{column}"] for column in columns)

    def _cells(self, row: EntityVerdict) -> tuple[str, ...]:
        verdict = self.labels.verdicts.label(row.verdict)
        return tuple(
            map(
                escaped,
                (
                    self._name(row),
                    self._area(row),
                    self._what(row),
                    verdict,
                ),
            )
        )

    def _name(self, row: EntityVerdict) -> str:
        state = self.hass.states.get(row.entity_id)
        if state:
            return state.name
        return row.entity_id

    def _area(self, row: EntityVerdict) -> str:
        area_id = areas_of_entities(self.hass).get(row.entity_id)
        area = ar.async_get(self.hass).async_get_area(area_id or "")
        return area.name if area else ""

    def _what(self, row: EntityVerdict) -> str:
        """Return the actions with the verdict."""
        actions = row.actions
        if not actions:
            return self.labels.sentences["home_unknown"]
        named = [
            self.labels.of_conditions["actions"].label(action) for action in actions
        ]
        if len(named) > _MOST_ACTIONS:
            named = [*named[:_MOST_ACTIONS], "…"]
        return ", ".join(named)


def table(
    rows: Sequence[Sequence[str]],
    sentences: Sentences,
) -> str:
    """Return a Markdown table of cells, the first row is its header; of too many, the first ones and how many more."""
    header, *others = (f"| {' | '.join(cells)} |" for cells in rows)
    hidden = len(others) - MOST_ROWS
    more = ["", sentences["home_more"].format(count=hidden)] if hidden > 0 else []
    return "\n".join(
        [
            header,
            f"|{' --- |' * len(rows[0])}",
            *others[:MOST_ROWS],
            *more,
        ]
    )
