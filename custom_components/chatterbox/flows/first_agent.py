"""The last step of adding an agent: the assistants that use it, what it asks about, and sentences to try."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import voluptuous as vol
from homeassistant.components.conversation import (
    DOMAIN as CONVERSATION,
    HOME_ASSISTANT_AGENT,
    ConversationInput,
)
from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import CONF_NAME
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.selector import BooleanSelector, TextSelector

from ..approvals.examples import async_example_requests
from ..const import CONF_PIN, DOMAIN, ServiceKind
from ..effects.recognition import async_recognize
from ..home.entity_matches import entity_name
from ..internals.assist_pipeline import assistants, settings_of_assistant
from ..runtime.earlier_agents import async_get_earlier_agents
from ..runtime.rule_labels import async_get_rule_labels
from ..settings.agent import EntryData
from ..settings.pin_hash import PinHash, flaw_of_pin
from ..settings.rules import (
    HomeRules,
    PinUse,
    Verdict,
    async_get_home_rules,
    with_pin_uses,
)
from ..speech.sentences import Sentences, async_get_sentences
from .approval_form import FIELD_PIN_FOR, PIN_USES, find_pin_problem
from .approval_page import ApprovalPage
from .dialog import (
    LIST,
    FormValues,
    async_free_title,
    async_viewer_language,
    async_viewer_sentences,
    choice,
    escaped,
    labelled,
)
from .service_checks import times_sentence
from .service_form import PASSWORD

if TYPE_CHECKING:  # it needs packages of its own
    from homeassistant.components.assist_pipeline.models import Pipeline

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
    sentences: Sentences
    asks_about: Sequence[str]
    """Names of what is exposed and needs an approval."""
    home_rules: HomeRules
    """Those of the home so far. A PIN that it has already is not asked for."""
    name: str = ""
    """Of the agent, where the form does not ask for it."""

    @classmethod
    async def async_of(
        cls,
        hass: HomeAssistant,
        kind: ServiceKind,
        model: str,
    ) -> Self:
        """Look at the home."""
        store = async_get_home_rules(hass)
        await (
            store.async_load()
        )  # nothing has been set up yet in a home without a service
        rules = store.current
        labels = await async_get_rule_labels(
            hass, rules.policy, await async_viewer_language(hass)
        )
        page = await ApprovalPage.async_of(
            hass,
            rules.policy,
            labels,
        )
        return cls(
            hass,
            kind,
            model,
            labels.sentences,
            page.names_asked_about,
            rules,
        )

    @property
    def schema(self) -> vol.Schema:
        """Return the form; what the home has nothing for is left out."""
        fields = {
            vol.Required(CONF_NAME): TextSelector(),
            **self.assistants_schema,
        }
        if self.asks_about and not self.home_rules.pin:
            fields[vol.Optional(CONF_PIN)] = PASSWORD
            fields[vol.Optional(FIELD_PIN_FOR)] = PIN_USES
        if self.kind is not ServiceKind.OFFLINE:
            fields[vol.Optional(FIELD_AI_TASK)] = BooleanSelector()
        return vol.Schema(fields)

    @property
    def assistants_schema(self) -> dict[vol.Marker, object]:
        """Return the field for the assistants, if there are any. One that another agent serves says so."""
        assistants = self._assistants()
        if not assistants:
            return {}
        return {
            vol.Optional(FIELD_USE_IN): choice(
                options=labelled(assistants), multiple=True, mode=LIST
            )
        }

    @property
    def suggested_assistants(self) -> dict[str, list[str]]:
        """Return the preferred assistant, or a new one where another agent of ours serves that."""
        store = assistants(self.hass)
        if store is None:
            return {}
        preferred = store.async_get_preferred_item()
        return {
            FIELD_USE_IN: [
                _NEW_ASSISTANT
                if _agent_of(self.hass, store.data[preferred])
                else preferred
            ]
        }

    @property
    def suggested(self) -> dict[str, Any]:
        """Return what the form shows at first."""
        model = self.model.rpartition("/")[2]
        name = async_free_title(
            self.hass, self.sentences["agent_title"], *([model] if model else [])
        )
        return {
            CONF_NAME: name,
            FIELD_PIN_FOR: list(PinUse),
            **self.suggested_assistants,
        }

    @property
    def approval(self) -> str:
        """Return a sentence about what needs an approval."""
        if self.home_rules.policy.only_reads:
            return self.sentences["spoken_rules_unknown"]
        if not self.asks_about:
            return self.sentences["first_asks_nothing"]
        names = ", ".join(
            f"**{escaped(name)}**" for name in self.asks_about[:_MOST_NAMES]
        )
        return self.sentences["first_asks"].format(
            names=names + (", …" if len(self.asks_about) > _MOST_NAMES else "")
        )

    def errors(self, form: FormValues) -> dict[str, str]:
        """Return the errors by field."""
        if form[CONF_NAME].strip():
            errors = {}
        else:
            errors = {CONF_NAME: "name_missing"}
        pin = form.get(CONF_PIN, "").strip()
        if pin:
            flaw = flaw_of_pin(pin)
            if flaw:
                errors[CONF_PIN] = f"pin_{flaw}"
            elif problem := find_pin_problem(
                self.home_rules.policy.rules, form.get(FIELD_PIN_FOR, ())
            ):
                errors[FIELD_PIN_FOR] = problem.key
            if self.home_rules.pin:  # another dialog was faster
                errors["base"] = "pin_is_set"
        return errors

    async def async_change(
        self, form: FormValues
    ) -> Callable[[HomeRules], HomeRules] | None:
        """Return a change of the rules of the home that adds the PIN and its uses; None if no PIN was chosen."""
        pin = form.get(CONF_PIN, "").strip()
        if not pin:
            return None
        hashed = await self.hass.async_add_executor_job(
            PinHash.of,
            pin,
        )

        def with_pin(home_rules: HomeRules) -> HomeRules:
            rules = with_pin_uses(
                home_rules.policy.rules,
                form.get(FIELD_PIN_FOR, ()),
            )
            return replace(
                home_rules, pin=hashed, policy=replace(home_rules.policy, rules=rules)
            )

        return with_pin

    def _assistants(self) -> dict[str, str]:
        store = assistants(self.hass)
        if store is None:
            return {}
        known = dict[str, str]()
        for pipeline_id, pipeline in store.data.items():
            agent = _agent_of(self.hass, pipeline)
            taken = self.sentences["assistant_taken"].format(
                assistant=pipeline.name, agent=agent
            )
            known[pipeline_id] = taken if agent else pipeline.name
        new = self.sentences["new_assistant"]
        return known | {_NEW_ASSISTANT: f"{new} ({self.name})" if self.name else new}


def _agent_of(
    hass: HomeAssistant,
    pipeline: Pipeline,
) -> str | None:
    """Return the title of our agent that serves an assistant."""
    entity = er.async_get(hass).async_get(pipeline.conversation_engine)
    if entity is None or entity.platform != DOMAIN:
        return None
    entry = hass.config_entries.async_get_entry(entity.config_entry_id or "")
    agent = entry and entry.subentries.get(entity.config_subentry_id or "")
    return agent.title if agent else None


def async_use_added_agent(
    hass: HomeAssistant,
    entry: ConfigEntry,
    name: str,
    chosen: Sequence[str],
) -> None:
    """Have the chosen assistants answer with the agent that is added to an entry next."""
    known = frozenset(entry.subentries)

    @callback
    def async_follow(
        change: ConfigEntryChange,
        changed: ConfigEntry,
    ) -> None:
        if changed.entry_id != entry.entry_id:
            return
        added = changed.subentries.keys() - known
        if added or change is ConfigEntryChange.REMOVED:
            stop()
        # Registered here, so that nothing has to wait for the entity, which comes once
        # its entry is loaded.
        for agent_id in added:
            entity = er.async_get(hass).async_get_or_create(
                CONVERSATION,
                DOMAIN,
                agent_id,
                config_entry=changed,
                config_subentry_id=agent_id,
                suggested_object_id=name,
            )
            using = async_use_agent(
                hass,
                entity.entity_id,
                name,
                chosen,
            )
            _ = hass.async_create_task(
                using, "chatterbox assistants"
            )  # Home Assistant keeps it

    stop = async_dispatcher_connect(
        hass,
        SIGNAL_CONFIG_ENTRY_CHANGED,
        async_follow,
    )


async def async_use_agent(
    hass: HomeAssistant,
    entity_id: str,
    name: str,
    chosen: Sequence[str],
) -> None:
    """Have the chosen assistants answer with an agent; one of them may be new, and is then like the preferred one."""
    store = assistants(hass)
    if not chosen or store is None:
        return
    # Preferring local intents, Home Assistant would itself unlock a door that it
    # understands, and ask nobody.
    answers = {
        "conversation_engine": entity_id,
        "prefer_local_intents": False,
    }
    for pipeline_id in chosen:
        if pipeline_id == _NEW_ASSISTANT:
            source = store.async_get_preferred_item()
        else:
            source = pipeline_id
        if source not in store.data:  # removed while the form was open
            continue
        settings = settings_of_assistant(store.data[source]) | answers
        if pipeline_id == _NEW_ASSISTANT:
            made = await store.async_create_item(settings | {"name": name})
            await async_get_earlier_agents(hass).async_note_made(
                made, store.data[source]
            )
        else:
            await store.async_update_item(pipeline_id, settings)


async def async_sentences_to_try(
    hass: HomeAssistant, kind: ServiceKind, chosen: Sequence[str]
) -> list[str]:
    """Return requests for devices of this home: some that are simply done, then one that is asked about.

    With a model, the last one is a request that only a model understands. They are in
    the language of the chosen assistant. Without a model, Home Assistant itself
    understands them.
    """
    store = assistants(hass)
    known = store.data if store else {}
    languages = [known[one].language for one in chosen if one in known]
    language = next(
        iter(languages),
        hass.config.language,
    )
    sentences = await async_get_sentences(hass, language)
    questions = list[str]()
    done = list[str]()
    rules = async_get_home_rules(hass).current
    for key, entity_id, verdict in await async_example_requests(
        hass, rules, searches_web=False
    ):
        text = sentences[f"example_{key}"].format(name=entity_name(hass, entity_id))
        sentence = ConversationInput(
            text, Context(), None, None, None, language, HOME_ASSISTANT_AGENT
        )
        if kind is ServiceKind.OFFLINE and not await async_recognize(hass, sentence):
            continue
        (done if verdict is Verdict.ALLOW else questions).append(text)
    requests = [*done[: _SENTENCES - len(questions[:1])], *questions[:1]]
    if kind is not ServiceKind.OFFLINE:
        requests.append(sentences["example_only_model"])
    return requests


async def async_ready(
    hass: HomeAssistant,
    kind: ServiceKind,
    name: str,
    chosen: Sequence[str],
    data: EntryData,
) -> dict[str, str]:
    """Return the placeholders of the dialog that says that an agent with this data is ready.

    The address of the frontend takes no assistant, and opens the one that was used
    last. So the link comes with the name of the one to choose where there are several,
    and not at all where none uses the agent.
    """
    sentences = await async_viewer_sentences(hass)
    store = assistants(hass)
    known = store.data if store else {}
    names = [
        name if one == _NEW_ASSISTANT else known[one].name
        for one in chosen
        if one in {*known, _NEW_ASSISTANT}
    ]
    if not names:
        key = "try_it_unused"
    elif {*known} == {*chosen}:
        key = "try_it"
    else:
        key = "try_it_choose"
    requests = await async_sentences_to_try(hass, kind, chosen)
    return {
        "agent": name,
        "requests": "\n".join(f"- {escaped(request)}" for request in requests),
        "try_it": times_sentence(sentences, data)
        + sentences[key].format(assistant=escaped(names[0] if names else "")),
    }
