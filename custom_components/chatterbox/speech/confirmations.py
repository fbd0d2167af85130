"""Intents that were carried out → the sentence that Home Assistant itself would say of them.

Knows the response templates of `home_assistant_intents` and `IntentResponse`. Must not know a tool, a turn, or what
else is said. Home Assistant picks a template by the sentence that it recognised; no sentence was recognised here, so a
template is picked by what such a sentence would have named: the slots of the intent and the domains of its targets.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from home_assistant_intents import get_intent_info, get_intents, get_languages
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import intent
from homeassistant.helpers.template import Template, TemplateState
from homeassistant.util import language as language_util
from pydantic import BaseModel, JsonValue, ValidationError

from ..const import LOGGER
from ..data import singleton

_OF_OUR_PLACE: Final = frozenset({"preferred_area_id", "preferred_floor_id"})
"""Slots that Home Assistant adds for the room of the speaker; no sentence names them."""
_PLACES: Final = frozenset({"area", "floor"})
_IMPLIED_BY_NAME: Final = frozenset({"domain", "device_class"})
_DURATIONS: Final = frozenset({"hours", "minutes", "seconds"})
_ENDS: Final = (".", "!", "?", "…", "。", "\uff01", "\uff1f", "।")
_WIDE_FROM: Final = "\u2e80"
"""From here on, scripts end a sentence with their own full stop."""
_NOTHING: Final = re.compile(r"\bNone\b")
"""What a template says that has no word for a domain."""
_NAME: Final = "slots.name"

TargetType = intent.IntentResponseTargetType
_NAMED_TARGETS: Final = {"name": TargetType.ENTITY, "area": TargetType.AREA, "floor": TargetType.FLOOR}


class _Metadata(BaseModel):
    slot_combination: str = ""


class _Block(BaseModel):
    """Sentences that name the same slots and are answered alike."""

    response: str = ""
    metadata: _Metadata = _Metadata()
    slots: dict[str, JsonValue] = {}
    requires_context: dict[str, JsonValue] = {}


class _Blocks(BaseModel):
    data: list[_Block] = []


class _Responses(BaseModel):
    intents: dict[str, dict[str, str]] = {}


class _Language(BaseModel):
    intents: dict[str, _Blocks] = {}
    responses: _Responses = _Responses()


class _Combination(BaseModel):
    slots: list[str] = []


class _Intent(BaseModel):
    slot_combinations: dict[str, _Combination] = {}


@dataclass(frozen=True, slots=True)
class _Phrasing:
    """One way to answer an intent, and what has to be named for it."""

    template: str
    slots: frozenset[str]
    """Without the domain, which its targets tell."""
    domains: frozenset[str]
    """Domains of the targets that it suits; empty for any."""

    def distance(self, said: Mapping[str, object], domains: frozenset[str]) -> tuple[int, bool] | None:
        """Tell how far the phrasing is from what was said, or None if it says something else.

        A room is as good as a floor; of two that fit, the one that names its target is the better.
        """
        different = self.slots ^ (said.keys() - {"domain"})
        if different - _PLACES or (self.domains and not domains <= self.domains):
            return None
        return len(different), "name" in said and _NAME not in self.template


type Phrasings = Mapping[str, tuple[_Phrasing, ...]]
"""By intent."""


@dataclass(frozen=True, slots=True)
class Confirmations:
    """What Home Assistant says in one language when an intent was carried out."""

    hass: HomeAssistant
    phrasings: Phrasings

    @callback
    def sentence(self, response: intent.IntentResponse) -> str | None:
        """Return a sentence about what was done, or None where Home Assistant has none that is sure to fit."""
        if response.intent is None:
            return None
        said = _said(response.intent.slots)
        domains = _domains(response, said)
        fitting = [
            (distance, phrasing.template)
            for phrasing in self.phrasings.get(response.intent.intent_type, ())
            if (distance := phrasing.distance(said, domains)) is not None
        ]
        if not fitting:
            return None
        _, template = min(fitting, key=lambda choice: choice[0])
        return self._render(template, _speech_slots(said, response), response)

    def _render(self, template: str, slots: Mapping[str, object], response: intent.IntentResponse) -> str | None:
        """Fill in a template; the variables are those of Home Assistant's own agent.

        Source: `DefaultAgent._build_speech` (homeassistant.components.conversation.default_agent).
        """
        matched, unmatched = (
            [TemplateState(self.hass, state) for state in states]
            for states in (response.matched_states, response.unmatched_states)
        )
        variables = {
            "slots": slots,
            "state": next(iter((*matched, *unmatched)), None),
            "query": {"matched": matched, "unmatched": unmatched},
        }
        try:
            rendered = str(Template(template, self.hass).async_render(variables, parse_result=False, strict=True))
        except TemplateError:
            return None
        words = " ".join(rendered.split())
        return None if not words or _NOTHING.search(words) else _as_sentence(words)


@singleton
def _confirmations(_hass: HomeAssistant) -> dict[str, Confirmations]:
    """Return those that are loaded, by language."""
    return {}


async def async_get_confirmations(hass: HomeAssistant, language: str) -> Confirmations:
    """Load the words of a language, a BCP 47 tag, once; one that Home Assistant does not speak has none."""
    loaded = _confirmations(hass)
    if language not in loaded:
        phrasings = await hass.async_add_executor_job(_load, language, hass.config.country)
        loaded[language] = Confirmations(hass, phrasings)
    return loaded[language]


def _load(language: str, country: str | None) -> Phrasings:
    """Read the templates from their files."""
    spoken = language_util.matches(language, get_languages(), country)
    if not spoken:
        return {}
    try:
        texts = _Language.model_validate(get_intents(spoken[0]) or {})
        combinations = {
            name: _Intent.model_validate(info).slot_combinations for name, info in (get_intent_info() or {}).items()
        }
    except ValidationError as error:
        LOGGER.warning("Home Assistant's own confirmations cannot be read: %s", error)
        return {}
    return {
        name: tuple(_phrasings(blocks.data, texts.responses.intents[name], combinations.get(name, {})))
        for name, blocks in texts.intents.items()
        if name in texts.responses.intents
    }


def _phrasings(
    blocks: Iterable[_Block], templates: Mapping[str, str], combinations: Mapping[str, _Combination]
) -> Iterable[_Phrasing]:
    for block in blocks:
        combination = combinations.get(block.metadata.slot_combination)
        if combination is None or not (template := templates.get(block.response)):
            continue
        yield _Phrasing(
            template,
            frozenset(combination.slots) - {"domain"},
            frozenset(_texts(block.slots.get("domain") or block.requires_context.get("domain"))),
        )


def _said(slots: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the values of the slots that a sentence would have named."""
    said = {
        name: slot.get("value")
        for name, slot in slots.items()
        if name not in _OF_OUR_PLACE and not (name in _DURATIONS and not slot.get("value"))
    }
    return {name: value for name, value in said.items() if not ("name" in said and name in _IMPLIED_BY_NAME)}


