"""Rules of the home for tests that begin with some."""

from collections.abc import Mapping

from homeassistant.core import HomeAssistant
from pydantic import TypeAdapter

from custom_components.chatterbox.agent.messages import JsonObject
from custom_components.chatterbox.settings.rules import (
    HOME_RULE_KEYS,
    HomeRules,
    async_get_home_rules,
    home_rules_of,
    home_rules_to_json,
)

_JSON: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)


def split(options: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return those of some options that are rules of the home, and those of an agent."""
    rules = {key: value for key, value in options.items() if key in HOME_RULE_KEYS}
    return rules, {key: value for key, value in options.items() if key not in rules}


async def set_home_rules(hass: HomeAssistant, **options: object) -> HomeRules:
    """Have a person enter rules of the home, beside those that there are."""
    store = async_get_home_rules(hass)
    await store.async_load()
    if options:
        known = home_rules_to_json(store.stored)
        await store.async_enter(home_rules_of(known | _JSON.validate_python(options)))
    return store.stored
