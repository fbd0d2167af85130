"""Predicts the effects of Home Assistant's actions: service calls, scripts, automations, groups and scenes.

Nothing runs. Every branch of a sequence is read. Of an action whose target a template
decides, it is known what it may reach.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Final, TypedDict

import voluptuous as vol
from homeassistant import const
from homeassistant.components.alarm_control_panel import AlarmControlPanelState
from homeassistant.components.climate import (
    ATTR_HVAC_MODE,
    ATTR_TARGET_TEMP_HIGH,
    ATTR_TARGET_TEMP_LOW,
)
from homeassistant.components.cover import (
    ATTR_CURRENT_POSITION,
    ATTR_CURRENT_TILT_POSITION,
    ATTR_POSITION,
    ATTR_TILT_POSITION,
)
from homeassistant.components.media_player.const import (
    ATTR_MEDIA_CONTENT_ID,
    ATTR_MEDIA_CONTENT_TYPE,
)
from homeassistant.core import (
    DOMAIN as HOMEASSISTANT_DOMAIN,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.group import get_group_entities
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)
from homeassistant.helpers.template import Template, is_template_string

from ..agent.text import read_data_file
from ..internals.homeassistant import parsed_states, states_of_scene
from ..internals.script import script_of
from ..settings.rules import ToolSource
from .effect import (
    ANY_ACTION,
    ARM_FOR_LESS,
    SET_TEMPERATURE,
    ActionData,
    Effects,
    EntityAction,
    Unknown,
    UnknownReason,
    named_action,
)

TARGET_KEYS: Final = (
    const.ATTR_ENTITY_ID,
    const.ATTR_DEVICE_ID,
    const.ATTR_AREA_ID,
    const.ATTR_FLOOR_ID,
    const.ATTR_LABEL_ID,
)


class _Facts(TypedDict):
    """The facts about actions in `actions.toml`."""

    domains: dict[str, frozenset[str]]
    protection: dict[str, int]
    lock_services: dict[str, str]


_FACTS: Final = read_data_file(__file__, _Facts)
_DOMAINS: Final = _FACTS["domains"]
_ENTITY_DOMAINS: Final = (
    frozenset(platform.value for platform in const.Platform) | _DOMAINS["helpers"]
)


def acts_on_own_domain(domain: str) -> bool:
    """Return whether the services of a domain act on the entities of that domain."""
    return domain in _ENTITY_DOMAINS


def has_target(data: ActionData) -> bool:
    """Return whether the data of an action contains a target."""
    return any(data.get(key) for key in TARGET_KEYS)


def decided_by_template(value: object) -> bool:
    """Return whether a template decides any part of a value."""
    match value:
        case Template():
            return True
        case str():
            return is_template_string(value)
        case list():
            return any(decided_by_template(part) for part in value)
        case Mapping():
            return any(
                decided_by_template(part) for pair in value.items() for part in pair
            )
        case _:
            return False


def action_targets(
    hass: HomeAssistant, domain: str, data: ActionData
) -> frozenset[str]:
    """Return the entities of any domain that the data of an action targets, with the members of groups.

    `all` means every entity of the action's domain.
    """
    target = {key: data[key] for key in TARGET_KEYS if key in data}
    named = target.get(const.ATTR_ENTITY_ID)
    if isinstance(named, str):
        named = named.split(",")
    if isinstance(named, list):
        registry = er.async_get(hass)
        named = [str(part).strip().lower() for part in named]
        if named == [const.ENTITY_MATCH_ALL]:
            return frozenset(hass.states.async_entity_ids(domain))
        target[const.ATTR_ENTITY_ID] = [
            er.async_resolve_entity_id(
                registry,
                part,
            )
            or part
            for part in named
        ]
    selected = async_extract_referenced_entity_ids(
        hass, TargetSelection(target), primary_entities_only=False
    )
    groups = target.get(const.ATTR_ENTITY_ID)
    itself = (
        {part for part in groups if "." in part}
        if isinstance(groups, list)
        else frozenset()
    )
    return frozenset(selected.referenced | selected.indirectly_referenced | itself)


def groups_among(
    hass: HomeAssistant,
    entity_ids: Iterable[str],
) -> Iterator[str]:
    """Yield the entities that may be groups."""
    known = get_group_entities(hass)
    states = hass.states
    for entity_id in entity_ids:
        if entity_id in known or (
            (state := states.get(entity_id))
            and const.ATTR_ENTITY_ID in state.attributes
        ):
            yield entity_id


def members_of(
    hass: HomeAssistant,
    entity_id: str,
) -> frozenset[str]:
    """Return the direct members of a group. Empty for other entities."""
    state = hass.states.get(entity_id)
    listed: object = state.attributes.get(const.ATTR_ENTITY_ID) if state else None
    entity = get_group_entities(hass).get(entity_id)
    if entity and entity.group:
        found = set(entity.group.member_entity_ids)
    else:
        found = set[str]()
    if isinstance(listed, (list, tuple)):
        found |= {member for member in listed if isinstance(member, str)}
    return frozenset(found - {entity_id})


def controlled_by(effects: Effects) -> frozenset[str]:
    """Return the entities that a call controls itself: no script, scene or group that passes it on.

    Actions of other domains, such as reloading an integration, may also work on a
    device that is unavailable.
    """
    passing = {*RUNNING, _ACTIVATING}
    own = (
        one
        for one in effects.actions
        if one.action.partition(".")[0] == one.domain != "group"
    )
    return frozenset(one.entity_id for one in own if one.action not in passing)


def bounded(
    hass: HomeAssistant, effects: Effects, sources: Mapping[str, ToolSource]
) -> Effects:
    """Bound what is unknown of scripts, automations and scenes by what the owner has said that they affect."""
    if not effects.unknowns:
        return effects
    unknowns: set[Unknown] = set()
    for unknown in effects.unknowns:
        source = sources.get(unknown.source.entity_id) if unknown.source else None
        reach = (
            _anything_done_to(hass, source.affects)
            if source and source.affects
            else unknown.reach
        )
        unknowns.add(replace(unknown, reach=reach))
    runs = tuple(
        [
            run._replace(effects=bounded(hass, run.effects, sources))
            for run in effects.intents
        ]
    )
    return replace(
        effects,
        unknowns=frozenset(unknowns),
        intents=runs,
    )


def _anything_done_to(
    hass: HomeAssistant, entity_ids: Iterable[str]
) -> frozenset[EntityAction]:
    """Return all actions on entities, and on the members of groups."""
    waiting = [*entity_ids]
    found = set[str]()
    while waiting:
        entity_id = waiting.pop()
        if entity_id not in found:
            found.add(entity_id)
            waiting += members_of(hass, entity_id)
    return frozenset(
        EntityAction(entity_id, f"{entity_id.partition('.')[0]}.{ANY_ACTION}")
        for entity_id in found
    )


_DATA_KEYS: Final = (
    const.CONF_SERVICE_DATA,
    const.CONF_SERVICE_DATA_TEMPLATE,
    const.CONF_TARGET,
)
"""The parts of a step that hold the data of its service."""
_GENERIC: Final = frozenset(
    {
        const.SERVICE_TURN_ON,
        const.SERVICE_TURN_OFF,
        const.SERVICE_TOGGLE,
    }
)
"""Services of `homeassistant` that call the service of the same name in the domain of the entity."""
RUNNING: Final = frozenset({"script.turn_on", "script.toggle", "automation.trigger"})
"""Actions that run the sequence of an entity."""
_ACTIVATING: Final = "scene.turn_on"
SELF_CONTAINED: Final = _DOMAINS["self_contained"]
"""Domains whose services change nothing but entities of that domain, whatever their data."""
_KNOWN_GENERIC: Final = _GENERIC | {"update_entity"}
"""Services of `homeassistant` that do nothing but what their names say to the entities that they target."""
_SPEAKING: Final = frozenset({const.Platform.NOTIFY, const.Platform.TTS})
_INSTRUCTING: Final = frozenset(
    {"assist_satellite.start_conversation", "conversation.process"}
)
"""Actions with words for an agent, which may know no rules of ours. Those of a script are its owner's."""
_PLAY_MEDIA: Final = "media_player.play_media"
_MEDIA_PARTS: Final = (
    ATTR_MEDIA_CONTENT_ID,
    ATTR_MEDIA_CONTENT_TYPE,
    "media",
    "extra",
)
_MEDIA_BY_NAME: Final = re.compile(
    r"media-source://(?!tts\b).*|(?:library|spotify|apple_music|tidal|qobuz|deezer|plex|jellyfin|emby|opensubsonic)"
    r"(?:--\w+)?:[\w:/=+-]*|(?![./~\[{])(?!.*(?:://|//|\\|:\S|www\.|\w\.\w{2,}/)).*"
)
"""Matches media of the home and of catalogues, and names. Anything else may be a page of anybody's, or be spoken."""
_URL_TYPES: Final = frozenset({"app", "cast", "url"})
"""Types of media whose ids are addresses or apps, whatever they look like."""
_TARGET_TEMPERATURES: Final = (
    const.ATTR_TEMPERATURE,
    ATTR_TARGET_TEMP_LOW,
    ATTR_TARGET_TEMP_HIGH,
)
_PROTECTION: Final = _FACTS["protection"]
"""How much the ways of arming protect."""
_MOST_PROTECTION: Final = 4
"""Of an alarm that is going off, is arming, or whose state is unknown."""
_OPEN: Final = frozenset({const.STATE_OPEN, const.STATE_OPENING})
_CLOSED: Final = frozenset({const.STATE_CLOSED, const.STATE_CLOSING})

