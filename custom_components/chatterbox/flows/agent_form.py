"""The form of a conversation agent: its fields, what they show, and how what was filled in is stored.

Knows selectors, and the data of a `conversation` subentry. Must not know how a flow walks, or what a person is told
when something does not fit (`settings/options.py`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    ObjectSelector,
    SelectOptionDict,
    Selector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from ..const import (
    CONF_CHECK_CLAIMS,
    CONF_COMPACT_HOME,
    CONF_CONFIRMATION,
    CONF_EXTRA_PARAMETERS,
    CONF_FALLBACKS,
    CONF_KEEP_HISTORY,
    CONF_KIND,
    CONF_NUM_CTX,
    CONF_REASONING_EFFORT,
    CONF_REMEMBER_FACTS,
    CONF_SEARCH_HISTORY,
    CONF_SERVICE_TIER,
    CONF_SUMMARY,
    CONF_VERBOSITY,
    CONF_WHEN_SPENT,
    DOMAIN,
    SCRIPT_DOMAIN,
    ServiceKind,
)
from ..runtime.composition import REASONING_EFFORTS, SERVICE_TIERS, VERBOSITIES
from ..settings.agent import SUMMARIES, AgentSettings, Confirmation, WhenSpent
from ..settings.options import NUMBERS, SCRIPTS, NumberOption, sections_of, set_options, value_of


def possible_fallbacks(hass: HomeAssistant, own_id: str | None) -> Mapping[str, str]:
    """Return the agents that have a model, except `own_id`: the ids of their entities by those of their subentries."""
    registry = er.async_get(hass)
    return {
        entity.unique_id: entity.entity_id
        for entry in hass.config_entries.async_entries(DOMAIN)
        if entry.data[CONF_KIND] != ServiceKind.OFFLINE
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == CONVERSATION_DOMAIN and entity.unique_id in entry.subentries and entity.unique_id != own_id
    }


def titles_of(hass: HomeAssistant, agent_ids: Iterable[str]) -> Mapping[str, str]:
    """Return how agents are called, with the service of each, since names may be alike."""
    entries = hass.config_entries.async_entries(DOMAIN)
    return {
        agent_id: f"{entry.subentries[agent_id].title} ({entry.title})"
        for agent_id in agent_ids
        for entry in entries
        if agent_id in entry.subentries
    }


def fallback_ids(possible: Mapping[str, str], entity_ids: Iterable[str]) -> list[str] | None:
    """Return the subentries of entities, each once and in their order; None when one of them may not step in."""
    agents = {entity_id: agent_id for agent_id, entity_id in possible.items()}
    chosen = list(dict.fromkeys(entity_ids))
    return [agents[entity_id] for entity_id in chosen] if all(chosen_id in agents for chosen_id in chosen) else None


_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    CONF_REASONING_EFFORT: REASONING_EFFORTS,
    CONF_VERBOSITY: VERBOSITIES,
    CONF_SERVICE_TIER: SERVICE_TIERS,
    CONF_CONFIRMATION: tuple(Confirmation),
    CONF_WHEN_SPENT: tuple(WhenSpent),
}

_OWN_KEYS: Final = frozenset({CONF_MODEL, CONF_LLM_HASS_API, CONF_PROMPT, CONF_FALLBACKS}).union(
    *(options for kind in ServiceKind for options in sections_of(kind).values())
)
"""What is stored of this form, for any kind of service."""

_NOBODY: Final[Mapping[str, str]] = {}


# What these three hold is judged by the flow, so that the verdict is translated and nothing typed is lost.
class _UncheckedTemplateSelector(TemplateSelector):
    @override
    def __call__(self, data: Any) -> str:
        text: str = vol.Schema(str)(data)
        return text


class _UncheckedNumberSelector(NumberSelector):
    @override
    def __call__(self, data: Any) -> float:
        number: float = vol.Coerce(float)(data)
        return number


class _UncheckedEntitySelector(EntitySelector):
    @override
    def __call__(self, data: Any) -> list[str]:
        entities: list[str] = vol.Schema([str])(data)
        return entities


def tool_sources(hass: HomeAssistant, chosen: Collection[str], absent: str) -> Mapping[str, str]:
    """Return the LLM APIs that there are, and those that an agent has `chosen`: their names by their ids.

    `absent` is how one is called that is not there at the moment, with a place for its id.
    """
    there = {api.id: api.name for api in llm.async_get_apis(hass)}
    return there | {api_id: absent.format(source=api_id) for api_id in chosen if api_id not in there}


def agent_schema(  # noqa: PLR0913  # all that there is to choose from
    sources: Mapping[str, str],
    kind: ServiceKind,
    models: Sequence[str],
    fallbacks: Mapping[str, str],
    *,
    titles: Mapping[str, str] = _NOBODY,
    opened: Collection[str] = (),
) -> vol.Schema:
    """Return the form of an agent that a model of a kind of service drives.

    `sources` are those of its tools, as `tool_sources` returns them. `fallbacks` are the agents that may step in, as
    `possible_fallbacks` returns them, and `titles` how they are called. The sections `opened` are not folded.
    """
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            vol.Required(CONF_MODEL): model_selector(models),
            vol.Optional(CONF_LLM_HASS_API): tool_source_selector(sources),
            vol.Optional(CONF_PROMPT): prompt_selector(),
            vol.Optional(CONF_FALLBACKS): fallback_selector(fallbacks),
            **section_fields(sections_of(kind), opened, titles),
        }
    )


def offline_agent_schema(opened: Collection[str] = ()) -> vol.Schema:
    """Return the form of an agent that needs no model."""
    return vol.Schema(
        {vol.Required(CONF_NAME): TextSelector(), **section_fields(sections_of(ServiceKind.OFFLINE), opened)}
    )


def section_fields(
    sections: Mapping[str, Sequence[str]], opened: Collection[str], titles: Mapping[str, str] = _NOBODY
) -> dict[vol.Marker, section]:
    """Return the fields of options, by the section in which they stand; the rest is as in `agent_schema`."""
    selectors = {CONF_SUMMARY: _summary_selector(titles)}
    return {
        vol.Required(name): section(
            vol.Schema({vol.Optional(option): selectors.get(option) or _selector(option) for option in options}),
            {"collapsed": name not in opened},
        )
        for name, options in sections.items()
    }


def tool_source_selector(sources: Mapping[str, str]) -> SelectSelector:
    """Return the field for sources of tools."""
    apis = [SelectOptionDict(value=api_id, label=name) for api_id, name in sources.items()]
    return SelectSelector(SelectSelectorConfig(options=apis, multiple=True))


def prompt_selector() -> TemplateSelector:
    """Return the field for instructions."""
    return _UncheckedTemplateSelector()


def fallback_selector(fallbacks: Mapping[str, str]) -> EntitySelector:
    """Return the field for agents that may step in."""
    others = EntitySelectorConfig(include_entities=list(fallbacks.values()), multiple=True, reorder=True)
    return _UncheckedEntitySelector(others)


def _summary_selector(titles: Mapping[str, str]) -> SelectSelector:
    """Return the field for who sums up a conversation; the titles of agents stand as they are."""
    known = [SelectOptionDict(value=choice, label=choice) for choice in SUMMARIES]
    others = [SelectOptionDict(value=agent_id, label=title) for agent_id, title in titles.items()]
    mode = SelectSelectorMode.DROPDOWN
    return SelectSelector(SelectSelectorConfig(options=known + others, mode=mode, translation_key=CONF_SUMMARY))


def model_selector(models: Sequence[str]) -> SelectSelector | TextSelector:
    """Return the field for a model: the server's list and whatever is typed, or, without a list, plain text."""
    if not models:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(options=list(models), mode=SelectSelectorMode.DROPDOWN, custom_value=True)
    )


