"""A set-up finds out how fast a real llama.cpp server is, and whether tools arrive; a turn, how far it has read."""

from contextlib import aclosing

import pytest
from homeassistant.core import HomeAssistant

from custom_components.chatterbox.agent.events import PromptProgress, TextDelta
from custom_components.chatterbox.agent.messages import UserMessage
from custom_components.chatterbox.agent.protocols import CompletionRequest
from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.const import (
    CONF_BASE_URL,
    CONF_KIND,
    CONF_SERVER,
    ServiceKind,
)
from custom_components.chatterbox.flows.service_checks import (
    async_home_prompt,
    async_tight_window,
    measure,
    try_out,
)
from custom_components.chatterbox.runtime.composition import model_server
from custom_components.chatterbox.settings.agent import AgentSettings, settings_of
from custom_components.chatterbox.settings.options import new_agent_data
from tests.behaviour.real_model.conftest import Llama
from tests.support.servers.llama_cpp.process import LlamaServer, LlamaSetup

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("socket_enabled")]

ACTS = {
    "\n": '<tool_call>\n{"name": "turn_on", "arguments": {"name": "kitchen light"}}\n</tool_call>'
}
TALKS = {"\n": "I have turned on the light."}


def model_of(hass: HomeAssistant, server: LlamaServer) -> HTTPProvider:
    """Return the model of a server as a dialog asks it."""
    service = {
        CONF_KIND: ServiceKind.OPENAI_CHAT,
        CONF_BASE_URL: server.url,
        CONF_SERVER: "llama_cpp",
    }
    return model_server(hass, service, AgentSettings("written"))


async def test_a_model_that_acts_is_measured_with_the_prompt_of_the_home(
    hass: HomeAssistant, llama: Llama
) -> None:
    model = model_of(hass, await llama(LlamaSetup(ACTS)))

    settings = settings_of(new_agent_data(ServiceKind.OPENAI_CHAT, "written"))
    prompt = await async_home_prompt(hass, settings)

    trial = await try_out(model)
    times = await measure(model, trial, prompt)

    assert trial.uses_tools
    assert times
    assert min(times.first, times.later) > 0


@pytest.mark.parametrize("context", [512, 16_384])
async def test_a_context_that_the_home_fills_is_found(
    hass: HomeAssistant, llama: Llama, context: int
) -> None:
    model = model_of(hass, await llama(LlamaSetup(TALKS, context=context)))
    settings = AgentSettings("written", llm_apis=("assist",))
    prompt = "The lamp is on. " * 200

    tight = await async_tight_window(
        hass, model, {CONF_BASE_URL: "http://127.0.0.1"}, settings, prompt
    )

    assert (tight is not None) is (context == 512)
    assert tight is None or tight.window == context


@pytest.mark.parametrize("shows_tools", [True, False])
async def test_a_template_that_drops_tools_is_told_from_a_model_that_talks(
    hass: HomeAssistant, llama: Llama, *, shows_tools: bool
) -> None:
    trial = await try_out(
        model_of(hass, await llama(LlamaSetup(TALKS, shows_tools=shows_tools)))
    )

    assert not trial.uses_tools
    assert trial.drops_tools is not shows_tools


async def test_a_long_prompt_is_read_in_batches_of_which_the_server_tells(
    hass: HomeAssistant, llama: Llama
) -> None:
    model = model_of(hass, await llama(LlamaSetup(TALKS)))
    request = CompletionRequest(
        "", (UserMessage(" ".join(f"lamp {number}" for number in range(1500))),)
    )

    async with aclosing(model.stream(request)) as events:
        received = [event async for event in events]

    reports = [event for event in received if isinstance(event, PromptProgress)]
    assert len(reports) > 2
    assert [report.processed for report in reports] == sorted(
        {report.processed for report in reports}
    )
    assert reports[-1].processed == reports[-1].total
    assert received[: len(reports)] == reports
    assert isinstance(received[len(reports)], TextDelta)