_BRANCHING_STEPS: Final = frozenset(
    {
        cv.SCRIPT_ACTION_CHOOSE,
        cv.SCRIPT_ACTION_IF,
        cv.SCRIPT_ACTION_PARALLEL,
        cv.SCRIPT_ACTION_REPEAT,
        cv.SCRIPT_ACTION_SEQUENCE,
    }
)
_HARMLESS_STEPS: Final = frozenset(
    {
        cv.SCRIPT_ACTION_CHECK_CONDITION,
        cv.SCRIPT_ACTION_DELAY,
        cv.SCRIPT_ACTION_SET_CONVERSATION_RESPONSE,
        cv.SCRIPT_ACTION_STOP,
        cv.SCRIPT_ACTION_VARIABLES,
        cv.SCRIPT_ACTION_WAIT_FOR_TRIGGER,
        cv.SCRIPT_ACTION_WAIT_TEMPLATE,
    }
)
"""Steps that change no entity themselves, and lead to nothing else. An event may be what an automation waits for."""


@dataclass(slots=True)
class ActionReader:
    """Collects the effects of actions, with those of the groups, scripts, automations and scenes that they use."""

    hass: HomeAssistant
    bounds_templates: bool = True
    """Whether it is worked out what an action may reach whose target a template decides."""
    _actions: set[EntityAction] = field(default_factory=set)
    _unknowns: set[Unknown] = field(default_factory=set)
    _waiting: list[EntityAction] = field(default_factory=list)
    _reaches: dict[EntityAction, frozenset[EntityAction] | None] = field(
        default_factory=dict
    )
    """The reach of each action on a domain whose target a template decides."""

    def touch(
        self,
        entity_ids: Iterable[str],
        domain: str,
        service: str,
        data: ActionData,
        source: EntityAction | None = None,
    ) -> None:
        """Read a service call for known entities. `source` is the action that causes it."""
        action = named_action(
            domain,
            service,
            data,
        )
        settings = _settings(
            f"{domain}.{service}",
            data,
            source,
        )
        if domain != HOMEASSISTANT_DOMAIN or service not in _GENERIC:
            self._add_all(
                [EntityAction(entity_id, action, settings) for entity_id in entity_ids]
            )
            return
        alike: dict[str, list[str]] = defaultdict(list)
        for entity_id in entity_ids:
            alike[entity_id.partition(".")[0]].append(entity_id)
        for own, those in alike.items():
            able = (
                those
                if self.hass.services.has_service(own, service)
                else groups_among(self.hass, those)
            )
            self._add_all(
                [EntityAction(entity_id, f"{own}.{service}") for entity_id in able]
            )

    @callback
    def call(
        self,
        domain: str,
        service: str,
        data: ActionData,
        source: EntityAction | None = None,
    ) -> None:
        """Read a service call with its target in `data`. `source` is the action that causes it."""
        if domain == const.Platform.SCENE and service == "apply":
            states = parsed_states(self.hass, data.get(const.CONF_ENTITIES))
            if states is None:
                self._unknowns.add(Unknown(UnknownReason.TEMPLATE, source))
            else:
                self._reproduce(states, source)
        elif domain == "script" and (entity_id := self._script_called(service)):
            self._add(EntityAction(entity_id, "script.turn_on"))
        elif domain in _DOMAINS["telling"]:
            return
        elif domain in _SPEAKING:  # older actions have no entity, or that of a player
            named = action_targets(self.hass, domain, data) if has_target(data) else ()
            own = [one for one in named if one.startswith(f"{domain}.")]
            self.touch(
                own or [f"{domain}.{service}"],
                domain,
                service,
                data,
                source,
            )
        elif not has_target(data):
            self._unknowns.add(
                Unknown(
                    UnknownReason.OPAQUE_ACTION, source, action=f"{domain}.{service}"
                )
            )
        else:
            self._act(
                domain,
                service,
                data,
                source,
            )

    @callback
    def sequence(
        self, steps: Iterable[object], source: EntityAction | None = None
    ) -> None:
        """Read a validated sequence. `source` is the action that runs it."""
        for kind, step in _flat_steps(steps):
            match kind:
                case cv.SCRIPT_ACTION_CALL_SERVICE:
                    self._service_step(step, source)
                case cv.SCRIPT_ACTION_ACTIVATE_SCENE:
                    self._add(EntityAction(str(step[const.CONF_SCENE]), _ACTIVATING))
                case cv.SCRIPT_ACTION_DEVICE_AUTOMATION:
                    self._device_step(step, source)
                case _ if kind not in _HARMLESS_STEPS:
                    self._unknowns.add(Unknown(UnknownReason.OPAQUE_ACTION, source))
                case _:
                    pass

    @callback
    def named(self, arguments: ActionData) -> frozenset[str]:
        """Read the actions that the arguments of a tool name, at any depth, and return the entities that they target.

        Templates are rendered when the tool runs, so an action with one is unknown.
        """
        waiting: list[object] = [arguments]
        while waiting:
            match waiting.pop():
                case Mapping() as part:
                    waiting += part.values()
                    for step in _named_steps(self.hass, part):
                        self._read_named(step)
                case list() as parts:
                    waiting += parts
                case _:
                    pass
        return frozenset(action.entity_id for action in self._actions)

    def _read_named(self, step: dict[str, object]) -> None:
        if decided_by_template(step):
            self._unknowns.add(Unknown(UnknownReason.TEMPLATE))
        try:
            self.sequence([cv.SERVICE_SCHEMA(step)])
        except vol.Invalid:
            self._unknowns.add(Unknown(UnknownReason.OPAQUE_ACTION))

    @callback
    def effects(self) -> Effects:
        """Follow groups, scripts, automations and scenes to their ends, and return all effects."""
        while self._waiting:
            batch = self._waiting
            self._waiting = []
            groups = set(
                groups_among(
                    self.hass,
                    [action.entity_id for action in batch],
                )
            )
            for action in batch:
                if action.action in RUNNING:
                    self._run(action)
                elif action.action == _ACTIVATING:
                    self._activate(action)
                elif action.entity_id in groups:
                    self._pass_on(action)
        self._actions |= {
            EntityAction(one.entity_id, ARM_FOR_LESS)
            for one in self._actions
            if self._lowers_alarm(one)
        }
        return Effects(
            frozenset(self._actions),
            frozenset(self._unknowns),
        )

    def _lowers_alarm(self, action: EntityAction) -> bool:
        if action.action not in _PROTECTION:
            return False
        state = self.hass.states.get(action.entity_id)
        if state is None or state.state == AlarmControlPanelState.DISARMED:
            return False
        present = f"{const.Platform.ALARM_CONTROL_PANEL}.{_alarm_service(state.state)}"
        return _PROTECTION[action.action] < _PROTECTION.get(present, _MOST_PROTECTION)

    def _add(self, action: EntityAction) -> None:
        self._add_all((action,))

    def _add_all(self, actions: Iterable[EntityAction]) -> None:
        new = set(actions) - self._actions
        self._actions |= new
        self._waiting += new

    def _service_step(
        self,
        step: ActionData,
        source: EntityAction | None,
    ) -> None:
        """Read a service call of a sequence. A template in its name or target makes it unknown."""
        name = step.get(const.CONF_ACTION)
        data: dict[str, object] = {}
        parts = [step.get(key, {}) for key in _DATA_KEYS]
        for part in parts:
            data |= part if isinstance(part, Mapping) else {}
        if const.CONF_ENTITY_ID in step:
            data[const.CONF_ENTITY_ID] = step[const.CONF_ENTITY_ID]
        targets = [*data, *(data[key] for key in TARGET_KEYS if key in data)]
        is_plain = isinstance(name, str) and not decided_by_template(name)
        domain, _, service = str(
            name if is_plain else getattr(name, "template", name)
        ).partition(".")
        if not is_plain:
            service = ANY_ACTION
        elif (domain == "script" and self._script_called(service)) or (
            all(isinstance(part, Mapping) for part in parts)
            and not decided_by_template(targets)
        ):
            self.call(
                domain,
                service,
                data,
                source,
            )
            return
        reach = self._reach(
            domain,
            service,
            data,
            source,
        )
        self._unknowns.add(Unknown(UnknownReason.TEMPLATE, source, reach))

    def _reach(
        self,
        domain: str,
        service: str,
        data: ActionData,
        source: EntityAction | None,
    ) -> frozenset[EntityAction] | None:
        """Return everything that a service may do to any entity; None if that cannot be worked out."""
        is_generic = domain == HOMEASSISTANT_DOMAIN and service in _GENERIC
        is_bounded = (
            is_generic
            or domain in SELF_CONTAINED
            or f"{domain}.{service}" in (_ACTIVATING, *RUNNING)
        )
        if not (self.bounds_templates and is_bounded):
            return None
        action = EntityAction(
            domain,
            named_action(
                domain,
                service,
                data,
            ),
            _settings(
                f"{domain}.{service}",
                data,
                source,
            ),
        )
        if action in self._reaches:
            return self._reaches[action]
        reader = ActionReader(self.hass, bounds_templates=False)
        reader.touch(
            self.hass.states.async_entity_ids(None if is_generic else domain),
            domain,
            service,
            data,
            source,
        )
        effects = reader.effects()
        self._reaches[action] = effects.actions if effects.is_known else None
        return self._reaches[action]

    def _device_step(
        self,
        step: ActionData,
        source: EntityAction | None,
    ) -> None:
        """Read a device action. Its entity is given by entity id or registry id."""
        domain = str(step.get(const.CONF_DOMAIN))
        kind = str(step.get(const.CONF_TYPE))
        entity = step.get(const.CONF_ENTITY_ID)
        if domain == "mobile_app":
            self.call(
                const.Platform.NOTIFY,
                domain,
                {},
                source,
            )
            return
        if not acts_on_own_domain(domain) or not isinstance(entity, str):
            self._unknowns.add(Unknown(UnknownReason.OPAQUE_ACTION, source))
            return
        entity_id = (
            er.async_resolve_entity_id(
                er.async_get(self.hass),
                entity,
            )
            or entity
        )
        self.touch(
            [entity_id],
            domain,
            _service_of_device_action(domain, kind),
            step,
        )

    def _act(
        self,
        domain: str,
        service: str,
        data: ActionData,
        source: EntityAction | None,
    ) -> None:
        targets = action_targets(
            self.hass,
            domain,
            data,
        )
        name = f"{domain}.{service}"
        if name in _INSTRUCTING and (source is None or decided_by_template(data)):
            self._unknowns.add(
                Unknown(
                    UnknownReason.OPAQUE_ACTION,
                    source,
                    action=name,
                )
            )
        if acts_on_own_domain(domain):
            targets = frozenset(
                target
                for target in targets
                if target.partition(".")[0] in (domain, "group")
            )
        elif domain != HOMEASSISTANT_DOMAIN or service not in _KNOWN_GENERIC:
            touched: list[EntityAction | None] = [
                EntityAction(target, name) for target in targets
            ]
            self._unknowns |= {
                Unknown(
                    UnknownReason.OPAQUE_ACTION,
                    one,
                    action=name,
                )
                for one in touched or [source]
            }
        self.touch(
            targets,
            domain,
            service,
            data,
            source,
        )

    def _pass_on(self, action: EntityAction) -> None:
        """Apply the action of a group to its members."""
        domain, _, service = action.action.partition(".")
        for member in members_of(self.hass, action.entity_id):
            if member.partition(".")[0] == domain or not acts_on_own_domain(domain):
                self._add(EntityAction(member, action.action, action.settings))
            elif service in _GENERIC and domain == action.domain:
                self.touch(
                    [member],
                    HOMEASSISTANT_DOMAIN,
                    service,
                    {},
                )

    def _run(self, action: EntityAction) -> None:
        script = script_of(self.hass, action.entity_id)
        if script:
            self.sequence(script.sequence, action)
        else:
            self._unknowns.add(Unknown(UnknownReason.CONTENT, action))

    def _activate(self, action: EntityAction) -> None:
        states = states_of_scene(self.hass, action.entity_id)
        entry = er.async_get(self.hass).async_get(action.entity_id)
        if states is not None:
            self._reproduce(states, action)
        elif entry is None or entry.platform not in _DOMAINS["scenes_of_lights"]:
            self._unknowns.add(Unknown(UnknownReason.CONTENT, action))

    def _reproduce(
        self,
        states: Iterable[State],
        source: EntityAction | None,
    ) -> None:
        """Read the reproduction of states. A group passes its state on to its members."""
        waiting = deque(states)
        seen = set[str]()
        while waiting:
            state = waiting.popleft()
            if state.entity_id in seen:
                continue
            seen.add(state.entity_id)
            if state.domain == "media_player":
                plays = _settings(
                    _PLAY_MEDIA,
                    state.attributes,
                    source,
                )
            else:
                plays = ()
            for name in reproducing_actions(state):
                self._add(EntityAction(state.entity_id, name, plays))
            if state.domain == "group":
                members = members_of(self.hass, state.entity_id)
                waiting += [
                    State(
                        member,
                        state.state,
                        state.attributes,
                    )
                    for member in members
                ]

    def _script_called(self, service: str) -> str | None:
        """Return the script behind an action of its own. The action keeps its name if the entity is renamed."""
        registry = er.async_get(self.hass)
        entity_id = (
            registry.async_get_entity_id(
                "script",
                "script",
                service,
            )
            or f"script.{service}"
        )
        if self.hass.states.get(entity_id):
            return entity_id
        return None


