"""The field of an agent's settings for the AI task that looks at pictures: empty until the owner chooses one."""

from homeassistant.core import HomeAssistant

from tests.flows.agent_forms import change, submit
from tests.flows.test_agent_flow import filled_in, suggested
from tests.support.config_entries import only_agent, server_entry, set_up


async def test_one_is_chosen_and_taken_out_again(
    hass: HomeAssistant, address: str
) -> None:
    entry = await set_up(hass, server_entry(address))
    step = await change(hass, entry)
    assert not suggested(step).get("look_task")
    assert step["data_schema"] is not None
    (chosen,) = step["data_schema"].schema["look_task"].config["filter"]
    assert chosen["domain"] == ["ai_task"]
    assert chosen["supported_features"] == [2], "those that read pictures"

    await submit(hass, step, filled_in(look_task="ai_task.eyes"))
    assert only_agent(entry).data["look_task"] == "ai_task.eyes"
    step = await change(hass, entry)
    assert suggested(step)["look_task"] == "ai_task.eyes"

    await submit(hass, step, filled_in())
    assert "look_task" not in only_agent(entry).data
