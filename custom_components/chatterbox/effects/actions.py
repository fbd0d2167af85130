"""What actions of Home Assistant would do: calls of services, and what scripts, automations and scenes consist of.

Knows how Home Assistant runs actions. Must not know tools, intents, sentences or rules. Nothing runs: sequences are
read as they are written, every branch of them, and what a template decides cannot be told.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

import voluptuous as vol
from homeassistant.components.homeassistant.scene import DATA_PLATFORM, STATES_SCHEMA, HomeAssistantScene
from homeassistant.components.scene import DOMAIN as SCENE_DOMAIN
from homeassistant.const import CONF_ENTITIES, SERVICE_TOGGLE, SERVICE_TURN_OFF, SERVICE_TURN_ON
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity_component import EntityComponent
from homeassistant.helpers.script import Script

from .effect import EntityAction, Touches, Unknown, UnknownReason, Unresolved, effects_of, named_action
from .scenes import reproducing_actions
from .sequences import ActionStep, DeviceStep, SceneStep, read_steps
from .targets import action_targets, acts_on_own_domain, groups_among, has_target, members_of

_GENERIC: Final = frozenset({SERVICE_TURN_ON, SERVICE_TURN_OFF, SERVICE_TOGGLE})
"""Services of `homeassistant` that stand for the service of the same name of an entity's own domain."""

_RUNNING: Final = frozenset({"script.turn_on", "script.toggle", "automation.trigger"})
"""Actions by which an entity runs a sequence."""

_ACTIVATING: Final = "scene.turn_on"

_TELLING: Final = frozenset({"logbook", "notify", "persistent_notification", "system_log", "tts"})
"""Domains whose actions only tell somebody something."""

_SCENES_OF_LIGHTS: Final = frozenset({"deconz", "hue"})
"""Integrations whose scenes hold nothing but lights, although they do not say which."""


