"""Base of all dialogs: the link to their page of the docs, and the list of problems at the top."""

import string
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain, count
from typing import Any, Final, Unpack

import voluptuous as vol
from homeassistant.components.http import KEY_HASS_USER
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.http import current_request
from homeassistant.helpers.selector import (
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)
from homeassistant.helpers.translation import async_get_translations
from homeassistant.loader import async_get_loaded_integration

from ..agent.text import read_data_file
from ..const import DOMAIN
from ..internals.frontend import async_profile_language
from ..settings.agent import existing_agents
from ..settings.options import Problem
from ..speech.sentences import Sentences, async_closest_language, async_get_sentences

SECTIONS: Final = read_data_file(__file__, dict[str, str], "docs_sections.toml")
"""Sections of the docs by step; all other steps are part of setting up."""
_SETTING_UP: Final = "start/"
DROPDOWN = SelectSelectorMode.DROPDOWN
LIST = SelectSelectorMode.LIST
KNOWN_SECRET: Final = "•" * 8
"""Stands for a stored secret, so that no form ever contains it."""
_MARKUP: Final = str.maketrans(
    {sign: f"\\{sign}" for sign in set(string.punctuation) - set(",;'?%")}
)


type FormValues = Mapping[str, Any]
"""The values of a form, by field."""
type FormInput = dict[str, Any] | None
"""The input of the form of a step; None before the form was shown."""


class Unchecked:
    """Makes of a selector a field that the flow checks itself, so that errors are translated and no input is lost."""

    kind = vol.Schema(object)
    """The kind that its values have in any case."""

    def __call__(self, data: Any) -> Any:
        """Return a value of the field."""
        return self.kind(data)


def docs_url(
    hass: HomeAssistant,
    step_id: str,
) -> str:
    """Return the address of the section of the docs that explains a step, by default of setting up."""
    site = (async_get_loaded_integration(hass, DOMAIN).documentation or "").rstrip("/")
    return f"{site}/{SECTIONS.get(step_id, _SETTING_UP)}"


def choice(**config: Unpack[SelectSelectorConfig]) -> SelectSelector:
    """Return the field for a choice."""
    return SelectSelector(config)


def typed_secret[
    Stored,
](typed: str, stored: Stored) -> Stored | str | None:
    """Return a stored secret if its dots are unchanged, else what was typed, also beside the dots, or None."""
    if typed.strip() == KNOWN_SECRET:
        return stored
    return typed.strip().removeprefix(KNOWN_SECRET).removesuffix(KNOWN_SECRET) or None


def escaped(text: str) -> str:
    """Return a text with its Markdown escaped."""
    return " ".join(text.split()).translate(_MARKUP)


def labelled(labels: Mapping[str, str]) -> list[SelectOptionDict]:
    """Return options with labels that are not translated."""
    return [
        SelectOptionDict(
            value=value,
            label=label,
        )
        for value, label in labels.items()
    ]


async def async_viewer_language(hass: HomeAssistant) -> str:
    """Return the language in which the user of a dialog sees Home Assistant, as far as we have it.

    As in the frontend: the language of the user's profile, else that of the browser;
    without either, that of the home.
    """
    language = hass.config.language
    request = current_request.get()
    if request:
        language = (
            request.headers.get("Accept-Language", "")
            .partition(",")[0]
            .partition(";")[0]
            .strip()
            or language
        )
        if "frontend" in hass.config.components and (
            user := request.get(KEY_HASS_USER)
        ):
            language = await async_profile_language(hass, user.id) or language
    return await async_closest_language(hass, language)


async def async_viewer_sentences(hass: HomeAssistant) -> Sentences:
    """Return our sentences in that language."""
    return await async_get_sentences(hass, await async_viewer_language(hass))


async def async_placeholders(
    hass: HomeAssistant,
    step_id: str,
    problems: Collection[Problem] = (),
    texts: str = "",
    /,
    **others: str,
) -> dict[str, str]:
    """Return the placeholders of a step.

    `texts` is the part of the translations that has the names of the fields and the
    sentences of the problems.
    """
    named = {
        name: text
        for problem in problems
        for name, text in problem.placeholders.items()
    }
    if problems:
        listed = await _async_list(
            hass,
            problems,
            texts,
        )
    else:
        listed = ""
    return {
        **named,
        "docs": docs_url(
            hass,
            step_id,
        ),
        "problems": listed,
        **others,
    }


def marked(
    schema: vol.Schema,
    problems: Collection[Problem],
) -> dict[str, str]:
    """Return the errors that a form shows at its fields and sections, beside the list at its top.

    A section hides the errors of its fields, and all errors share their placeholders.
    So one that has several problems is only marked, and so is one whose placeholders
    are also those of another problem.
    """
    names = Counter(name for problem in problems for name in problem.placeholders)
    parts = {
        str(name): part.schema.schema if isinstance(part, section) else ()
        for name, part in schema.schema.items()
    }
    errors: dict[str, str] = {}
    for problem in reversed([*problems]):
        for name, inside in parts.items():
            if problem.place in {name, *map(str, inside)}:
                is_unclear = (inside and len(problems) > 1) or any(
                    names[one] > 1 for one in problem.placeholders
                )
                errors[name] = "marked" if is_unclear else problem.key
    return errors


async def _async_list(
    hass: HomeAssistant, problems: Collection[Problem], texts: str
) -> str:
    """Return a Markdown alert with all problems, in the language of the user."""
    category = texts.partition(".")[0]
    known = await async_get_translations(
        hass, await async_viewer_language(hass), category, [DOMAIN]
    )
    root = f"component.{DOMAIN}.{texts}"
    lines = []
    for problem in problems:
        path = " → ".join(_path(known, f"{root}.step.", problem.place))
        details = {name: escaped(value) for name, value in problem.placeholders.items()}
        text = known[f"{root}.error.{problem.key}"].format(**details)
        lines.append(f"- **{path}:** {text}")
    return "\n".join(
        [
            '<ha-alert alert-type="error">',
            "",
            *lines,
            "",
            "</ha-alert>",
            "",
            "",
        ]
    )


def _path(
    known: Mapping[str, str],
    steps: str,
    place: str,
) -> list[str]:
    """Return the names of the form, the section and the field at which a problem is."""
    ends = f".data.{place}", f".sections.{place}.name"
    found = next(key for key in known if key.startswith(steps) and key.endswith(ends))
    step, *inner = found.removeprefix(steps).split(".")
    names = [known[f"{steps}{step}.title"]]
    if inner[0] == "sections":
        names.append(known[f"{steps}{step}.sections.{inner[1]}.name"])
    if inner[-1] == place:
        return [*names, known[found]]
    return names


def async_free_title(
    hass: HomeAssistant,
    usual: str,
    *others: str,
) -> str:
    """Return the usual title of an agent or a task, or else one of some others, or else the usual one with a number."""
    taken = {agent.title for agent in existing_agents(hass).values()}
    numbered = (f"{usual} {number}" for number in count(2))
    return next(
        title for title in chain([usual, *others], numbered) if title not in taken
    )
