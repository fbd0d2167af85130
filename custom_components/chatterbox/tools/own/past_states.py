"""Recorded states of one entity as spans of time, and the words by which people call its states.

A row that a restart has written is no change, and `unavailable` and `unknown` are no
values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from operator import itemgetter
from typing import Final

from homeassistant.const import ATTR_DEVICE_CLASS, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.translation import async_get_translations

from ...agent.text import clipped, fold, read_data_file

NO_VALUES: Final = frozenset({STATE_UNAVAILABLE, STATE_UNKNOWN, ""})
HVAC_ACTION: Final = "hvac_action"
_STEM: Final = 4
"""Letters with which a state and a form of it begin alike: "open" and "opened"."""
_WORDS: Final = read_data_file(__file__, dict[str, frozenset[str]])
_ON: Final = "on"
_SWITCHED: Final = {
    "open": _ON,
    "closed": "off",
}
"""States of what can only be on or off, by those that have the same name for a door, as in Chinese."""
_MOST_CHARACTERS: Final = 60
"""Characters of a state that has no name, on one line: it may be the text of anybody."""


@dataclass(frozen=True, slots=True)
class Span:
    """A time for which an entity was in one state, as far as it is known."""

    value: str
    begin: datetime
    end: datetime
    length: timedelta
    """Without times for which the state is not known."""
    begins_before: bool
    """Whether it may have begun before `begin`."""

    def within(
        self,
        begin: datetime,
        end: datetime,
    ) -> Span | None:
        """Return the part of it in a period; None if it has none."""
        first = max(self.begin, begin)
        last = min(
            self.end,
            end,
        )
        if first >= last:
            return None
        known = min(self.length, last - first)
        return replace(
            self,
            begin=first,
            end=last,
            length=known,
            begins_before=self.begins_before or first > self.begin,
        )


def recorded_value(state: State) -> str:
    """Return what an entity did: for one that heats or cools, whether it does, else its state."""
    is_climate = state.entity_id.startswith(
        "climate."
    )  # a recorded state has no domain
    if (
        is_climate
        and state.state not in NO_VALUES
        and (action := state.attributes.get(HVAC_ACTION))
    ):
        return str(action)
    return state.state


def spans(
    states: Iterable[State],
    begin: datetime,
    end: datetime,
    *,
    is_start_known: bool = True,
) -> list[Span]:
    """Return the spans of states in the order of time, up to `end`.

    If `is_start_known`, the first state may be the one at `begin`, which began before.
    """
    found: list[Span] = []
    rows = [(max(state.last_updated, begin), recorded_value(state)) for state in states]
    for number, (since, value) in enumerate(rows):
        if number + 1 < len(rows):
            until = rows[number + 1][0]
        else:
            until = end
        if value in NO_VALUES or until < since:
            continue
        last = found[-1] if found else None
        if last and last.value == value:
            found[-1] = replace(
                last,
                end=until,
                length=last.length + (until - since),
            )
        else:
            is_first = last is None and (not is_start_known or since <= begin)
            found.append(Span(value, since, until, until - since, is_first))
    return found


def changes_to(
    found: Sequence[Span],
    values: frozenset[str],
) -> Iterator[Span]:
    """Yield the spans in which one of some states was entered from another one, as one where they follow each other."""
    last: Span | None = None
    for span in found:
        if span.value not in values:
            if last:
                yield last
            last = None
        elif last:
            last = replace(
                last,
                end=span.end,
                length=last.length + span.length,
            )
        else:
            last = span
    if last:
        yield last


@dataclass(frozen=True, slots=True)
class Numbers:
    """Lowest, highest and average value of a period."""

    lowest: tuple[datetime, float]
    highest: tuple[datetime, float]
    average: float


def numbers(
    rows: Sequence[tuple[datetime, float | None]], end: datetime
) -> Numbers | None:
    """Return the extremes of values, each of which holds until the next one; None without any."""
    ends = [*(when for when, _ in rows[1:]), end]
    known = [
        (
            when,
            value,
            (until - when).total_seconds(),
        )
        for (when, value), until in zip(
            rows,
            ends,
            strict=True,
        )
        if value is not None
    ]
    if not known:
        return None
    share = sum(seconds for *_, seconds in known)
    if share:
        average = sum(value * seconds for _, value, seconds in known) / share
    else:
        average = known[0][1]
    lowest = min(known, key=itemgetter(1))
    highest = max(known, key=itemgetter(1))
    return Numbers(
        lowest[:2],
        highest[:2],
        average,
    )


def number_in(value: object) -> float | None:
    """Return a number that a state or an attribute holds; None if it holds none."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None


