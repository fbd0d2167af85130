"""The form "What the agent may use": how far each source of tools is trusted, and what is known about its tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import voluptuous as vol
from homeassistant.core import HomeAssistant, valid_entity_id
from homeassistant.helpers import llm
from homeassistant.helpers.selector import (
    EntitySelector,
    ObjectSelectorConfig,
    ObjectSelectorField,
    Selector,
    SelectSelector,
)
from homeassistant.util import slugify

from ..agent.messages import JsonObject, JsonValue
from ..const import CONF_TOOL_SOURCES
from ..effects.actions import SELF_CONTAINED
from ..home.entity_matches import entity_name
from ..runtime.rule_labels import Labels
from ..settings.agent import AgentSettings, WebSearch
from ..settings.options import Problem
from ..settings.rules import PolicyError, ToolSource, TrustLevel, sources_from_json
from ..speech.sentences import Sentences, listed_texts
from ..tools.findings import FoundTool, find_out, is_web_search
from ..tools.llm_apis import context_without_speaker, source_names
from ..tools.turn_tools import TurnTools, async_offer_tools
from .approval_form import UncheckedObjectSelector
from .approval_page import table
from .dialog import DROPDOWN, FormValues, choice, escaped

FIELD_SCRIPTS: Final = "scripts"
FIELD_SCRIPT: Final = "script"
FIELD_LEVEL: Final = "level"
FIELD_AFFECTS: Final = "affects"
_BY_TOOL: Final = "by_tool"
"""Stands for no level."""
_MOST_NAMES: Final = 6


@dataclass(frozen=True, slots=True)
class ToolForm:
    """The sources of tools that an agent may use."""

    sources: Labels
    """Their labels, which are the names of the fields."""
    levels: Labels
    markdown: str
    """Tables of the tools."""

    @classmethod
    async def async_of(
        cls,
        hass: HomeAssistant,
        settings: AgentSettings,
        trusted: Mapping[str, ToolSource],
        sentences: Sentences,
    ) -> Self:
        """Ask the sources for their tools, and find out about these. `trusted` is what the owner has set for them."""
        offer = await _async_offer(hass, settings)
        found: dict[str, list[FoundTool]] = {}
        for tool in offer.instance.tools if offer.instance else ():
            found.setdefault(offer.labels[tool.name], []).append(
                find_out(hass, tool, trusted)
            )
        apis = source_names(hass, sentences)
        ids = settings.llm_apis or (llm.LLM_API_ASSIST,)
        ids = tuple(
            dict.fromkeys(
                (*ids, *(source for source in trusted if not valid_entity_id(source)))
            )
        )
        absent = sentences["source_absent"]
        names = {
            source: apis.get(source) or absent.format(source=source) for source in ids
        }
        levels = {_BY_TOOL: sentences["trust_by_tool"]}
        levels |= {level: sentences[f"trust_{level}"] for level in TrustLevel}
        labels = Labels.of({FIELD_SCRIPTS: FIELD_SCRIPTS, **names})
        tables = (
            f"**{escaped(label)}**\n\n{_table(hass, found[source], sentences)}"
            for label, source in labels.ids.items()
            if source in found
        )
        sources = Labels(
            {
                label: source
                for label, source in labels.ids.items()
                if source != FIELD_SCRIPTS
            }
        )
        return cls(
            sources,
            Labels.of(levels),
            "\n\n".join(tables),
        )

    @property
    def schema(self) -> vol.Schema:
        """The form."""
        scripts = EntitySelector({"domain": ["script", "scene", "automation"]})
        affected = EntitySelector(
            {
                "domain": sorted(SELF_CONTAINED),
                "multiple": True,
            }
        )
        fields = {
            FIELD_SCRIPT: ObjectSelectorField(
                selector=scripts,
                required=True,
            ),
            FIELD_LEVEL: ObjectSelectorField(selector=self._level),
            FIELD_AFFECTS: ObjectSelectorField(selector=affected),
        }
        rows = ObjectSelectorConfig(
            fields=dict(fields), multiple=True, translation_key=CONF_TOOL_SOURCES
        )
        choices: dict[vol.Marker, Selector[Any]] = {
            vol.Optional(one): self._level for one in self.sources.ids
        }
        choices[vol.Optional(FIELD_SCRIPTS)] = UncheckedObjectSelector(rows)
        return vol.Schema(choices)

    @property
    def _level(self) -> SelectSelector:
        return choice(
            options=list(self.levels.ids),
            mode=DROPDOWN,
        )

    def as_form(self, trusted: Mapping[str, ToolSource]) -> dict[str, Any]:
        """Return what is said of sources as form values."""
        rows = [
            {
                FIELD_SCRIPT: source,
                FIELD_LEVEL: self._label(trust),
                FIELD_AFFECTS: sorted(trust.affects),
            }
            for source, trust in trusted.items()
            if source not in self.sources.ids.values()
        ]
        levels = {
            label: self._label(trusted.get(source, ToolSource()))
            for label, source in self.sources.ids.items()
        }
        return {
            **levels,
            FIELD_SCRIPTS: rows,
        }

    def _label(self, trust: ToolSource) -> str:
        return self.levels.label(trust.level or _BY_TOOL)

    def read(self, form: FormValues) -> Mapping[str, ToolSource] | Problem:
        """Return what form values say of sources, or the problem of the first invalid row."""
        trusted: JsonObject = {
            source: self._json(form.get(label), None)
            for label, source in self.sources.ids.items()
        }
        rows = form.get(FIELD_SCRIPTS) or []
        for number, row in enumerate(
            rows if isinstance(rows, list) else [rows], start=1
        ):
            if isinstance(row, dict):
                script = row.get(FIELD_SCRIPT)
            else:
                script = None
            if not isinstance(script, str) or not valid_entity_id(script):
                return Problem(
                    FIELD_SCRIPTS,
                    "script_missing",
                    {"row": str(number)},
                )
            if script in trusted:
                return Problem(
                    FIELD_SCRIPTS,
                    "script_twice",
                    {"row": str(number)},
                )
            trusted[script] = self._json(
                row.get(FIELD_LEVEL),
                row.get(FIELD_AFFECTS),
            )
            try:
                sources_from_json(trusted)
            except PolicyError:
                return Problem(
                    FIELD_SCRIPTS,
                    "script_unfit",
                    {"row": str(number)},
                )
        return {
            source: trust
            for source, trust in sources_from_json(trusted).items()
            if trust != ToolSource()
        }

    def _json(
        self,
        level: JsonValue,
        affects: JsonValue,
    ) -> JsonObject:
        if isinstance(level, str) and level:
            known = self.levels.id_of(level)
        else:
            known = _BY_TOOL
        return {
            **({} if known == _BY_TOOL else {"level": known}),
            **({"affects": affects} if affects else {}),
        }


async def async_searches_web(
    hass: HomeAssistant,
    settings: AgentSettings,
) -> bool:
    """Return whether an agent searches the web, or has a tool that does."""
    if settings.web_search is not WebSearch.OFF:
        return True
    offer = await _async_offer(hass, settings)
    return any(
        is_web_search(tool) for tool in (offer.instance.tools if offer.instance else ())
    )


async def _async_offer(
    hass: HomeAssistant,
    settings: AgentSettings,
) -> TurnTools:
    """Ask the sources of an agent for the tools that the owner gets."""
    owner = await hass.auth.async_get_owner()
    context = context_without_speaker(
        hass,
        owner.id if owner else None,
    )
    return await async_offer_tools(
        hass,
        settings.llm_apis,
        context,
        settings.limits.preparation,
        home=settings.home,
    )


def _table(
    hass: HomeAssistant, tools: Iterable[FoundTool], sentences: Sentences
) -> str:
    """Return a table of what is known, with the tools of which it is known."""
    alike: dict[str, list[str]] = {}
    for tool in sorted(tools, key=lambda tool: (tool.finding, tool.name.casefold())):
        title = sentences.get(
            f"tool_title_{slugify(tool.name)}",
            tool.name,
        )
        alike.setdefault(_finding(hass, tool, sentences), []).append(title)
    rows = [
        (escaped(finding), escaped(", ".join(names)))
        for finding, names in alike.items()
    ]
    return table(
        [(sentences["tools_finding"], sentences["tools_tools"]), *rows], sentences
    )


def _finding(
    hass: HomeAssistant,
    tool: FoundTool,
    sentences: Sentences,
) -> str:
    """Return what is known about a tool, with the names of the first entities that a script may change."""
    names = [entity_name(hass, entity_id) for entity_id in tool.entity_ids]
    targets = listed_texts(sentences, names, _MOST_NAMES) if names else "0"
    return sentences[f"tool_{tool.finding}"].format(targets=targets)
