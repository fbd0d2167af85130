"""What people read where a rule holds an id: "Ask first", "Unlock lock", "Anna".

Knows Home Assistant's own translations, its users and services, and which tools an agent has. Must not know forms, or
what a rule means. A list of rules in Home Assistant's frontend shows the values of choices as they are, without their
labels; so in our forms the words themselves are the values, and each of them means exactly one id.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Final, Self

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.const import ATTR_DEVICE_CLASS, SERVICE_RELOAD
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import async_get_translations

from ..const import SCRIPT_DOMAIN, ServiceKind
from ..offline.provider import PROCESS_SENTENCE
from ..settings.agent import AgentSettings
from ..settings.rules import Policy, Verdict
from ..speech.sentences import async_get_sentences
from ..tools.llm_apis import context_without_speaker
from ..tools.offer import API_TIMEOUT, async_offer_tools
from ..tools.own_tools import with_own_tools

_FIRST_VERDICTS: Final = (Verdict.ASK, Verdict.PIN, Verdict.ALLOW, Verdict.DENY)
"""In the order in which people want them."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words for the ids that one field may hold, in the order in which they are offered."""

    ids: Mapping[str, str]
    """By word. No word is the id of another one."""

    @classmethod
    def of(cls, names: Mapping[str, str]) -> Self:
        """Name ids; a name that several have, or that is the id of another, has its id beside it."""
        plain = {found: " ".join(name.split()) or found for found, name in names.items()}
        owners = Counter(plain.values())
        words: dict[str, str] = {}
        for found, name in plain.items():
            candidates = chain(
                [name] if owners[name] == 1 else [], (f"{name} ({found}){'.' * more}" for more in count())
            )
            free = (word for word in candidates if word not in words and (word == found or word not in plain))
            words[next(free)] = found
        return cls(words)

    def meant(self, text: str) -> str:
        """Return the id that a word means, or the text itself, which may be an id that somebody typed."""
        return self.ids.get(text, text)

    def word(self, wanted: str) -> str:
        """Return the word for an id, or the id itself."""
        return next((word for word, found in self.ids.items() if found == wanted), wanted)


@dataclass(frozen=True, slots=True)
class RuleWords:
    """The words for everything in a rule for which Home Assistant's frontend has no picker of its own."""

    verdicts: Words
    domains: Words
    device_classes: Words
    actions: Words
    tools: Words
    users: Words
    sentences: Mapping[str, str]
    """Category `common` of our translation, by bare key."""

    @property
    def of_conditions(self) -> Mapping[str, Words]:
        """The words by the name of a rule's condition."""
        return {
            "domains": self.domains,
            "device_classes": self.device_classes,
            "actions": self.actions,
            "tools": self.tools,
            "users": self.users,
        }


async def async_get_rule_words(hass: HomeAssistant, kind: ServiceKind, settings: AgentSettings) -> RuleWords:
    """Gather the words in the language of the house, for what it has and for what an agent's rules hold."""
    policy = settings.policy
    found = _actions(hass) | _held(policy, "actions")
    domains = {action.partition(".")[0] for action in found} | _held(policy, "domains")
    texts = await _async_texts(hass, domains)
    sentences = await async_get_sentences(hass, hass.config.language)
    titles = {domain: texts.get(f"component.{domain}.title", domain) for domain in domains}
    actions = {action: texts.get(_place_of_service(action), action) for action in found}
    tools = await _async_tools(hass, kind, settings) | _held(policy, "tools")
    return RuleWords(
        verdicts=Words.of({verdict: sentences[f"verdict_{verdict}"] for verdict in _FIRST_VERDICTS}),
        domains=Words.of(_sorted(titles)),
        device_classes=Words.of(_sorted(_device_classes(hass, domains, policy, texts))),
        actions=Words.of(_sorted(actions)),
        tools=Words.of({tool: tool for tool in sorted(tools)}),
        users=Words.of(_sorted(await _async_users(hass, policy))),
        sentences=sentences,
    )


def _held(policy: Policy, condition: str) -> set[str]:
    """Return the ids that rules hold, as they might be of something that is gone."""
    values: Iterable[frozenset[str]] = (getattr(rule, condition) for rule in policy.rules)
    return set().union(*values)


def _sorted(names: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(names.items(), key=lambda item: (item[1].casefold(), item[0])))


@callback
def _actions(hass: HomeAssistant) -> set[str]:
    """Return what can be done to entities that there are. All scripts are started by one action."""
    services = {
        f"{domain}.{service}"
        for domain in {state.domain for state in hass.states.async_all()} - {CONVERSATION_DOMAIN}
        for service in hass.services.async_services_for_domain(domain)
        if service != SERVICE_RELOAD
    }
    scripts = {state.entity_id for state in hass.states.async_all(SCRIPT_DOMAIN)}
    return services - scripts


async def _async_texts(hass: HomeAssistant, domains: Collection[str]) -> Mapping[str, str]:
    """Return what Home Assistant itself calls domains, their actions and their device classes."""
    texts: dict[str, str] = {}
    for category in ("title", "services", "entity_component"):
        texts |= await async_get_translations(hass, hass.config.language, category, domains)
    return texts


def _place_of_service(action: str) -> str:
    domain, _, service = action.partition(".")
    return f"component.{domain}.services.{service}.name"


@callback
def _device_classes(
    hass: HomeAssistant, domains: Collection[str], policy: Policy, texts: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the names of the device classes of entities to which something can be done."""
    names = {found: found for found in _held(policy, "device_classes")}
    for state in hass.states.async_all(sorted(domains)):
        if isinstance(found := state.attributes.get(ATTR_DEVICE_CLASS), str):
            names[found] = texts.get(f"component.{state.domain}.entity_component.{found}.name", found)
    return names


async def _async_tools(hass: HomeAssistant, kind: ServiceKind, settings: AgentSettings) -> set[str]:
    """Return the names of the tools that an agent has at the moment."""
    if kind is ServiceKind.OFFLINE:
        return {PROCESS_SENTENCE.name}
    nobody = context_without_speaker(hass)
    patience = min(API_TIMEOUT, settings.limits.preparation)
    offer = await async_offer_tools(hass, settings.llm_apis, nobody, patience, home=settings.home)
    return {
        definition.name for definition in with_own_tools(offer.definitions, settings, home_is_large=offer.home_is_large)
    }


async def _async_users(hass: HomeAssistant, policy: Policy) -> Mapping[str, str]:
    """Return the names of the people who may sign in."""
    names = {user_id: user_id for user_id in _held(policy, "users")}
    users = await hass.auth.async_get_users()
    return names | {user.id: user.name or user.id for user in users if user.is_active and not user.system_generated}
