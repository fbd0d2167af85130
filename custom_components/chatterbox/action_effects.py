"""What actions of Home Assistant would do: calls of services, and what scripts, automations and scenes consist of.

Knows how Home Assistant runs actions. Must not know tools, intents, sentences or rules. Nothing runs: sequences are
read as they are written, every branch of them, and what a template decides cannot be told.
"""

from collections import deque
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

from .action_targets import action_targets, acts_on_own_domain, has_target, members_of
from .effects import EntityAction, Touches, Unknown, UnknownReason, Unresolved, effects_of, named_action
from .reproduced_states import reproducing_actions
from .sequence_steps import ActionStep, DeviceStep, SceneStep, read_steps

_GENERIC: Final = frozenset({SERVICE_TURN_ON, SERVICE_TURN_OFF, SERVICE_TOGGLE})
"""Services of `homeassistant` that stand for the service of the same name of an entity's own domain."""

_RUNNING: Final = frozenset({"script.turn_on", "script.toggle", "automation.trigger"})
"""Actions by which an entity runs a sequence."""

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
    _waiting: deque[EntityAction] = field(default_factory=deque)

    @callback
    def touch(self, entity_id: str, domain: str, service: str, data: Mapping[str, object]) -> None:
        """Read a service that is called for one entity, whose id is its registered one."""
        if domain == HOMEASSISTANT_DOMAIN and service in _GENERIC:
            domain = entity_id.partition(".")[0]
            if not members_of(self.hass, entity_id) and not self.hass.services.has_service(domain, service):
                return
        self._add(EntityAction(entity_id, named_action(domain, service, data)))

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
                    self._add(EntityAction(entity_id, "scene.turn_on"))
                case DeviceStep(entity, domain, service, data):
                    entity_id = er.async_resolve_entity_id(er.async_get(self.hass), entity) or entity
                    self.touch(entity_id, domain, service, data)
                case UnknownReason() as reason:
                    self._unknowns.add(Unknown(reason, source))
                case _ as unreachable:
                    assert_never(unreachable)

    @callback
    def effects(self) -> Touches | Unresolved:
        """Follow what was read to its end, and return all of it."""
        while self._waiting:
            action = self._waiting.popleft()
            if action.action in _RUNNING:
                self._run(action)
            elif action.action == "scene.turn_on":
                self._activate(action)
            self._pass_on(action)
        return effects_of(self._actions, self._unknowns)

    def _add(self, action: EntityAction) -> None:
        if action not in self._actions:
            self._actions.add(action)
            self._waiting.append(action)

    def _act(self, domain: str, service: str, data: Mapping[str, object]) -> None:
        own = acts_on_own_domain(domain)
        for entity_id in action_targets(self.hass, domain, data):
            if own and entity_id.partition(".")[0] not in (domain, "group"):
                continue
            self.touch(entity_id, domain, service, data)
            if not own and domain != HOMEASSISTANT_DOMAIN:
                self._unknowns.add(Unknown(UnknownReason.OPAQUE_ACTION, EntityAction(entity_id, f"{domain}.{service}")))

    def _pass_on(self, action: EntityAction) -> None:
        """Do to the members of a group what is done to it."""
        if action.domain == SCENE_DOMAIN:
            return
        domain, _, service = action.action.partition(".")
        for member in members_of(self.hass, action.entity_id):
            if member.partition(".")[0] == domain or not acts_on_own_domain(domain):
                self._add(EntityAction(member, action.action))
            elif service in _GENERIC and domain == action.domain:
                self.touch(member, HOMEASSISTANT_DOMAIN, service, {})

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