@dataclass(frozen=True, slots=True)
class StateWords:
    """The names of the states of an entity, in the languages of the home."""

    domain: str
    names: Mapping[str, Sequence[str]]
    """By state, in Home Assistant's words: first of the speaker's language, then English, then the state itself."""

    def name(self, value: str) -> str:
        """Return the English name of a state."""
        names = self.names.get(value)
        if names:
            return names[-1].lower()
        return clipped(value.replace("_", " "), _MOST_CHARACTERS).lower()

    def spoken(self, value: str) -> str:
        """Return the name of a state in the speaker's language."""
        return next(
            iter(self.names.get(value, (clipped(value, _MOST_CHARACTERS),)))
        ).lower()

    def meant(
        self,
        word: str,
        seen: Iterable[str],
    ) -> frozenset[str]:
        """Return the states that a word means, of those that are known or have been `seen`; none if it means none."""
        wanted = fold(word).strip()
        known = {*self.names, *seen} - NO_VALUES
        exact = {value for value in known if wanted in self._forms(value)}
        if wanted == _ON and self.domain in _WORDS["running"]:
            return frozenset(exact | (known - _WORDS["at_rest"]))
        found = exact or {
            value
            for value in known
            if any(_is_alike(wanted, one) for one in self._forms(value))
        }
        if not found and wanted in _SWITCHED:
            return self.meant(_SWITCHED[wanted], seen)
        return frozenset(found)

    def _forms(self, value: str) -> frozenset[str]:
        forms = (
            value,
            value.replace("_", " "),
            *self.names.get(value, ()),
        )
        return frozenset(map(fold, forms))


def _is_alike(word: str, other: str) -> bool:
    return len(word) >= _STEM and len(other) >= _STEM and word[:_STEM] == other[:_STEM]


async def async_state_words(
    hass: HomeAssistant, entity_id: str, language: str
) -> StateWords:
    """Return the names of the states of an entity."""
    domain = entity_id.partition(".")[0]
    entry = er.async_get(hass).async_get(entity_id)
    state = hass.states.get(entity_id)
    kind = (state.attributes.get(ATTR_DEVICE_CLASS) if state else None) or "_"
    prefixes = [f"component.{domain}.entity_component.{kind}.state."]
    if domain == "climate":
        prefixes.append(
            f"component.climate.entity_component._.state_attributes.{HVAC_ACTION}.state."
        )
    names: dict[str, list[str]] = {}
    for one in dict.fromkeys((language, "en")):
        texts = dict(
            await async_get_translations(
                hass,
                one,
                "entity_component",
                [domain],
            )
        )
        if entry and entry.translation_key:
            own = f"component.{entry.platform}.entity.{domain}.{entry.translation_key}.state."
            texts |= await async_get_translations(
                hass,
                one,
                "entity",
                [entry.platform],
            )
            prefixes = [*dict.fromkeys((*prefixes, own))]
        for key, text in texts.items():
            prefix = next(
                (prefix for prefix in prefixes if key.startswith(prefix)), None
            )
            if prefix:
                names.setdefault(key.removeprefix(prefix), []).append(text)
    return StateWords(domain, names)