def _service_of_device_action(
    domain: str,
    kind: str,
) -> str:
    """Return the service of a device action, such as `set_cover_tilt_position` for `set_tilt_position` of a cover."""
    if domain == const.Platform.ALARM_CONTROL_PANEL:
        return f"alarm_{kind}"
    verb, separator, rest = kind.partition("_")
    if domain == const.Platform.COVER:
        return f"{verb}_cover{separator}{rest}"
    return kind


def _settings(
    action: str, data: ActionData, source: EntityAction | None
) -> tuple[tuple[str, float], ...]:
    """Return the settings of an action. What its owner wrote into `source`, a script, nobody else can choose."""
    if action in SET_TEMPERATURE:
        targets = tuple(
            [(key, _degrees(data[key])) for key in _TARGET_TEMPERATURES if key in data]
        )
        if targets and ATTR_HVAC_MODE not in data:
            return targets
        return ((const.ATTR_TEMPERATURE, inf),)
    if action in (_PLAY_MEDIA, f"{const.Platform.MEDIA_PLAYER}.{ANY_ACTION}"):
        parts = [data.get(key) for key in _MEDIA_PARTS]
        is_chosen = decided_by_template(parts) or (
            source is None and not _is_by_name(*parts)
        )
        if is_chosen:
            return ((ATTR_MEDIA_CONTENT_ID, inf),)
        return ()
    if action.startswith(f"{const.Platform.TTS}."):
        message = data.get("message")
    else:
        message = None
    is_chosen = message is not None and (source is None or decided_by_template(message))
    if is_chosen:
        return (("message", inf),)
    return ()


