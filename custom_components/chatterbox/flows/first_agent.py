"""The last step of adding a service: the name of its first agent, who uses it, what it asks about, and what to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import voluptuous as vol
from homeassistant.components.conversation import HOME_ASSISTANT_AGENT, ConversationInput
from homeassistant.const import CONF_NAME
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import selector

from ..agent.confirmation.pin import PinHash, flaw_of_pin
from ..approvals.examples import async_example_requests
from ..const import CONF_PIN, CONF_RULES, DOMAIN, SUBENTRY_CONVERSATION, ServiceKind
from ..home.entity_matches import entity_name
from ..offline.recognition import async_recognize
from ..repairs import PIPELINES
from ..runtime.earlier_agents import async_get_earlier_agents
from ..settings.agent import settings_of
from ..settings.options import new_agent_data
from ..settings.rules import DEFAULT_RULES, Policy, Verdict, policy_to_json
from ..speech.sentences import async_get_sentences
from .approval_page import ApprovalPage
from .dialog import plain
from .rule_form import async_get_rule_labels
from .service_form import PASSWORD

FIELD_USE_IN: Final = "use_in"
FIELD_AI_TASK: Final = "ai_task"
_NEW_ASSISTANT: Final = "new"
_MOST_NAMES: Final = 6
_SENTENCES: Final = 3


@dataclass(frozen=True, slots=True)
class FirstAgentForm:
    """The form, as the home is at the moment."""

    hass: HomeAssistant
    kind: ServiceKind
    model: str
    sentences: Mapping[str, str]
    asks_about: Sequence[str]
    """Names of what is exposed and needs an approval."""

    @classmethod
    async def async_of(cls, hass: HomeAssistant, kind: ServiceKind, model: str) -> Self:
        """Look at the home."""
        settings = settings_of(new_agent_data(kind, model))
        labels = await async_get_rule_labels(hass, kind, settings)
        return cls(
            hass, kind, model, labels.sentences, ApprovalPage.of(hass, settings.policy, labels).names_asked_about
        )

    @property
    def schema(self) -> vol.Schema:
        """Return the form; what the home has nothing for is left out."""
        fields: dict[vol.Marker, object] = {vol.Required(CONF_NAME): selector.TextSelector()}
        if assistants := self._assistants():
            options = [selector.SelectOptionDict(value=key, label=name) for key, name in assistants.items()]
            mode = selector.SelectSelectorMode.LIST
            fields[vol.Optional(FIELD_USE_IN)] = selector.SelectSelector(
                selector.SelectSelectorConfig(options=options, multiple=True, mode=mode)
            )
        if self.asks_about:
            fields[vol.Optional(CONF_PIN)] = PASSWORD
        if self.kind is not ServiceKind.OFFLINE:
            fields[vol.Optional(FIELD_AI_TASK)] = selector.BooleanSelector()
        return vol.Schema(fields)

    @property
    def suggested(self) -> dict[str, Any]:
        """Return what the form shows at first."""
        entries = self.hass.config_entries.async_entries(DOMAIN)
        taken = {agent.title for entry in entries for agent in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)}
        usual = self.sentences["agent_title"]
        pipelines = self.hass.data.get(PIPELINES)
        preferred = {FIELD_USE_IN: [pipelines.pipeline_store.async_get_preferred_item()]} if pipelines else {}
        return {CONF_NAME: self.model.rpartition("/")[2] if usual in taken and self.model else usual, **preferred}

    @property
    def asked(self) -> str:
        """Return a sentence about what needs an approval."""
        if not self.asks_about:
            return self.sentences["first_asks_nothing"]
        names = ", ".join(f"**{plain(name)}**" for name in self.asks_about[:_MOST_NAMES])
        return self.sentences["first_asks"].format(names=names + (", …" if len(self.asks_about) > _MOST_NAMES else ""))

    def errors(self, form: Mapping[str, Any]) -> dict[str, str]:
        """Return the errors by field."""
        flaw = flaw_of_pin(form[CONF_PIN].strip()) if form.get(CONF_PIN) else None
        return ({} if form[CONF_NAME].strip() else {CONF_NAME: "name_missing"}) | (
            {CONF_PIN: f"pin_{flaw}"} if flaw else {}
        )

    async def async_data(self, form: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of the agent. With a PIN, all that would be asked about needs it."""
        data = new_agent_data(self.kind, self.model)
        if pin := form.get(CONF_PIN, "").strip():
            hashed = await self.hass.async_add_executor_job(PinHash.of, pin)
            rules = tuple(replace(rule, verdict=Verdict.PIN) for rule in DEFAULT_RULES)
            data |= {CONF_PIN: hashed.as_json(), CONF_RULES: policy_to_json(Policy(rules))}
        return data

    @callback
    def _assistants(self) -> dict[str, str]:
        pipelines = self.hass.data.get(PIPELINES)
        if pipelines is None:
            return {}
        known = {pipeline_id: pipeline.name for pipeline_id, pipeline in pipelines.pipeline_store.data.items()}
        return known | {_NEW_ASSISTANT: self.sentences["new_assistant"]}


async def async_use_agent(hass: HomeAssistant, entity_id: str, name: str, chosen: Sequence[str]) -> None:
    """Have the chosen assistants answer with an agent; one of them may be new, and is then like the preferred one."""
    if not chosen:
        return
    store = hass.data[PIPELINES].pipeline_store
    # Preferring local intents, Home Assistant would itself unlock a door that it understands, and ask nobody.
    answers = {"conversation_engine": entity_id, "prefer_local_intents": False}
    for pipeline_id in chosen:
        source = store.async_get_preferred_item() if pipeline_id == _NEW_ASSISTANT else pipeline_id
        if source not in store.data:  # removed while the form was open
            continue
        settings = {key: value for key, value in store.data[source].to_json().items() if key != "id"} | answers
        if pipeline_id == _NEW_ASSISTANT:
            made = await store.async_create_item(settings | {"name": name})
            await async_get_earlier_agents(hass).async_note_made(made, store.data[source])
        else:
            await store.async_update_item(pipeline_id, settings)


async def async_sentences_to_try(
    hass: HomeAssistant, kind: ServiceKind, data: Mapping[str, Any], chosen: Sequence[str]
) -> list[str]:
    """Return requests for devices of this home: some that are simply done, then one that is asked about.

    They are in the language of the chosen assistant. Without a model, Home Assistant itself understands them.
    """
    assistants = hass.data[PIPELINES].pipeline_store.data if PIPELINES in hass.data else {}
    languages = [assistants[pipeline_id].language for pipeline_id in chosen if pipeline_id in assistants]
    language = languages[0] if languages else hass.config.language
    sentences = await async_get_sentences(hass, language)
    asked, done = list[str](), list[str]()
    for key, entity_id, verdict in await async_example_requests(hass, settings_of(data)):
        text = sentences[f"example_{key}"].format(name=entity_name(hass, entity_id))
        said = ConversationInput(text, Context(), None, None, None, language, HOME_ASSISTANT_AGENT)
        if key.startswith("search_") or (kind is ServiceKind.OFFLINE and not await async_recognize(hass, said)):
            continue
        (done if verdict is Verdict.ALLOW else asked).append(text)
    return [*done[: _SENTENCES - len(asked[:1])], *asked[:1]]
