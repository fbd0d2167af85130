"""Replays runs through Home Assistant's own agents: their ChatLog runs the calls that a model made, as they are.

The names of tools are those of today. What Home Assistant itself does with the
arguments is what happens.
"""

from collections.abc import Iterable
from copy import deepcopy

from homeassistant.components import conversation
from homeassistant.components.conversation import (
    AssistantContent,
    ConversationInput,
    async_get_chat_log,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, llm

from tests.behaviour.recorded_runs.runs import RecordedCall, RecordedRun
from tests.support.versions import OF_NOBODY

_AGENT = "conversation.core"


async def act_as_core(hass: HomeAssistant, run: RecordedRun) -> str:
    """Run the calls of a run; return the model's last words."""
    user_input = ConversationInput(run.text, Context(), None, None, None, "en", _AGENT)
    with (
        chat_session.async_get_chat_session(hass, **OF_NOBODY) as session,
        async_get_chat_log(hass, session, user_input) as log,
    ):
        await log.async_provide_llm_data(
            user_input.as_llm_context(conversation.DOMAIN),
            [llm.LLM_API_ASSIST],
            None,
            None,
        )
        assert log.llm_api
        for number, message in enumerate(run.asst):
            calls = [*_inputs(message.tool_calls, log.llm_api.tools, number)]
            content = AssistantContent(
                _AGENT, content=message.content, tool_calls=calls or None
            )
            async for _ in log.async_add_assistant_content(content):
                pass
    await hass.async_block_till_done()
    return run.answer or ""


def _inputs(
    calls: Iterable[RecordedCall], tools: Iterable[llm.Tool], number: int
) -> Iterable[llm.ToolInput]:
    today = {tool.name.rpartition("__")[2]: tool.name for tool in tools}
    for index, call in enumerate(calls):
        name = today.get(call.name, call.name)
        yield llm.ToolInput(name, deepcopy(call.args), id=f"{number}_{index}")
