"""Fires the event that tells what became of a call, with the words for it, and has the same stored."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr

from ..const import EVENT_CHANGE
from ..history.recording import async_record_change
from ..home.spoken_names import entity_name, spoken, tool_name
from ..records.report import shown_text
from ..settings.rules import Verdict
from ..speech.sentences import async_get_sentences
from .action_summary import ActionKind, kind_of
from .change_record import ApprovalWay, ChangeOutcome, ChangeRecord

_MOST_NAMES: Final = 5
"""So many devices are named for one thing that is done."""
_MOST_DEEDS: Final = 4
"""So many things that one call does are told apart."""
_LONGEST_ERROR: Final = 200
"""Characters."""


@dataclass(frozen=True, slots=True)
class ChangeTexts:
    """Finds words for records."""

    hass: HomeAssistant
    sentences: Mapping[str, str]
    """Category `common` of a translation, by bare key."""

    def message(self, record: ChangeRecord) -> str:
        """Say what was done, and after which approval, or what was not, and why."""
        is_done = record.outcome is ChangeOutcome.DONE
        deeds = self._deeds(record, "did" if is_done else "did_not")
        if not is_done:
            error = _cut(" ".join(record.error.split()), _LONGEST_ERROR)
            return shown_text(self._say(_reason(record), deeds=deeds, error=error or "?"))
        if record.change.unknown and record.change.actions:
            deeds = self._say("perhaps_more", deeds=deeds)
        if record.approval in (ApprovalWay.NOT_NEEDED, ApprovalWay.MISSING):
            return shown_text(deeds)
        return shown_text(self._say(f"after_{record.approval}", deeds=deeds))

    def place(self, record: ChangeRecord) -> str:
        """Return the name of the device that was spoken to, or of the agent where there is none."""
        device = _text(record.origin.get("device_id"))
        found = dr.async_get(self.hass).async_get(device) if device else None
        if found and (name := found.name_by_user or found.name):
            return spoken(name)
        named = _text(record.origin.get("satellite_id")) or _text(record.origin.get("entity_id"))
        return entity_name(self.hass, named) if named else ""

    def _deeds(self, record: ChangeRecord, form: str) -> str:
        """Say what is done, device by device, or by which tool where no device is known."""
        names: dict[ActionKind, list[str]] = {}
        for action in record.shown_actions:
            those = names.setdefault(kind_of(action.action), [])
            if (name := entity_name(self.hass, action.entity_id)) not in those:
                those.append(name)
        if not names:
            return self._say(f"{form}_tool", tool=tool_name(record.change.call.name))
        said = [self._say(f"{form}_{deed}", targets=self._listed(those)) for deed, those in names.items()]
        shown = said if len(said) <= _MOST_DEEDS else said[: _MOST_DEEDS - 1]
        joined = reduce(lambda first, second: self._say("list", first=first, second=second), shown)
        return self._and_more(joined, len(said) - len(shown))

    def _listed(self, names: Sequence[str]) -> str:
        shown = names if len(names) <= _MOST_NAMES else names[: _MOST_NAMES - 1]
        targets = reduce(lambda first, second: self.sentences["spoken_list"].format(first=first, second=second), shown)
        return self._and_more(targets, len(names) - len(shown))

    def _and_more(self, shown: str, count: int) -> str:
        return self._say("more", targets=shown, count=str(count)) if count else shown

    def _say(self, key: str, **placeholders: str) -> str:
        return self.sentences[f"change_{key}"].format_map(placeholders)


async def async_get_change_texts(hass: HomeAssistant) -> ChangeTexts:
    """Load the words for records, in the language of the house."""
    return ChangeTexts(hass, await async_get_sentences(hass, hass.config.language))


def _reason(record: ChangeRecord) -> str:
    """Return the key of why something was not done."""
    if record.outcome is ChangeOutcome.WAITING and record.change.verdict is Verdict.PIN:
        return "waiting_for_pin"
    return record.outcome


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@callback
def async_fire_change(words: ChangeTexts, record: ChangeRecord, context: Context) -> None:
    """Tell automations and the logbook, and store the record. `context` is that of the call.

    The record is stored from here, never from the event: any user can have their phone fire one.
    """
    said = {"place": words.place(record), "message": words.message(record)}
    change, now = {**record.as_event_data(), **said}, time.time()
    words.hass.bus.async_fire(EVENT_CHANGE, change, context=context, time_fired=now)
    async_record_change(words.hass, change, now)
