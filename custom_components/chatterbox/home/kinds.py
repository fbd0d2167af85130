"""What things are, in the words of a language: "window" for a binary sensor that watches one.

Knows Home Assistant's translations of domains and device classes. Must not know homes, or what the words are for.
"""

from collections.abc import Iterable, Mapping

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

type Kinds = Mapping[tuple[str, str], tuple[str, ...]]
"""Words by domain and device class, which is empty for none."""


async def async_read_kinds(hass: HomeAssistant, languages: Iterable[str], kinds: Iterable[tuple[str, str]]) -> Kinds:
    """Return what kinds of things are called in some languages, by domain and device class."""
    wanted = set(kinds)
    domains = {domain for domain, _ in wanted}
    told: dict[tuple[str, str], tuple[str, ...]] = dict.fromkeys(wanted, ())
    for language in dict.fromkeys(languages):
        texts = await async_get_translations(hass, language, "title", domains)
        texts |= await async_get_translations(hass, language, "entity_component", domains)
        for domain, device_class in wanted:
            names = (texts.get(key, "") for key in _keys(domain, device_class))
            told[domain, device_class] += tuple(filter(None, names))
    return told


def _keys(domain: str, device_class: str) -> tuple[str, ...]:
    of_domain = f"component.{domain}"
    if not device_class:
        return f"{of_domain}.title", f"{of_domain}.entity_component._.name"
    return f"{of_domain}.title", f"{of_domain}.entity_component.{device_class}.name"
