"""The sentences at the end of setting up: Home Assistant's own recognizer understands them in every language."""

import json
from pathlib import Path
from typing import Final

import pytest
from homeassistant.components import conversation
from homeassistant.components.conversation import ConversationInput
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.offline.recognition import async_recognize
from tests.support.config_entries import prepare

TRANSLATIONS: Final = Path(__file__).parents[2] / "custom_components" / "chatterbox" / "translations"
ENTITIES: Final = (
    "alarm_control_panel.alarmo climate.varmo cover.gato cover.velo light.lumo lock.nordo media_player.sono "
    "scene.sceno script.skripo todo.listo vacuum.robo"
)
EXAMPLES: Final = (
    "turn_on Lumo, close Velo, lock Nordo, unlock Nordo, open Gato, run Skripo, play Sono, disarm Alarmo, "
    "set_temperature Varmo, add_item Listo, activate Sceno, start Robo"
)
NO_INTENT: Final = {"disarm", "set_temperature"}
"""Home Assistant has no sentence for these in any language."""
NO_SENTENCE: Final = {"pl": {"lock", "unlock"}, "sv": {"play"}, "zh-Hans": {"play"}}
"""Home Assistant's sentences of a language lack these."""


@pytest.fixture
async def home(hass: HomeAssistant) -> HomeAssistant:
    await prepare(hass)
    assert await async_setup_component(hass, "person", {})
    for entity_id in ENTITIES.split():
        domain, _, name = entity_id.partition(".")
        assert await async_setup_component(hass, domain, {})
        hass.states.async_set(entity_id, "off", {"friendly_name": name.title(), "supported_features": ~0})
        async_expose_entity(hass, conversation.DOMAIN, entity_id, should_expose=True)
    return hass


@pytest.mark.parametrize("language", sorted(path.stem for path in TRANSLATIONS.glob("*.json")))
async def test_home_assistant_understands_the_examples_of_a_language(home: HomeAssistant, language: str) -> None:
    texts = json.loads((TRANSLATIONS / f"{language}.json").read_bytes())["common"]
    missed = set()
    agent = conversation.HOME_ASSISTANT_AGENT
    for key, name in map(str.split, EXAMPLES.split(", ")):
        text = texts[f"example_{key}"].format(name=name)
        if await async_recognize(home, ConversationInput(text, Context(), None, None, None, language, agent)) is None:
            missed.add(key)

    assert missed == NO_INTENT | NO_SENTENCE.get(language, set())
