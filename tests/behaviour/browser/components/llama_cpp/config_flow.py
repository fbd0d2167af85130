"""Adds an entry with one agent, both stored as by Home Assistant's own integration."""

from typing import override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult


class LlamaCppConfigFlow(ConfigFlow, domain="llama_cpp"):
    """Takes the address of a server, and has the agent use its model `small-model`."""

    @override
    async def async_step_user(
        self, user_input: dict[str, str] | None = None
    ) -> ConfigFlowResult:
        """Add the entry."""
        if user_input is None:
            return self.async_show_form(step_id="user")
        sampling = {"recommended": False, "temperature": 0.4, "streaming": True}
        agent = {
            "chat_model": "small-model",
            "llm_hass_api": ["assist"],
            "prompt": "Speak like a butler.",
            **sampling,
        }
        return self.async_create_entry(
            title=user_input["base_url"],
            data={**user_input, "streaming": True},
            subentries=[
                {
                    "subentry_type": "conversation",
                    "data": agent,
                    "title": "Jeeves",
                    "unique_id": None,
                }
            ],
        )
