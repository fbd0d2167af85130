"""The fields, checks and flow that conversation agents and AI tasks share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.data_entry_flow import section
from homeassistant.helpers import selector

from .. import const
from ..runtime.composition import REASONING_EFFORTS, SERVICE_TIERS, VERBOSITIES
from ..settings.agent import SUMMARIES, AgentSettings, Confirmation, WhenSpent
from ..settings.options import (
    NUMBERS,
    SCRIPTS,
    NumberOption,
    Problem,
    set_options,
    value_of,
)
from ..usage.prices import FREE, ModelPrice

_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    const.CONF_REASONING_EFFORT: REASONING_EFFORTS,
    const.CONF_VERBOSITY: VERBOSITIES,
    const.CONF_SERVICE_TIER: SERVICE_TIERS,
    const.CONF_CONFIRMATION: tuple(Confirmation),
    const.CONF_WHEN_SPENT: tuple(WhenSpent),
}


def errors_of(problems: Iterable[Problem]) -> dict[str, str]:
    """Return the first error of each field."""
    return {problem.place: problem.key for problem in reversed([*problems])}


# The flow checks these values itself, so that errors are translated and no input is lost.
class UncheckedTemplateSelector(selector.TemplateSelector):
    """A field for a template, valid or not."""

    @override
    def __call__(self, data: Any) -> str:
        text: str = vol.Schema(str)(data)
        return text


class _UncheckedNumberSelector(selector.NumberSelector):
    @override
    def __call__(self, data: Any) -> float:
        number: float = vol.Coerce(float)(data)
        return number


class UncheckedEntitySelector(selector.EntitySelector):
    """A field for entities, offered or not."""

    @override
    def __call__(self, data: Any) -> list[str]:
        entities: list[str] = vol.Schema([str])(data)
        return entities


def section_fields(
    sections: Mapping[str, Sequence[str]], opened: Collection[str], titles: Mapping[str, str]
) -> dict[vol.Marker, section]:
    """Return the sections with the fields of their options. The sections in `opened` are expanded."""
    selectors = {const.CONF_SUMMARY: _summary_selector(titles)}
    return {
        vol.Required(name): section(
            vol.Schema({vol.Optional(option): selectors.get(option) or _selector(option) for option in options}),
            {"collapsed": name not in opened},
        )
        for name, options in sections.items()
    }


def tool_source_selector(sources: Mapping[str, str]) -> selector.SelectSelector:
    """Return the field for tool sources."""
    apis = [selector.SelectOptionDict(value=api_id, label=name) for api_id, name in sources.items()]
    return selector.SelectSelector(selector.SelectSelectorConfig(options=apis, multiple=True))


def _summary_selector(titles: Mapping[str, str]) -> selector.SelectSelector:
    """Return the field for the model that writes summaries; the titles of agents are not translated."""
    known = [selector.SelectOptionDict(value=choice, label=choice) for choice in SUMMARIES]
    others = [selector.SelectOptionDict(value=agent_id, label=title) for agent_id, title in titles.items()]
    mode = selector.SelectSelectorMode.DROPDOWN
    return selector.SelectSelector(
        selector.SelectSelectorConfig(options=known + others, mode=mode, translation_key=const.CONF_SUMMARY)
    )


def model_selector(models: Sequence[str]) -> selector.SelectSelector | selector.TextSelector:
    """Return the field for a model: the list of the server with free input, or plain text without a list."""
    if not models:
        return selector.TextSelector()
    return selector.SelectSelector(
        selector.SelectSelectorConfig(
            options=list(models), mode=selector.SelectSelectorMode.DROPDOWN, custom_value=True
        )
    )


def only_model(models: Sequence[str]) -> str:
    """Return the model of a server that has only one, else an empty string."""
    return models[0] if len(models) == 1 else ""


def model_title(model: str) -> str:
    """Return the name of a model as a title: without folders and file extension."""
    return model.rstrip("/").rpartition("/")[2].removesuffix(".gguf") or model


def sections_as_form(
    sections: Mapping[str, Sequence[str]], settings: AgentSettings, others: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the set options as form values, by section."""
    return {
        place: dict(set_options({option: _shown(option, value_of(settings, option), others) for option in options}))
        for place, options in sections.items()
    }


def _shown(option: str, value: Any, others: Collection[str]) -> Any:
    """Return a value, unless it is a choice that does not exist any more."""
    if option == const.CONF_SUMMARY:
        return value if value in SUMMARIES or value in others else None
    return value if option not in _CHOICES or value in _CHOICES[option] else None


def typed_options(kind: const.ServiceKind, sections: Collection[str], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a form as they are stored. Empty ones are left out."""
    options = {
        option: int(value) if option in NUMBERS and NUMBERS[option].step == 1 else value
        for place in sections
        for option, value in set_options(form[place])
    }
    if kind is const.ServiceKind.OLLAMA_CHAT:
        options.setdefault(const.CONF_NUM_CTX, None)  # empty is a choice here: the default of the server
    return options


def number_selector(number: NumberOption) -> selector.NumberSelector:
    """Return the field of a number. It accepts numbers out of range, so that the flow can name the problem."""
    bounds = selector.NumberSelectorConfig(
        min=number.least, max=number.most, step=number.step, mode=selector.NumberSelectorMode.BOX
    )
    unit = selector.NumberSelectorConfig(unit_of_measurement=number.unit, translation_key="number")
    return _UncheckedNumberSelector(bounds | unit if number.unit else bounds)


def _selector(option: str) -> selector.Selector[Any]:
    if option in NUMBERS:
        return number_selector(NUMBERS[option])
    if option in _CHOICES:
        options = list(_CHOICES[option])
        return selector.SelectSelector(
            selector.SelectSelectorConfig(
                options=options, mode=selector.SelectSelectorMode.DROPDOWN, translation_key=option
            )
        )
    if option in SCRIPTS:
        return selector.EntitySelector(selector.EntitySelectorConfig(domain=const.SCRIPT_DOMAIN))
    return selector.ObjectSelector() if option == const.CONF_EXTRA_PARAMETERS else selector.BooleanSelector()


def price_words(sentences: Mapping[str, str], model: str, known: ModelPrice | None) -> str:
    """Return a sentence about the known price of a model; `model` is empty before one was chosen."""
    match known:
        case ModelPrice(usual=rates) if rates == FREE:
            return sentences["price_free"]
        case ModelPrice(usual=rates) if model:
            numbers = {"input": rates.input, "cached": rates.cached, "output": rates.output}
            return sentences["price_known"].format(model=model, **{name: f"{one:g}" for name, one in numbers.items()})
        case _ if model:
            return sentences["price_unknown"].format(model=model)
        case _:
            return sentences["price_of_no_model"]