@dataclass(slots=True)
class ActionReader:
    """Collects what actions would do, and what that sets in motion: groups, scripts, automations and scenes.

    Whatever it reads is only added to what was read before.
    """

    hass: HomeAssistant
    _actions: set[EntityAction] = field(default_factory=set)
    _unknowns: set[Unknown] = field(default_factory=set)
    _waiting: list[EntityAction] = field(default_factory=list)

    @callback
    def touch(self, entity_ids: Iterable[str], domain: str, service: str, data: Mapping[str, object]) -> None:
        """Read a service that is called for entities, whose ids are the registered ones."""
        action = named_action(domain, service, data)
        if domain != HOMEASSISTANT_DOMAIN or service not in _GENERIC:
            self._add_all([EntityAction(entity_id, action) for entity_id in entity_ids])
            return
        alike: dict[str, list[str]] = defaultdict(list)
        for entity_id in entity_ids:
            alike[entity_id.partition(".")[0]].append(entity_id)
        for own, those in alike.items():
            able = those if self.hass.services.has_service(own, service) else groups_among(self.hass, those)
            self._add_all([EntityAction(entity_id, f"{own}.{service}") for entity_id in able])

    @callback
    def call(self, domain: str, service: str, data: Mapping[str, object], source: EntityAction | None = None) -> None:
        """Read a call of a service, whose target is part of its data. `source` is what calls it."""
        if domain == SCENE_DOMAIN and service == "apply":
            self._apply(data.get(CONF_ENTITIES), source)
        elif domain == "script" and (entity_id := self._script_called(service)):
            self._add(EntityAction(entity_id, "script.turn_on"))
        elif domain in _TELLING:
            return
        elif not has_target(data):
            self._unknowns.add(Unknown(UnknownReason.OPAQUE_ACTION, source))
        else:
            self._act(domain, service, data)

    @callback
    def sequence(self, steps: Iterable[object], source: EntityAction | None = None) -> None:
        """Read a sequence of actions as Home Assistant has validated it. `source` is what runs it."""
        for step in read_steps(steps):
            match step:
                case ActionStep(domain, service, data):
                    self.call(domain, service, data, source)
                case SceneStep(entity_id):
                    self._add(EntityAction(entity_id, _ACTIVATING))
                case DeviceStep(entity, domain, service, data):
                    entity_id = er.async_resolve_entity_id(er.async_get(self.hass), entity) or entity
                    self.touch([entity_id], domain, service, data)
                case UnknownReason() as reason:
                    self._unknowns.add(Unknown(reason, source))
                case _ as unreachable:
                    assert_never(unreachable)

    @callback
    def effects(self) -> Touches | Unresolved:
        """Follow what was read to its end, and return all of it."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            groups = set(groups_among(self.hass, [action.entity_id for action in batch]))
            for action in batch:
                if action.action in _RUNNING:
                    self._run(action)
                elif action.action == _ACTIVATING:
                    self._activate(action)
                elif action.entity_id in groups:
                    self._pass_on(action)
        return effects_of(self._actions, self._unknowns)

    def _add(self, action: EntityAction) -> None:
        self._add_all((action,))

    def _add_all(self, actions: Iterable[EntityAction]) -> None:
        new = set(actions) - self._actions
        self._actions |= new
        self._waiting += new

    def _act(self, domain: str, service: str, data: Mapping[str, object]) -> None:
        targets = action_targets(self.hass, domain, data)
        if acts_on_own_domain(domain):
            targets = frozenset(target for target in targets if target.partition(".")[0] in (domain, "group"))
        elif domain != HOMEASSISTANT_DOMAIN:
            touched = (EntityAction(target, f"{domain}.{service}") for target in targets)
            self._unknowns |= {Unknown(UnknownReason.OPAQUE_ACTION, action) for action in touched}
        self.touch(targets, domain, service, data)

    def _pass_on(self, action: EntityAction) -> None:
        """Do to the members of a group what is done to it."""
        domain, _, service = action.action.partition(".")
        for member in members_of(self.hass, action.entity_id):
            if member.partition(".")[0] == domain or not acts_on_own_domain(domain):
                self._add(EntityAction(member, action.action))
            elif service in _GENERIC and domain == action.domain:
                self.touch([member], HOMEASSISTANT_DOMAIN, service, {})

    def _run(self, action: EntityAction) -> None:
        component = self.hass.data.get(action.domain)
        entity = component.get_entity(action.entity_id) if isinstance(component, EntityComponent) else None
        script: object = getattr(entity, "action_script" if action.domain == "automation" else "script", None)
        if isinstance(script, Script):
            self.sequence(script.sequence, action)
        else:
            self._unknowns.add(Unknown(UnknownReason.CONTENT, action))

    def _activate(self, action: EntityAction) -> None:
        platform = self.hass.data.get(DATA_PLATFORM)
        scene = platform.entities.get(action.entity_id) if platform else None
        entry = er.async_get(self.hass).async_get(action.entity_id)
        if isinstance(scene, HomeAssistantScene):
            self._reproduce(scene.scene_config.states.values())
        elif entry is None or entry.platform not in _SCENES_OF_LIGHTS:
            self._unknowns.add(Unknown(UnknownReason.CONTENT, action))

    def _apply(self, entities: object, source: EntityAction | None) -> None:
        try:
            states: dict[str, State] = STATES_SCHEMA(entities)
        except vol.Invalid:
            self._unknowns.add(Unknown(UnknownReason.TEMPLATE, source))
        else:
            self._reproduce(states.values())

    def _reproduce(self, states: Iterable[State]) -> None:
        """Bring entities into states; a group passes its state on to its members."""
        waiting, seen = deque(states), set[str]()
        while waiting:
            state = waiting.popleft()
            if state.entity_id in seen:
                continue
            seen.add(state.entity_id)
            for name in reproducing_actions(state):
                self._add(EntityAction(state.entity_id, name))
            if state.domain == "group":
                members = members_of(self.hass, state.entity_id)
                waiting += [State(member, state.state, state.attributes) for member in members]

    def _script_called(self, service: str) -> str | None:
        """Return the script that is run by an action of its own, which keeps its name when the entity is renamed."""
        registry = er.async_get(self.hass)
        entity_id = registry.async_get_entity_id("script", "script", service) or f"script.{service}"
        return entity_id if self.hass.states.get(entity_id) else None
