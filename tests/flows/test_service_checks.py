"""A server is measured and tried before it is saved, and nobody waits for that."""

import asyncio
from typing import ClassVar, override

import aiohttp
import pytest
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from pydantic import JsonValue

from custom_components.chatterbox.agent.providers.http_provider import HTTPProvider
from custom_components.chatterbox.agent.providers.openai_chat import OpenAIChatProvider
from custom_components.chatterbox.const import (
    SUBENTRY_AI_TASK,
    ServiceKind,
)
from custom_components.chatterbox.flows.service_checks import answering_interface
from custom_components.chatterbox.settings.agent import settings_of
from tests.agent.turns import run_other_tasks
from tests.flows.first_agent.nearby_servers import LLAMA, nearby
from tests.support.config_entries import only_agent
from tests.support.one_home import in_one_home
from tests.support.sentences import sentence
from tests.support.servers.chat_completions import ScriptedChatCompletions
from tests.support.servers.in_process import serving_script
from tests.support.servers.model_server import ModelRequest
from tests.support.servers.script import (
    ScriptedAnswer,
    ScriptedFailure,
    ScriptedUsage,
)
from tests.support.service_dialogs import (
    TALKING,
    choose,
    connect,
    submit,
    suggested,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_a_search_for_another_interface_has_an_end() -> None:
    requested = asyncio.Event()

    class SilentServer(OpenAIChatProvider):
        """Takes every question, and answers none."""

        @override
        async def list_models(self) -> list[str]:
            requested.set()
            return await asyncio.Future()

    async with aiohttp.ClientSession() as session:
        servers: dict[ServiceKind, HTTPProvider] = {
            ServiceKind.OPENAI_CHAT: SilentServer(session, "http://[::1]", "")
        }
        assert await answering_interface(servers, has_model=False, seconds=0.01) is None
    assert requested.is_set()


pytestmark = pytest.mark.usefixtures("socket_enabled")


class Measured(ScriptedChatCompletions):
    """A server that takes 6 seconds to act, and 20 to read a sample, which it does once it may."""

    freezer: ClassVar[FrozenDateTimeFactory]
    may_read: ClassVar[asyncio.Event]
    samples: ClassVar[list[int]]

    @override
    def answer_to(
        self, body: dict[str, JsonValue], model_request: ModelRequest
    ) -> ScriptedAnswer | ScriptedFailure | None:
        self.freezer.tick(6 if model_request.tries_tool else 20)
        return super().answer_to(body, model_request)

    @override
    async def _answer(
        self,
        request: web.Request,
        parsed: ModelRequest,
        answer: ScriptedAnswer | ScriptedFailure | None,
    ) -> web.StreamResponse:
        if not parsed.tries_tool:
            self.samples.append(len(self.requests))
            await self.may_read.wait()
        return await super()._answer(request, parsed, answer)


@pytest.fixture
def measured(freezer: FrozenDateTimeFactory) -> type[Measured]:
    """Return a server that reads slowly by a clock of the test, once it may."""
    Measured.freezer, Measured.may_read, Measured.samples = freezer, asyncio.Event(), []
    return Measured


async def test_set_up_says_how_long_answers_of_a_server_at_home_take(
    hass: HomeAssistant, measured: type[Measured]
) -> None:
    measured.may_read.set()
    async with nearby(hass, LLAMA, measured) as (_, step):
        last = await choose(hass, step, "found_0")
        result = await submit(hass, last, **suggested(last), ai_task=True)

    agent = settings_of(only_agent(result["result"]).data)
    assert agent.first_answer > 6 + 20, "the prompt of a home is longer than the sample"
    assert (agent.later_answer, agent.first_token_timeout) == (6, 20)
    assert agent.limits.deadline > 2 * agent.first_answer
    times = sentence("common.answer_times", first=f"{agent.first_answer:g}", later="6")
    assert (result["description_placeholders"] or {})["try_it"].startswith(
        f"{times}\n\n"
    )
    (task,) = result["result"].get_subentries_of_type(SUBENTRY_AI_TASK)
    assert "first_answer" not in task.data, "a task has another prompt"


async def _end_reading(hass: HomeAssistant, measured: type[Measured]) -> None:
    """Let a server go on whose client has left, so that it closes its connection."""
    measured.may_read.set()
    await hass.async_block_till_done()
    await run_other_tasks()


async def test_nobody_waits_for_a_server_that_is_measured(
    hass: HomeAssistant, measured: type[Measured]
) -> None:
    flow = hass.config_entries.flow
    async with nearby(hass, LLAMA, measured) as (_, step):
        last = await flow.async_configure(step["flow_id"], {"next_step_id": "found_0"})
        result = await flow.async_configure(last["flow_id"], {**suggested(last)})
        await _end_reading(hass, measured)

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert "first_answer" not in only_agent(result["result"]).data
    assert sentence("common.answer_times", first="", later="")[:11] not in str(
        result["description_placeholders"]
    )


async def test_a_dialog_that_is_left_measures_nothing_more(
    hass: HomeAssistant, measured: type[Measured]
) -> None:
    async with nearby(hass, LLAMA, measured) as (_, step):
        last = await hass.config_entries.flow.async_configure(
            step["flow_id"], {"next_step_id": "found_0"}
        )
        hass.config_entries.flow.async_abort(last["flow_id"])
        await hass.async_block_till_done()
        await _end_reading(hass, measured)

    assert not hass.config_entries.flow.async_progress()


async def test_the_model_that_was_chosen_last_is_measured(
    hass: HomeAssistant, measured: type[Measured]
) -> None:
    """Both choices were sent before the first one was tried, as by two clicks."""
    flow = hass.config_entries.flow
    two = LLAMA.model_copy(update={"models": ("llama-8b", "llama-70b")})
    async with nearby(hass, two, measured) as (_, step):
        choices = [
            flow.async_configure(step["flow_id"], {"next_step_id": one})
            for one in ("found_0", "found_1")
        ]
        await asyncio.gather(*choices)
        under_way = [
            one
            for one in asyncio.all_tasks()
            if one.get_name() == "chatterbox measurement of a model"
        ]
        flow.async_abort(step["flow_id"])
        await _end_reading(hass, measured)

    assert len(under_way) == 1


@in_one_home("status", [400, 500, 503], puts_back=True)
async def test_a_failure_to_measure_holds_nobody_up(
    hass: HomeAssistant, status: int
) -> None:
    script = LLAMA.model_copy(
        update={"trial_answer": ScriptedFailure(status=status, body={"error": "no"})}
    )
    async with nearby(hass, script) as (_, step):
        last = await choose(hass, step, "found_0")
        result = await submit(hass, last, **suggested(last))

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert "first_answer" not in only_agent(result["result"]).data


async def test_a_server_that_may_cost_something_is_not_measured(
    hass: HomeAssistant, measured: type[Measured]
) -> None:
    script = TALKING.model_copy(update={"context_window": 32_768})
    async with serving_script(script, measured) as address:
        last = await submit(hass, await connect(hass, address), model="big-model")
        result = await submit(hass, last, **suggested(last))

    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert measured.samples == []


async def test_a_template_that_drops_tools_is_found(hass: HomeAssistant) -> None:
    counted = ScriptedAnswer(
        content="Done.", usage=ScriptedUsage(prompt_tokens=40, completion_tokens=2)
    )
    answers = {"tool_trial_answer": counted, "trial_answer": counted}
    script = TALKING.model_copy(update=answers | {"context_window": 32_768})
    async with serving_script(script) as address:
        step = await submit(hass, await connect(hass, address), model="big-model")

    warning = sentence("common.trial_drops_tools", model="big-model")
    assert (step["description_placeholders"] or {})["trial"] == warning
    assert "`--jinja`" in warning
