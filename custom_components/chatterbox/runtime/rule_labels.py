"""The labels of everything that rules may name, and the names of which the home has nothing."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final, Self

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.const import ATTR_DEVICE_CLASS, SERVICE_RELOAD
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.translation import async_get_translations

from ..const import CONF_KIND, CONF_RULES, DOMAIN, SCRIPT_DOMAIN, ServiceKind
from ..home.entity_matches import exposed_states
from ..settings.agent import readable_entries
from ..settings.rules import DEFAULT_RULES, Policy, Verdict, async_get_home_rules
from ..settings.tasks import settings_of_subentry
from ..settings.tool_names import SENTENCE_TOOL
from ..speech.sentences import Sentences, async_get_sentences
from ..tools.turn_tools import async_offer_common_tools

_FIRST_VERDICTS: Final = (
    Verdict.ASK,
    Verdict.PIN,
    Verdict.ALLOW,
    Verdict.DENY,
)
"""In the order in which the form offers them."""
_FIELDS: Final = f"component.{DOMAIN}.selector.{CONF_RULES}.fields."


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of the IDs that one field may hold, in the order in which they are offered."""

    ids: Mapping[str, str]
    """By label. No label is the ID of another one."""

    @classmethod
    def of(cls, names: Mapping[str, str]) -> Self:
        """Label IDs with their names; a name that is ambiguous, or is another ID, is followed by its ID."""
        plain = {
            found: " ".join(name.split()) or found for found, name in names.items()
        }
        owners = Counter(plain.values())
        labels: dict[str, str] = {}
        for found, name in plain.items():
            candidates = chain(
                [name] if owners[name] == 1 else [],
                (f"{name} ({found}){'.' * more}" for more in count()),
            )
            free = (
                label
                for label in candidates
                if label not in labels and (label == found or label not in plain)
            )
            labels[next(free)] = found
        return cls(labels)

    def id_of(self, text: str) -> str:
        """Return the ID of a label, or the text itself, which may be an ID that a user typed."""
        return self.ids.get(text, text)

    def label(self, wanted: str) -> str:
        """Return the label of an ID, or the ID itself."""
        return next(
            (label for label, found in self.ids.items() if found == wanted), wanted
        )