def only_model(models: Sequence[str]) -> str:
    """Return the model of a server that has one; empty when there is a choice to make."""
    return models[0] if len(models) == 1 else ""


def model_title(model: str) -> str:
    """Return a model's name as an agent's: without the folders and the ending of a file."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def as_form(kind: ServiceKind, name: str, settings: AgentSettings, fallbacks: Mapping[str, str]) -> dict[str, Any]:
    """Arrange what is set as the form shows it, without agents that no longer exist."""
    return {
        CONF_NAME: name,
        CONF_MODEL: settings.model,
        CONF_LLM_HASS_API: list(settings.llm_apis),
        CONF_PROMPT: settings.prompt or "",
        CONF_FALLBACKS: [fallbacks[agent_id] for agent_id in settings.fallbacks if agent_id in fallbacks],
        **sections_as_form(sections_of(kind), settings, fallbacks),
    }


def offline_as_form(name: str, settings: AgentSettings) -> dict[str, Any]:
    """Arrange what is set for an agent that needs no model as its form shows it."""
    return {CONF_NAME: name, **sections_as_form(sections_of(ServiceKind.OFFLINE), settings)}


def sections_as_form(
    sections: Mapping[str, Sequence[str]], settings: AgentSettings, others: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Arrange the options that are set as the fields of `section_fields` show them."""
    return {
        place: dict(set_options({option: _shown(option, value_of(settings, option), others) for option in options}))
        for place, options in sections.items()
    }