def _degrees(value: object) -> float:
    try:
        degrees = float(str(value))
    except ValueError:
        return inf
    return degrees if isfinite(degrees) else inf


def _is_by_name(
    media_id: object,
    kind: object,
    media: object,
    extra: object,
) -> bool:
    """Return whether media is one of the home or of a catalogue, or is only named."""
    if isinstance(media, Mapping):
        media_id = media.get(ATTR_MEDIA_CONTENT_ID)
        kind = media.get(ATTR_MEDIA_CONTENT_TYPE)
        media = None
    if media or extra or str(kind).strip().lower() in _URL_TYPES:
        return False
    return media_id is None or (
        isinstance(media_id, str)
        and _MEDIA_BY_NAME.fullmatch(media_id.strip()) is not None
    )


def _named_steps(
    hass: HomeAssistant, arguments: ActionData
) -> Iterator[dict[str, object]]:
    """Yield the actions of the home that a part of a tool's arguments names, as steps of a script."""
    data = _data_of(arguments)
    target = arguments.get(const.CONF_TARGET)
    is_aimed = bool(target) or (isinstance(data, Mapping) and has_target(data))
    # Without a domain, an action is that of each target: others do not count for it.
    domains = {str(arguments.get(const.CONF_DOMAIN))}
    domains.update(_ENTITY_DOMAINS if is_aimed else ())
    for name in (arguments.get(const.CONF_ACTION), arguments.get("service")):
        if not isinstance(name, str):
            continue
        if "." in name:
            named = [name]
        else:
            named = [f"{own}.{name}" for own in sorted(domains)]
        for action in (one.strip().lower() for one in named):
            if is_template_string(action) or _is_action(hass, action):
                if target:
                    aimed = {const.CONF_TARGET: target}
                else:
                    aimed = {}
                step = {
                    const.CONF_ACTION: action,
                    const.CONF_SERVICE_DATA: data,
                }
                yield step | aimed