def _domains(response: intent.IntentResponse, said: Mapping[str, object]) -> frozenset[str]:
    """Return the domains of what was acted on."""
    entities = [target.id or "" for target in _targets(response, TargetType.ENTITY)]
    return frozenset(entity.partition(".")[0] for entity in entities) or frozenset(_texts(said.get("domain")))


def _speech_slots(said: Mapping[str, object], response: intent.IntentResponse) -> dict[str, object]:
    """Return the slots as texts, which they are in a sentence, and what the intent itself adds.

    Places and things are called by their names: Home Assistant puts ids in place of what was said.
    """
    slots: dict[str, object] = {name: ", ".join(_texts(value)) for name, value in said.items()}
    for slot, kind in _NAMED_TARGETS.items():
        names = {target.name for target in _targets(response, kind)}
        if slot in slots and len(names) == 1:
            slots[slot] = names.pop()
    return slots | response.speech_slots


def _targets(response: intent.IntentResponse, kind: TargetType) -> list[intent.IntentResponseTarget]:
    return [target for target in response.success_results if target.type is kind]


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(str(item) for item in value)
    return (str(value),)


def _as_sentence(words: str) -> str:
    if words.endswith(_ENDS):
        return words
    return words + ("。" if words[-1] >= _WIDE_FROM else ".")