def _shown(option: str, value: Any, others: Collection[str]) -> Any:
    """Return a value, unless it is a choice that there is not, or one of the `others` that is gone."""
    if option == CONF_SUMMARY:
        return value if value in SUMMARIES or value in others else None
    return value if option not in _CHOICES or value in _CHOICES[option] else None


def as_data(
    kind: ServiceKind, form: Mapping[str, Any], fallbacks: Sequence[str], stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Arrange a filled-in form as it is stored, which is nothing of what is empty.

    The name is the title of the subentry. `fallbacks` are the subentries that the form names. What is `stored` and no
    such form holds is kept.
    """
    return {
        **{key: value for key, value in stored.items() if key not in _OWN_KEYS},
        CONF_MODEL: form[CONF_MODEL].strip(),
        CONF_LLM_HASS_API: form.get(CONF_LLM_HASS_API, []),
        CONF_PROMPT: form.get(CONF_PROMPT, ""),
        **({CONF_FALLBACKS: list(fallbacks)} if fallbacks else {}),
        **typed_options(kind, sections_of(kind), form),
    }


def offline_as_data(form: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Arrange the filled-in form of an agent that needs no model as it is stored."""
    kept = {key: value for key, value in stored.items() if key not in _OWN_KEYS}
    return kept | typed_options(ServiceKind.OFFLINE, sections_of(ServiceKind.OFFLINE), form)


def typed_options(kind: ServiceKind, sections: Collection[str], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a filled-in form as they are stored, which is nothing of what is empty."""
    options = {
        option: int(value) if option in NUMBERS and NUMBERS[option].step == 1 else value
        for place in sections
        for option, value in set_options(form[place])
    }
    if kind is ServiceKind.OLLAMA_CHAT:
        options.setdefault(CONF_NUM_CTX, None)  # here, empty is a choice: the server's own size
    return options


def number_selector(number: NumberOption) -> NumberSelector:
    """Return the field of a number. One beyond its bounds is taken, too, so that the form can say what is wrong."""
    bounds = NumberSelectorConfig(min=number.least, max=number.most, step=number.step, mode=NumberSelectorMode.BOX)
    unit = NumberSelectorConfig(unit_of_measurement=number.unit, translation_key="number")
    return _UncheckedNumberSelector(bounds | unit if number.unit else bounds)


def _selector(option: str) -> Selector[Any]:
    if option in NUMBERS:
        return number_selector(NUMBERS[option])
    if option in _CHOICES:
        options = list(_CHOICES[option])
        return SelectSelector(
            SelectSelectorConfig(options=options, mode=SelectSelectorMode.DROPDOWN, translation_key=option)
        )
    if option in SCRIPTS:
        return EntitySelector(EntitySelectorConfig(domain=SCRIPT_DOMAIN))
    selectors: Mapping[str, Selector[Any]] = {
        CONF_CHECK_CLAIMS: BooleanSelector(),
        CONF_COMPACT_HOME: BooleanSelector(),
        CONF_KEEP_HISTORY: BooleanSelector(),
        CONF_EXTRA_PARAMETERS: ObjectSelector(),
        CONF_REMEMBER_FACTS: BooleanSelector(),
        CONF_SEARCH_HISTORY: BooleanSelector(),
    }
    return selectors[option]