def _data_of(arguments: ActionData) -> object:
    """Return the data of an action, which tools call by several names."""
    data: object = {key: arguments[key] for key in TARGET_KEYS if key in arguments}
    for part in (arguments.get(const.CONF_SERVICE_DATA), arguments.get("service_data")):
        if isinstance(data, Mapping) and isinstance(part, Mapping):
            data = {
                **data,
                **part,
            }
        elif part:
            data = part
    return data


def _is_action(
    hass: HomeAssistant,
    action: str,
) -> bool:
    domain, _, name = action.partition(".")
    return hass.services.has_service(domain, name)


def reproducing_actions(state: State) -> frozenset[str]:
    """Return all actions that may be called to reach a state, or `<domain>.reproduce_state` if they are unknown."""
    match state.domain:
        case "cover":
            return frozenset(_cover_actions(state))
        case "valve" if state.state in _OPEN:
            return frozenset({f"{const.Platform.VALVE}.open_valve"})
        case "valve" if state.state in _CLOSED:
            return frozenset({f"{const.Platform.VALVE}.close_valve"})
        case "lock" if service := _FACTS["lock_services"].get(state.state):
            return frozenset({f"{const.Platform.LOCK}.{service}"})
        case "alarm_control_panel":
            return frozenset(
                {f"{const.Platform.ALARM_CONTROL_PANEL}.{_alarm_service(state.state)}"}
            )
        case domain if domain in _DOMAINS["switched"] and state.state in {
            const.STATE_ON,
            const.STATE_OFF,
        }:
            return frozenset({f"{domain}.turn_{state.state}"})
        case domain:
            return frozenset({f"{domain}.{ANY_ACTION}"})