@dataclass(frozen=True, slots=True)
class RuleLabels:
    """The labels of everything in a rule for which the frontend has no selector of its own."""

    verdicts: Labels
    of_conditions: Mapping[str, Labels]
    """By the name of the condition of a rule."""
    sentences: Sentences
    fields: Mapping[str, str]
    """The names of the verdict and of the conditions, by what these are called in the rule form."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """The names of the domains that guests may be given: those of what is exposed, and those that they have."""


async def async_get_rule_labels(
    hass: HomeAssistant,
    policy: Policy,
    language: str,
    *,
    with_tools: bool = True,
) -> RuleLabels:
    """Return the labels of all that exists and all that rules name, in a language that we have.

    The names of tools have to be asked for, which may take seconds. Without them, those
    that rules name are left.
    """
    found = _actions(hass) | _held(policy, "actions")
    domains = {action.partition(".")[0] for action in found} | _held(policy, "domains")
    kinds = {one.domain for one in exposed_states(hass, CONVERSATION_DOMAIN)}
    kinds |= async_get_home_rules(hass).stored.guest_domains
    texts = await _async_texts(
        hass,
        domains | kinds,
        language,
    )
    sentences = await async_get_sentences(hass, language)
    titles = {
        domain: texts.get(f"component.{domain}.title", domain) for domain in domains
    }
    actions = await async_action_names(hass, found, language)
    tools = _held(policy, "tools") | (
        await async_tool_names(hass) if with_tools else set()
    )
    return RuleLabels(
        verdicts=Labels.of(
            {verdict: sentences[f"verdict_{verdict}"] for verdict in _FIRST_VERDICTS}
        ),
        of_conditions={
            "domains": Labels.of(_sorted(titles)),
            "device_classes": Labels.of(
                _sorted(_device_classes(hass, domains, policy, texts))
            ),
            "actions": Labels.of(_sorted(actions)),
            "tools": Labels.of({tool: tool for tool in sorted(tools)}),
            "users": Labels.of(_sorted(await _async_users(hass, policy))),
        },
        sentences=sentences,
        fields={
            key.removeprefix(_FIELDS).removesuffix(".name"): text
            for key, text in texts.items()
            if key.startswith(_FIELDS) and key.endswith(".name")
        },
        kinds=_sorted({one: texts.get(f"component.{one}.title", one) for one in kinds}),
    )


async def async_action_names(
    hass: HomeAssistant, actions: Collection[str], language: str
) -> Mapping[str, str]:
    """Return the names of actions such as `lock.unlock`; an action without a name has its own."""
    domains = {action.partition(".")[0] for action in actions}
    texts = await async_get_translations(
        hass,
        language,
        "services",
        domains,
    )
    return {
        action: texts.get(f"component.{action.replace('.', '.services.')}.name", action)
        for action in actions
    }


def _held(
    policy: Policy,
    condition: str,
) -> set[str]:
    """Return the IDs that rules name, which may not exist any more."""
    values: Iterable[frozenset[str]] = (
        getattr(rule, condition) for rule in policy.rules
    )
    return set().union(*values)


def _sorted(names: Mapping[str, str]) -> dict[str, str]:
    def place(item: tuple[str, str]) -> tuple[str, str]:
        key, name = item
        return name.casefold(), key

    return dict(sorted(names.items(), key=place))


@callback
def _actions(hass: HomeAssistant) -> set[str]:
    """Return the actions on existing entities. All scripts share one action."""
    services = {
        f"{domain}.{service}"
        for domain in {state.domain for state in hass.states.async_all()}
        - {CONVERSATION_DOMAIN}
        for service in hass.services.async_services_for_domain(domain)
        if service != SERVICE_RELOAD
    }
    scripts = {state.entity_id for state in hass.states.async_all(SCRIPT_DOMAIN)}
    return services - scripts


async def _async_texts(
    hass: HomeAssistant, domains: Collection[str], language: str
) -> Mapping[str, str]:
    """Return the translated names of domains and their device classes, and our own ones."""
    texts = dict[str, str]()
    for category in ("title", "entity_component"):
        texts |= await async_get_translations(
            hass,
            language,
            category,
            domains,
        )
    return texts | await async_get_translations(hass, language, "selector", [DOMAIN])


def _device_classes(
    hass: HomeAssistant,
    domains: Collection[str],
    policy: Policy,
    texts: Mapping[str, str],
) -> Mapping[str, str]:
    """Return the names of the device classes of entities in `domains`."""
    kinds = {
        domain: f"component.{domain}.entity_component." for domain in sorted(domains)
    }
    names = {
        found: next(
            (
                texts[f"{kind}{found}.name"]
                for kind in kinds.values()
                if f"{kind}{found}.name" in texts
            ),
            found,
        )
        for found in _held(policy, "device_classes")
    }
    for state in hass.states.async_all(sorted(domains)):
        found = state.attributes.get(ATTR_DEVICE_CLASS)
        if isinstance(found, str):
            names[found] = texts.get(
                f"{kinds[state.domain]}{found}.name",
                found,
            )
    return names


async def async_tool_names(hass: HomeAssistant) -> set[str]:
    """Return the names of the tools of all agents and AI tasks."""
    owner = await hass.auth.async_get_owner()
    names = set[str]()
    for entry in readable_entries(hass):
        if entry.data[CONF_KIND] == ServiceKind.OFFLINE:
            names.add(SENTENCE_TOOL)
            continue
        for agent in entry.subentries.values():
            offer = await async_offer_common_tools(
                hass, settings_of_subentry(agent), owner.id if owner else None
            )
            names |= {definition.name for definition in offer.definitions}
    return names


async def _async_users(
    hass: HomeAssistant,
    policy: Policy,
) -> Mapping[str, str]:
    """Return the names of all users who can sign in."""
    names = {user_id: user_id for user_id in _held(policy, "users")}
    users = await hass.auth.async_get_users()
    return names | {
        user.id: user.name or user.id
        for user in users
        if user.is_active and not user.system_generated
    }


async def async_absent_names(
    hass: HomeAssistant,
    policy: Policy,
) -> list[str]:
    """Return the names in rules of which the home has nothing: misspelled ones, or those of what comes later.

    What the default rules name is spelled right: the PIN has rules on valves and alarms
    in a home without any.
    """
    states = hass.states.async_all()
    present: Mapping[str, Container[object]] = {
        "domains": {state.domain for state in states},
        "device_classes": {state.attributes.get(ATTR_DEVICE_CLASS) for state in states},
        "entities": {state.entity_id for state in states}
        | er.async_get(hass).entities.keys(),
        "actions": {
            f"{domain}.{name}"
            for domain, names in hass.services.async_services().items()
            for name in names
        },
        "tools": await async_tool_names(hass),
        "users": await _async_users(hass, Policy()),
    }
    defaults = Policy(DEFAULT_RULES)
    named = (
        (name, value)
        for name in present
        for value in sorted(_held(policy, name) - _held(defaults, name))
    )
    return [value for name, value in named if value not in present[name]]
