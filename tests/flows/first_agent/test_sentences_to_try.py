"""The sentences at the end of setting up: Home Assistant's own recognizer understands them in every language."""

import json
from pathlib import Path
from typing import Final

import pytest
from homeassistant.components.conversation import (
    DOMAIN,
    HOME_ASSISTANT_AGENT,
    ConversationInput,
)
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.effects.recognition import async_recognize
from tests.support.config_entries import prepare
from tests.support.one_home import in_one_home

TRANSLATIONS: Final = (
    Path(__file__).parents[3] / "custom_components" / "chatterbox" / "translations"
)
EXAMPLES: Final = (
    "turn_on light.lumo, close cover.velo, lock lock.nordo, unlock lock.nordo, open cover.gato, run script.skripo, "
    "play media_player.sono, disarm alarm_control_panel.alarmo, set_temperature climate.varmo, add_item todo.listo, "
    "activate scene.sceno, start vacuum.robo"
)
NO_INTENT: Final = {"disarm", "set_temperature"}
"""Home Assistant has no sentence for these in any language."""
NO_SENTENCE: Final = {"pl": {"lock", "unlock"}, "sv": {"play"}, "zh-Hans": {"play"}}
"""Home Assistant's sentences of a language lack these."""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await prepare(hass)
    assert await async_setup_component(hass, "person", {})
    for entity_id in EXAMPLES.replace(",", "").split()[1::2]:
        domain, name = entity_id.split(".")
        assert await async_setup_component(hass, domain, {})
        hass.states.async_set(
            entity_id, "off", {"friendly_name": name, "supported_features": ~0}
        )
        async_expose_entity(hass, DOMAIN, entity_id, should_expose=True)
    return hass


@in_one_home(
    "language", sorted(path.stem for path in TRANSLATIONS.glob("*.json")), share=5
)
async def test_home_assistant_understands_the_examples_of_a_language(
    home: HomeAssistant, language: str
) -> None:
    texts = json.loads((TRANSLATIONS / f"{language}.json").read_bytes())["common"]
    missed = set()
    for key, entity_id in map(str.split, EXAMPLES.split(", ")):
        text = texts[f"example_{key}"].format(name=entity_id.partition(".")[2])
        sentence_input = ConversationInput(
            text, Context(), None, None, None, language, HOME_ASSISTANT_AGENT
        )
        if await async_recognize(home, sentence_input) is None:
            missed.add(key)

    assert missed == NO_INTENT | NO_SENTENCE.get(language, set())
