"""Home Assistant's own tools are known by their classes, and one with another class could do anything."""

import pytest
from homeassistant.components.homeassistant.llm import GetLiveContextTool
from homeassistant.components.media_player.llm import MediaPlayTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.chatterbox.internals.llm import (
    KnownTool,
    async_assist_platforms,
    known_tool,
    live_context_tool,
)
from custom_components.chatterbox.tools.dispatch import call_effects
from tests.support.llm_apis import StubTool, llm_context_of
from tests.support.moved_names import take_away


def renamed(kind: type[llm.Tool]) -> type[llm.Tool]:
    """Return a class as another release would name it."""
    return type("OfAnotherRelease", (kind,), {"__module__": kind.__module__})


async def test_a_tool_with_a_new_class_could_do_anything(hass: HomeAssistant) -> None:
    assert not call_effects(hass, llm_context_of(), MediaPlayTool(), {}).unknowns
    assert call_effects(hass, llm_context_of(), renamed(MediaPlayTool)(), {}).unknowns


def test_a_tool_is_known_by_its_class() -> None:
    assert known_tool(GetLiveContextTool()) is KnownTool.LIVE_CONTEXT
    assert known_tool(renamed(GetLiveContextTool)()) is KnownTool.UNKNOWN
    assert known_tool(StubTool(name="another")) is None


async def test_assist_is_asked_like_any_other_api_where_its_parts_are_unknown(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    assist = next(
        api for api in llm.async_get_apis(hass) if api.id == llm.LLM_API_ASSIST
    )
    assert await async_assist_platforms(assist)
    take_away(monkeypatch, hass, "home_in_short")

    assert await async_assist_platforms(assist) is None
    assert live_context_tool(assist) is None


async def test_tools_of_a_component_that_is_loaded_later_are_found(
    hass: HomeAssistant,
) -> None:
    for component in ("homeassistant", "conversation"):
        assert await async_setup_component(hass, component, {})
    assist = next(
        api for api in llm.async_get_apis(hass) if api.id == llm.LLM_API_ASSIST
    )
    assert "script" not in (await async_assist_platforms(assist) or {})

    assert await async_setup_component(hass, "script", {})

    assert "script" in (await async_assist_platforms(assist) or {})
