"""What Home Assistant itself says in each language, from its own translators: texts that nobody here wrote.

Reads the sentences of the installed `home-assistant-intents`: what is said after an intent that changes something is a
report, what is said after a question or an error is none. Templates with conditions are left out. Must not know how
reports are found.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

PACKAGE: Final = "home-assistant-intents"

_FILES: Final = {"pt": ("pt", "pt-BR"), "zh": ("zh-CN", "zh-TW")}
_UNCHANGING: Final = frozenset(
    {
        "HassClimateGetTemperature",
        "HassGetCurrentDate",
        "HassGetCurrentTime",
        "HassGetState",
        "HassGetWeather",
        "HassNevermind",
        "HassRespond",
        "HassTimerStatus",
    }
)
_SLOTS: Final = {
    "en": ("lamp", "kitchen", "milk", "blinds"),
    "de": ("Lampe", "Küche", "Milch", "Rollladen"),
    "fr": ("la lampe", "la cuisine", "lait", "volet"),
    "es": ("lámpara", "cocina", "leche", "persiana"),
    "it": ("lampada", "cucina", "latte", "tapparella"),
    "nl": ("lamp", "keuken", "melk", "rolluik"),
    "pt": ("lâmpada", "cozinha", "leite", "persiana"),
    "pl": ("lampa", "kuchnia", "mleko", "roleta"),
    "sv": ("lampan", "köket", "mjölk", "persiennen"),
    "zh": ("灯", "厨房", "牛奶", "窗帘"),
}
"""A device, an area, an item and a kind of device, to be named in the templates."""
_NUMBER: Final = re.compile(r"slots\.(?:temperature|percentage|brightness|position|volume_level)\b")


class _Responses(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    errors: dict[str, str]
    intents: dict[str, dict[str, str]]


class _LanguageFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    responses: _Responses


def sentences(language: str) -> dict[str, bool]:
    """Return what Home Assistant says in a language, and whether each sentence reports an action."""
    said: dict[str, bool] = {}
    for name in _FILES.get(language, (language,)):
        path = files("home_assistant_intents") / "data" / f"{name}.json"
        responses = _LanguageFile.model_validate_json(path.read_bytes()).responses
        for template in responses.errors.values():
            said |= dict.fromkeys(_filled(template, language), False)
        for intent, templates in responses.intents.items():
            for template in templates.values():
                said |= dict.fromkeys(_filled(template, language), intent not in _UNCHANGING)
    return said


def _filled(template: str, language: str) -> Iterator[str]:
    """Yield the sentence of a template, unless that takes more than to name things."""
    parts = re.split(r"\{\{(.*?)\}\}", template)
    named = [_named(part, language) for part in parts[1::2]]
    if "{%" in template or None in named:
        return
    words = [part for pair in zip(parts[::2], [*named, ""], strict=True) for part in pair if part]
    if sentence := "".join(words).strip():
        yield sentence


def _named(expression: str, language: str) -> str | None:
    device, area, item, kind = _SLOTS[language]
    for slot, name in (
        ("area", area),
        ("floor", area),
        ("item", item),
        ("device_class", kind),
        ("state", None),
        ("name", device),
        ("entity", device),
    ):
        if slot in expression:
            return name.capitalize() if name and "capitalize" in expression else name
    return "21" if _NUMBER.search(expression) and "if" not in expression else None