def _cover_actions(state: State) -> Iterator[str]:
    """Yield the actions of a cover. If it has no positions, opening or closing stands for a position."""
    places = (
        (
            ATTR_CURRENT_POSITION,
            ATTR_POSITION,
            "set_cover_position",
            "open_cover",
        ),
        (
            ATTR_CURRENT_TILT_POSITION,
            ATTR_TILT_POSITION,
            "set_cover_tilt_position",
            "open_cover_tilt",
        ),
    )
    for attribute, name, setting, opening in places:
        position = state.attributes.get(attribute)
        if position is not None:
            yield named_action(
                const.Platform.COVER,
                setting,
                {name: position},
            )
            if position != 0:
                yield f"{const.Platform.COVER}.{opening}"
        if state.state in _OPEN:
            yield from (
                f"{const.Platform.COVER}.{setting}",
                f"{const.Platform.COVER}.{opening}",
            )
        elif state.state in _CLOSED:
            yield named_action(
                const.Platform.COVER,
                setting,
                {name: 0},
            )


def _alarm_service(state: str) -> str:
    if state == AlarmControlPanelState.DISARMED:
        return "alarm_disarm"
    if state == AlarmControlPanelState.TRIGGERED:
        return "alarm_trigger"
    return f"alarm_{state.replace('armed', 'arm')}"


def _flat_steps(
    sequence: Iterable[object],
) -> Iterator[tuple[str, ActionData]]:
    """Yield the enabled steps without branches, each with its type, such as `cv.SCRIPT_ACTION_CALL_SERVICE`."""
    for step in sequence:
        if not isinstance(step, Mapping) or step.get(const.CONF_ENABLED) is False:
            continue
        kind = cv.determine_script_action(dict(step))
        if kind not in _BRANCHING_STEPS:
            yield kind, step
            continue
        for branch in _branches(kind, step):
            yield from _flat_steps(_listed(branch))


def _branches(
    kind: str,
    step: ActionData,
) -> Iterator[object]:
    """Yield the sequences inside a step. Missing ones are None."""
    if kind in (const.CONF_CHOOSE, const.CONF_PARALLEL, const.CONF_REPEAT):
        holders = _listed(step[kind])
    else:
        holders = []
    for holder in [*holders, step]:
        if isinstance(holder, Mapping):
            yield from (
                holder.get(name)
                for name in (
                    const.CONF_SEQUENCE,
                    const.CONF_THEN,
                    const.CONF_ELSE,
                    const.CONF_DEFAULT,
                )
            )


def _listed(value: object) -> list[object]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    return [value]
